"""Where something happens, as a string the lower storeys can keep, and where a conversation belongs.

One function computes each, wherever the event comes from: slash command, mention, button or modal. Otherwise the
same thread would come to have two histories.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.errors import Unreachable
from bot.texts.text import say

_PLACE = re.compile(r"discord/(@me|[0-9]{1,20})/([0-9]{1,20})")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A channel, a thread, or the direct messages with one person."""

    guild: int | None
    """None: direct messages."""
    channel: int

    def __str__(self) -> str:
        return f"discord/{self.space}/{self.channel}"

    @property
    def space(self) -> str:
        """The guild's id as text, or `@me`."""
        return "@me" if self.guild is None else str(self.guild)


def parse(place: str) -> Place:
    """Read a place. Raises `Unreachable` if it is not one of Discord's."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise Unreachable(say("faults.not_discord"))
    return Place(guild=None if match[1] == "@me" else int(match[1]), channel=int(match[2]))


def conversation(place: Place, person: int) -> str:
    """The conversation of a place: everybody's in a guild's channel or thread, one person's in direct messages."""
    return f"discord/dm/{person}" if place.guild is None else str(place)


def link(place: Place, message: str | int | None) -> str:
    """The address that opens a message, or the channel, in any Discord client."""
    base = f"https://discord.com/channels/{place.space}/{place.channel}"
    return base if message is None else f"{base}/{message}"
