"""How places are written: `<face>/<space>/<channel>`, e.g. `discord/4711/4712` or `discord/@me/4713`.

Only the face that made a place may open it; the mind reads no more than whether it is private, and which
guild it belongs to, because a role counts in its own guild only.
"""

from __future__ import annotations

PRIVATE = "@me"
"""The space of direct messages (as in Discord's own links)."""


def space_of(place: str) -> str:
    """The guild's id, or `PRIVATE`."""
    return place.split("/")[1]


def channel_of(place: str) -> str:
    """The channel's or thread's id."""
    return place.split("/")[-1]


def is_private(place: str) -> bool:
    """Whether only one person and the bot can see the place."""
    return space_of(place) == PRIVATE


def beside(place: str, channel: str) -> str:
    """Another channel of the same space."""
    return f"{place.rpartition('/')[0]}/{channel}"
