"""Bug reports of other systems that only the wire can show (cases A21, A32, A33, A36)."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing

import pytest

from bot.playground.child import BotProcess
from bot.playground.faults import Fault
from bot.playground.people import Post, channel_id
from bot.playground.twin import Twin
from tests.needs import needs
from tests.wire.conftest import ROOT, Signoff

pytestmark = [pytest.mark.wire, needs("bwrap")]

CREATE = r"/channels/\d+/messages"
COMMANDS = r"/applications/\d+/commands"


def offered(twin: Twin) -> set[str]:
    """The commands that Ben's client shows in #ops."""
    member = twin.world.member("ben")
    return {name.split()[0] for name in member.available_commands(twin.world.channel(channel_id(twin.world, "ops")))}


def cards(twin: Twin) -> list[Post]:
    return [post for post in twin.posts("ops") if "Asked by" in post.text]


async def test_of_two_tokens_on_one_store_one_bot_works_and_posts_one_card(signoff: Signoff, twin: Twin) -> None:
    """A21: also when the one at work dies while it posts."""
    assert signoff.process is not None
    clean = {"PATH": os.environ["PATH"], "HOME": str(signoff.folder), "PYTHONPATH": str(ROOT)}
    env = {**twin.bot_env(clean), "DISCORD_TOKEN": "playground." + "b" * 24}
    other = BotProcess([sys.executable, "-m", "bot", "run"], env, say=lambda _: None, cwd=signoff.folder)
    await other.start()
    assert await other.wait() == 1
    assert f"Another signoff (process {signoff.process.pid}) is already using the data" in other.output
    held = twin.faults.add(Fault("delay", "POST", CREATE, seconds=0.5, skip=1))
    await signoff.ask("run `echo once >> log`")
    await twin.wait_for(lambda: held.struck, what="a message under way")
    await signoff.restart()
    card = await signoff.card("echo once")
    await twin.people["ana"].click(card, "Approve")
    await signoff.shows(card, "exit code 0")
    assert len(cards(twin)) == 1
    assert signoff.logged() == ["once"]


async def test_a_session_that_is_never_taken_up_again_is_given_up_for_a_new_one(signoff: Signoff, twin: Twin) -> None:
    """A32: the socket opens and every resume is answered with its end; after some of them it identifies anew."""
    await signoff.ask("run `echo once >> log`")
    card = await signoff.card("echo once")
    begun = twin.gateway.identified
    twin.gateway.close_resumes = 1_000
    twin.gateway.cut()
    await twin.wait_for(lambda: twin.gateway.identified > begun, timeout=30, what="a session of its own")
    assert 1_000 - twin.gateway.close_resumes < 20
    await twin.people["ana"].click(card, "Approve")
    await signoff.shows(card, "exit code 0")
    assert "did not take up the session" in signoff.output


async def test_a_limited_sync_leaves_no_command_away(signoff: Signoff, twin: Twin) -> None:
    """A33: one overwrite, tried again under the same request; nothing is deleted first."""
    await signoff.stop()
    with closing(sqlite3.connect(signoff.folder / "data" / "signoff.sqlite3")) as database, database:
        database.execute("UPDATE meta SET value = 'other' WHERE key = 'discord commands'")
    before = offered(twin)
    twin.requests.clear()
    limited = twin.faults.add(Fault("429", "PUT", COMMANDS))
    later = twin.faults.add(Fault("429", "PUT", COMMANDS, retry_after=0.05))
    await signoff.start()
    await twin.wait_for(lambda: len(twin.requests.of("PUT", COMMANDS)) >= 3, what="a third try")
    assert (limited.struck, later.struck) == (1, 1)
    assert offered(twin) == before > {"ask", "approvals"}
    assert [r for r in twin.requests.all if r.method in {"DELETE", "POST"} and "/commands" in r.path] == []


async def test_what_was_said_during_a_restart_is_answered_afterwards(signoff: Signoff, twin: Twin) -> None:
    """A36: in a thread of its own, and directly."""
    ben = twin.people["ben"]
    thread = "what can you do?"  # named after its request
    await signoff.ask(thread, thread=True)  # type: ignore[arg-type]
    await twin.wait_for(
        lambda: any(one.name == thread for one in twin.world.backend.channels.values()), what="a thread"
    )
    await signoff.says("offline model", place=thread)
    await ben.dm("what can you do?")
    await twin.wait_for(lambda: len(ben.messages(None)) > 1, what="an answer")
    await signoff.kill()
    await ben.send(thread, f"<@{twin.world.backend.bot_user.id}> run `echo in the thread`")
    await ben.dm("run `echo directly`")
    await signoff.start()
    await twin.wait_for(
        lambda: twin.last(thread, text="echo in the thread", label="Approve"), timeout=20, what="a card"
    )
    await twin.wait_for(
        lambda: [post for post in ben.messages(None) if post.by_bot and "echo directly" in post.text],
        timeout=20,
        what="an answer",
    )
