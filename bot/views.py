"""What a card shows, gathered from the rows: a pure question, asked anew for each posting and each edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.deferral.digest import differences
from bot.deferral.tool import ToolKind
from bot.surface import CardView
from storage import approvals, requests, runs
from storage.approvals import Approval, ApprovalState
from storage.cards import Card
from storage.database import Database
from storage.runs import RunKind

Approvers = tuple[frozenset[str], frozenset[str]]
"""User ids and role ids to notify of a card."""


class Views:
    """Gathers the cards of one process."""

    def __init__(self, *, database: Database, profiles: Mapping[str, str], approvers: Callable[[], Approvers]) -> None:
        """`profiles` says by tool what its body may touch; it may grow."""
        self._database = database
        self._profiles = profiles
        self._approvers = approvers

    async def of(self, card: Card) -> CardView:
        """What the card shows now."""
        calls = await approvals.of_card(self._database.reader, card.id)
        names = {call.tool for call in calls}
        asks = any(call.kind == ToolKind.APPROVAL for call in calls)
        users, roles = self._approvers() if asks else (frozenset(), frozenset())
        run = await runs.get(self._database.reader, card.run)
        return CardView(
            card=card,
            approvals=tuple(calls),
            profiles={name: profile for name, profile in self._profiles.items() if name in names},
            job=run.id if run is not None and run.kind is RunKind.JOB else None,
            earlier=await self._earlier(card, calls),
            changed={call.id: await self._changed(call, call.replaces) for call in calls if call.replaces},
            ping=tuple(sorted(users or {call.requester for call in calls if call.kind == ToolKind.QUESTION})),
            ping_roles=tuple(sorted(roles)),
        )

    async def _earlier(self, card: Card, calls: Sequence[Approval]) -> tuple[Approval, ...]:
        if not any(call.state is ApprovalState.PENDING and call.kind == ToolKind.APPROVAL for call in calls):
            return ()  # decided: the question has given way to the answer
        return tuple(await requests.refused(self._database.reader, card.run, before=calls[0].pause))

    async def _changed(self, call: Approval, replaces: str) -> tuple[str, ...]:
        before = await approvals.get(self._database.reader, replaces)
        return tuple(differences(before.bound, call.bound)) if before is not None else ()
