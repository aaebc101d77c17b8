"""Asks people: the calls of one pause become rows, on cards, with a reminder each. Always inside the pause's commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.clock import NewId
from bot.deferral.calls import PendingToolCall
from bot.deferral.executor import Executor
from bot.deferral.tool import Tool, ToolKind
from bot.delivery import Approvers
from storage import approvals, cards, outbox
from storage.approvals import Approval, ApprovalState
from storage.database import Transaction
from storage.runs import Run

CALLS_PER_CARD = 5
"""More calls of one pause go on further cards: Discord takes 40 components in a message, buttons included."""

REMINDER_TEXT = "This still waits for a decision, and its time is running out."
REMINDER_LEAD_MS = 15 * 60_000
"""How long before the deadline approvers are reminded; with a short lifetime, a third of it."""


class Asking:
    """Opens calls for people to decide."""

    def __init__(
        self,
        *,
        new_id: NewId,
        tools: Mapping[str, Tool],
        executor: Executor,
        ttl_ms: int,
        approvers: Callable[[], Approvers],
    ) -> None:
        self._new_id = new_id
        self._tools = tools
        self._executor = executor
        self._ttl_ms = ttl_ms
        self._approvers = approvers

    async def open(self, tx: Transaction, run: Run, calls: Sequence[PendingToolCall], *, pause: int, now: int) -> None:
        """Store the calls of the run's `pause`-th pause, in the model's order. `RuntimeError` if one is taken."""
        for start in range(0, len(calls), CALLS_PER_CARD):
            card = self._new_id()
            await cards.open_card(tx, id=card, run=run.id, place=run.place)
            of_card = calls[start : start + CALLS_PER_CARD]
            for position, call in enumerate(of_card, start):
                approval = self._approval(run, call, card, pause, position, now)
                if not await approvals.open_approval(tx, approval):
                    raise RuntimeError(f"call {call.call_id} of run {run.id} is already asked about")
            await self._owe_reminder(tx, run, card, now, of_card)

    def _approval(self, run: Run, call: PendingToolCall, card: str, pause: int, position: int, now: int) -> Approval:
        expires_at = now + self._ttl_ms
        digest = self._executor.digest(
            self._tools[call.tool_name],
            call.args,
            requester=run.requester,
            place=run.place,
            expires_at=expires_at,
        )
        id = self._new_id()
        return Approval(
            id=id,
            run=run.id,
            conversation=run.conversation,
            card=card,
            pause=pause,
            position=position,
            call_id=call.call_id,
            kind=call.kind,
            tool=call.tool_name,
            arguments=dict(call.args),
            reason=call.reason,
            digest=digest,
            seal=self._executor.seal.asked(id, digest),
            intent=call.intent,
            action=call.action,
            requester=run.requester,
            place=run.place,
            state=ApprovalState.PENDING,
            requested_at=now,
            expires_at=expires_at,
        )

    async def _owe_reminder(
        self, tx: Transaction, run: Run, card: str, now: int, calls: Sequence[PendingToolCall]
    ) -> None:
        """One ping before the deadline, however short that is; dropped when the card is settled first.

        It goes to those who can help: to approvers, or to the requester when the card only asks questions.
        """
        expires_at = now + self._ttl_ms
        users, roles = self._approvers()
        if all(call.kind is ToolKind.QUESTION for call in calls):
            users, roles = frozenset({run.requester}), frozenset()
        await outbox.owe(
            tx,
            key=f"remind:{card}",
            run=run.id,
            place=run.place,
            body={
                "text": REMINDER_TEXT,
                "deadline": expires_at,
                "ping": sorted(users),
                "ping_roles": sorted(roles),
                "while_pending": card,
            },
            at=now,
            due_at=expires_at - min(REMINDER_LEAD_MS, self._ttl_ms // 3),
        )
