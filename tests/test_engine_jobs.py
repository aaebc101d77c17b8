"""Jobs: started once, cancelled for good, and never charged for people's time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import AlreadySettled, NotAllowed, UnknownApproval
from bot.jobs import words
from bot.jobs.budget import CLOCKED_JOB_BUDGET_MS, JOB_BUDGET_MS
from bot.settings import Settings
from bot.surface import CardPress, TurnClock, TurnContext
from storage import jobs, runs
from storage.runs import Run, RunKind
from tests.faults import FaultyDatabase
from tests.house import ASKER, OWNER, PLACE, STRANGER, Bench, DoArguments, House, Script, Step, open_house

ACT = [("act", {"what": "x"})]


async def start(house: House, prompt: str = "count", clock: TurnClock | None = None) -> Run:
    """A job, and everything that it can do without people."""
    ctx = TurnContext(
        conversation=PLACE,
        place=PLACE,
        requester=ASKER.id,
        request="r1",
        prompt=prompt,
        clock=clock or TurnClock(),
    )
    job = await house.app.engine.start_job(ctx)
    await house.app.background.idle()
    return job


class Talker(Script):
    """A model that says something beside its first call."""

    def __init__(self, call: tuple[str, dict[str, Any]]) -> None:
        super().__init__([call])

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answer = super()._answer(messages, info)
        return replace(answer, parts=[TextPart("Half of it: 3."), *answer.parts]) if answer.tool_calls else answer


async def start_with(house: House, *, budget_ms: int, spent_ms: int) -> Run:
    """A job that has used up most of its time before it is taken up."""
    ctx = TurnContext(
        conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="count", budget_ms=budget_ms
    )
    database = house.app.database
    job = await house.app.engine.start_job(ctx)
    async with database.begin("spend") as tx:
        await runs.set_spent(tx, job.id, spent_ms)
    return job


async def states(house: House, table: str) -> list[str]:
    asked = " WHERE announces IS NULL" if table == "run" else ""
    return [row["state"] for row in await house.rows(f"SELECT state FROM {table}{asked}")]


async def test_a_cancelled_job_asks_nothing_any_more_and_says_so(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        job = await start(house)
        await house.app.engine.cancel_job(job.id, ASKER)
        await house.app.background.idle()
        assert await states(house, "approval") == ["cancelled"]
        assert house.face.card_words["m1"][-1] == "cancelled"
        assert "was stopped" in house.face.said[-1].text
        with pytest.raises(AlreadySettled):
            await house.app.engine.decide(house.press(OWNER), "approve")
        assert house.bench.effects == []


async def test_a_job_that_pauses_while_it_is_being_cancelled_leaves_no_live_card(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT), open_db=database.open) as house:
        reached, go_on = database.hold("pause")
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="count")
        job = await house.app.engine.start_job(ctx)
        await reached.wait()
        cancel_reached, cancel = database.hold("cancel")
        cancelling = asyncio.ensure_future(house.app.engine.cancel_job(job.id, ASKER))
        await cancel_reached.wait()  # it has read the job as running, before its pause
        go_on.set()
        while "pause" not in database.steps:
            await asyncio.sleep(0)
        cancel.set()
        await cancelling
        await house.app.background.idle()
        assert await states(house, "approval") == ["cancelled"]
        assert await states(house, "run") == ["cancelled"]


async def test_a_job_that_is_cancelled_before_it_pauses_asks_nothing(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT), open_db=database.open) as house:
        reached, go_on = database.hold("pause")
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="count")
        job = await house.app.engine.start_job(ctx)
        await reached.wait()
        cancelling = asyncio.ensure_future(house.app.engine.cancel_job(job.id, ASKER))
        while "cancel" not in database.steps:
            await asyncio.sleep(0)
        go_on.set()
        await cancelling
        await house.app.background.idle()
        assert await house.rows("SELECT id FROM approval") == []
        assert house.face.cards == {}
        assert len(house.face.said) == 1


async def test_what_was_approved_and_has_not_begun_is_cancelled_with_its_job(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT), open_db=database.open) as house:
        job = await start(house)
        database.failing["claim"] = 1
        await house.decide("approve")
        assert await states(house, "approval") == ["approved"]
        await house.app.engine.cancel_job(job.id, ASKER)
        await house.later(seconds=10)
        assert await states(house, "approval") == ["cancelled"]
        assert house.bench.effects == []


async def test_a_call_that_already_runs_is_stopped_with_its_job_and_its_card_tells_the_truth(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(ACT), bench=bench) as house:
        job = await start(house)
        await house.app.engine.decide(house.press(OWNER), "approve")
        while not bench.effects:
            await asyncio.sleep(0)
        await house.app.engine.cancel_job(job.id, ASKER)
        await house.app.background.idle()
        assert await states(house, "approval") == ["interrupted"]
        assert await states(house, "run") == ["cancelled"]
        assert house.face.card_words["m1"][-1] == "unknown"
        assert len(house.face.said) == 1


class SlowBench(Bench):
    """A tool that needs no consent and never ends by itself."""

    began = False
    stopped = False

    def tools(self) -> list[Tool]:
        async def body(arguments: Any, call: Call) -> ToolOutcome:
            self.began = True
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped = True
            raise AssertionError

        return [Tool(name="look", description="Looks.", arguments=DoArguments, body=body, gated=False)]


async def test_cancelling_a_job_stops_what_it_is_doing(tmp_path: Path) -> None:
    bench = SlowBench()
    async with open_house(tmp_path, Script([("look", {"what": "x"})]), bench=bench) as house:
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="count")
        job = await house.app.engine.start_job(ctx)
        while not bench.began:
            await asyncio.sleep(0)
        await house.app.engine.cancel_job(job.id, ASKER)
        async with asyncio.timeout(5):
            await house.app.background.idle()
        assert bench.stopped
        assert await states(house, "run") == ["cancelled"]
        assert len(house.face.said) == 1


async def test_what_a_stopped_job_still_brings_in_is_no_news_and_nobodys_words(tmp_path: Path) -> None:
    """A27: its program ends late, when the same goal runs again. Each job is told of once, by its own id."""
    bench = Bench(hold=asyncio.Event())
    script = Script(ACT, ACT, "Painted.", "Hello.")
    async with open_house(tmp_path, script, bench=bench) as house:
        first = await start(house)
        deciding = asyncio.ensure_future(house.decide("approve"))
        while await states(house, "approval") != ["running"]:
            await asyncio.sleep(0)
        await house.app.engine.cancel_job(first.id, ASKER)
        second = await start_beside(house)
        assert bench.hold is not None
        bench.hold.set()
        await deciding
        await house.decide("approve")
        await house.later(seconds=60)
        endings = [said for said in house.face.said if said.key.startswith("answer:")]
        assert [said.key for said in endings] == [f"answer:{first.id}", f"answer:{second.id}"]
        assert f"Job `{first.id}` was stopped" in endings[0].text
        assert f"Job `{second.id}` is done" in endings[1].text
        await house.ask("hello", request="r9")
        said = [
            str(part.content)
            for message in script.seen[-1]
            for part in message.parts
            if getattr(part, "part_kind", "") == "user-prompt"
        ]
        assert said[-1].endswith("hello")
        assert all(one.startswith("[event: the person did not write this]") for one in said[:-1])
        assert len([one for one in said if second.id in one]) == 1


async def start_beside(house: House) -> Run:
    """A job with the same goal, while something else is still at work: its card is what is waited for."""
    ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r2", prompt="count")
    job = await house.app.engine.start_job(ctx)
    while len(house.face.cards) < 2:
        await asyncio.sleep(0)
    return job


async def test_only_the_requester_and_approvers_cancel_a_job_and_only_once(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        job = await start(house)
        with pytest.raises(NotAllowed):
            await house.app.engine.cancel_job(job.id, STRANGER)
        await house.app.engine.cancel_job(job.id, OWNER)
        with pytest.raises(AlreadySettled):
            await house.app.engine.cancel_job(job.id, OWNER)
        with pytest.raises(UnknownApproval):
            await house.app.engine.cancel_job("nothing", OWNER)


async def test_a_turn_that_is_begun_again_after_a_crash_does_not_start_its_job_twice(tmp_path: Path) -> None:
    database = FaultyDatabase()
    job: dict[str, list[Step]] = {"count": ["Counted."], "count more": ["Counted more."]}
    script = Script(
        [("start_job", {"goal": "count"})],
        "I am on it.",
        [("start_job", {"goal": "count"})],
        "I am on it.",
        by_prompt=job,
    )
    database.failing.update({"finish": 1, "fail": 1})
    async with open_house(tmp_path, script, open_db=database.open) as house:
        database.failing.clear()
        page = await house.ask()
        parent = (await house.rows("SELECT parent FROM run WHERE kind = 'job'"))[0]["parent"]
        again = await house.app.engine.start_job_from(parent, "count")
        other = await house.app.engine.start_job_from(parent, "count more")
        await house.app.background.idle()
        assert again is not None
        assert other is not None
        assert again.id != other.id
        assert len(await house.rows("SELECT id FROM run WHERE kind = 'job'")) == 2
        assert page.finished == "I am on it."


async def test_jobs_start_jobs_only_so_deep(tmp_path: Path) -> None:
    steps: dict[str, list[Step]] = {
        "count": [[("start_job", {"goal": "deeper"})], "Begun."],
        "deeper": [[("start_job", {"goal": "deepest"})], "Begun."],
        "deepest": [[("start_job", {"goal": "too deep"})], "I may not."],
    }
    script = Script(by_prompt=steps)
    async with open_house(tmp_path, script) as house:
        await start(house)
        assert [
            row["prompt"]
            for row in await house.rows("SELECT prompt FROM run WHERE announces IS NULL ORDER BY created_at, id")
        ] == list(steps)
        [(outcome, text)] = script.results()
        assert outcome == "failed"
        assert text == f"{words.too_deep(3)} Do it here, or say what is left to do."


async def test_the_operator_sets_how_deep_and_the_card_of_the_job_that_tried_says_so(tmp_path: Path) -> None:
    script = Script(by_prompt={"count": [[("start_job", {"goal": "deeper"})], "I may not."]})
    settings = Settings(approver_users=frozenset({OWNER.id}), job_depth=1)
    async with open_house(tmp_path, script, settings=settings) as house:
        job = await start(house)
        assert len(await house.rows("SELECT id FROM run WHERE announces IS NULL")) == 1
        steps = [step.text for step in await jobs.steps_of(house.app.database.reader, job.id, last=9)]
        assert words.too_deep(1) in steps


@pytest.mark.parametrize(
    ("clock", "budget"),
    [
        (TurnClock(), JOB_BUDGET_MS),
        (TurnClock(refires=True), CLOCKED_JOB_BUDGET_MS),
        (TurnClock(deadline=1_700_000_060_000), CLOCKED_JOB_BUDGET_MS),
    ],
)
async def test_a_jobs_budget_is_captured_when_it_is_created(tmp_path: Path, clock: TurnClock, budget: int) -> None:
    async with open_house(tmp_path, Script("Counted.")) as house:
        job = await start(house, clock=clock)
        assert (job.kind, job.budget_ms) == (RunKind.JOB, budget)


async def test_people_thinking_is_not_charged_to_a_job(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Counted.")) as house:
        job = await start(house)
        await house.later(seconds=3600)
        await house.decide("approve")
        stored = await runs.get(house.app.database.reader, job.id)
        assert stored is not None
        assert (stored.state, stored.spent_ms) == ("done", 0)


async def test_a_job_without_time_left_is_stopped_and_says_so(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Counted.")) as house:
        job = await start(house)
        async with house.app.database.begin("spend") as tx:
            await runs.add_spent(tx, job.id, JOB_BUDGET_MS)
        await house.decide("approve")
        assert house.bench.effects == ["x"]
        assert await states(house, "run") == ["timed_out"]
        assert "ran out of its compute time" in house.face.said[-1].text


async def test_what_a_job_had_said_is_kept_when_its_time_is_up_and_shown_as_unfinished(tmp_path: Path) -> None:
    async with open_house(tmp_path, Talker(("look", {"what": "x"})), bench=SlowBench()) as house:
        job = await start_with(house, budget_ms=60_000, spent_ms=59_900)
        await house.app.background.idle()
        stored = await runs.get(house.app.database.reader, job.id)
        assert stored is not None
        assert (stored.state, "Half of it: 3." in (stored.result or "")) == ("timed_out", True)
        said = house.face.said[-1].text
        assert said.startswith(f"Job `{job.id}` ran out of time: ")
        assert said.endswith("until then (this is not a finished answer):\nHalf of it: 3.")


async def test_what_a_job_said_at_an_earlier_stretch_is_kept_as_well(tmp_path: Path) -> None:
    async with open_house(tmp_path, Talker(("act", {"what": "x"}))) as house:
        job = await start(house)
        await house.app.engine.cancel_job(job.id, ASKER)
        await house.app.background.idle()
        assert house.face.said[-1].text.endswith("(this is not a finished answer):\nHalf of it: 3.")


async def test_what_a_lost_job_had_said_until_its_process_died_is_shown_with_its_ending(tmp_path: Path) -> None:
    """The stretch that was cut short never reached the conversation: its words stand in the recorded steps."""
    reached: asyncio.Event = asyncio.Event()

    class Stuck(Bench):
        def tools(self) -> list[Tool]:
            async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
                reached.set()
                await asyncio.Event().wait()
                raise AssertionError

            return [Tool(name="look", description="Looks.", arguments=DoArguments, body=look, gated=False)]

    async with open_house(tmp_path, Talker(("look", {"what": "x"})), bench=Stuck()) as house:
        job = await house.app.engine.start_job(
            TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="count")
        )
        await reached.wait()
        await house.app.engine.stop(grace=0)
        async with house.app.database.begin("as if it had died twice") as tx:
            await tx.execute("UPDATE run SET state = 'running', owner = 'dead', losses = 1 WHERE id = ?", job.id)
    async with open_house(tmp_path, Script("never said"), ids="later") as house:
        await house.later(seconds=31)
        [said] = house.face.said
        assert said.text.startswith(f"Job `{job.id}` was lost: I was restarted twice")
        assert said.text.endswith("until then (this is not a finished answer):\nHalf of it: 3.")
        assert house.script.seen == []


async def test_what_others_had_said_before_is_not_taken_for_a_jobs_own_words(tmp_path: Path) -> None:
    """A request that went on in the background begins with all that its conversation held."""
    async with open_house(tmp_path, Script("Hi.", ACT)) as house:
        await house.ask("hello", request="r0")
        page = await house.ask("do it")
        [run] = await house.rows("SELECT id FROM run WHERE request = 'r1'")
        press = CardPress(actor=ASKER, card=run["id"], place=PLACE, message=page.message or "")
        await house.app.engine.backgrounding.send(press)
        await house.app.engine.cancel_job(run["id"], ASKER)
        await house.app.background.idle()
        await house.later(seconds=31)
        assert "Hi." not in house.face.said[-1].text
