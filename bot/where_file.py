"""Reads where cards go: the `[[places]]` tables of `signoff.toml`, and the same as it is kept for one server.

Raises `ValueError` with a sentence that goes on after the setting's name. Nothing is guessed: an unknown key, an empty
list or a wrong value is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeGuard
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.tables import tables
from bot.where import MOST_PEOPLE, Places, PlacesRule, Quiet

_ID = re.compile(r"[1-9][0-9]{0,19}", re.ASCII)
_HOURS = re.compile(r"([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_KEYS = ("here", "channel", "people", "quiet_hours", "timezone")


def places_rules(value: object) -> tuple[PlacesRule, ...] | None:
    """Rules about where cards go: TOML tables, or the same as a JSON list in one line."""
    if value is None or isinstance(value, tuple):
        return value
    return tuple(_rule(f"rule {number}", one) for number, one in enumerate(tables(value, name="places"), start=1))


def _rule(name: str, table: object) -> PlacesRule:
    if not isinstance(table, Mapping):
        raise ValueError(f"has {name} that is not a table.")
    guilds = frozenset(_ids(name, "guilds", table["guilds"])) if "guilds" in table else None
    places = read(name, {key: value for key, value in table.items() if key != "guilds"})
    if places.channel is not None and (guilds is None or len(guilds) != 1):
        raise ValueError(f"has {name} with a channel, so it needs guilds with the one server that the channel is in.")
    return PlacesRule(guilds=guilds, places=places)


def read(name: str, table: Mapping[str, Any]) -> Places:
    """One server's setting; `name` is what a problem is told about."""
    if unknown := sorted(map(str, set(table) - set(_KEYS))):
        raise ValueError(f"has {name} with the unknown key {unknown[0]!r}; it takes guilds, {', '.join(_KEYS)}.")
    channel = table.get("channel")
    if channel is not None and (isinstance(channel, bool) or not _ID.fullmatch(str(channel))):
        raise ValueError(f"has {name} whose channel is not a numeric Discord id.")
    people = tuple(dict.fromkeys(_ids(name, "people", table["people"]))) if "people" in table else ()
    if len(people) > MOST_PEOPLE:
        raise ValueError(f"has {name} with more than {MOST_PEOPLE} people.")
    # Naming other places means there; what is to stay here as well says so.
    here = table.get("here", channel is None and not people)
    if not isinstance(here, bool):
        raise ValueError(f"has {name} whose here is not true or false.")
    if not here and channel is None and not people:
        raise ValueError(f"has {name} that leaves cards no place: name a channel or people, or keep here.")
    return Places(
        here=here, channel=None if channel is None else str(channel), people=people, quiet=_quiet(name, table)
    )


def table(places: Places) -> dict[str, Any]:
    """What `read` reads the same setting from."""
    found: dict[str, Any] = {"here": places.here}
    if places.channel is not None:
        found["channel"] = places.channel
    if places.people:
        found["people"] = list(places.people)
    if places.quiet is not None:
        found |= {"quiet_hours": places.quiet.hours, "timezone": places.quiet.timezone}
    return found


def _quiet(name: str, table: Mapping[str, Any]) -> Quiet | None:
    hours, zone = table.get("quiet_hours"), table.get("timezone", "UTC")
    if hours is None:
        if "timezone" in table:
            raise ValueError(f"has {name} with a timezone and no quiet_hours.")
        return None
    if not are_hours(hours):
        raise ValueError(f'has {name} whose quiet_hours are not like "22:00-07:00".')
    try:
        ZoneInfo(zone if isinstance(zone, str) else "")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"has {name} with a timezone that is not known here: {zone!r}; write one like Europe/Berlin."
        ) from None
    return Quiet(hours=hours, timezone=zone)


def are_hours(text: object) -> TypeGuard[str]:
    """Whether these are hours of a day as they are written here, like `22:00-07:00`."""
    return isinstance(text, str) and _HOURS.fullmatch(text) is not None and text[:5] != text[6:]


def _ids(name: str, key: str, value: object) -> list[str]:
    if not isinstance(value, list) or not value or any(isinstance(entry, bool) for entry in value):
        raise ValueError(f"has {name} whose {key} is not a list of numeric Discord ids.")
    for entry in value:
        if not _ID.fullmatch(str(entry)):
            raise ValueError(f"has {name} whose {key} has an entry that is not a numeric Discord id: {entry!r:.40}.")
    return [str(entry) for entry in value]
