"""`Continue in background`: the turn goes on as a job where it stands, and nothing of it is begun a second time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.errors import AlreadySettled, DecisionRefused, NotAllowed, UnknownApproval
from bot.jobs.budget import CLOCKED_JOB_BUDGET_MS, JOB_BUDGET_MS
from bot.settings import Settings
from bot.surface import Actor, CardPress, TurnClock, TurnContext
from bot.texts.text import say
from storage.runs import RunState
from tests.house import ASKER, OWNER, PLACE, STRANGER, Bench, House, Page, Script, open_house
from tests.test_line import queue
from tests.test_talking import every_call_is_answered_once

SLOW = [("careful", {"what": "small"})]
ACT = [("act", {"what": "x"})]
LOOK = [("look", {"what": "a"})]
RAN = "This call ran (exit code 0) after a person approved it.\nout"


def moved(id: str) -> str:
    return str(say("turns.in_background", id=id))


async def send(house: House, actor: Actor = ASKER, *, message: str = "reply", nth: int = 0) -> str:
    rows = await house.rows("SELECT id FROM run WHERE announces IS NULL ORDER BY created_at, id")
    press = CardPress(actor=actor, card=rows[nth]["id"], place=PLACE, message=message)
    return await house.app.engine.backgrounding.send(press)


@asynccontextmanager
async def at_work(folder: Path, *steps: Any, **more: Any) -> AsyncIterator[tuple[House, Page, asyncio.Future[Page]]]:
    """A turn in the middle of a tool that needs no sign-off, with its reply posted."""
    bench = Bench(hold=asyncio.Event())
    async with open_house(folder, Script(*steps), bench=bench, **more) as house:
        page = Page()
        going = asyncio.ensure_future(house.ask("count the stars", page=page))
        while not bench.effects:
            await asyncio.sleep(0)
        page.message = "reply"
        yield house, page, going
        go_on(house)
        await going


async def answered(page: Page) -> str:
    """What a turn ended with, while something else is still at work."""
    async with asyncio.timeout(20):
        while page.finished is None:
            await asyncio.sleep(0)
    return page.finished


def go_on(house: House) -> None:
    assert house.bench.hold is not None
    house.bench.hold.set()


async def test_it_becomes_a_job_that_announces_the_answer_and_no_model_call_is_repeated(tmp_path: Path) -> None:
    async with at_work(tmp_path, LOOK, SLOW, "Many.") as (house, page, going):
        told = await send(house)
        [run] = await house.rows("SELECT id, kind, state, conversation, moved_from, budget_ms, clocked FROM run")
        assert run["id"] in told
        assert (run["kind"], run["state"], run["moved_from"]) == ("job", "running", PLACE)
        assert (run["budget_ms"], run["clocked"]) == (JOB_BUDGET_MS, 0)
        assert run["conversation"].startswith("job/")
        assert page.finished == moved(run["id"])
        go_on(house)
        await going
        await house.later(seconds=31)
        [said] = house.face.said
        assert said.text == f"Job `{run['id']}` is done: Many."
        assert said.ping == (ASKER.id,)
        assert page.finished == moved(run["id"])
        assert len(house.script.seen) == 3
        assert house.bench.effects == ["small"]
        assert await house.rows("SELECT run FROM step") == []


async def test_its_job_card_shows_its_goal_and_what_it_does_from_then_on(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, LOOK, "Many.") as (house, _page, going):
        await send(house)
        assert [view.run.prompt for view in house.face.jobs.values()] == ["count the stars"]
        go_on(house)
        await going
        await house.later(seconds=6)
        [view] = house.face.jobs.values()
        assert view.run.state is RunState.DONE
        assert [step.text for step in view.steps] == ["careful: success", "look: success"]


async def test_the_conversation_is_free_at_once_and_knows_where_the_request_went(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, "Hello.", "Many.") as (house, _page, going):
        (second,), _asks = await queue(house, "r2")
        await send(house)
        assert await answered(second) == "Hello."
        seen = [str(getattr(part, "content", "")) for one in house.script.seen[-1] for part in one.parts]
        assert seen[0] == "count the stars"
        assert "goes on there as job" in seen[1]
        go_on(house)
        await going
        assert every_call_is_answered_once(house.script)


async def test_the_job_has_seen_all_that_the_conversation_held_and_none_of_what_came_after(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script("Hi.", SLOW, LOOK, "Many."), bench=bench) as house:
        await house.ask("hello", request="r0")
        page = Page()
        going = asyncio.ensure_future(house.ask("count", page=page))
        while not bench.effects:
            await asyncio.sleep(0)
        page.message = "reply"
        await send(house, nth=1)
        go_on(house)
        await going
        said = [str(getattr(part, "content", "")) for one in house.script.seen[-1] for part in one.parts]
        assert [text for text in said if text] == ["hello", "Hi.", "count", "out", "saw a"]
        [job] = await house.rows("SELECT conversation FROM run WHERE kind = 'job'")
        kept = await house.rows("SELECT count(*) AS n FROM message WHERE conversation = ?", job["conversation"])
        assert kept == [{"n": 8}]


@pytest.mark.parametrize(("clock", "gets"), [(TurnClock(refires=True), CLOCKED_JOB_BUDGET_MS), (TurnClock(), None)])
async def test_its_ceiling_goes_by_the_clock_that_was_held_over_the_turn(
    tmp_path: Path, clock: TurnClock, gets: int | None
) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(SLOW, "Many."), bench=bench) as house:
        ctx = TurnContext(
            conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="count", clock=clock
        )
        page = Page()
        going = asyncio.ensure_future(house.app.engine.take_turn(ctx, page))
        while not bench.effects:
            await asyncio.sleep(0)
        page.message = "reply"
        await send(house)
        go_on(house)
        await going
        [run] = await house.rows("SELECT budget_ms, clocked FROM run WHERE kind = 'job'")
        assert run == {"budget_ms": gets or JOB_BUDGET_MS, "clocked": 0}


async def test_a_request_that_is_sent_again_starts_no_second_run_and_is_told_where_it_went(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, "Many.") as (house, _page, going):
        await send(house)
        again = Page()
        second = asyncio.ensure_future(house.ask("count the stars", page=again))
        [run] = await house.rows("SELECT id FROM run")
        assert await answered(again) == moved(run["id"])
        go_on(house)
        await asyncio.gather(going, second)
        await house.later(seconds=31)
        after = await house.ask("count the stars")
        assert "has been answered" in (after.finished or "")
        assert len(await house.rows("SELECT id FROM run WHERE announces IS NULL")) == 1


async def test_the_job_asking_for_what_the_turn_had_run_gets_no_second_card(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, ACT, "Both.")) as house:
        await house.ask()
        await send(house)
        await house.decide("approve")
        assert len(await house.rows("SELECT id FROM approval")) == 1
        assert house.bench.effects == ["x"]


async def test_what_waits_keeps_its_card_and_its_approval_goes_on_with_the_job(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "It ran.")) as house:
        page = await house.ask()
        await send(house)
        [run] = await house.rows("SELECT id, state, hold_until FROM run")
        assert (run["state"], run["hold_until"]) == ("waiting", None)
        assert page.finished == moved(run["id"])
        assert list(house.face.cards) == ["m1"]
        await house.decide("approve")
        await house.later(seconds=31)
        assert house.bench.effects == ["x"]
        assert house.script.results() == [("success", RAN)]
        assert [said.text for said in house.face.said] == [f"Job `{run['id']}` is done: It ran."]
        assert list(house.face.cards) == ["m1"]


async def test_somebody_can_talk_while_the_job_waits_and_it_is_no_event_for_the_job(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Hello.", "It ran.")) as house:
        await house.ask()
        await send(house)
        await house.ask("hello", request="r2")
        assert every_call_is_answered_once(house.script)
        await house.decide("approve")
        assert house.script.results() == [("success", RAN)]  # and no placeholder before it
        assert every_call_is_answered_once(house.script)


async def test_pressed_twice_it_is_one_job_and_the_second_is_told_so(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, "Many.") as (house, _page, _going):
        first, second = await asyncio.gather(send(house), send(house, OWNER), return_exceptions=True)
        assert isinstance(first, str)
        assert isinstance(second, AlreadySettled)
        assert "went on in the background as job" in second.sentence
        assert len(await house.rows("SELECT run FROM job")) == 1


async def test_pressed_as_the_turn_ends_the_truth_is_told(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("Done.")) as house:
        page = await house.ask()
        with pytest.raises(AlreadySettled, match="already ended"):
            await send(house)
        assert page.finished == "Done."
        assert await house.rows("SELECT run FROM job") == []


async def test_strangers_may_not_and_it_counts_only_on_its_own_message(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, "Many.") as (house, _page, _going):
        with pytest.raises(NotAllowed, match="send it into the background"):
            await send(house, STRANGER)
        with pytest.raises(UnknownApproval):
            await send(house, message="another")
        await send(house, OWNER)
        trail = await house.rows("SELECT actor, event FROM audit WHERE event LIKE '%background%'")
        assert trail == [{"actor": OWNER.id, "event": "turn_backgrounded"}]


async def test_without_room_for_a_job_it_is_refused_in_words_and_the_turn_goes_on_untouched(tmp_path: Path) -> None:
    settings = Settings(approver_users=frozenset({OWNER.id}), jobs_per_person=1)
    steps: dict[str, list[Any]] = {"dig": [SLOW, "Dug."], "count the stars": [SLOW, "Many."]}
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(by_prompt=steps), bench=bench, settings=settings) as house:
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r0", prompt="dig")
        await house.app.engine.start_job(ctx)
        page = Page()
        going = asyncio.ensure_future(house.ask("count the stars", page=page))
        while len(bench.effects) < 2:
            await asyncio.sleep(0)
        page.message = "reply"
        with pytest.raises(DecisionRefused, match="1 of your jobs is at work already"):
            await send(house, nth=1)
        go_on(house)
        await going
        assert page.finished == "Many."
        assert len(await house.rows("SELECT run FROM job")) == 1
        refused = await house.rows("SELECT detail FROM audit WHERE event = 'background_refused'")
        assert len(refused) == 1


async def test_a_turn_in_line_becomes_a_job_that_does_not_wait_for_the_line(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, "Two.", "One.") as (house, _page, going):
        (second,), _asks = await queue(house, "r2")
        await send(house, nth=1)
        assert "went on in the background" in await answered(second)
        async with asyncio.timeout(20):
            while await house.rows("SELECT id FROM run WHERE kind = 'job' AND state = 'done'") == []:
                await asyncio.sleep(0)
        go_on(house)
        assert (await going).finished == "One."


async def test_it_runs_out_of_its_new_budget_with_what_it_had_said_shown(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, "Never.") as (house, _page, going):
        await send(house)
        [run] = await house.rows("SELECT id FROM run")
        house.app.engine._turns._limits[run["id"]].reschedule(0)
        await going
        await house.later(seconds=31)
        assert "ran out of time" in house.face.said[0].text
        assert [row["state"] for row in await house.rows("SELECT state FROM run WHERE kind = 'job'")] == ["timed_out"]


async def test_the_button_of_a_message_from_before_a_restart_still_works(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
    async with open_house(tmp_path, Script("It ran."), ids="later", clock=house.clock, face=house.face) as after:
        await send(after)
        await after.decide("approve")
        await after.later(seconds=31)
        assert [said.text.partition(": ")[2] for said in after.face.said] == ["It ran."]


async def test_stopping_it_at_its_old_message_says_where_it_went(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, "Many.") as (house, _page, _going):
        await send(house)
        [run] = await house.rows("SELECT id FROM run")
        with pytest.raises(AlreadySettled, match="went on in the background as job"):
            await house.app.engine.stopping.stop(CardPress(actor=ASKER, card=run["id"], place=PLACE, message="reply"))


async def test_a_turn_that_takes_long_offers_it(tmp_path: Path) -> None:
    async with at_work(tmp_path, SLOW, "Many.") as (house, page, _going):
        [run] = await house.rows("SELECT id FROM run")
        assert not page.long
        house.app.engine._turns.progress._long(run["id"])
        assert page.long


async def test_one_that_waits_is_sent_without_disturbing_the_turn_that_is_at_work_meanwhile(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(ACT, SLOW, "Hello."), bench=bench) as house:
        await house.ask()
        page = Page()
        going = asyncio.ensure_future(house.ask("hello", request="r2", page=page))
        while not bench.effects:
            await asyncio.sleep(0)
        await send(house)
        go_on(house)
        await going
        assert page.finished == "Hello."
