"""Asks people: the calls of one pause become rows, on cards, with a reminder each. Always inside the pause's commit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.clock import Clock, NewId
from bot.deferral.calls import PendingToolCall
from bot.deferral.executor import Executor, digest_of
from bot.deferral.tool import ToolKind
from bot.rules import Asked, Subject
from bot.where import Whereabouts, targets
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
        lifetime: Callable[[Asked], int],
        where: Whereabouts,
    ) -> None:
        """`lifetime` says how long a call waits, in milliseconds, and how much later a put-off deadline is."""
        self._clock = clock
        self._new_id = new_id
        self._executor = executor
        self.lifetime = lifetime
        self._where = where

    async def look(self, calls: Sequence[PendingToolCall]) -> list[Bound]:
        """What each call is bound to. Reads files, so it comes before the transaction."""
        return [await self._executor.bound(call.tool_name, call.args) for call in calls]

    async def open(
        self, tx: Transaction, run: Run, calls: Sequence[PendingToolCall], bound: Sequence[Bound], *, pause: int
    ) -> None:
        """Store the calls of the run's `pause`-th pause, in the model's order. `RuntimeError` if one is taken."""
        now = self._clock.now()
        for start in range(0, len(calls), CALLS_PER_CARD):
            of_card = calls[start : start + CALLS_PER_CARD]
            kinds = {call.kind for call in of_card}
            card = await self._open_card(tx, run.id, run.place, kinds)
            # A card shows one deadline, so the shortest is that of all its calls.
            wait = min(self.lifetime(_subject(run, call)) for call in of_card)
            for position, call in enumerate(of_card, start):
                approval = self._approval(run, call, bound[position], card, pause, position, now, now + wait)
                if not await approvals.open_approval(tx, approval):
                    raise RuntimeError(f"call {call.call_id} of run {run.id} is already asked about")
            await self._owe_reminder(tx, approval, kinds, now, expires_at=now + wait)

    async def again(self, tx: Transaction, old: Approval, bound: Bound, problem: str) -> bool:
        """Ask about an approved call as it would run now, the old approval being void. See `executor.AskAgain`."""
        run = await runs.get(tx, old.run)
        if run is None or run.state is not RunState.WAITING or run.pauses != old.pause:
            return False  # nobody waits for it any more
        now = self._clock.now()
        card = await self._open_card(tx, run.id, old.place, {ToolKind(old.kind)})
        new = self.sealed(
            replace(
                old,
                id=self._new_id(),
                card=card,
                bound=dict(bound),
                replaces=old.id,
                state=ApprovalState.PENDING,
                requested_at=now,
                expires_at=now + self.lifetime(old),
            )
        )
        if not await requests.replace(
            tx, old, new, ApprovalState.VOID, note=f"{problem} It is asked again as it would run now."
        ):
            raise RuntimeError(f"call {old.id} moved within a transaction")
        await self._owe_reminder(tx, new, {ToolKind(new.kind)}, now, expires_at=new.expires_at)
        return True

    async def _open_card(self, tx: Transaction, run: str, place: str, kinds: Collection[str]) -> str:
        """A card at every place where people are to see it; its id."""
        first, *others = targets(
            await self._where.of(tx, place),
            place,
            decided=ToolKind.APPROVAL in kinds,
            answered=ToolKind.QUESTION in kinds,
        )
        id = self._new_id()
        await cards.open_card(tx, id=id, run=run, place=first.place, person=first.person, pings=first.pings)
        for one in others:
            await cards.add_copy(tx, id=self._new_id(), lead=id, place=one.place, person=one.person, pings=one.pings)
        return id

    def _approval(
        self,
        run: Run,
        call: PendingToolCall,
        bound: Bound,
        card: str,
        pause: int,
        position: int,
        now: int,
        expires_at: int,
    ) -> Approval:
        return self.sealed(
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
                within=run.within,
                state=ApprovalState.PENDING,
                requested_at=now,
                expires_at=expires_at,
            )
        )

    def sealed(self, approval: Approval) -> Approval:
        """The call with digest and seal as it is now."""
        digest = digest_of(approval)
        return replace(approval, digest=digest, seal=self._executor.seal.asked(approval.id, digest))

    async def remind_again(self, tx: Transaction, call: Approval, times: int, *, expires_at: int, now: int) -> None:
        """A card's deadline was put off for the `times`-th time: the reminder is about the new one."""
        await outbox.drop_key(tx, _reminder(call.card, times - 1))
        await self._owe_reminder(tx, call, [ToolKind.APPROVAL], now, expires_at=expires_at, times=times)

    async def _owe_reminder(
        self,
        tx: Transaction,
        call: Approval,
        kinds: Collection[ToolKind],
        now: int,
        *,
        expires_at: int,
        times: int = 0,
    ) -> None:
        """One ping before the deadline, however short that is; dropped when what it is about is settled first.

        Whom it goes to is looked up when it is sent (see `Delivery`). A result from elsewhere is nobody's to decide.
        """
        kind = next((kind for kind in REMINDER_TEXTS if kind in kinds), None)
        if kind is None:
            return
        await outbox.owe(
            tx,
            key=_reminder(call.card, times),
            run=call.run,
            place=call.place,
            body={"text": REMINDER_TEXTS[kind], "while_pending": call.card, "kind": kind},
            at=now,
            due_at=expires_at - min(REMINDER_LEAD_MS, self.lifetime(call) // 3),
        )


def _subject(run: Run, call: PendingToolCall) -> Subject:
    return Subject(tool=call.tool_name, place=run.place, within=run.within, requester=run.requester)


def _reminder(card: str, times: int) -> str:
    return f"remind:{card}" if times == 0 else f"remind:{card}:{times}"
