"""Work that outlives the call that started it: finite tasks, started clean, whose errors are never lost.

There is no waiting task anywhere in this house: people are waited for by rows, deadlines by one timer.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from bot.clock import Clock

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


class Background:
    """Owns the running tasks of one process."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Start `work` in an empty context: no mark of the turn that asked for it may leak in.

        An error ends only this task, and is logged.
        """
        loop = asyncio.get_running_loop()
        task = loop.create_task(work, name=name, context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error(
                "background work failed",
                exc_info=error,
                extra={"action": "background_failed", "work": task.get_name()},
            )

    async def idle(self) -> None:
        """Wait until nothing runs any more, including what the running work starts."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self, *, grace: float) -> None:
        """Give running work `grace` seconds, then cancel it and wait for its ending."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        for task in tuple(self._tasks):
            task.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks)


async def to_the_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Await work that must not be left half done: cancelled, however often, it is finished first."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    task.exception()  # looked at: a cancelled caller has no use for it
    raise cancelled


def was_cancelled() -> bool:
    """Whether somebody asked the running task to stop. If not, a `CancelledError` is a tool's own mishap."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Alarm:
    """Calls back once, at the earliest moment it was set to. One timer, however many deadlines there are."""

    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None
        self._at: int | None = None

    def set(self, at: int | None) -> None:
        """Ring at `at` (milliseconds UTC) unless an earlier moment is set. None changes nothing."""
        if at is None or (self._at is not None and self._at <= at):
            return
        self.clear()
        self._at = at
        delay = max(0, at - self._clock.now()) / 1000
        self._handle = asyncio.get_running_loop().call_later(delay, self._rang)

    def clear(self) -> None:
        """Do not ring."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._at = None

    def _rang(self) -> None:
        self._handle = self._at = None
        self._ring()
