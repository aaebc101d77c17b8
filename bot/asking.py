"""Asks people: the calls of one pause become rows, on cards, with a reminder each. Always inside the pause's commit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.clock import Clock, NewId
from bot.deferral.calls import PendingToolCall
from bot.deferral.executor import Executor, digest_of
from bot.deferral.tool import ToolKind
from bot.granting import Granting
from bot.limits import Crowding
from bot.rules import Asked
from bot.texts.text import say, worded
from bot.where import Whereabouts, targets
from storage import approvals, cards, outbox, requests, runs
from storage.approvals import Approval, ApprovalState
from storage.cards import Pings
from storage.database import Transaction
from storage.grants import Grant
from storage.runs import Run, RunState

Bound = Mapping[str, Any]
"""What decides beside a call's arguments: see `bot.deferral.digest`."""

CALLS_PER_CARD = 5
"""More calls of one pause go on further cards: Discord takes 40 components in a message, buttons included."""

REMINDER_TEXTS = {
    ToolKind.APPROVAL: say("turns.reminder"),
    ToolKind.QUESTION: say("turns.reminder_question"),
}
REMINDER_LEAD_MS = 15 * 60_000
"""How long before the deadline approvers are reminded; with a short lifetime, a third of it."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A call as it was looked at before its commit."""

    bound: Bound
    grant: Grant | None
    """What would let it through in place of people."""


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
        granting: Granting,
        crowding: Crowding,
    ) -> None:
        """`lifetime` says how long a call waits, in milliseconds, and how much later a put-off deadline is."""
        self._clock = clock
        self._new_id = new_id
        self._executor = executor
        self.lifetime = lifetime
        self._where = where
        self._granting = granting
        self._crowding = crowding

    async def look(self, run: Run, calls: Sequence[PendingToolCall]) -> list[Seen]:
        """What each call is bound to, and what lets it through. Reads files and asks about people, so it comes before
        the transaction."""
        return [await self._look(run, call) for call in calls]

    async def _look(self, run: Run, call: PendingToolCall) -> Seen:
        bound = await self._executor.bound(call.tool_name, call.args, run.id)
        return Seen(bound=bound, grant=await self._granting.find(run, _draft(run, call, bound)))

    async def open(
        self,
        tx: Transaction,
        run: Run,
        calls: Sequence[PendingToolCall],
        seen: Sequence[Seen],
        *,
        pause: int,
        left_out: Sequence[PendingToolCall] = (),
    ) -> None:
        """Store the calls of the run's `pause`-th pause, in the model's order.

        `left_out` was wanted as well, and counts for what is too much, but is not asked about. What a grant lets
        through is approved in the same commit, and nobody is asked. Raises `TurnStopped` if the others are too many at
        once, `RuntimeError` if one is taken.
        """
        asked = [call for call, one in zip(calls, seen, strict=True) if one.grant is None]
        await self._crowding.check(tx, run, [*asked, *left_out])
        now = self._clock.now()
        for start in range(0, len(calls), CALLS_PER_CARD):
            of_card = range(start, min(start + CALLS_PER_CARD, len(calls)))
            drafts = {position: _draft(run, calls[position], seen[position].bound) for position in of_card}
            held = {
                position: await self._granting.still(tx, seen[position].grant, run, draft)
                for position, draft in drafts.items()
            }
            kinds = {calls[position].kind for position in of_card if held[position] is None}
            card = await self._open_card(tx, run.id, run.place, kinds)
            # A card shows one deadline, so the shortest is that of all its calls.
            until = now + min(self.lifetime(draft) for draft in drafts.values())
            for position, draft in drafts.items():
                approval = self.sealed(
                    replace(
                        draft,
                        id=self._new_id(),
                        card=card,
                        pause=pause,
                        position=position,
                        requested_at=now,
                        expires_at=until,
                    )
                )
                if not await approvals.open_approval(tx, approval):
                    raise RuntimeError(f"call {approval.call_id} of run {run.id} is already asked about")
                if (grant := held[position]) is not None:
                    await self._granting.allow(tx, grant, approval)
            await self._owe_reminder(tx, approval, kinds, now, expires_at=until)

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
            tx, old, new, ApprovalState.VOID, note=say("turns.asked_as_now", problem=problem)
        ):
            raise RuntimeError(f"call {old.id} moved within a transaction")
        await self._owe_reminder(tx, new, {ToolKind(new.kind)}, now, expires_at=new.expires_at)
        return True

    async def _open_card(self, tx: Transaction, run: str, place: str, kinds: Collection[str]) -> str:
        """A card at every place where people are to see it; its id. With no `kinds` nobody has to do anything about it:
        then it stands where it was asked, and notifies nobody."""
        id = self._new_id()
        if not kinds:
            await cards.open_card(tx, id=id, run=run, place=place, pings=Pings.NOBODY)
            return id
        first, *others = targets(
            await self._where.of(tx, place),
            place,
            decided=ToolKind.APPROVAL in kinds,
            answered=ToolKind.QUESTION in kinds,
        )
        await cards.open_card(tx, id=id, run=run, place=first.place, person=first.person, pings=first.pings)
        for one in others:
            await cards.add_copy(tx, id=self._new_id(), lead=id, place=one.place, person=one.person, pings=one.pings)
        return id

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
            body={**worded(REMINDER_TEXTS[kind]), "while_pending": call.card, "kind": kind},
            at=now,
            due_at=expires_at - min(REMINDER_LEAD_MS, self.lifetime(call) // 3),
        )


def _draft(run: Run, call: PendingToolCall, bound: Bound) -> Approval:
    """The call as it is asked, without what only its commit knows."""
    return Approval(
        id="",
        run=run.id,
        conversation=run.conversation,
        card="",
        pause=0,
        position=0,
        call_id=call.call_id,
        kind=call.kind,
        tool=call.tool_name,
        arguments=dict(call.args),
        reason=call.reason,
        sources=call.sources,
        bound=dict(bound),
        digest="",
        seal="",
        intent=call.intent,
        action=call.action,
        requester=run.requester,
        place=run.place,
        within=run.within,
        state=ApprovalState.PENDING,
        requested_at=0,
        expires_at=0,
    )


def _reminder(card: str, times: int) -> str:
    return f"remind:{card}" if times == 0 else f"remind:{card}:{times}"
