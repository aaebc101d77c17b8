"""One conversation, one turn at a time; different conversations do not wait for one another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Lanes:
    """Keyed locks that exist only while somebody holds or wants them."""

    def __init__(self) -> None:
        self._lanes: dict[str, tuple[asyncio.Lock, int]] = {}

    def waiting(self, key: str) -> int:
        """How many hold or want the lane."""
        return self._lanes[key][1] if key in self._lanes else 0

    @asynccontextmanager
    async def enter(self, key: str) -> AsyncIterator[None]:
        """Hold the lane `key`, first come first served."""
        lock, users = self._lanes.get(key, (asyncio.Lock(), 0))
        self._lanes[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._lanes[key]
            if users == 1:
                del self._lanes[key]
            else:
                self._lanes[key] = (lock, users - 1)
