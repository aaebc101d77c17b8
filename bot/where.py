"""Where the cards of a server go, and when their pings make no sound: values, and pure questions about them.

A server's setting is one `Places`. Every copy of a card is told from the others by its `Target`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import cached_property
from typing import Protocol
from zoneinfo import ZoneInfo

from bot.permits import Hours
from bot.place import beside, channel_of, is_private, space_of
from storage.cards import Pings
from storage.database import Reader

MOST_PEOPLE = 10
"""People to whom one card is sent directly; Discord looks askance at bots that open many direct messages."""


@dataclass(frozen=True, kw_only=True)
class Quiet:
    """The hours in which approvers are notified silently: the message is there, no device makes a sound."""

    hours: str
    """`22:00-07:00`."""
    timezone: str = "UTC"
    """As in the IANA time zone database."""

    @cached_property
    def _span(self) -> Hours:
        first, last = (int(part[:2]) * 60 + int(part[3:]) for part in self.hours.split("-"))
        zone: tzinfo = ZoneInfo(self.timezone)
        return Hours(zone=zone, first=first, last=last)

    def covers(self, at: int) -> bool:
        """Whether the moment, in milliseconds UTC, lies within."""
        return self._span.holds(at)


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where the cards of one server go. At least one of the three ways is there."""

    here: bool = True
    """To where it was asked."""
    channel: str | None = None
    """Also, or instead, to this channel: a text channel, a thread, or a forum."""
    people: tuple[str, ...] = ()
    """Also, or instead, to these people directly."""
    quiet: Quiet | None = None


@dataclass(frozen=True, kw_only=True)
class PlacesRule:
    """A `Places` as the operator wrote it down, with the servers that it is for."""

    places: Places
    guilds: frozenset[str] | None = None
    """None: every one that no earlier rule is about."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where one copy goes."""

    place: str
    """'' for somebody's direct messages, which have to be opened first."""
    person: str | None = None
    pings: Pings = Pings.OTHERS


class Whereabouts(Protocol):
    """Knows the setting of each server."""

    async def of(self, reader: Reader, place: str) -> Places:
        """The setting that counts for what is asked in `place`."""
        ...


class Configured:
    """`Whereabouts` from the settings' file."""

    def __init__(self, rules: Sequence[PlacesRule]) -> None:
        self._rules = rules

    async def of(self, reader: Reader, place: str) -> Places:
        """See `Whereabouts.of`: the first rule about the server."""
        return self.says(place) or Places()

    def says(self, place: str) -> Places | None:
        """What the first rule about the server says, or None if no rule is about it."""
        for rule in self._rules:
            if rule.guilds is None or space_of(place) in rule.guilds:
                return rule.places
        return None


def targets(places: Places, place: str, *, decided: bool, answered: bool) -> list[Target]:
    """Where a card for calls asked in `place` goes, the first copy first. One channel notifies, not two.

    `decided`: somebody has to decide about one of the calls. `answered`: one is a question to whoever asked, who has
    to see it where they are. What only waits for a result stays where it was asked, and so does what is asked in
    direct messages.
    """
    if is_private(place) or not decided:
        return [Target(place=place)]
    there = None if places.channel in {None, channel_of(place)} else beside(place, places.channel or "")
    stays = places.here or answered or places.channel == channel_of(place)
    found = [Target(place=place, pings=Pings.NOBODY if there else Pings.OTHERS)] if stays else []
    if there:
        found.append(Target(place=there))
    return found + [Target(place="", person=person, pings=Pings.NOBODY) for person in places.people]


def instead(places: Places, place: str, *, above: str | None, people: Sequence[str]) -> list[list[Target]]:
    """Where a card goes that has no place left, one step after the other: each is tried if all before it failed.

    `above`: the channel that the place is a thread of. `people`: those who can help, by name; a direct message is
    the last resort.
    """
    if is_private(place):
        return []
    channels = [place, *([above] if above else [])]
    if places.channel is not None:
        channels.append(beside(place, places.channel))
    direct = [Target(place="", person=person, pings=Pings.NOBODY) for person in people[:MOST_PEOPLE]]
    return [[Target(place=one, pings=Pings.MISSED)] for one in channels] + ([direct] if direct else [])
