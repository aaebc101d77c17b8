"""The line of a conversation: everybody is told their place in it, it is bounded, and it moves."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.progress import WORKING_TEXT, place_in_line
from bot.settings import Settings
from bot.texts.text import say
from tests.house import OWNER, Bench, House, Page, Script, open_house

SLOW = [("careful", {"what": "small"})]


async def busy(house: House, *, request: str = "r0") -> asyncio.Future[Page]:
    """A turn that is being worked on."""
    going = asyncio.ensure_future(house.ask(request=request))
    while not house.bench.effects:
        await asyncio.sleep(0)
    return going


async def queue(house: House, *names: str) -> tuple[list[Page], list[asyncio.Future[Page]]]:
    pages, asks = [], []
    for name in names:
        pages.append(Page())
        asks.append(asyncio.ensure_future(house.ask(request=name, page=pages[-1])))
        while not pages[-1].shown and pages[-1].finished is None:
            await asyncio.sleep(0)
    return pages, asks


async def test_everybody_is_told_how_many_are_ahead_and_again_when_the_line_moves(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(SLOW, "One.", "Two.", "Three."), bench=bench) as house:
        first = await busy(house)
        (second, third), asks = await queue(house, "r1", "r2")
        assert second.shown == [place_in_line(1)]
        assert third.shown == [place_in_line(2)]
        assert "2 requests of this conversation are ahead of you" in third.shown[0]
        assert bench.hold is not None
        bench.hold.set()
        await asyncio.gather(first, *asks)
        assert place_in_line(1) in third.shown
        assert (second.finished, third.finished) == ("Two.", "Three.")
        assert third.shown.index(place_in_line(1)) > 0
        assert place_in_line(2) not in third.shown[1:]


async def test_a_full_line_refuses_and_nothing_is_stored_but_the_refusal(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    settings = Settings(approver_users=frozenset({OWNER.id}), queue=1)
    async with open_house(tmp_path, Script(SLOW, "One.", "Two."), bench=bench, settings=settings) as house:
        first = await busy(house)
        (_second,), asks = await queue(house, "r1")
        (third,), more = await queue(house, "r2")
        assert third.finished == say("turns.line_full", most=1)
        assert len(await house.rows("SELECT * FROM run")) == 2
        assert [row["actor"] for row in await house.rows("SELECT actor FROM audit WHERE event = 'turn_refused'")] == [
            "2"
        ]
        assert bench.hold is not None
        bench.hold.set()
        await asyncio.gather(first, *asks, *more)
        assert (await house.ask(request="r3")).finished is not None


async def test_what_waits_for_people_is_in_nobodys_way(tmp_path: Path) -> None:
    settings = Settings(approver_users=frozenset({OWNER.id}), queue=1)
    script = Script(*[[("act", {"what": name})] for name in "abc"], "Hello.")
    async with open_house(tmp_path, script, settings=settings) as house:
        for number in range(3):
            await house.ask(request=f"r{number}")
        page = await house.ask(request="r4")
        assert page.finished == "Hello."
        assert page.shown in ([], ["Hello."])


async def test_a_place_in_the_line_is_still_pointed_on_after_a_restart(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(SLOW), bench=bench) as house:
        first = await busy(house)
        _pages, asks = await queue(house, "r1")
        await asyncio.sleep(0.05)
        await house.app.engine.stop(grace=0)
        for task in (first, *asks):
            task.cancel()
        await asyncio.wait([first, *asks])
        rows = await house.rows("SELECT reply, state FROM run ORDER BY created_at, id")
        assert rows[1] == {"reply": "reply", "state": "queued"}
    async with open_house(tmp_path, Script("One.", "Two."), ids="later") as house:
        assert [said.text for said in house.face.said] == ["One.", "Two."]
        assert [message for message, _ in house.face.moved] == ["reply"]


async def test_a_turn_that_says_nothing_for_long_shows_that_it_goes_on(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(SLOW, "Done."), bench=bench) as house:
        page = Page()
        going = asyncio.ensure_future(house.ask(page=page))
        while not bench.effects:
            await asyncio.sleep(0)
        [(run, timers)] = house.app.engine._turns.progress._timers.items()
        for timer in timers:
            timer.cancel()
        house.app.engine._turns.progress._silent(run)
        while not page.shown:
            await asyncio.sleep(0)
        assert page.shown == [WORKING_TEXT]
        assert page.run == run
        assert bench.hold is not None
        bench.hold.set()
        assert (await going).finished == "Done."
