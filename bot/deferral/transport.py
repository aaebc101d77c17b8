"""Hold, defer or refuse: what a turn does when it needs people.

The criterion is the transport, not the channel: a voice platform that sends a turn again when it goes quiet must not be
kept waiting wherever it comes from, and a chat may be. Either way the same rows are written.
"""

from __future__ import annotations

from enum import StrEnum

from bot.surface import TurnClock


class Way(StrEnum):
    """What a turn does that needs people."""

    HOLD = "hold"
    """Wait in place for a while, and go on in the same reply."""
    DEFER = "defer"
    """End at once, saying that people were asked; the wait outlives the turn."""
    REFUSE = "refuse"
    """Nobody can be asked: go on at once, with the reason in place of a result."""


def way(clock: TurnClock, *, now: int, hold_ms: int, usable: bool) -> Way:
    """What to do, once it is known whether the surface is `usable`: the card is up where somebody may decide.

    `hold_ms` is how long a turn may wait in place; a deadline that is nearer leaves no room for that.
    """
    if not usable:
        return Way.REFUSE
    if clock.refires or (clock.deadline is not None and clock.deadline - now < hold_ms):
        return Way.DEFER
    return Way.HOLD
