"""Asks people: the calls of one pause become rows, on cards, with a reminder each. Always inside the pause's commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.clock import Clock, NewId
from bot.deferral.calls import PendingToolCall
from bot.deferral.executor import Executor, digest_of
from bot.deferral.tool import ToolKind
from bot.views import Approvers
from storage import approvals, cards, outbox, requests, runs
from storage.approvals import Approval, ApprovalState
from storage.database import Transaction
from storage.runs import Run, RunState

Bound = Mapping[str, Any]
"""What decides beside a call's arguments: see `bot.deferral.digest`."""

CALLS_PER_CARD = 5
"""More calls of one pause go on further cards: Discord takes 40 components in a message, buttons included."""

REMINDER_TEXTS = {
    ToolKind.APPROVAL: "This still waits for a decision, and its time is running out.",
    ToolKind.QUESTION: "This still waits for your answer, and its time is running out.",
}
REMINDER_LEAD_MS = 15 * 60_000
"""How long before the deadline approvers are reminded; with a short lifetime, a third of it."""


class Asking:
    """Opens calls for people to decide."""

    def __init__(
        self,
        *,
        clock: Clock,
        new_id: NewId,
        executor: Executor,
        ttl_ms: int,
        approvers: Callable[[], Approvers],
    ) -> None:
        self._clock = clock
        self._new_id = new_id
        self._executor = executor
        self._ttl_ms = ttl_ms
        self._approvers = approvers

    async def look(self, calls: Sequence[PendingToolCall]) -> list[Bound]:
        """What each call is bound to. Reads files, so it comes before the transaction."""
        return [await self._executor.bound(call.tool_name, call.args) for call in calls]

    async def open(
        self, tx: Transaction, run: Run, calls: Sequence[PendingToolCall], bound: Sequence[Bound], *, pause: int
    ) -> None:
        """Store the calls of the run's `pause`-th pause, in the model's order. `RuntimeError` if one is taken."""
        now = self._clock.now()
        for start in range(0, len(calls), CALLS_PER_CARD):
            card = self._new_id()
            await cards.open_card(tx, id=card, run=run.id, place=run.place)
            of_card = calls[start : start + CALLS_PER_CARD]
            for position, call in enumerate(of_card, start):
                approval = self._approval(run, call, bound[position], card, pause, position, now)
                if not await approvals.open_approval(tx, approval):
                    raise RuntimeError(f"call {call.call_id} of run {run.id} is already asked about")
            await self._owe_reminder(tx, run, card, now, [call.kind for call in of_card])

    async def again(self, tx: Transaction, old: Approval, bound: Bound, problem: str) -> bool:
        """Ask about an approved call as it would run now, the old approval being void. See `executor.AskAgain`."""
        run = await runs.get(tx, old.run)
        if run is None or run.state is not RunState.WAITING or run.pauses != old.pause:
            return False  # nobody waits for it any more
        now = self._clock.now()
        card = self._new_id()
        await cards.open_card(tx, id=card, run=run.id, place=old.place)
        new = self._sealed(
            replace(
                old,
                id=self._new_id(),
                card=card,
                bound=dict(bound),
                replaces=old.id,
                state=ApprovalState.PENDING,
                requested_at=now,
                expires_at=now + self._ttl_ms,
            )
        )
        if not await requests.replace(tx, old, new, note=f"{problem} It is asked again as it would run now."):
            raise RuntimeError(f"call {old.id} moved within a transaction")
        await self._owe_reminder(tx, run, card, now, [ToolKind(new.kind)])
        return True

    def _approval(
        self, run: Run, call: PendingToolCall, bound: Bound, card: str, pause: int, position: int, now: int
    ) -> Approval:
        return self._sealed(
            Approval(
                id=self._new_id(),
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
                bound=dict(bound),
                digest="",
                seal="",
                intent=call.intent,
                action=call.action,
                requester=run.requester,
                place=run.place,
                state=ApprovalState.PENDING,
                requested_at=now,
                expires_at=now + self._ttl_ms,
            )
        )

    def _sealed(self, approval: Approval) -> Approval:
        digest = digest_of(approval)
        return replace(approval, digest=digest, seal=self._executor.seal.asked(approval.id, digest))

    async def _owe_reminder(self, tx: Transaction, run: Run, card: str, now: int, kinds: Sequence[ToolKind]) -> None:
        """One ping before the deadline, however short that is; dropped when what it is about is settled first.

        It goes to those who can help: to approvers, or to the requester when the card only asks questions. A result
        from elsewhere is nobody's to decide.
        """
        expires_at = now + self._ttl_ms
        if ToolKind.APPROVAL in kinds:
            kind, (users, roles) = ToolKind.APPROVAL, self._approvers()
        elif ToolKind.QUESTION in kinds:
            kind, (users, roles) = ToolKind.QUESTION, (frozenset({run.requester}), frozenset())
        else:
            return
        await outbox.owe(
            tx,
            key=f"remind:{card}",
            run=run.id,
            place=run.place,
            body={
                "text": REMINDER_TEXTS[kind],
                "deadline": expires_at,
                "ping": sorted(users),
                "ping_roles": sorted(roles),
                "while_pending": card,
                "kind": kind,
            },
            at=now,
            due_at=expires_at - min(REMINDER_LEAD_MS, self._ttl_ms // 3),
        )
