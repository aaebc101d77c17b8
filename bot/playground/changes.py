"""Who waits for something in the twin is woken when something moved; nobody polls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """Counts what happens in the twin: an event, a request, a connection."""

    def __init__(self) -> None:
        self.version = 0
        """Grows with every change; equal versions mean an unchanged world."""
        self._moved = asyncio.Event()

    def note(self) -> None:
        """Something changed: wake everybody who waits."""
        self.version += 1
        self._moved.set()
        self._moved = asyncio.Event()

    async def after(self, version: int) -> int:
        """Wait until the count is beyond `version`; returns it."""
        while self.version <= version:
            await self._moved.wait()
        return self.version

    async def wait_for(
        self, predicate: Callable[[], T | None], *, timeout: float = 5.0, what: str = "the condition"
    ) -> T:
        """Ask `predicate` now and after each change until it answers something true; returns that answer.

        Raises `TimeoutError`, naming `what`, after `timeout` seconds.
        """
        try:
            async with asyncio.timeout(timeout):
                while not (found := predicate()):
                    await self._moved.wait()
        except TimeoutError:
            raise TimeoutError(f"{what} did not come true within {timeout:g} s") from None
        return found
