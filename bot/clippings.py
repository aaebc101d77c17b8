"""Keeps the message that somebody asks about while they write their question, also over a restart.

It is kept for a day, and is read by who opened the form only, and only where they opened it.
"""

from __future__ import annotations

from dataclasses import replace

from bot.clock import Clock
from bot.errors import DecisionRefused
from bot.texts.text import say
from storage import clippings
from storage.clippings import Clipping
from storage.database import Database

KEPT_MS = 24 * 3_600_000
"""Longer than anybody leaves a form open; Discord's addresses of attached files live as long."""


class Clippings:
    """Keeps such messages, for one process."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def keep(self, clipping: Clipping) -> None:
        """Store it as of now, and forget those that are too old."""
        now = self._clock.now()
        async with self._database.begin("keep clipping") as tx:
            await clippings.forget(tx, before=now - KEPT_MS)
            await clippings.keep(tx, replace(clipping, at=now))

    async def tidy(self) -> None:
        """Forget those that are too old. Part of the sweep."""
        before = self._clock.now() - KEPT_MS
        if await clippings.any_older(self._database.reader, before=before):
            async with self._database.begin("forget clippings") as tx:
                await clippings.forget(tx, before=before)

    async def of(self, id: str, *, person: str, place: str) -> Clipping:
        """The message that this form was opened on. Raises `DecisionRefused` if there is none for this person here."""
        found = await clippings.get(self._database.reader, id)
        if found is None or found.person != person or found.place != place or found.at < self._clock.now() - KEPT_MS:
            raise DecisionRefused("unknown_form", say("about.unknown"))
        return found
