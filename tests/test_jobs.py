"""Jobs while they run: their card, their lane, their time, what people tell them (issue 6, points 1 and 2)."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.usage import RequestUsage

from bot.agent.metering import cost_of
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import AlreadySettled, DecisionRefused, NotAllowed, UnknownApproval
from bot.jobs.budget import CLOCKED_JOB_BUDGET_MS, EXTENSION_MS, JOB_BUDGET_MS, MOST_BUDGET_MS
from bot.jobs.cards import FRESH_AFTER_MS
from bot.surface import Actor, Announcement, CardPress, JobView, TurnClock, TurnContext
from storage import jobs, outbox, runs
from storage.runs import Run, RunState
from tests.faults import FaultyDatabase
from tests.house import ASKER, OWNER, PLACE, STRANGER, Bench, DoArguments, Face, House, ManualClock, Script, open_house

ACT = [("act", {"what": "x"})]
LOOK = [("look", {"what": "x"})]

leak: contextvars.ContextVar[str] = contextvars.ContextVar("leak", default="clean")


def asked(prompt: str = "count", *, by: str = ASKER.id, place: str = PLACE, **more: Any) -> TurnContext:
    return TurnContext(conversation=place, place=place, requester=by, request="r1", prompt=prompt, **more)


async def start(house: House, prompt: str = "count", **more: Any) -> Run:
    """A job, and everything that it can do without people."""
    job = await house.app.engine.start_job(asked(prompt, **more))
    await house.app.background.idle()
    return job


async def stored(house: House, job: Run) -> Run:
    run = await runs.get(house.app.database.reader, job.id)
    assert run is not None
    return run


def card(house: House, number: int = 1) -> JobView:
    return house.face.jobs[f"j{number}"]


def press(job: Run, actor: Actor = ASKER, message: str = "j1") -> CardPress:
    return CardPress(actor=actor, card=job.id, place=job.place, message=message)


def prompts(messages: list[ModelMessage]) -> list[str]:
    """What the model was told in the user position."""
    return [
        str(part.content)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]


class Gate(Bench):
    """`look` waits until the test lets it go, and keeps what was in its context."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.began = 0
        self.contexts: list[str] = []

    def tools(self) -> list[Tool]:
        async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.began += 1
            self.contexts.append(leak.get())
            await self.go.wait()
            return ToolOutcome(text="seen")

        others = [tool for tool in super().tools() if tool.name != "look"]
        return [*others, Tool(name="look", description="Looks.", arguments=DoArguments, body=look, gated=False)]


async def until_began(gate: Gate, count: int = 1) -> None:
    async with asyncio.timeout(5):
        while gate.began < count:
            await asyncio.sleep(0)


@asynccontextmanager
async def at_work(folder: Path, *steps: Any, **more: Any) -> AsyncIterator[tuple[House, Gate, Run]]:
    """A house in which a job is inside a tool call."""
    gate = Gate()
    async with open_house(folder, Script(LOOK, *steps), bench=gate, **more) as house:
        job = await house.app.engine.start_job(asked())
        await until_began(gate)
        yield house, gate, job
        gate.go.set()
        await house.app.background.idle()


# -- starting ---------------------------------------------------------------------------------


async def test_a_job_begins_with_what_was_said_where_it_comes_from(tmp_path: Path) -> None:
    script = Script("Seven fish.", "Counted.")
    async with open_house(tmp_path, script) as house:
        await house.ask("how many fish?")
        await start(house, "count them again")
        first = prompts(script.seen[-1])[0]
        assert first.startswith("count them again\n\n")
        assert "Person: how many fish?\nSignoff: Seven fish." in first


async def test_what_was_said_elsewhere_is_not_in_it(tmp_path: Path) -> None:
    script = Script("Seven fish.", "Counted.")
    async with open_house(tmp_path, script) as house:
        await house.ask("how many fish?", conversation="discord/9/91", place="discord/9/91")
        await start(house, "count them again")
        assert prompts(script.seen[-1]) == ["count them again"]


async def test_nothing_of_its_parents_context_reaches_a_job_or_its_grandchildren(tmp_path: Path) -> None:
    gate = Gate()
    gate.go.set()
    steps: dict[str, list[Any]] = {
        "please": [[("start_job", {"goal": "child"}), ("look", {"what": "turn"})], "On it."],
        "child": [[("start_job", {"goal": "grandchild"}), ("look", {"what": "child"})], "On it."],
        "grandchild": [LOOK, "Done."],
    }
    async with open_house(tmp_path, Script(by_prompt=steps), bench=gate) as house:
        leak.set("the parent's token")
        await house.app.engine.take_turn(asked("please", clock=TurnClock(refires=True)), _Nowhere())
        await house.app.background.idle()
        assert gate.contexts == ["clean"] * 3
        made = await house.rows(
            "SELECT prompt, request, reply, clocked, budget_ms FROM run WHERE announces IS NULL ORDER BY created_at, id"
        )
        turn, child, grandchild = made
        assert (turn["clocked"], child["clocked"], grandchild["clocked"]) == (1, 0, 0)
        assert (child["budget_ms"], grandchild["budget_ms"]) == (CLOCKED_JOB_BUDGET_MS, JOB_BUDGET_MS)
        assert child["reply"] is grandchild["reply"] is None
        assert len({turn["request"], child["request"], grandchild["request"]}) == 3


class _Nowhere:
    """A reply that shows nothing."""

    message = None

    def belongs_to(self, run: str) -> None: ...

    def lasts(self) -> None: ...

    async def show(self, text: str) -> None: ...

    async def rest(self, text: str) -> None: ...

    async def finish(self, text: str, *, key: str | None = None) -> str:
        return "reply"


@pytest.mark.parametrize(("wished", "gets"), [(60_000, 60_000), (1, 60_000), (JOB_BUDGET_MS * 2, JOB_BUDGET_MS)])
async def test_a_smaller_budget_can_be_wished_and_never_a_greater_one(tmp_path: Path, wished: int, gets: int) -> None:
    async with open_house(tmp_path, Script("Counted.")) as house:
        assert (await start(house, budget_ms=wished)).budget_ms == gets


# -- the card ---------------------------------------------------------------------------------


async def test_a_job_has_one_card_that_shows_its_steps_and_its_end(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Counted.")) as house:
        job = await start(house)
        await house.later(seconds=6)
        assert card(house).run.state is RunState.WAITING
        assert card(house).asks == ("link:discord/9/90/m1",)
        await house.decide("approve")
        await house.later(seconds=6)
        assert list(house.face.jobs) == ["j1"]
        assert card(house).run.state is RunState.DONE
        assert [step.text for step in card(house).steps] == ["asked for act", "act: done"]
        assert card(house).run.id == job.id


async def test_a_card_is_edited_at_most_every_five_seconds_and_only_to_its_newest_state(tmp_path: Path) -> None:
    async with at_work(tmp_path, "Counted.") as (house, _gate, job):
        for number in range(10):
            async with house.app.database.begin("change") as tx:
                await jobs.put_steps(tx, job.id, [jobs.Step(at=0, text=f"step {number}")], after=number + 1)
                await jobs.touch(tx, job.id)
            await house.app.engine.sweep()
        assert len(house.face.job_edits) == 0
        house.clock.advance(seconds=5)
        await house.app.engine.sweep()
        assert len(house.face.job_edits) == 1
        assert card(house).steps[-1].text == "step 9"


async def test_the_cards_of_one_place_share_its_pace(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(*[ACT] * 3)) as house:
        for number in range(3):
            await start(house, f"job {number}", by=str(number))
            assert len(house.face.jobs) == 1  # so do new ones: many starts are not many messages at once
        await house.later(seconds=1)
        await house.later(seconds=1)
        assert len(house.face.jobs) == 3
        house.clock.advance(seconds=60)
        for _ in range(3):
            async with house.app.database.begin("change") as tx:
                for row in await tx.all("SELECT run FROM job"):
                    await jobs.touch(tx, row["run"])
            await house.app.engine.sweep()
        assert len(house.face.job_edits) == 1
        await house.later(seconds=1)
        assert len(house.face.job_edits) == 2


async def test_a_card_that_grows_too_old_is_replaced_by_a_fresh_one_and_points_to_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        job = await start(house)
        await house.later(seconds=6)
        house.clock.advance(seconds=FRESH_AFTER_MS / 1000)
        async with house.app.database.begin("change") as tx:
            await jobs.touch(tx, job.id)
        await house.later(seconds=1)
        assert list(house.face.jobs) == ["j1", "j2"]
        assert house.face.retired == [("j1", "j2")]
        assert card(house, 2).before == "link:discord/9/90/j1"
        with pytest.raises(UnknownApproval, match=r"newer card\. link:discord/9/90/j2"):
            await house.app.engine.desk.stop(press(job, message="j1"))
        assert "stop job" in await house.app.engine.desk.stop(press(job, message="j2"))


async def test_a_card_that_could_not_be_posted_is_posted_after_a_restart(tmp_path: Path) -> None:
    face = Face(fail_job=OSError("no network"))
    clock = ManualClock()
    async with open_house(tmp_path, Script(ACT), face=face, clock=clock) as house:
        await start(house)
        assert face.jobs == {}
    face.fail_job = None
    clock.advance(seconds=60)
    async with open_house(tmp_path, Script(), face=face, clock=clock, ids="again"):
        assert list(face.jobs) == ["j1"]


async def test_tokens_are_counted_over_all_stretches(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Counted.")) as house:
        job = await start(house)
        first = await jobs.get(house.app.database.reader, job.id)
        await house.decide("approve")
        both = await jobs.get(house.app.database.reader, job.id)
        assert first is not None
        assert both is not None
        assert 0 < first.input_tokens < both.input_tokens
        assert 0 < first.output_tokens < both.output_tokens


async def test_a_cost_grows_and_is_unknown_as_soon_as_one_part_of_it_is(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        job = await start(house)
        first = await jobs.get(house.app.database.reader, job.id)
        assert first is not None
        assert first.cost_micros is None  # a scripted model has no price
        async with house.app.database.begin("priced") as tx:
            await tx.execute("UPDATE job SET cost_micros = 0")
            for cost in (200, 210, 100):
                await jobs.set_usage(tx, job.id, input_tokens=1, output_tokens=1, cost_micros=cost)
            grown = await jobs.get(tx, job.id)
            await jobs.set_usage(tx, job.id, input_tokens=1, output_tokens=1, cost_micros=None)
            await jobs.set_usage(tx, job.id, input_tokens=1, output_tokens=1, cost_micros=500)
            unknown = await jobs.get(tx, job.id)
        assert grown is not None
        assert unknown is not None
        assert (grown.cost_micros, unknown.cost_micros) == (210, None)


def test_what_a_model_costs_comes_from_the_list_of_prices() -> None:
    usage = RequestUsage(input_tokens=1_000_000, output_tokens=0)
    priced = ModelResponse(parts=[TextPart("x")], model_name="gpt-4o-mini", provider_name="openai", usage=usage)
    unknown = ModelResponse(parts=[TextPart("x")], model_name="script", usage=usage)
    assert cost_of([priced, priced]) == 300_000
    assert cost_of([priced, unknown]) is None
    assert cost_of([]) == 0


# -- lanes ------------------------------------------------------------------------------------


async def test_a_persons_third_job_queues_behind_two_and_somebody_elses_does_not(tmp_path: Path) -> None:
    gate = Gate()
    async with open_house(tmp_path, Script(*[LOOK] * 4, *["Done."] * 4), bench=gate) as house:
        mine = [await house.app.engine.start_job(asked(f"job {number}")) for number in range(3)]
        await until_began(gate, 2)
        other = await house.app.engine.start_job(asked("other", by="77"))
        await until_began(gate, 3)
        assert [(await stored(house, job)).state for job in mine] == ["running", "running", "queued"]
        assert (await stored(house, other)).state == "running"
        assert await jobs.place_in_queue(house.app.database.reader, mine[2].id) == 1
        gate.go.set()
        await house.app.background.idle()
        assert [(await stored(house, job)).state for job in [*mine, other]] == ["done"] * 4


async def test_a_job_that_waits_for_people_takes_up_no_room(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(*[ACT] * 5)) as house:
        every = [await start(house, f"job {number}") for number in range(5)]
        assert [(await stored(house, job)).state for job in every] == ["waiting"] * 5


async def test_the_queue_moves_in_order_and_its_cards_show_the_new_places(tmp_path: Path) -> None:
    gate = Gate()
    async with open_house(tmp_path, Script(*[LOOK] * 5, *["Done."] * 5), bench=gate) as house:
        every = [await house.app.engine.start_job(asked(f"job {number}")) for number in range(4)]
        await until_began(gate, 2)
        for _ in range(6):
            house.clock.advance(seconds=6)
            await house.app.engine.sweep()
        places = {view.run.id: view.place_in_queue for view in house.face.jobs.values()}
        assert [places[job.id] for job in every] == [None, None, 1, 2]
        await house.app.engine.cancel_job(every[0].id, ASKER)
        await until_began(gate, 3)
        for _ in range(6):
            house.clock.advance(seconds=6)
            await house.app.engine.sweep()
        places = {view.run.id: view.place_in_queue for view in house.face.jobs.values()}
        assert [places[job.id] for job in every[1:]] == [None, None, 1]
        gate.go.set()
        await house.app.background.idle()


# -- time -------------------------------------------------------------------------------------


async def test_the_time_of_a_running_job_is_stored_every_ten_seconds_and_survives_the_process(tmp_path: Path) -> None:
    async with at_work(tmp_path, "Counted.") as (house, _gate, job):
        house.clock.advance(seconds=9)
        await house.app.engine.sweep()
        first = [step.text for step in await jobs.steps_of(house.app.database.reader, job.id, last=9)]
        assert first == ["started look"]
        house.clock.advance(seconds=13)
        await house.app.engine.sweep()
        assert (await stored(house, job)).spent_ms == 22_000
        house.clock.advance(seconds=5)
    assert (await _spent(tmp_path)) == 27_000


async def _spent(folder: Path) -> int:
    async with open_house(folder, Script(), ids="again") as house:
        return int((await house.rows("SELECT spent_ms FROM run"))[0]["spent_ms"])


async def test_accounts_that_could_not_be_written_are_written_the_next_time(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with at_work(tmp_path, "Counted.", open_db=database.open) as (house, _gate, job):
        house.clock.advance(seconds=20)
        database.failing["job progress"] = 1
        with pytest.raises(Exception, match="full"):
            await house.app.engine.sweep()
        assert (await stored(house, job)).spent_ms == 0
        await house.app.engine.sweep()
        assert (await stored(house, job)).spent_ms == 20_000


async def test_extending_gives_a_running_job_more_time_at_once(tmp_path: Path) -> None:
    async with at_work(tmp_path, "Counted.") as (house, gate, job):
        told = await house.app.engine.desk.extend(press(job))
        assert told == f"Job `{job.id}` has 75 minutes of compute time now."
        assert (await stored(house, job)).budget_ms == JOB_BUDGET_MS + EXTENSION_MS
        gate.go.set()
        await house.app.background.idle()
        assert (await stored(house, job)).state == "done"


async def test_a_job_cannot_be_extended_for_ever(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        job = await start(house)
        for _ in range((MOST_BUDGET_MS - JOB_BUDGET_MS) // EXTENSION_MS):
            await house.app.engine.desk.extend(press(job))
        with pytest.raises(DecisionRefused, match="as much compute time as a job can get"):
            await house.app.engine.desk.extend(press(job))
        assert (await stored(house, job)).budget_ms == MOST_BUDGET_MS


# -- what people do ---------------------------------------------------------------------------


async def test_stop_counts_at_the_second_press_of_the_same_person(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        job = await start(house)
        assert "once more within a minute" in await house.app.engine.desk.stop(press(job))
        assert "once more within a minute" in await house.app.engine.desk.stop(press(job, OWNER))
        assert (await stored(house, job)).state == "waiting"
        assert await house.app.engine.desk.stop(press(job, OWNER)) == f"Job `{job.id}` is stopped."
        assert (await stored(house, job)).state == "cancelled"
        with pytest.raises(AlreadySettled):
            await house.app.engine.desk.stop(press(job))


async def test_a_first_press_does_not_count_for_ever(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        job = await start(house)
        await house.app.engine.desk.stop(press(job))
        house.clock.advance(seconds=61)
        assert "once more" in await house.app.engine.desk.stop(press(job))
        assert (await stored(house, job)).state == "waiting"


async def test_strangers_can_do_nothing_about_a_job(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        job = await start(house)
        desk = house.app.engine.desk
        for attempt in (
            desk.stop(press(job, STRANGER)),
            desk.extend(press(job, STRANGER)),
            desk.note(press(job, STRANGER), "do evil"),
            desk.log(press(job, STRANGER)),
        ):
            with pytest.raises(NotAllowed):
                await attempt
        with pytest.raises(UnknownApproval):
            await desk.stop(CardPress(actor=ASKER, card=job.id, place="discord/9/91", message="j1"))


async def test_a_note_to_a_waiting_job_is_read_behind_the_outcome_it_waits_for(tmp_path: Path) -> None:
    script = Script(ACT, "Counted.")
    async with open_house(tmp_path, script) as house:
        job = await start(house)
        await house.app.engine.desk.note(press(job), "only the red ones")
        await house.decide("approve")
        assert [outcome for outcome, _text in script.results()] == ["success"]
        assert prompts(script.seen[-1])[-1] == f"[A note from <{ASKER.id}> about this job:]\nonly the red ones"
        assert await jobs.notes_of(house.app.database.reader, job.id) == []


async def test_a_note_that_comes_while_the_last_answer_is_written_makes_the_job_go_on(tmp_path: Path) -> None:
    async with at_work(tmp_path, "Counted.", "Counted the red ones.") as (house, gate, job):
        await house.app.engine.desk.note(press(job), "only the red ones")
        gate.go.set()
        await house.app.background.idle()
        assert (await stored(house, job)).result == "Counted the red ones."
        assert len(house.face.said) == 1
        assert prompts(house.script.seen[-1]) == [
            "count",
            f"[A note from <{ASKER.id}> about this job:]\nonly the red ones",
        ]


async def test_a_note_to_a_job_that_has_ended_is_refused(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Counted.")) as house:
        job = await start(house)
        await house.decide("approve")
        with pytest.raises(AlreadySettled):
            await house.app.engine.desk.note(press(job), "too late")


async def test_the_log_holds_everything(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Counted.")) as house:
        job = await start(house)
        await house.app.engine.desk.note(press(job), "only the red ones")
        await house.decide("approve")
        log = await house.app.engine.desk.log(press(job))
        for part in (
            "count",
            "asked for act",
            "only the red ones",
            '{"what":"x"}',
            "Counted.",
            f"# Job {job.id}: done",
        ):
            assert part in log


@pytest.mark.parametrize(("extended", "ends"), [(False, "timed_out"), (True, "done")])
async def test_only_a_job_that_was_extended_outlives_its_first_budget(
    tmp_path: Path, extended: bool, ends: str
) -> None:
    async with open_house(tmp_path, Script(ACT, LOOK, "Counted."), bench=(gate := Gate())) as house:
        job = await start(house)
        async with house.app.database.begin("nearly spent") as tx:
            await runs.set_spent(tx, job.id, JOB_BUDGET_MS - 150)
        await house.app.engine.decide(house.press(OWNER), "approve")
        await until_began(gate)
        if extended:
            await house.app.engine.desk.extend(press(job))
        await asyncio.sleep(0.3)  # not to wait for anything: this is the time that the budget has not
        gate.go.set()
        await house.app.background.idle()
        assert (await stored(house, job)).state == ends


async def test_an_answer_does_not_wait_behind_all_the_jobs_that_end_at_once(tmp_path: Path) -> None:
    """Ten endings are due in one place; while the first is being said, somebody gets an answer there."""

    class Slow(Face):
        """Says nothing before it may."""

        gate = asyncio.Event()

        async def announce(self, announcement: Announcement) -> str:
            await self.gate.wait()
            return await super().announce(announcement)

    face = Slow()
    async with open_house(tmp_path, Script(), face=face) as house:
        now = house.clock.now()
        ladder = [{"place": PLACE}]
        async with house.app.database.begin("ends") as tx:
            for number in range(10):
                body = {"text": f"Job {number} is done.", "ladder": ladder}
                await outbox.owe(tx, key=f"end:{number}", run=None, place=PLACE, body=body, at=now)
        going = asyncio.ensure_future(house.app.engine.sweep())
        while not await house.rows("SELECT id FROM outbox WHERE state = 'attempting'"):
            await asyncio.sleep(0)
        async with house.app.database.begin("answers") as tx:
            await outbox.owe(tx, key="answer:1", run=None, place=PLACE, body={"text": "Hello.", "answer": True}, at=now)
        face.gate.set()
        await going
        said = [announcement.text for announcement in face.said]
        assert said.index("Hello.") <= 2
        assert len(said) == 11
