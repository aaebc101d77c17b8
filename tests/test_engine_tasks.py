"""Lanes, background work and the alarm: what the engine stands on."""

from __future__ import annotations

import asyncio
import contextvars
import logging

import pytest

from bot.background import Alarm, Background, to_the_end, was_cancelled
from bot.lanes import Lanes
from bot.plain import describe, plain, words_of
from tests.house import ManualClock

# -- lanes --------------------------------------------------------------------------------------


async def test_a_lane_is_entered_in_the_order_in_which_it_was_asked_for() -> None:
    lanes, order = Lanes(), list[int]()

    async def enter(n: int) -> None:
        async with lanes.enter("a"):
            order.append(n)
            await asyncio.sleep(0)

    await asyncio.gather(*(enter(n) for n in range(5)))
    assert order == [0, 1, 2, 3, 4]


async def test_different_lanes_do_not_wait_for_one_another() -> None:
    lanes = Lanes()
    async with lanes.enter("a"), asyncio.timeout(1), lanes.enter("b"):
        assert (lanes.waiting("a"), lanes.waiting("b"), lanes.waiting("c")) == (1, 1, 0)


async def test_a_lane_is_forgotten_when_nobody_holds_or_wants_it() -> None:
    lanes = Lanes()

    async def enter() -> None:
        async with lanes.enter("a"):
            raise RuntimeError("no")

    async with lanes.enter("a"):
        waiting = [asyncio.ensure_future(enter()) for _ in range(3)]
        await asyncio.sleep(0)
        assert lanes.waiting("a") == 4
        waiting[1].cancel()  # one that waits is cut off
    await asyncio.wait(waiting)
    assert [task.cancelled() or str(task.exception()) for task in waiting] == ["no", True, "no"]
    assert lanes._lanes == {}


# -- background ---------------------------------------------------------------------------------

_MARK: contextvars.ContextVar[str] = contextvars.ContextVar("mark", default="none")


async def test_work_starts_in_an_empty_context() -> None:
    background, seen = Background(), list[str]()

    async def work() -> None:
        seen.append(_MARK.get())

    _MARK.set("a turn under a clock")
    background.spawn(work(), name="work")
    await background.idle()
    assert seen == ["none"]


async def test_an_error_ends_its_own_work_only_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    background, done = Background(), list[str]()

    async def fails() -> None:
        raise RuntimeError("bang")

    async def works() -> None:
        await asyncio.sleep(0)
        done.append("works")

    with caplog.at_level(logging.ERROR):
        background.spawn(fails(), name="fails")
        background.spawn(works(), name="works")
        await background.idle()
    assert done == ["works"]
    assert "bang" in caplog.text


async def test_stopping_waits_for_the_grace_and_then_for_the_endings() -> None:
    background, ended = Background(), list[str]()

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("stubborn")

    async def quick() -> None:
        await asyncio.sleep(0.01)
        ended.append("quick")

    background.spawn(stubborn(), name="stubborn")
    background.spawn(quick(), name="quick")
    await background.stop(grace=0.05)
    assert ended == ["quick", "stubborn"]


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_what_must_not_be_left_half_done_is_finished_however_often_it_is_cancelled(times: int) -> None:
    finished, go_on = list[str](), asyncio.Event()

    async def work() -> str:
        await go_on.wait()
        finished.append("yes")
        return "done"

    task = asyncio.ensure_future(to_the_end(work()))
    await asyncio.sleep(0)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert finished == ["yes"]


async def test_undisturbed_it_hands_on_the_result_or_the_error() -> None:
    async def works() -> str:
        return "done"

    async def fails() -> None:
        raise RuntimeError("bang")

    assert await to_the_end(works()) == "done"
    with pytest.raises(RuntimeError, match="bang"):
        await to_the_end(fails())


async def test_a_cancellation_from_outside_is_told_from_a_tools_own() -> None:
    async def mishap() -> bool:
        try:
            raise asyncio.CancelledError
        except asyncio.CancelledError:
            return was_cancelled()

    async def waits() -> bool:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return was_cancelled()
        raise AssertionError

    assert await mishap() is False
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    task.cancel()
    assert await task is True


# -- the alarm ----------------------------------------------------------------------------------


async def test_the_alarm_rings_once_at_the_earliest_moment_it_was_set_to() -> None:
    clock, rang = ManualClock(), asyncio.Event()
    alarm = Alarm(clock, rang.set)
    alarm.set(clock.now() + 3_600_000)
    alarm.set(clock.now() + 1)
    alarm.set(clock.now() + 7_200_000)
    alarm.set(None)
    await asyncio.wait_for(rang.wait(), 2)
    rang.clear()
    assert alarm._handle is None


async def test_a_moment_that_has_passed_rings_at_once_and_a_cleared_alarm_does_not() -> None:
    clock, rang = ManualClock(), list[str]()
    alarm = Alarm(clock, lambda: rang.append("rang"))
    alarm.set(clock.now() - 5)
    alarm.clear()
    await asyncio.sleep(0.01)
    assert rang == []
    alarm.set(clock.now() - 5)
    await asyncio.sleep(0.01)
    assert rang == ["rang"]


# -- texts that can be stored -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain", "plain"), ("é\U0001f600\0", "é\U0001f600\0"), ("\ud800x", "\\ud800x"), ("a\udc80", "a\\udc80")],
)
def test_what_cannot_be_encoded_is_written_as_an_escape(text: str, expected: str) -> None:
    assert plain(text) == expected
    plain(text).encode()


def test_every_error_can_be_described() -> None:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert describe(ValueError("bad \ud800")) == "ValueError: bad \\ud800"
    assert describe(Unprintable()) == "Unprintable: (it cannot be printed)"
    assert words_of(KeyError("x")) == "'x'"
