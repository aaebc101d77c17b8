"""Decisions of people about calls that wait: who may make one, which one counts, and what is said to the others.

The database decides every race, inside one transaction; a press that changes nothing is told why, and is on the trail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from bot.clock import Clock
from bot.deferral import sentences
from bot.deferral.authority import Authority
from bot.deferral.seal import Seal
from bot.deferral.tool import ToolKind
from bot.errors import AlreadySettled, DecisionRefused, UnknownApproval
from bot.surface import Actor, CardPress, Press
from storage import approvals, audit, cards, meta
from storage.approvals import Approval, ApprovalState
from storage.database import Database

Verdict = Literal["approve", "deny"]


class Decisions:
    """Settles calls on behalf of people, for one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        authority: Authority,
        seal: Seal,
        who: sentences.Who,
        on_settled: Callable[[Approval], None],
    ) -> None:
        """`on_settled` hears of every call that was settled here, after the commit."""
        self._database = database
        self._clock = clock
        self._authority = authority
        self._seal = seal
        self._who = who
        self._on_settled = on_settled

    async def decide(self, press: Press, verdict: Verdict, *, reason: str | None = None) -> Approval:
        """See `Engine.decide`."""
        to = ApprovalState.APPROVED if verdict == "approve" else ApprovalState.DENIED
        return await self._settle(press, ToolKind.APPROVAL, to, note=reason)

    async def answer(self, press: Press, text: str) -> Approval:
        """See `Engine.answer`."""
        return await self._settle(press, ToolKind.QUESTION, ApprovalState.SUCCEEDED, result=text)

    async def decide_all(self, press: CardPress, verdict: Verdict) -> list[Approval]:
        """See `Engine.decide_all`."""
        calls = await approvals.of_card(self._database.reader, press.card)
        waiting = [call for call in calls if call.state is ApprovalState.PENDING and call.kind == ToolKind.APPROVAL]
        decided = []
        for call in waiting:
            one = Press(actor=press.actor, approval=call.id, place=press.place, message=press.message)
            try:
                decided.append(await self.decide(one, verdict))
            except AlreadySettled:
                continue
        if decided:
            return decided
        refusal: DecisionRefused = AlreadySettled(
            "too_late", "Everything on this card has been settled; your press changed nothing."
        )
        if not calls:
            refusal = UnknownApproval("unknown", "This card is not known here; nothing changed.")
        if not waiting:
            await self._refused(calls[0].id if calls else None, press.actor, refusal)
        raise refusal

    async def on_its_card(self, press: Press) -> Approval:
        """The call a press means, if it was pressed on the message that shows it. Raises `UnknownApproval`."""
        approval = await approvals.get(self._database.reader, press.approval)
        if approval is None:
            raise UnknownApproval("unknown", "This request is not known here; nothing changed.")
        if press.message is not None:
            card = await cards.get_card(self._database.reader, approval.card)
            # A card whose id has not been stored yet (the press was faster) is matched by its place alone.
            if card is None or card.place != press.place or card.message not in {None, press.message}:
                raise UnknownApproval("wrong_message", "This button does not belong to this message; nothing changed.")
        return approval

    async def belong_to(self, application: str) -> None:
        """See `Engine.belong_to`."""
        before = await meta.get(self._database.reader, "application")
        if before is not None and before != application:
            for id in await approvals.undecided(self._database.reader):
                await self._void(id, "the bot runs as another Discord application now.")
        async with self._database.begin("belong to") as tx:
            await meta.put(tx, "application", application)

    async def _settle(
        self, press: Press, kind: ToolKind, to: ApprovalState, *, note: str | None = None, result: str | None = None
    ) -> Approval:
        try:
            approval = await self.on_its_card(press)
            if approval.kind != kind:
                raise UnknownApproval("wrong_kind", "This request cannot be answered in that way.")
            self._authority.may_decide(approval, press.actor)
            if not await self._is_genuine(approval):
                raise AlreadySettled(
                    "void", "This request is not as this bot stored it, so it was voided. Nothing ran."
                )
            approves = to is ApprovalState.APPROVED
            seal = self._seal.approved(approval.id, approval.digest, press.actor.id) if approves else None
            async with self._database.begin("decide") as tx:
                # Read here, not at the press: what had to wait for the database until after the deadline is too late.
                now = self._clock.now()
                settled = await approvals.settle(
                    tx, approval.id, to, by=press.actor.id, at=now, note=note, result=result, seal=seal
                )
                if settled is not None and press.message is not None:
                    await cards.seen(tx, approval.card, message=press.message)
            if settled is None:
                fresh = await approvals.get(self._database.reader, approval.id)
                raise AlreadySettled("too_late", self._too_late(fresh or approval, now))
        except DecisionRefused as refusal:
            await self._refused(press.approval, press.actor, refusal)
            raise
        self._on_settled(settled)
        return settled

    async def _refused(self, id: str | None, actor: Actor, refusal: DecisionRefused) -> None:
        async with self._database.begin("refused press") as tx:
            await approvals.refused_press(tx, id, actor=actor.id, at=self._clock.now(), code=refusal.code)

    async def _is_genuine(self, approval: Approval) -> bool:
        """Whether a waiting row is the one that this bot stored; one that is not becomes `void`."""
        if approval.state is not ApprovalState.PENDING:
            return True
        if self._seal.holds(approval.seal, self._seal.asked(approval.id, approval.digest)):
            return True
        await self._void(approval.id, "it is not as this bot stored it.")
        return False

    async def _void(self, id: str, why: str) -> None:
        voided = None
        async with self._database.begin("void") as tx:
            for frm in (ApprovalState.PENDING, ApprovalState.APPROVED):
                voided = voided or await approvals.settle(
                    tx, id, ApprovalState.VOID, by=audit.SYSTEM, at=self._clock.now(), note=why, frm=frm
                )
        if voided is not None:
            self._on_settled(voided)

    def _too_late(self, approval: Approval, now: int) -> str:
        if approval.state is ApprovalState.PENDING and approval.expires_at <= now:
            return "The deadline has passed, so your press changed nothing. Nothing ran."
        return sentences.too_late(approval, self._who)
