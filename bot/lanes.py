"""One conversation, one turn at a time; different conversations do not wait for one another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(eq=False)
class _Ticket:
    who: str
    called: asyncio.Event = field(default_factory=asyncio.Event)


class Lanes:
    """Keyed lines, first come first served, that exist only while somebody stands in them."""

    def __init__(self) -> None:
        self._lanes: dict[str, list[_Ticket]] = {}

    def waiting(self, key: str) -> int:
        """How many hold or want the lane."""
        return len(self._lanes.get(key, ()))

    def line(self, key: str) -> list[str]:
        """Who holds the lane, and who waits behind them, in order."""
        return [ticket.who for ticket in self._lanes.get(key, ())]

    def leave(self, key: str, who: str, *, moved: Callable[[list[str]], None] | None = None) -> None:
        """Let `who` out of the lane at once, whether they hold it or wait in it; they go on outside of it."""
        for ticket in [ticket for ticket in self._lanes.get(key, []) if ticket.who == who]:
            ticket.called.set()
            if self._remove(key, ticket) and moved is not None and self.waiting(key):
                moved(self.line(key))

    def _remove(self, key: str, ticket: _Ticket) -> bool:
        """Whether it was still in line."""
        line = self._lanes.get(key, [])
        if ticket not in line:
            return False
        line.remove(ticket)
        if line:
            line[0].called.set()
        else:
            del self._lanes[key]
        return True

    @asynccontextmanager
    async def enter(
        self, key: str, who: str = "", *, moved: Callable[[list[str]], None] | None = None
    ) -> AsyncIterator[None]:
        """Hold the lane `key`. `moved` gets the line when `who` has to wait in it, and when they have left."""
        line, ticket = self._lanes.setdefault(key, []), _Ticket(who)
        line.append(ticket)
        try:
            if line[0] is ticket:
                ticket.called.set()
            elif moved is not None:
                moved(self.line(key))
            await ticket.called.wait()
            yield
        finally:
            if self._remove(key, ticket) and moved is not None and self.waiting(key):
                moved(self.line(key))
