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
            line.remove(ticket)
            if line:
                line[0].called.set()
                if moved is not None:
                    moved(self.line(key))
            else:
                del self._lanes[key]
