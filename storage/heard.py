"""Where people have lately spoken to the bot, and up to what it has heard them there."""

from __future__ import annotations

from dataclasses import dataclass

from storage.database import Reader

_LOOKED_AT = 1_000


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One place of a conversation."""

    conversation: str
    place: str
    newest: int
    """The highest number of a request that came from there. Discord's ids grow with time."""


async def places(reader: Reader, *, since: int, most: int) -> list[Heard]:
    """At most `most` places with a request of a person since `since` (milliseconds UTC), the liveliest first."""
    rows = await reader.all(
        "SELECT coalesce(moved_from, conversation) AS conversation, place, request FROM run"
        " WHERE (kind = 'turn' OR moved_from IS NOT NULL) AND announces IS NULL"
        " AND request IS NOT NULL AND created_at >= ? ORDER BY created_at DESC LIMIT ?",
        since,
        _LOOKED_AT,
    )
    newest: dict[tuple[str, str], int] = {}
    for row in rows:
        if str(row["request"]).isdecimal():
            key = (str(row["conversation"]), str(row["place"]))
            newest[key] = max(newest.get(key, 0), int(row["request"]))
    found = [Heard(conversation=one, place=place, newest=number) for (one, place), number in newest.items()]
    return found[:most]
