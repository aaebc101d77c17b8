"""How people want to be told what is theirs (`/notify`): where, whether a channel may notify them, and when silently.

It is about answers and results, which are looked at when there is time. What asks somebody to decide is not softened by
it: for that a server has quiet hours of its own (docs/places.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.clock import Clock
from bot.errors import DecisionRefused
from bot.jobs.when import UTC_NAME, NotUnderstood, zone_name
from bot.surface import Announcement
from bot.texts.text import say
from bot.where import Quiet
from bot.where_file import are_hours
from storage import audit, people, schedules
from storage.database import Database, Reader

NONE = "none"
"""In the place of `channel`, `dm` or `both`: in the channel, and nobody is notified."""
UNSET = "unset"
"""Nothing was said: as the server has it."""
OFF = "off"
"""In the place of quiet hours: there are none any more."""


@dataclass(frozen=True, kw_only=True)
class Wished:
    """All that a person wishes about being told."""

    where: str
    """`channel`, `dm`, `both`, `none`, or `unset`."""
    quiet: Quiet | None


class Wishes:
    """Keeps what people wish, for one process."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def of(self, person: str) -> Wished:
        """All that a person wishes."""
        return await self._wished(self._database.reader, person)

    async def change(
        self, person: str, *, where: str | None = None, quiet: str | None = None, timezone: str | None = None
    ) -> Wished:
        """Keep what is given, leave the rest as it is, and return all of it. Raises `DecisionRefused`.

        `where`: `channel`, `dm`, `both` or `none`; `quiet`: hours like `22:00-07:00`, or `off`.
        """
        if quiet not in {None, OFF} and not are_hours(quiet):
            raise DecisionRefused("not_hours", say("wishes.not_hours"))
        try:
            zone = None if timezone is None else zone_name(timezone)
        except NotUnderstood as error:
            raise DecisionRefused("not_a_timezone", say("wishes.not_a_timezone")) from error
        async with self._database.begin("set notify") as tx:
            wish = await people.wish_of(tx, person)
            if where is not None:
                await people.set_notify(tx, person, "channel" if where == NONE else where)
                wish = replace(wish, unpinged=where == NONE)
            if quiet is not None:
                wish = replace(wish, quiet_hours=None if quiet == OFF else quiet)
            await people.wish(tx, person, wish)
            if zone is not None:
                await schedules.set_zone(tx, person, zone)
            given = {"where": where, "quiet_hours": quiet, "timezone": zone}
            await audit.record(
                tx,
                at=self._clock.now(),
                actor=person,
                event="notify_set",
                detail={name: value for name, value in given.items() if value is not None},
            )
            return await self._wished(tx, person)

    async def _wished(self, reader: Reader, person: str) -> Wished:
        wish = await people.wish_of(reader, person)
        zone = await schedules.zone_of(reader, person) or UTC_NAME
        return Wished(
            where=NONE if wish.unpinged else await people.notify_of(reader, person, otherwise=UNSET),
            quiet=None if wish.quiet_hours is None else Quiet(hours=wish.quiet_hours, timezone=zone),
        )

    async def honoured(self, announcement: Announcement, *, person: str | None) -> Announcement:
        """The answer or result as those whom it notifies wish it; `person`: it is told to this one directly."""
        told = [person] if person is not None else list(announcement.ping)
        wishes = {one: await self.of(one) for one in told}
        loud = [one for one in told if person is not None or wishes[one].where != NONE]
        quiet = (wishes[one].quiet for one in loud)
        silent = bool(loud) and all(one is not None and one.covers(self._clock.now()) for one in quiet)
        ping = announcement.ping if person is not None else tuple(loud)
        return replace(announcement, ping=ping, silent=announcement.silent or silent)
