"""Counts the tool bodies of one run against its limit.

Ours, because pydantic-ai's limit also stops a call that is about to defer, and a denial.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.errors import ApprovalRequired, CallDeferred


class NoneLeft(Exception):
    """The limit is used up: the body must not start."""


@dataclass
class Executions:
    """A body that defers did not count; every other one does, however it ended."""

    limit: int | None = None
    done: int = 0
    refused: int = 0
    """Bodies that were not let in."""

    def __post_init__(self) -> None:
        self._busy = 0
        self._ended = asyncio.Condition()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Around one body. Waits while that depends on a running body that may still defer; raises `NoneLeft`."""
        async with self._ended:
            await self._ended.wait_for(lambda: not self._undecided)
            if self.limit is not None and self.done >= self.limit:
                self.refused += 1
                raise NoneLeft
            self._busy += 1
        counts = 1
        try:
            yield
        except (ApprovalRequired, CallDeferred):
            counts = 0
            raise
        finally:
            self._busy -= 1
            self.done += counts
            async with self._ended:
                self._ended.notify_all()

    @property
    def _undecided(self) -> bool:
        return self.limit is not None and self.done < self.limit <= self.done + self._busy
