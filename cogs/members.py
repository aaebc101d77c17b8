"""Who holds which role, asked of Discord itself: for presses that do not say so, and once more before anything runs.

Without the members intent there is no cache of members, and one would not be believed: authority comes from the press's
own payload or from a fresh answer (at most seconds old, so that a card of several calls asks once).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import discord

from cogs import faults

FRESH_SECONDS = 3.0
_TIMEOUT_SECONDS = 5.0
_NOT_THERE = {10004, 10007, 10013}
"""Unknown guild, unknown member, unknown user (Discord's JSON error codes)."""


class Members:
    """Looks members up over REST."""

    def __init__(self, client: discord.Client, *, now: Callable[[], float] | None = None) -> None:
        self._client = client
        self._now = now or (lambda: asyncio.get_running_loop().time())
        self._known: dict[tuple[int, int], tuple[float, frozenset[str] | None]] = {}

    async def roles_of(self, guild: int, person: int) -> frozenset[str] | None:
        """See `bot.surface.People.roles_of`. Raises `DeliveryError`; nothing is taken for granted then."""
        now = self._now()
        self._known = {key: found for key, found in self._known.items() if found[0] > now}
        if (known := self._known.get((guild, person))) is not None:
            return known[1]
        roles = await self._ask(guild, person)
        self._known[guild, person] = (now + FRESH_SECONDS, roles)
        return roles

    async def _ask(self, guild: int, person: int) -> frozenset[str] | None:
        with faults.delivering():
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                try:
                    member = await self._client.http.get_member(guild, person)
                except discord.NotFound as error:
                    if error.code in _NOT_THERE:
                        return None
                    raise
        # The role that is the guild itself is everybody's, so it is nobody's authority.
        return frozenset(str(role) for role in member["roles"] if str(role) != str(guild))
