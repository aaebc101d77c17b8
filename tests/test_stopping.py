"""The program stops in order: nothing new begins, what is cut short is put aside and said to be (issue 6, point 6)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.surface import TurnContext
from storage.runs import Run
from tests.house import ASKER, OWNER, PLACE, Bench, Face, House, ManualClock, Page, Script, open_house
from tests.test_jobs import ACT, LOOK, Gate, asked, card, stored, until_began


async def stop(house: House) -> None:
    await house.app.engine.farewell(grace=0, bring_out=0.5)


async def test_a_job_that_is_cut_short_goes_on_after_the_start_and_nothing_counts_as_lost(tmp_path: Path) -> None:
    clock, face = ManualClock(), Face()
    job: Run | None = None
    for boot in range(4):  # a deploy after the other; two real losses would end it
        gate = Gate()
        script = Script(LOOK, "Counted.")
        async with open_house(
            tmp_path, script, bench=gate, clock=clock, face=face, ids=f"b{boot}-", recover=False
        ) as house:
            await house.app.engine.recover()
            job = job or await house.app.engine.start_job(asked())
            await until_began(gate)
            clock.advance(seconds=7)
            await stop(house)
            run = await stored(house, job)
            assert (run.state, run.losses, run.spent_ms) == ("queued", 0, 7_000 * (boot + 1))
            clock.advance(seconds=60)
    gate = Gate()
    gate.go.set()
    async with open_house(tmp_path, Script(LOOK, "Counted."), bench=gate, clock=clock, face=face, ids="last") as house:
        await house.app.background.idle()
        assert job is not None
        assert (await stored(house, job)).state == "done"
        assert len(face.said) == 1


async def test_its_card_says_that_it_was_put_aside(tmp_path: Path) -> None:
    gate = Gate()
    async with open_house(tmp_path, Script(LOOK), bench=gate) as house:
        await house.app.engine.start_job(asked())
        await until_began(gate)
        house.clock.advance(seconds=6)
        await stop(house)
        assert card(house).steps[-1].text.startswith("put aside: the bot is being stopped")
        assert card(house).run.state == "queued"


async def test_a_call_that_is_cut_short_shows_as_interrupted_before_the_face_is_gone(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(ACT), bench=bench) as house:
        await house.ask()
        await house.app.engine.decide(house.press(OWNER), "approve")
        while not bench.effects:
            await asyncio.sleep(0)
        await stop(house)
        assert house.face.card_words["m1"][-1] == "interrupted"


async def test_a_turn_that_is_cut_short_says_that_its_answer_comes_later(tmp_path: Path) -> None:
    clock, face, gate = ManualClock(), Face(), Gate()
    async with open_house(tmp_path, Script(LOOK), bench=gate, clock=clock, face=face) as house:
        page = Page()
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="please")
        turn = asyncio.ensure_future(house.app.engine.take_turn(ctx, page))
        await until_began(gate)
        await stop(house)
        assert "I am being stopped" in page.shown[-1]
        await asyncio.wait([turn])
    async with open_house(tmp_path, Script("Seen."), clock=clock, face=face, ids="again"):
        assert [said.text for said in face.said] == ["Seen."]


async def test_nothing_is_taken_up_or_run_any_more_while_the_face_is_still_there(tmp_path: Path) -> None:
    clock, face, bench = ManualClock(), Face(), Bench()
    async with open_house(tmp_path, Script(ACT), clock=clock, face=face, bench=bench) as house:
        await house.ask()
        await stop(house)
        await house.app.engine.decide(house.press(OWNER), "approve")
        page = await house.ask("late", request="r2", conversation="discord/9/91")
        assert "I am being stopped" in page.shown[-1]
        assert bench.effects == []
        assert await house.rows("SELECT state FROM approval") == [{"state": "approved"}]
    async with open_house(
        tmp_path, Script("Done.", "Late."), clock=clock, face=face, bench=bench, ids="again"
    ) as house:
        await house.app.background.idle()
        assert bench.effects == ["x"]
        assert {row["state"] for row in await house.rows("SELECT state FROM run")} == {"done"}


async def test_stopping_ends_in_time_though_the_face_is_stuck(tmp_path: Path) -> None:
    face, gate = Face(fail_job=OSError("no network")), Gate()
    async with open_house(tmp_path, Script(LOOK), bench=gate, face=face) as house:
        await house.app.engine.start_job(asked())
        await until_began(gate)
        async with asyncio.timeout(3):
            await stop(house)
