"""What people may have said while nobody listened: where to look, and from where on.

A face that cannot be told of the past by its connection asks here after each fresh one. The bounds keep a start quick,
and keep an old request from being acted on when nobody expects it any more.
"""

from __future__ import annotations

from bot.clock import Clock
from storage import heard
from storage.database import Database
from storage.heard import Heard

MOST_PLACES = 50
"""Places that are looked at, the liveliest first."""
MOST_MESSAGES = 25
"""Messages that are taken up in one place, the oldest first."""
PLACES_MS = 30 * 24 * 3_600_000
"""A place where nobody has asked for anything since is not looked at."""
MESSAGES_MS = 24 * 3_600_000
"""A message that is older is not acted on any more."""


class Missed:
    """Knows where conversations are going on."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def places(self) -> list[Heard]:
        """Where to look for requests that were not heard."""
        since = self._clock.now() - PLACES_MS
        return await heard.places(self._database.reader, since=since, most=MOST_PLACES)

    def oldest(self) -> int:
        """When the oldest message was written that still counts, in milliseconds UTC."""
        return self._clock.now() - MESSAGES_MS
