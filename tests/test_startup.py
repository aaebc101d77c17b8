"""What the owner is told after a start (issue 4): only when there is something to say, once, and truly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.settings import Settings
from bot.startup import report
from storage.leftovers import Leftovers
from tests.house import OWNER, Face, House, ManualClock, Script, open_house

NOTHING = Leftovers(waiting=0, overdue=0, approved=0, running=0, interrupted=(), turns=0, jobs=0, lost=0, unsent=0)
ASKS = [("act", {"what": "x"})]


async def begun(house: House, *warnings: str) -> list[str]:
    """The process begins as under Discord; what the owner was told by it."""
    await house.app.upkeep.startup.begin(OWNER.id, warnings=warnings)
    await house.app.engine.recover()
    await house.app.background.idle()
    return [said.text for person, said in house.face.told if person == OWNER.id]


async def died(house: House) -> None:
    """Take the mark of an orderly end away before there is one: what a killed process leaves."""
    house.app.upkeep.startup._began = False


async def test_a_first_start_has_nothing_to_say(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(), recover=False) as house:
        assert await begun(house) == []
        [entry] = await house.rows("SELECT detail FROM audit WHERE event = 'started'")
        assert json.loads(entry["detail"]) == {"after_a_crash": False}


async def test_an_orderly_restart_with_nothing_open_has_nothing_to_say(tmp_path: Path) -> None:
    for prefix in ("a", "b"):
        async with open_house(tmp_path, Script(), recover=False, ids=prefix) as house:
            assert await begun(house) == []


async def test_what_waits_is_told_after_an_orderly_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ASKS), recover=False, ids="a") as house:
        await begun(house)
        await house.ask()
    async with open_house(tmp_path, Script(), recover=False, ids="b") as house:
        [told] = await begun(house)
        assert told.startswith("I have been restarted.")
        assert "Waits for a decision: 1 call." in told


async def test_a_crash_is_told_even_when_nothing_was_open(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(), recover=False, ids="a") as house:
        await begun(house)
        await died(house)
    async with open_house(tmp_path, Script(), recover=False, ids="b") as house:
        [told] = await begun(house)
        assert "died without being stopped" in told
        assert "Nothing was open" in told
        [_, entry] = await house.rows("SELECT detail FROM audit WHERE event = 'started' ORDER BY n")
        assert json.loads(entry["detail"])["after_a_crash"] is True


async def test_what_ran_is_named_as_interrupted_and_what_was_approved_as_gone_on_with(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ASKS, ASKS), recover=False, ids="a") as house:
        await begun(house)
        await house.ask(request="r1")
        await house.ask(request="r2", conversation="discord/9/91", place="discord/9/91")
        first, second = [row["id"] for row in await house.rows("SELECT id FROM approval ORDER BY id")]
        async with house.app.database.begin("test") as tx:
            await tx.execute("UPDATE approval SET state = 'running', owner = 'dead' WHERE id = ?", first)
            await tx.execute("UPDATE approval SET state = 'approved', owner = 'dead' WHERE id = ?", second)
        await died(house)
    async with open_house(tmp_path, Script("Done.", "Done."), recover=False, ids="b") as house:
        [told] = await begun(house)
        assert "Interrupted: 1 call ran when the process ended. Nobody knows how far" in told
        assert f"`{first}`" in told
        assert "1 call that had been approved and not begun" in told


async def test_what_expired_meanwhile_and_what_was_lost_is_told_with_the_reason(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path, Script(ASKS), clock=clock, recover=False, ids="a") as house:
        await begun(house)
        await house.ask()
        async with house.app.database.begin("test") as tx:
            await tx.execute(
                "INSERT INTO run (id, conversation, kind, state, place, requester, prompt, notify, owner, losses,"
                " created_at) VALUES ('old', 'discord/9/90', 'turn', 'running', 'discord/9/90', '2', 'x', 'channel',"
                " 'dead', 1, 1)"
            )
        await died(house)
    clock.advance(seconds=25 * 3600)
    async with open_house(tmp_path, Script("I see."), clock=clock, recover=False, ids="b") as house:
        [told] = await begun(house)
        assert "Expired: 1 call whose deadline passed while I was away" in told
        assert "Given up: 1 request" in told


async def test_it_is_told_once_over_a_second_crash_right_after_the_start(tmp_path: Path) -> None:
    face = Face()
    async with open_house(tmp_path, Script(ASKS), recover=False, ids="a") as house:
        await begun(house)
        await house.ask()
    async with open_house(tmp_path, Script(), recover=False, ids="b") as house:
        await house.app.upkeep.startup.begin(OWNER.id)
        await house.app.upkeep.startup.begin(OWNER.id)
        await died(house)
    async with open_house(tmp_path, Script(), face=face, recover=False, ids="c") as house:
        told = await begun(house)
        assert [text.partition(".")[0] for text in told] == ["I have been restarted", "I am back"]
        rows = await house.rows("SELECT state FROM outbox WHERE key LIKE 'startup:%'")
        assert [row["state"] for row in rows] == ["delivered", "delivered"]


async def test_closed_direct_messages_leave_it_in_the_owners_inbox(tmp_path: Path) -> None:
    from bot.errors import Unreachable

    face = Face(fail_tell=Unreachable("Your direct messages are closed to me."))
    async with open_house(tmp_path, Script(ASKS), recover=False, ids="a") as house:
        await begun(house)
        await house.ask()
    async with open_house(tmp_path, Script(), face=face, recover=False, ids="b") as house:
        assert await begun(house) == []
        [owed] = await house.app.engine.inbox.of(OWNER.id)
        assert "Waits for a decision" in owed.body["text"]
        assert owed.failures[0]["error"] == "Your direct messages are closed to me."


async def test_it_can_be_switched_off_and_the_trail_has_it_all_the_same(tmp_path: Path) -> None:
    settings = Settings(approver_users=frozenset({OWNER.id}), startup_report=False)
    async with open_house(tmp_path, Script(ASKS), settings=settings, recover=False, ids="a") as house:
        await begun(house)
        await house.ask()
    async with open_house(tmp_path, Script(), settings=settings, recover=False, ids="b") as house:
        assert await begun(house) == []
        [_, entry] = await house.rows("SELECT detail FROM audit WHERE event = 'started' ORDER BY n")
        assert json.loads(entry["detail"]) == {"after_a_crash": False, "waiting": 1, "unsent": 0} or json.loads(
            entry["detail"]
        ) == {"after_a_crash": False, "waiting": 1}


async def test_what_keeps_people_from_using_it_is_told_first(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(), recover=False) as house:
        [told] = await begun(house, "Commands and buttons do not reach me.")
        assert "⚠ Commands and buttons do not reach me." in told


@pytest.mark.parametrize("number", [1, 2])
def test_every_line_says_how_many_and_why(number: int) -> None:
    full = Leftovers(
        waiting=number, overdue=number, approved=number, running=number, interrupted=(), turns=number, jobs=number,
        lost=number, unsent=number,
    )  # fmt: skip
    text = report(full, since=None)
    assert text.count(f"{number} ") >= 8
    assert len(text) < 2_000
    assert report(NOTHING, since=None) == ""
