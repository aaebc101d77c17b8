"""Restarts, lost wake-ups and memory: every run ends with one word, and nothing is kept for it afterwards."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from bot.agent.gate import BREAKER
from bot.delivery import ATTEMPT_MS
from bot.errors import DeliveryError, ModelError, Unreachable
from bot.progress import place_in_line
from bot.surface import TurnContext
from bot.turns import BROKEN_TEXT, LOST_TEXT, UNKNOWN_PAUSE_TEXT
from storage import approvals, audit, conversations, outbox
from storage.approvals import ApprovalState
from tests.faults import BadFace, BadPage, FaultyDatabase
from tests.house import ASKER, OWNER, PLACE, Bench, Face, House, ManualClock, Page, Script, open_house

ACT = [("act", {"what": "x"})]


async def states(house: House, table: str = "run") -> list[str]:
    return [row["state"] for row in await house.rows(f"SELECT state FROM {table} ORDER BY id")]


async def as_if_dead(house: House, state: str = "running", *, losses: int = 0, owner: str = "dead") -> None:
    """Leave the run as a process leaves it that dies at work."""
    async with house.app.database.begin("die") as tx:
        await tx.execute("UPDATE run SET state = ?, owner = ?, losses = ?", state, owner, losses)


def memory(house: House) -> list[Any]:
    """Everything the process keeps about runs and cards."""
    turns, delivery = house.app.engine._turns, house.app.engine._delivery
    executor = house.app.engine._executor
    progress = turns.progress
    shown = [progress._ahead, progress._said, progress._remembered, progress._timers]
    kept = [turns._going, *shown, turns._limits, turns._lanes._lanes, turns._holding._until]
    return [*kept, delivery.replies, delivery._lanes._lanes, executor._claimed, executor._unrecorded]


# -- after a crash ------------------------------------------------------------------------------


async def test_a_run_whose_process_died_is_begun_again_once_and_answers(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ModelError("ask again"))) as house:
        await house.ask()
        await as_if_dead(house)
        async with house.app.database.begin("forget") as tx:
            await tx.execute("DELETE FROM outbox")
    async with open_house(tmp_path, Script("Hello."), ids="later") as house:
        assert await states(house) == ["done"]
        assert [said.text for said in house.face.said] == ["Hello."]


async def test_a_run_that_loses_its_process_a_second_time_is_given_up_and_says_so(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        await as_if_dead(house, losses=1)
    async with open_house(tmp_path, Script("never said"), ids="later") as house:
        assert await states(house) == ["lost"]
        assert [said.text for said in house.face.said] == [LOST_TEXT]
        assert house.script.seen == []


async def test_giving_a_run_up_is_one_commit_with_finding_it(tmp_path: Path) -> None:
    """Were it two, a crash between them would give the run a third try."""
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        await as_if_dead(house, losses=1)
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(), ids="later", open_db=database.open, recover=False) as house:
        house.app.engine._delivery._surface = None
        await house.app.engine.recover()
        assert database.steps[0] == "recover"
        assert await states(house) == ["lost"]


async def test_recovering_with_a_face_that_cannot_deliver_loses_nothing(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        await as_if_dead(house, losses=1)
    clock, face = ManualClock(), Face(fail_say=DeliveryError("503"), fail_card=DeliveryError("503"))
    async with open_house(tmp_path, Script(), ids="later", face=face, clock=clock) as house:
        assert face.said == []
        face.fail_say = face.fail_card = None
        await house.later(seconds=2)
        assert [said.text for said in face.said] == [LOST_TEXT]


async def test_recovering_with_a_broken_face_still_runs_what_was_approved(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT), open_db=database.open) as house:
        await house.ask()
        database.failing["claim"] = 1
        await house.decide("approve")
    bench = Bench()
    face = BadFace(fail_say=ValueError("a bug"), fail_card=ValueError("a bug"), break_marks=ValueError("a bug"))
    async with open_house(tmp_path, Script("It ran."), ids="later", face=face, bench=bench) as house:
        assert bench.effects == ["x"]
        assert await states(house) == ["done"]


async def test_recovering_twice_changes_nothing(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.ask()
        before = await house.rows("SELECT state, losses, owner FROM run")
        await house.app.engine.recover()
        await house.app.background.idle()
        assert await house.rows("SELECT state, losses, owner FROM run") == before
        await house.decide("approve")
        assert house.bench.effects == ["x"]


async def test_a_pause_of_another_version_is_not_guessed_and_its_run_ends_with_a_word(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "never said")) as house:
        page = await house.ask()
        async with house.app.database.begin("alter") as tx:
            await tx.execute("UPDATE run SET pause = ?", json.dumps({"version": 99}))
        await house.decide("approve")
        assert page.finished == UNKNOWN_PAUSE_TEXT
        assert await states(house) == ["failed"]
        assert house.bench.effects == ["x"]


@pytest.mark.parametrize("pause", ["{}", "no json", '{"version": 1}', "[]"])
async def test_a_pause_that_cannot_be_read_ends_its_run_with_a_word(tmp_path: Path, pause: str) -> None:
    async with open_house(tmp_path, Script(ACT, "never said")) as house:
        page = await house.ask()
        async with house.app.database.begin("alter") as tx:
            await tx.execute("UPDATE run SET pause = ?", pause)
        await house.decide("deny")
        assert page.finished in {UNKNOWN_PAUSE_TEXT, BROKEN_TEXT}
        assert await states(house) == ["failed"]


async def test_a_history_that_cannot_be_read_ends_the_run_with_a_word(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "never said")) as house:
        page = await house.ask()
        async with house.app.database.begin("alter") as tx:
            await tx.execute('UPDATE message SET body = \'{"kind": "nonsense"}\'')
        await house.decide("deny")
        assert page.finished == BROKEN_TEXT
        assert await states(house) == ["failed"]


async def test_an_announcement_that_was_in_flight_at_the_crash_is_said_again_and_marked(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "Done."), open_db=database.open) as house:
        await house.ask()
        await house.later(seconds=61)
        database.failing["delivered"] = 1
        await house.decide("approve")
        assert [said.repeated for said in house.face.said] == [False]
    async with open_house(tmp_path, Script(), ids="later") as house:
        assert [(said.text, said.key, said.repeated) for said in house.face.said] == [("Done.", "answer:id0002", True)]


async def test_an_answer_in_its_reply_is_never_said_a_second_time_elsewhere(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script("Hello."), open_db=database.open) as house:
        database.failing["delivered"] = 1
        page = BadPage()
        with pytest.raises(sqlite3.OperationalError, match="full"):
            await house.ask(page=page)
        await house.later(seconds=ATTEMPT_MS / 1000)
        assert (page.finished, page.finishes) == ("Hello.", 2)
        assert house.face.said == []


# -- turns that outlive their caller ------------------------------------------------------------


async def test_a_turn_goes_on_when_the_faces_own_task_is_cancelled(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script("Hello."), open_db=database.open) as house:
        reached, go_on = database.hold("finish")
        page = Page()
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="hi")
        turn = asyncio.ensure_future(house.app.engine.take_turn(ctx, page))
        await reached.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        go_on.set()
        await house.app.background.idle()
        assert (page.finished, await states(house)) == ("Hello.", ["done"])


async def test_a_turn_that_is_cut_off_by_a_stop_is_begun_again_after_the_next_start(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script("Hello."), open_db=database.open) as house:
        reached, _ = database.hold("finish")
        turn = asyncio.ensure_future(house.ask())
        await reached.wait()
        await house.app.engine.stop(grace=0)
        turn.cancel()
        await asyncio.wait([turn])
        assert await house.rows("SELECT state, losses FROM run") == [{"state": "queued", "losses": 0}]
    async with open_house(tmp_path, Script("Hello again."), ids="later") as house:
        assert [said.text for said in house.face.said] == ["Hello again."]


async def test_turns_of_one_conversation_come_one_after_another_and_others_do_not_wait(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script("One.", "Other.", "Two."), open_db=database.open) as house:
        reached, go_on = database.hold("finish")
        first = asyncio.ensure_future(house.ask("1", request="r1"))
        await reached.wait()
        waiting = Page()
        second = asyncio.ensure_future(house.ask("2", request="r2", page=waiting))
        other = Page()
        ctx = TurnContext(conversation="other", place=PLACE, requester=ASKER.id, request="r3", prompt="3")
        await house.app.engine.take_turn(ctx, other)
        assert other.finished == "Other."
        assert waiting.shown == [place_in_line(1)]
        go_on.set()
        assert (await first).finished == "One."
        assert (await second).finished == "Two."


async def test_a_turn_that_fails_frees_its_conversation(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ModelError("ask again"), RuntimeError("bang"), "Hello.")) as house:
        assert (await house.ask(request="r1")).finished == "ask again"
        assert (await house.ask(request="r2")).finished
        assert (await house.ask(request="r3")).finished == "Hello."


# -- wake-ups -----------------------------------------------------------------------------------


async def test_what_another_process_settled_is_taken_up_by_the_next_sweep(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Cancelled.")) as house:
        page = await house.ask()
        async with house.app.database.begin("another process") as tx:
            [row] = await tx.all("SELECT id FROM approval")
            await approvals.settle(tx, row["id"], ApprovalState.CANCELLED, by="7", at=house.clock.now())
        await house.later(seconds=2)
        assert page.finished == "Cancelled."
        assert house.face.card_words["m1"][-1] == "cancelled"


async def test_a_call_expires_by_the_alarm_alone(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Nobody."), sweep_ms=1) as house:
        page = await house.ask()
        house.clock.advance(seconds=86_400)
        async with asyncio.timeout(5):
            while page.finished is None and not house.face.said:
                await asyncio.sleep(0.01)
        assert house.face.card_words["m1"][-1] == "expired"


async def test_a_stuck_delivery_does_not_gather_sweeps(tmp_path: Path) -> None:
    face = BadFace()
    async with open_house(tmp_path, Script(ACT, "Hello."), face=face) as house:
        await house.ask(request="r1")
        face.stuck_say = asyncio.Event()
        gone = BadPage(break_finish=Unreachable("deleted"))
        stuck = asyncio.ensure_future(house.ask(request="r2", conversation="other", page=gone))
        while not any(key.startswith("answer") for key in face.attempts):
            await asyncio.sleep(0)
        async with asyncio.timeout(5):
            for _ in range(20):
                house.clock.advance(seconds=61)
                await house.app.engine.sweep()
        face.stuck_say.set()
        await stuck
        assert sum(key.startswith("answer") for key in face.attempts) == 1


async def test_nothing_is_owed_and_no_alarm_is_set_once_everything_is_said(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.ask()
        await house.decide("approve")
        await house.later(seconds=86_400)
        assert await outbox.next_due(house.app.database.reader) is None


# -- memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        (["Hello."], None),
        ([ACT, "Done."], "approve"),
        ([ACT, "Done."], "deny"),
        ([ACT, ModelError("ask again")], "approve"),
        ([ModelError("ask again")], None),
        ([RuntimeError("bang")], None),
        ([ACT, ACT, *[ACT] * BREAKER], "deny"),
        ([ACT, "Nobody."], "expire"),
        ([ACT, [("act", {"what": "y"})], "Done."], "approve"),
    ],
)
async def test_nothing_is_kept_in_memory_of_a_run_that_has_ended(
    tmp_path: Path, steps: list[Any], verdict: str | None
) -> None:
    async with open_house(tmp_path, Script(*steps)) as house:
        page = await house.ask()
        if verdict == "expire":
            await house.later(seconds=86_400)
        elif verdict is not None:
            await house.decide(verdict)
            if "waiting for sign-off" in house.face.card_words[house.card[0]][-1]:
                await house.decide(verdict)
        assert page.finished or house.face.said
        assert set(await states(house)) <= {"done", "failed"}
        assert [kept for kept in memory(house) if kept] == []


async def test_nothing_is_kept_in_memory_of_a_run_that_waits_longer_than_the_hold(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(*[ACT] * 20)) as house:
        for n in range(20):
            await house.ask(request=f"r{n}", conversation=f"c{n}", by=str(100 + n))
        await house.later(seconds=61)
        assert (await states(house)) == ["waiting"] * 20
        assert [kept for kept in memory(house) if kept] == []


# -- long conversations -------------------------------------------------------------------------


async def test_a_run_longer_than_the_window_still_sees_its_own_beginning(tmp_path: Path) -> None:
    looks: list[Any] = [[("look", {"what": f"{n}"})] for n in range(38)]
    pauses: list[Any] = []
    for n in range(3):
        pauses += [*looks, [("act", {"what": f"p{n}"})]]
    async with open_house(tmp_path, Script(*pauses, "Done.")) as house:
        page = await house.ask("the beginning")
        for _ in range(3):
            await house.decide("approve")
        assert await conversations.length(house.app.database.reader, PLACE) > 200
        assert house.bench.effects == ["p0", "p1", "p2"]
        assert page.finished == "Done." or [said.text for said in house.face.said] == ["Done."]
        assert getattr(house.script.seen[-1][0].parts[0], "content", "") == "the beginning"


async def test_a_long_conversation_costs_a_turn_no_more_than_its_window(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("First.", "Last.")) as house:
        await house.ask("q0", request="r0")
        bodies = await conversations.load(house.app.database.reader, PLACE, last=2)
        async with house.app.database.begin("grow") as tx:
            await conversations.append(tx, PLACE, run="id0002", at_length=2, bodies=bodies * 150)
        await house.ask("q1", request="r1")
        assert len(house.script.seen[-1]) == 201
        assert getattr(house.script.seen[-1][0].parts[0], "content", "") == "q0"


# -- the trail ----------------------------------------------------------------------------------


async def test_the_trail_of_a_whole_walk_holds_and_tells_it_in_order(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.ask()
        await house.decide("approve")
        entries = await audit.entries(house.app.database.reader)
        assert await audit.verify(house.app.database.reader) is None
        events = [entry.event for entry in entries]
        wanted = ["turn_started", "asked", "card_posted", "approved", "running", "succeeded", "turn_done", "announced"]
        assert [event for event in events if event in wanted] == wanted
        actors = {entry.event: entry.actor for entry in entries}
        assert (actors["asked"], actors["approved"], actors["running"]) == (ASKER.id, OWNER.id, audit.SYSTEM)
