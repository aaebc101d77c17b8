"""A turn is stopped where it stands: by whom, with what it had, and with what of it runs."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.deferral.tool import ToolOutcome
from bot.errors import AlreadySettled, NotAllowed, UnknownApproval
from bot.surface import Actor, CardPress
from tests.house import ASKER, OWNER, PLACE, STRANGER, Bench, Face, House, Page, Script, open_house
from tests.test_line import SLOW, busy, queue
from tests.test_talking import every_call_is_answered_once

ACT = [("act", {"what": "x"})]
STOPPED = "-# Stopped by <2> before it was complete."


async def press(house: House, actor: Actor = ASKER, *, message: str = "reply", nth: int = 0) -> CardPress:
    rows = await house.rows("SELECT id FROM run ORDER BY created_at, id")
    return CardPress(actor=actor, card=rows[nth]["id"], place=PLACE, message=message)


async def stop(house: House, actor: Actor = ASKER, *, message: str = "reply", nth: int = 0) -> str:
    return await house.app.engine.stopping.stop(await press(house, actor, message=message, nth=nth))


async def states(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM run ORDER BY created_at, id")]


async def test_a_turn_at_work_ends_at_once_and_its_tool_is_cut_short(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    script = Script(SLOW, "Never said.")
    async with open_house(tmp_path, script, bench=bench) as house:
        page = Page()
        going = asyncio.ensure_future(house.ask("go", page=page))
        while not bench.effects:
            await asyncio.sleep(0)
        page.message = "reply"
        assert await stop(house) == "Stopped."
        await going
        assert page.finished == STOPPED
        assert await states(house) == ["cancelled"]
        assert len(script.seen) == 1


async def test_what_it_had_said_stays_as_its_answer_and_in_the_conversation(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    script = Script(SLOW, "Never said.", "Going on.")
    async with open_house(tmp_path, script, bench=bench) as house:
        page = Page()
        going = asyncio.ensure_future(house.ask("count the stars", page=page))
        while not bench.effects:
            await asyncio.sleep(0)
        [run] = await house.rows("SELECT id FROM run")
        house.app.engine._turns.progress._said[run["id"]] = "One star, two"
        page.message = "reply"
        await stop(house)
        await going
        assert page.finished == f"One star, two\n{STOPPED}"
        script.steps = ["Going on."]
        await house.ask("go on", request="r2")
        said = [getattr(part, "content", "") for message in script.seen[-1] for part in message.parts]
        assert [str(one)[:30] for one in said] == [
            "count the stars",
            "",  # the call
            "Its outcome is not known.",
            "One star, two",
            "[event: a person stopped this ",
            "go on",
        ]
        assert every_call_is_answered_once(script)


async def test_what_its_earlier_steps_did_stays_in_the_conversation(tmp_path: Path) -> None:
    """Those results stand nowhere but in its steps, which go with it: the next turn must not do them again."""
    bench = Bench(hold=asyncio.Event())
    script = Script([("look", {"what": "a"})], SLOW, "Never said.", "Going on.")
    async with open_house(tmp_path, script, bench=bench) as house:
        page = Page()
        going = asyncio.ensure_future(house.ask("count the stars", page=page))
        while not bench.effects:
            await asyncio.sleep(0)
        page.message = "reply"
        await stop(house)
        await going
        script.steps = ["Going on."]
        await house.ask("go on", request="r2")
        assert script.results() == [("success", "saw a"), ("success", "Its outcome is not known.")]
        assert every_call_is_answered_once(script)
        assert await house.rows("SELECT run FROM step") == []


async def test_a_turn_in_line_ends_without_having_begun(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(SLOW, "One."), bench=bench) as house:
        first = await busy(house)
        (second,), asks = await queue(house, "r1")
        await stop(house, nth=1)
        assert bench.hold is not None
        bench.hold.set()
        await asyncio.gather(first, *asks)
        assert await states(house) == ["done", "cancelled"]
        assert second.finished == STOPPED
        assert (await first).finished == "One."


async def test_what_waits_is_cancelled_and_named(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        page = await house.ask()
        [call] = await house.rows("SELECT id FROM approval")
        assert await stop(house) == f"Stopped. What it still asked for was cancelled: act ({call['id']})."
        await house.app.background.idle()
        assert page.finished == STOPPED
        assert house.face.card_words["m1"][-1] == "cancelled"
        with pytest.raises(AlreadySettled, match="the turn was stopped"):
            await house.app.engine.decide(house.press(OWNER), "approve")
        assert house.bench.effects == []


async def test_an_approved_call_that_runs_already_is_stopped_too_and_everybody_is_told(tmp_path: Path) -> None:
    """S-A78: as it stands on its card, on the trail, in the answer, and for the model later."""
    bench = Bench(hold=asyncio.Event())
    script = Script(ACT, "Never said.", "Hello.")
    async with open_house(tmp_path, script, bench=bench) as house:
        page = await house.ask()
        await house.app.engine.decide(house.press(OWNER), "approve")
        while not bench.effects:
            await asyncio.sleep(0)
        [call] = await house.rows("SELECT id FROM approval")
        told = await stop(house)
        assert f"Stopped. What was running was stopped as well: act ({call['id']})." in told
        assert f"and with it what was running: act ({call['id']})" in str(page.finished)
        await house.app.background.idle()
        assert house.face.card_words["m1"][-1] == "unknown"
        assert await house.rows("SELECT state, note FROM approval") == [
            {"state": "interrupted", "note": "A person stopped it while it ran."}
        ]
        assert bench.effects == ["x"]
        assert len(script.seen) == 1
        assert bench.hold is not None
        bench.hold.set()
        await house.later(seconds=2)
        assert [row["event"] for row in await house.rows("SELECT event FROM audit WHERE event = 'interrupted'")] == [
            "interrupted"
        ]
        script.steps = ["Hello."]
        await house.ask("and?", request="r2")
        assert "A person stopped it while it ran." in script.results()[0][1]


async def test_a_call_that_comes_to_its_end_as_it_is_stopped_is_told_as_it_ended(tmp_path: Path) -> None:
    """A tool may finish what cannot be left half done; then that is what is true of it."""

    class Stubborn(Bench):
        def tools(self) -> Any:
            async def body(arguments: Any, call: Any) -> ToolOutcome:
                self.effects.append("begun")
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
                return ToolOutcome(text="whole", exit_code=0)

            return [replace(tool, body=body) if tool.name == "act" else tool for tool in super().tools()]

    bench = Stubborn()
    async with open_house(tmp_path, Script(ACT, "Never said."), bench=bench) as house:
        await house.ask()
        await house.app.engine.decide(house.press(OWNER), "approve")
        while not bench.effects:
            await asyncio.sleep(0)
        await stop(house)
        await house.app.background.idle()
        assert await house.rows("SELECT state, note FROM approval") == [{"state": "succeeded", "note": None}]
        assert house.face.card_words["m1"][-1] == "done"


async def test_only_who_asked_and_approvers_may(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        with pytest.raises(NotAllowed, match="Only the person who asked for this, or an approver"):
            await stop(house, STRANGER)
        with pytest.raises(NotAllowed, match="another server"):
            await stop(house, Actor(id=OWNER.id, guild="8"))
        assert await states(house) == ["waiting"]
        await stop(house, OWNER)
        assert await states(house) == ["cancelled"]
        [row] = await house.rows("SELECT actor FROM audit WHERE event = 'turn_stopped'")
        assert row["actor"] == OWNER.id


async def test_the_button_counts_only_on_its_own_message_and_for_turns(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        with pytest.raises(UnknownApproval, match="does not belong to this message"):
            await stop(house, message="another")
        good = await press(house)
        with pytest.raises(UnknownApproval):
            await house.app.engine.stopping.stop(
                CardPress(actor=ASKER, card="nothing", place=PLACE, message=good.message)
            )
        assert await states(house) == ["waiting"]


async def test_a_second_press_is_told_that_it_has_ended(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        await stop(house)
        with pytest.raises(AlreadySettled, match="already ended"):
            await stop(house)


async def test_of_two_presses_at_once_one_stops_it_and_the_answer_comes_once(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        told = await asyncio.gather(stop(house), stop(house, OWNER), return_exceptions=True)
        assert sorted(type(one).__name__ for one in told) == ["AlreadySettled", "Text"]
        assert len(await house.rows("SELECT * FROM outbox WHERE key LIKE 'answer:%'")) == 1


async def test_the_button_works_after_a_restart_and_the_answer_goes_into_its_message(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
    face = Face()
    async with open_house(tmp_path, Script("Never said."), face=face, ids="second") as house:
        await stop(house)
        assert await states(house) == ["cancelled"]
        [row] = await house.rows("SELECT state, via FROM outbox WHERE key LIKE 'answer:%'")
        assert row == {"state": "delivered", "via": "reply"}
        assert face.said == []
