"""How much at once: decisions that a turn asks for, that wait of one person or in one guild, and turns at work.

Asked inside the transaction that would open more, so that turns side by side cannot pass a limit together. What is too
much is not opened at all: whoever asked gets one sentence that says what was wanted, in place of a row of cards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bot.deferral.calls import PendingToolCall
from bot.deferral.tool import ToolKind
from bot.errors import TurnStopped
from bot.place import PRIVATE, space_of
from bot.texts.text import Text, joined, say
from storage import limits, runs
from storage.database import Reader, Transaction
from storage.runs import Run

_NAMED = 5
"""Tools that the sentence names."""
_TOOL = 64


@dataclass(frozen=True, kw_only=True)
class TurnLimits:
    """What one turn or job may take in all, over its pauses and restarts; None: as much as it likes."""

    calls: int | None = None
    """Of tools."""
    decisions: int | None = None
    """That it asks people for."""
    tokens: int | None = None
    cost_micros: int | None = None


@dataclass(frozen=True, kw_only=True)
class AtOnce:
    """What may be under way of one person, and in one guild, at the same time; None: as much as they like."""

    decisions_person: int | None = None
    """Calls that wait for a decision."""
    decisions_guild: int | None = None
    turns_person: int | None = None
    """Turns that are worked on; the others wait."""
    turns_guild: int | None = None


class Crowding:
    """Keeps to the limits."""

    def __init__(self, *, turn: TurnLimits, at_once: AtOnce) -> None:
        self.turn = turn
        self._at_once = at_once

    async def check(self, tx: Transaction, run: Run, calls: Sequence[PendingToolCall]) -> None:
        """Raise `TurnStopped` if these calls may not be asked about beside all that is asked already."""
        asked = [call for call in calls if call.kind is not ToolKind.EXTERNAL]
        if asked and (why := await self._too_many(tx, run, len(asked))) is not None:
            raise TurnStopped(say("limits.flood", why=why, wanted=wanted(asked)), detail=f"flood: {len(asked)}")

    async def _too_many(self, tx: Transaction, run: Run, more: int) -> Text | None:
        most = self.turn.decisions
        if most is not None and await limits.asked_by(tx, run.id) + more > most:
            return say("limits.decisions_turn", n=most)
        most = self._at_once.decisions_person
        if most is not None and await limits.waiting_of(tx, run.requester, most=most) + more > most:
            return say("limits.decisions_person", n=most)
        most, space = self._at_once.decisions_guild, space_of(run.place)
        if most is not None and space != PRIVATE:
            below = run.place.rpartition("/")[0]
            if await limits.waiting_below(tx, below, most=most) + more > most:
                return say("limits.decisions_guild", n=most)
        return None

    async def startable(self, reader: Reader) -> list[str]:
        """The queued turns that there is room for, oldest first."""
        queued = await runs.queued_turns(reader)
        if not queued:
            return []
        people, spaces = await self._at_work(reader)
        return [id for id, person, place in queued if self._has_room(people[person], spaces[space_of(place)], place)]

    async def may_start(self, reader: Reader, run: Run) -> bool:
        """Whether there is room for this turn now."""
        people, spaces = await self._at_work(reader)
        return self._has_room(people[run.requester], spaces[space_of(run.place)], run.place)

    async def _at_work(self, reader: Reader) -> tuple[Counter[str], Counter[str]]:
        at_work = await runs.turns_at_work(reader)
        return Counter(person for person, _ in at_work), Counter(space_of(place) for _, place in at_work)

    def _has_room(self, of_person: int, in_space: int, place: str) -> bool:
        person, guild = self._at_once.turns_person, self._at_once.turns_guild
        if person is not None and of_person >= person:
            return False
        return guild is None or space_of(place) == PRIVATE or in_space < guild


def wanted(calls: Sequence[PendingToolCall]) -> Text:
    """Which tools, and how often each, the most first."""
    often = Counter(call.tool_name for call in calls).most_common()
    named = [f"`{name[:_TOOL]}` × {count}" for name, count in often[:_NAMED]]
    return joined([*named, *([f"… + {len(often) - _NAMED}"] if len(often) > _NAMED else [])])
