"""What breaks around the engine: faces, tools, disks. Nothing hangs, nothing is said twice, nothing runs twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errands import FIRST_BACK_OFF_MS, MOST_TRIES, back_off
from bot.errors import DeliveryError, Unreachable
from tests.faults import BadFace, BadPage, FaultyDatabase
from tests.house import OWNER, Bench, DoArguments, House, Script, open_house

ACT = [("act", {"what": "x"})]


async def state(house: House, table: str = "approval") -> list[str]:
    return [row["state"] for row in await house.rows(f"SELECT state FROM {table} ORDER BY id")]


# -- faces --------------------------------------------------------------------------------------


async def test_a_face_that_breaks_over_one_card_neither_loses_it_nor_holds_up_the_answer_to_somebody_else(
    tmp_path: Path,
) -> None:
    face = BadFace(fail_card=ValueError("a bug in the face"))
    async with open_house(tmp_path, Script(ACT, "Hello.", "Done."), face=face) as house:
        await house.ask(request="r1")
        other = await house.ask(request="r2", conversation="other")
        assert other.finished == "Hello."
        face.fail_card = None
        await house.later(seconds=FIRST_BACK_OFF_MS / 1000)
        await house.decide("approve")
        assert house.bench.effects == ["x"]


async def test_a_face_that_breaks_is_tried_again_with_a_growing_pause_and_not_in_a_storm(tmp_path: Path) -> None:
    face = BadFace(fail_card=ValueError("a bug in the face"))
    async with open_house(tmp_path, Script(ACT), face=face) as house:
        await house.ask()
        for _ in range(20):
            await house.later(seconds=1)
        # 2 s, 4 s, 8 s: at 0, 2, 6 and 14 seconds.
        assert face.attempts == ["post"] * 4


async def test_a_card_that_a_broken_face_never_shows_ends_as_undeliverable(tmp_path: Path) -> None:
    face = BadFace(fail_card=ValueError("a bug in the face"))
    async with open_house(tmp_path, Script(ACT, "I could not ask."), face=face) as house:
        page = await house.ask()
        for tries in range(MOST_TRIES):
            await house.later(seconds=back_off(tries) / 1000)
        assert await state(house) == ["undeliverable"]
        assert "answer" in " ".join(face.attempts) or page.finished == "I could not ask."
        assert len(face.attempts) <= MOST_TRIES + 1


async def test_a_message_that_breaks_the_face_is_tried_again_and_given_up_in_the_end(tmp_path: Path) -> None:
    face = BadFace(fail_say=ValueError("a bug in the face"), fail_tell=Unreachable("closed to me"))
    async with open_house(tmp_path, Script(ACT, "Done."), face=face) as house:
        await house.ask()
        await house.later(seconds=61)
        await house.decide("approve")
        assert face.attempts.count("answer:id0002") == 1
        for tries in range(MOST_TRIES + 2):
            await house.later(seconds=back_off(tries) / 1000)
        assert face.attempts.count("answer:id0002") == MOST_TRIES
        [row] = await house.rows("SELECT state, failures FROM outbox WHERE key = 'answer:id0002'")
        assert row["state"] == "inbox"
        assert [failure["error"] for failure in json.loads(row["failures"])] == [
            "ValueError: a bug in the face",
            "closed to me",
        ]


@pytest.mark.parametrize("error", [DeliveryError("503"), Unreachable("gone"), ValueError("a bug in the face")])
async def test_an_answer_is_said_once_even_if_the_old_reply_cannot_be_pointed_to_it(
    tmp_path: Path, error: Exception
) -> None:
    face = BadFace(break_marks=error)
    async with open_house(tmp_path, Script(ACT, "Done."), face=face) as house:
        await house.ask()
        await house.later(seconds=61)
        await house.decide("approve")
        for _ in range(3):
            await house.later(seconds=600)
        assert [said.text for said in face.said] == ["Done."]


@pytest.mark.parametrize("error", [DeliveryError("503"), ValueError("a bug in the face")])
async def test_a_reply_that_cannot_show_progress_does_not_stop_the_work(tmp_path: Path, error: Exception) -> None:
    page = BadPage(break_show=error, break_rest=error)
    async with open_house(tmp_path, Script(ACT, "It is done now."), face=BadFace()) as house:
        await house.ask(page=page)
        assert len(house.face.cards) == 1
        await house.decide("approve")
        assert page.finished == "It is done now."


async def test_a_reply_that_breaks_when_it_is_let_go_does_not_stop_the_sweep(tmp_path: Path) -> None:
    page = BadPage(break_rest=ValueError("a bug in the face"))
    async with open_house(tmp_path, Script(ACT, "Nobody answered.")) as house:
        await house.ask(page=page)
        await house.later(seconds=86_400)
        assert await state(house) == ["expired"]
        assert [said.text for said in house.face.said] == ["Nobody answered."]


async def test_a_reply_that_never_takes_the_answer_is_given_up_and_forgotten(tmp_path: Path) -> None:
    page = BadPage(break_finish=DeliveryError("503"))
    async with open_house(tmp_path, Script("Hello."), face=BadFace()) as house:
        await house.ask(page=page)
        for tries in range(MOST_TRIES + 2):
            await house.later(seconds=back_off(tries) / 1000)
        assert page.finishes == MOST_TRIES
        assert await state(house, "outbox") == ["delivered"]
        assert [person for person, _ in house.face.told] == ["2"]
        assert house.app.engine._delivery.replies == {}


async def test_a_reply_that_is_gone_gives_way_to_a_new_message(tmp_path: Path) -> None:
    page = BadPage(break_finish=Unreachable("deleted"))
    async with open_house(tmp_path, Script("Hello.")) as house:
        await house.ask(page=page)
        assert [said.text for said in house.face.said] == ["Hello."]
        assert house.app.engine._delivery.replies == {}


async def test_what_was_approved_runs_although_the_face_is_still_stuck_with_its_card(tmp_path: Path) -> None:
    face = BadFace(stuck_card=asyncio.Event())
    async with open_house(tmp_path, Script(ACT, "Done."), face=face) as house:
        asking = asyncio.ensure_future(house.ask())
        await face.posting.wait()
        await house.app.engine.decide(house.press(OWNER), "approve")
        async with asyncio.timeout(2):
            while await state(house) != ["succeeded"]:
                await asyncio.sleep(0)
        assert face.stuck_card is not None
        face.stuck_card.set()
        page = await asking
        await house.app.background.idle()
        assert page.finished == "Done."
        assert face.card_words["m1"][-1] == "done"


async def test_a_face_that_is_stuck_in_one_place_does_not_keep_others_from_expiring(tmp_path: Path) -> None:
    face = BadFace()
    async with open_house(tmp_path, Script(ACT, "Hello.", "Nobody answered."), face=face) as house:
        await house.ask(request="r1")
        face.stuck_say = asyncio.Event()
        gone = BadPage(break_finish=Unreachable("deleted"))
        stuck = asyncio.ensure_future(house.ask(request="r2", conversation="other", page=gone))
        while "answer:id0005" not in face.attempts:
            await asyncio.sleep(0)
        house.clock.advance(seconds=86_400)
        for _ in range(3):
            sweep = asyncio.ensure_future(house.app.engine.sweep())
            async with asyncio.timeout(2):
                while face.card_words["m1"][-1] != "expired":
                    await asyncio.sleep(0)
        face.stuck_say.set()
        await sweep
        await stuck
        assert [said.text for said in face.said if said.key == "answer:id0005"] == ["Hello."]


# -- tools --------------------------------------------------------------------------------------


class Unprintable(Exception):
    """An error that cannot even be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no")


class OddBench(Bench):
    """One tool that asks and one that does not, both with a body of the test's own."""

    def __init__(self, outcome: Any) -> None:
        super().__init__()
        self.outcome = outcome

    def tools(self) -> list[Tool]:
        async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.effects.append(arguments.what)
            if isinstance(self.outcome, BaseException):
                raise self.outcome
            return ToolOutcome(text=self.outcome)

        return [
            Tool(name="act", description="Acts.", arguments=DoArguments, body=body),
            Tool(name="look", description="Looks.", arguments=DoArguments, body=body, gated=False),
        ]


BREAKS = [RuntimeError("bang"), Unprintable(), asyncio.CancelledError(), asyncio.CancelledError("mine"), TimeoutError()]


@pytest.mark.parametrize("error", BREAKS, ids=lambda error: type(error).__name__)
async def test_whatever_an_approved_tool_raises_the_call_failed_and_the_run_goes_on(
    tmp_path: Path, error: BaseException
) -> None:
    script = Script(ACT, "It failed.")
    async with open_house(tmp_path, script, bench=OddBench(error)) as house:
        page = await house.ask()
        await house.decide("approve")
        assert await state(house) == ["failed"]
        assert page.finished == "It failed."
        [(outcome, text)] = script.results()
        assert outcome == "failed"
        assert "program stopped" not in text
        assert type(error).__name__ in text


@pytest.mark.parametrize("error", BREAKS, ids=lambda error: type(error).__name__)
async def test_whatever_an_allowed_tool_raises_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, error: BaseException
) -> None:
    script = Script([("look", {"what": "x"}), ("act", {"what": "y"})], "It failed.")
    async with open_house(tmp_path, script, bench=OddBench(error)) as house:
        page = await house.ask()
        await house.decide("deny")
        assert page.finished == "It failed."
        [(outcome, text), (denied, _)] = script.results()
        assert (outcome, denied) == ("failed", "denied")
        assert type(error).__name__ in text


@pytest.mark.parametrize("text", ["\ud800 half a character", "nul \0 inside", "\x1b[31m", "\u202e"])
async def test_no_result_can_keep_its_own_call_from_ending(tmp_path: Path, text: str) -> None:
    script = Script([("look", {"what": "a"}), ("act", {"what": "b"})], "Done.")
    async with open_house(tmp_path, script, bench=OddBench(text)) as house:
        page = await house.ask()
        await house.decide("approve")
        assert await state(house) == ["succeeded"]
        assert page.finished == "Done."
        assert all(outcome == "success" for outcome, _ in script.results())


# -- disks --------------------------------------------------------------------------------------


def failing(*steps: str) -> FaultyDatabase:
    """A database in which each of these steps fails once."""
    database = FaultyDatabase()
    database.failing.update(steps)
    return database


async def test_an_outcome_that_could_not_be_stored_is_stored_by_the_next_sweep_and_nothing_runs_again(
    tmp_path: Path,
) -> None:
    database = failing("record outcome")
    async with open_house(tmp_path, Script(ACT, "Done."), open_db=database.open) as house:
        await house.ask()
        await house.decide("approve")
        assert await state(house) == ["running"]
        await house.later(seconds=2)
        assert await state(house) == ["succeeded"]
        assert house.bench.effects == ["x"]
        assert [row["result"] for row in await house.rows("SELECT result FROM approval")] == ["out"]
        assert await state(house, "run") == ["done"]


@pytest.mark.parametrize("step", ["take up", "claim", "pause", "finish", "start run", "card shown", "delivered"])
async def test_a_commit_that_fails_once_costs_neither_the_answer_nor_a_second_run(tmp_path: Path, step: str) -> None:
    script = Script(*([ACT, "Done."] * 3))
    database = failing(step)
    async with open_house(tmp_path, script, open_db=database.open) as house:
        with contextlib.suppress(sqlite3.OperationalError):
            await house.ask()
        await house.app.background.idle()
        await house.later(seconds=5)
        if house.face.cards and (await state(house)) == ["pending"]:
            await house.decide("approve")
        await house.later(seconds=61)
        await house.later(seconds=61)
        assert house.bench.effects in ([], ["x"])
        assert set(await state(house, "run")) <= {"done", "failed"}
        assert set(await state(house)) <= {"succeeded"}
        assert not database.failing[step], "the step never came"
        assert house.app.engine._delivery.replies == {}


async def test_a_run_whose_ending_could_not_be_stored_is_taken_up_again(tmp_path: Path) -> None:
    database = failing("finish", "fail")
    async with open_house(tmp_path, Script("Hello.", "Hello again."), open_db=database.open) as house:
        with pytest.raises(sqlite3.OperationalError, match="full"):
            await house.ask()
        await house.app.background.idle()
        assert await state(house, "run") == ["running"]
        await house.later(seconds=2)
        assert await state(house, "run") == ["done"]


async def test_only_the_stranded_run_is_taken_up_again_and_not_one_that_is_being_worked_on(tmp_path: Path) -> None:
    database = failing("finish", "fail")
    async with open_house(tmp_path, Script("Lost.", "Slow.", "Again."), open_db=database.open) as house:
        with pytest.raises(sqlite3.OperationalError, match="full"):
            await house.ask(request="r1")
        reached, go_on = database.hold("finish")
        slow = asyncio.ensure_future(house.ask(request="r2", conversation="other"))
        await reached.wait()
        await house.app.engine.sweep()
        assert await house.rows("SELECT losses FROM run ORDER BY created_at, id") == [{"losses": 1}, {"losses": 0}]
        go_on.set()
        assert (await slow).finished == "Slow."
        await house.app.background.idle()
        assert await state(house, "run") == ["done", "done"]


async def test_a_decision_that_could_not_be_stored_changes_nothing_and_can_be_made_again(tmp_path: Path) -> None:
    database = failing("decide")
    async with open_house(tmp_path, Script(ACT, "Done."), open_db=database.open) as house:
        await house.ask()
        with pytest.raises(sqlite3.OperationalError, match="full"):
            await house.app.engine.decide(house.press(OWNER), "approve")
        assert await state(house) == ["pending"]
        await house.decide("approve")
        assert house.bench.effects == ["x"]


async def test_a_turn_that_could_not_even_be_stored_leaves_nothing_behind(tmp_path: Path) -> None:
    database = failing("start run")
    async with open_house(tmp_path, Script("Hello."), open_db=database.open) as house:
        with pytest.raises(sqlite3.OperationalError, match="full"):
            await house.ask()
        assert house.app.engine._delivery.replies == {}
        assert await house.rows("SELECT * FROM run") == []


async def test_a_sweep_that_fails_is_followed_by_another(tmp_path: Path) -> None:
    database = FaultyDatabase()
    face = BadFace()
    async with open_house(tmp_path, Script(ACT, "Nobody."), face=face, open_db=database.open, sweep_ms=1) as house:
        await house.ask()
        house.clock.advance(seconds=86_400)
        database.failing_reads = 3
        async with asyncio.timeout(60):
            while await database.inner.reader.one("SELECT 1 FROM run WHERE state <> 'done'"):
                await asyncio.sleep(0.01)
        assert face.card_words["m1"][-1] == "expired"
