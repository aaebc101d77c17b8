"""Who may see whose usage: everybody their own, and those who manage a guild, or whom the operator named, the guild's.

Read from the sums by day, so it costs the same however much was ever used; today's budgets come from the accounts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from bot.accounts import Accounts
from bot.budgets import Account, free_again
from bot.clock import Clock
from bot.errors import DecisionRefused, NotAllowed
from bot.place import PRIVATE
from bot.surface import Actor
from bot.texts.text import say
from storage import usage
from storage.database import Reader
from storage.usage import Grouping, Sum, day_of

RANGES = (1, 7, 30, 90)
"""Days that can be looked at, today among them."""
ALWAYS = (1, 7, 30)
"""Ranges whose sums are shown whatever is picked."""
MINE: tuple[Grouping, ...] = ("model", "place", "guild", "day")
SERVERS: tuple[Grouping, ...] = ("person", "place", "model", "day")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What somebody wants to see."""

    server: bool = False
    """The guild's usage; else their own."""
    by: Grouping = "model"
    days: int = 7

    def __str__(self) -> str:
        return f"{'server' if self.server else 'me'}-{self.by}-{self.days}"

    @classmethod
    def read(cls, text: str) -> Wish | None:
        """What was written by `str`, or None if nothing that can be wished for was."""
        for server, groupings in ((False, MINE), (True, SERVERS)):
            for by in groupings:
                for days in RANGES:
                    if str(wish := cls(server=server, by=by, days=days)) == text:
                        return wish
        return None

    def of(self, *, server: bool) -> Wish:
        """The same of the guild, or of oneself; a grouping that makes no sense there gives way to the first."""
        groupings = SERVERS if server else MINE
        return replace(self, server=server, by=self.by if self.by in groupings else groupings[0])


@dataclass(frozen=True, kw_only=True)
class UsageView:
    """What is shown."""

    wish: Wish
    rows: Sequence[tuple[str, Sum]]
    """By the grouping that was wished for, in its range; the most tokens first, days newest first."""
    totals: Sequence[tuple[int, Sum]]
    """Over the days of `ALWAYS`."""
    accounts: Sequence[Account]
    free_at: int
    """When budgets are free again, in milliseconds UTC."""
    may_see_server: bool

    @property
    def total(self) -> Sum:
        """Of all rows."""
        return reduce(Sum.__add__, (used for _, used in self.rows), Sum())


class UsageDesk:
    """Shows usage."""

    def __init__(
        self,
        *,
        reader: Reader,
        clock: Clock,
        accounts: Accounts,
        may_manage: Callable[[Actor], bool],
        refused: Callable[[Actor, str, DecisionRefused], Awaitable[None]],
    ) -> None:
        """`may_manage`: who may see a guild's rules may see its usage. `refused` puts a refusal on the trail."""
        self._reader = reader
        self._clock = clock
        self._accounts = accounts
        self._may_manage = may_manage
        self._refused = refused

    async def look(self, actor: Actor, wish: Wish) -> UsageView:
        """What the actor wants to see. Raises `DecisionRefused`."""
        may = actor.guild is not None and self._may_manage(actor)
        if wish.server and (not may or actor.guild is None):
            refusal = NotAllowed("not_manager", say("usage.not_yours"))
            await self._refused(actor, actor.guild or PRIVATE, refusal)
            raise refusal
        now = self._clock.now()
        space = actor.guild or PRIVATE
        rows = await self._of(actor, wish)
        theirs = self._accounts.of(actor.id, space)
        return UsageView(
            wish=wish,
            rows=sorted(rows, key=lambda row: -int(row[0])) if wish.by == "day" else rows,
            totals=[(days, await self._total(actor, replace(wish, days=days))) for days in ALWAYS],
            accounts=[one for one in theirs if one.whose == "guild"] if wish.server else theirs,
            free_at=free_again(now),
            may_see_server=may,
        )

    async def _of(self, actor: Actor, wish: Wish) -> list[tuple[str, Sum]]:
        since = day_of(self._clock.now()) - wish.days + 1
        if wish.server and actor.guild is not None:
            return await usage.of_space(self._reader, actor.guild, by=wish.by, since=since)
        return await usage.of_person(self._reader, actor.id, by=wish.by, since=since)

    async def _total(self, actor: Actor, wish: Wish) -> Sum:
        found = await self._of(actor, replace(wish, by="guild"))
        return reduce(Sum.__add__, (used for _, used in found), Sum())
