"""Where a job's ending goes when the way is closed: the ladder over real sockets (issue 6, point 4)."""

from __future__ import annotations

import json

import pytest

from bot.playground.faults import Fault
from bot.playground.twin import Twin
from tests.needs import needs
from tests.wire.conftest import Signoff
from tests.wire.provider import Provider, begin, told

pytestmark = [pytest.mark.wire, needs("bwrap")]

AGAIN = "You may have seen this already"
STATE = "SELECT state FROM outbox WHERE key = 'answer:' || (SELECT id FROM run WHERE prompt = ?)"
FAILURES = "SELECT failures FROM outbox WHERE key = 'answer:' || (SELECT id FROM run WHERE prompt = ?)"


def thread(twin: Twin, name: str) -> int:
    return int(twin.world.backend.create_thread(twin.channel_id("ops"), name, twin.people["ben"].id).id)


def problems(signoff: Signoff, goal: str) -> list[str]:
    return [failure["error"] for failure in json.loads(str(signoff.row(FAILURES, goal)))]


async def test_archived_deleted_and_left_each_send_the_ending_on_and_keep_why(
    working: Signoff, twin: Twin, provider: Provider
) -> None:
    ways = {goal: thread(twin, goal) for goal in ("archived", "deleted", "left")}
    provider.scripts = {goal: [f"Seven in {goal}."] for goal in ways}
    for goal in ways:
        provider.hold(f"{goal}#0")
        await begin(working, goal, goal)
        await provider.until_asked(f"{goal}#0")

    # A thread that is archived, and that the bot may not open again.
    refused = {"status": 400, "code": 50083, "times": None}
    twin.faults.add(Fault("status", "POST", rf"/channels/{ways['archived']}/messages", **refused))
    twin.faults.add(Fault("status", "PATCH", rf"/channels/{ways['archived']}", status=403, code=50013, times=None))
    provider.let_go("archived#0")
    await working.until(STATE, "delivered", "archived")
    [text] = told(twin, "Seven in archived.")
    assert problems(working, "archived") == ["That thread is archived, and I may not open it again."]
    assert "I could not say this where it was asked: That thread is archived" in text
    assert AGAIN not in text

    # A thread that was deleted.
    twin.world.backend.delete_channel(ways["deleted"])
    provider.let_go("deleted#0")
    await working.until(STATE, "delivered", "deleted")
    assert len(told(twin, "Seven in deleted.")) == 1
    assert problems(working, "deleted") == ["That channel does not exist any more."]

    # A server that the bot was thrown out of: nobody is told what was said there, not even directly.
    gone = {"status": 403, "code": 50001, "times": None}
    twin.faults.add(Fault("status", "*", r"/channels/\d+(/.*)?", **gone))
    twin.faults.add(Fault("status", "*", r"/guilds/\d+(/.*)?", **gone))
    twin.world.backend.emit("GUILD_DELETE", {"id": str(twin.world.guild.id)})
    provider.let_go("left#0")
    await working.until(STATE, "inbox", "left")
    assert problems(working, "left") == [
        "I cannot see that channel.",
        "I cannot see that channel.",
        "I am not in that server any more.",
    ]
    assert twin.people["ben"].messages(None) == []
    await working.kill()


async def test_killed_behind_a_message_that_is_there_a_second_one_says_that_it_may_be_a_repeat(
    working: Signoff, twin: Twin, provider: Provider
) -> None:
    """By the nonce there is no second one; where that is forgotten, or another place has to do, it says so."""
    goals = ("known", "forgotten", "moved")
    ways = {goal: thread(twin, goal) for goal in goals}
    provider.scripts = {goal: [f"Seven in {goal}."] for goal in goals}
    for goal in goals:
        provider.hold(f"{goal}#0")
        await begin(working, goal, goal)
        await provider.until_asked(f"{goal}#0")
    # It happens, and the answer is never heard.
    cuts = [twin.faults.add(Fault("cut_after", "POST", rf"/channels/{way}/messages")) for way in ways.values()]
    for goal in goals:
        provider.let_go(f"{goal}#0")
    await twin.wait_for(lambda: all(cut.struck for cut in cuts), timeout=20, what="three endings, unheard")
    for goal in goals:
        await working.until(STATE, "attempting", goal)
    await working.kill()
    remembered = twin.rest.nonces
    for nonce, (_at, channel, _message) in [*remembered.items()]:
        if channel == ways["forgotten"]:
            del remembered[nonce]
    twin.world.backend.delete_channel(ways["moved"])
    await working.start()
    for goal in goals:
        await working.until(STATE, "delivered", goal)
    assert [AGAIN in text for text in told(twin, "Seven in known.", "known")] == [False]
    assert [AGAIN in text for text in told(twin, "Seven in forgotten.", "forgotten")] == [False, True]
    assert [AGAIN in text for text in told(twin, "Seven in moved.")] == [True]
    await working.kill()
