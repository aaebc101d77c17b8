"""Decisions of people about calls that wait: who may make one, which one counts, and what is said to the others.

The database decides every race, inside one transaction; a press that changes nothing is told why, and is on the trail.
Consent is a vote. The vote that completes what the rule asks for is the decision.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.clock import Clock
from bot.deferral import sentences
from bot.deferral.authority import Act, Authority, belongs
from bot.deferral.ballots import genuine
from bot.deferral.executor import digest_of
from bot.deferral.grants import Remember
from bot.deferral.seal import Seal
from bot.deferral.tool import ToolKind
from bot.errors import AlreadySettled, DecisionRefused, UnknownApproval
from bot.granting import NOT_RECORDED, Granting
from bot.rules import Standing
from bot.surface import Actor, CardPress, Press
from bot.texts.text import say
from storage import approvals, audit, cards, meta, requests, votes
from storage.approvals import Approval, ApprovalState
from storage.database import Database, Transaction
from storage.grants import NotRecorded
from storage.votes import Vote

logger = logging.getLogger(__name__)

Verdict = Literal["approve", "deny"]

TAKEN_BACK = say("authority.taken_back")

_VERDICTS: dict[Act, Verdict] = {Act.APPROVE: "approve", Act.DENY: "deny"}
_KINDS = {Act.ANSWER: frozenset({ToolKind.QUESTION}), Act.CANCEL: frozenset(ToolKind)}
"""What an act is about; every other one is about consent."""


@dataclass(frozen=True, kw_only=True)
class Together:
    """What one press on a card of several calls came to, in the model's order."""

    done: Sequence[Approval]
    refused: Sequence[DecisionRefused]


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
        granting: Granting,
    ) -> None:
        self._database = database
        self._clock = clock
        self._authority = authority
        self._seal = seal
        self._who = who
        self.granting = granting
        self.moved: Callable[[Approval], None] = lambda call: None

    def listen(self, moved: Callable[[Approval], None]) -> None:
        """From now on `moved` hears of every call that was settled, voted about or changed, after the commit."""
        self.moved = moved

    async def decide(
        self, press: Press, verdict: Verdict, *, reason: str | None = None, remember: Remember | None = None
    ) -> Approval:
        """See `Engine.decide`."""
        if verdict == "deny":
            return await self._act(press, Act.DENY, lambda tx, call, actor: self._deny(tx, call, actor, reason))
        act = Act.APPROVE if remember is None else Act.GRANT
        return await self._act(press, act, lambda tx, call, actor: self._approve(tx, call, actor, remember))

    async def answer(self, press: Press, text: str) -> Approval:
        """See `Engine.answer`."""

        async def answer(tx: Transaction, call: Approval, actor: Actor) -> Approval | None:
            return await approvals.settle(
                tx, call.id, ApprovalState.SUCCEEDED, by=actor.id, at=self._clock.now(), result=text
            )

        return await self._act(press, Act.ANSWER, answer)

    async def cancel(self, press: Press) -> Approval:
        """See `Engine.cancel`."""
        return await self._act(press, Act.CANCEL, self._cancel)

    async def expire(self) -> None:
        """Settle every call whose deadline is over."""
        now = self._clock.now()
        for id in await approvals.overdue(self._database.reader, now=now):
            async with self._database.begin("expire") as tx:
                await approvals.settle(tx, id, ApprovalState.EXPIRED, by=audit.SYSTEM, at=now)

    async def together(self, press: CardPress, act: Act) -> Together:
        """Do the same about every call of a card that still waits. See `Engine.decide_all`, `Engine.cancel_all`."""
        calls = await approvals.of_card(self._database.reader, press.card)
        # Behind the calls: whatever is put in place of one of them from here on has another id.
        card = await cards.get_card(self._database.reader, press.card)
        waiting = [call for call in calls if waits_for(act, call)]
        done: list[Approval] = []
        refused: list[DecisionRefused] = []
        if card is not None and press.edition is not None and press.edition != card.edition:
            refusal: DecisionRefused = AlreadySettled("edited", say("authority.card_changed"))
        elif not calls:
            refusal = UnknownApproval("unknown", say("authority.card_unknown"))
        else:
            refusal = AlreadySettled("too_late", say("authority.all_settled"))
            for call in waiting:
                one = Press(actor=press.actor, approval=call.id, place=press.place, message=press.message)
                try:
                    done.append(await (self.cancel(one) if act is Act.CANCEL else self.decide(one, _VERDICTS[act])))
                except AlreadySettled:
                    continue
                except DecisionRefused as no:
                    refused.append(no)
            if done:
                return Together(done=done, refused=refused)
            if refused:
                raise refused[0]
            if waiting:
                raise refusal
        await self.refused(calls[0].id if calls else None, press.actor, refusal)
        raise refusal

    async def permitted(self, press: Press, act: Act) -> Approval:
        """The call, if this person may do this about it now: asked before a form is opened, and again at its submit.

        Raises `DecisionRefused`; that is on the trail.
        """
        try:
            call = await self.on_its_card(press)
            fits(act, call)
            self._authority.permit(act, call, await self._authority.meet(act, call, press.actor))
            newer = await requests.newest(self._database.reader, call)
            if not waits_for(act, call) or newer.id != call.id:
                raise await self._too_late(act, call)
        except DecisionRefused as refusal:
            await self.refused(press.approval, press.actor, refusal)
            raise
        return call

    async def on_its_card(self, press: Press) -> Approval:
        """The call a press means, if it was pressed on the message that shows it. Raises `UnknownApproval`."""
        approval = await approvals.get(self._database.reader, press.approval)
        if approval is None:
            raise UnknownApproval("unknown", say("authority.unknown"))
        belongs(approval, await cards.copies(self._database.reader, approval.card), press)
        return approval

    async def belong_to(self, application: str) -> None:
        """See `Engine.belong_to`."""
        before = await meta.get(self._database.reader, "application")
        if before is not None and before != application:
            for id in await approvals.undecided(self._database.reader):
                await self._void(id, say("authority.other_application"))
        async with self._database.begin("belong to") as tx:
            if before is not None and before != application:
                await self.granting.another_application(tx)
            await meta.put(tx, "application", application)

    # -- what can be done -----------------------------------------------------------------------

    async def _approve(
        self, tx: Transaction, call: Approval, actor: Actor, remember: Remember | None
    ) -> Approval | None:
        """One more vote; with the last of them the call is approved, and remembered if they want it so."""
        if remember is not None:
            await self.granting.agree(tx, call, actor)
        given = genuine(self._seal, call, await votes.of(tx, call.id))
        counted = self._authority.standing(call, given)
        if actor.id in counted.given:
            raise AlreadySettled(
                "already_voted", say("authority.already_approved", missing=self._missing(call, counted))
            )
        roles = actor.roles & self._authority.rule_for(call).every_role
        vote = self._vote(call, actor, "approve", roles, remember or "")
        persons = {*(one.person for one in given), actor.id}
        complete = self._authority.standing(call, [*given, vote]).complete
        await votes.cast(tx, vote, call, complete=complete)
        if not complete:
            return call
        await self.granting.make(tx, call, [*given, vote], by=actor.id)
        return await approvals.settle(
            tx,
            call.id,
            ApprovalState.APPROVED,
            by=actor.id,
            at=vote.at,
            seal=self._seal.approved(call.id, call.digest, actor.id, persons),
        )

    async def _deny(self, tx: Transaction, call: Approval, actor: Actor, reason: str | None) -> Approval | None:
        vote = self._vote(call, actor, "deny", frozenset())
        await votes.cast(tx, vote, call, complete=True)
        await self.granting.denied(tx, call, by=actor.id)
        return await approvals.settle(tx, call.id, ApprovalState.DENIED, by=actor.id, at=vote.at, note=reason)

    async def _cancel(self, tx: Transaction, call: Approval, actor: Actor) -> Approval | None:
        return await approvals.settle(
            tx,
            call.id,
            ApprovalState.CANCELLED,
            by=actor.id,
            at=self._clock.now(),
            note=TAKEN_BACK,
            frm=call.state,
        )

    def _vote(self, call: Approval, actor: Actor, verdict: Verdict, roles: frozenset[str], remember: str = "") -> Vote:
        return Vote(
            approval=call.id,
            person=actor.id,
            verdict=verdict,
            roles=roles,
            at=self._clock.now(),
            seal=self._seal.vote(call.id, call.digest, actor.id, verdict, roles, remember),
            remember=remember,
        )

    async def _act(
        self, press: Press, act: Act, move: Callable[[Transaction, Approval, Actor], Awaitable[Approval | None]]
    ) -> Approval:
        """Look who it is, then move the row as it is inside the transaction. Raises `DecisionRefused`."""
        try:
            call = await self.on_its_card(press)
            fits(act, call)
            actor = await self._authority.meet(act, call, press.actor)
            self._authority.permit(act, call, actor)
            if not await self._is_genuine(call):
                raise AlreadySettled("void", say("authority.not_as_stored"))
            async with self._database.begin("decide") as tx:
                # Read here, not at the press: what had to wait for the database until after the deadline is too late.
                fresh = await approvals.get(tx, call.id)
                moved = None
                stands = fresh is not None and self._holds(fresh)
                if fresh is not None and stands and waits_for(act, fresh) and self._in_time(fresh):
                    moved = await move(tx, fresh, actor)
                if moved is not None and press.message is not None:
                    await cards.seen(tx, call.card, place=press.place, message=press.message)
            if moved is None:
                if fresh is not None and not await self._is_genuine(fresh):
                    raise AlreadySettled("void", say("authority.not_as_stored"))
                raise await self._too_late(act, call)
        except NotRecorded as error:
            logger.exception("not recorded", extra={"action": "not_recorded", "approval": press.approval})
            refusal = DecisionRefused("not_recorded", NOT_RECORDED)
            await self.refused(press.approval, press.actor, refusal)
            raise refusal from error
        except DecisionRefused as refusal:
            await self.refused(press.approval, press.actor, refusal)
            raise
        self.moved(moved)
        return moved

    def _in_time(self, call: Approval) -> bool:
        return call.state is not ApprovalState.PENDING or call.expires_at > self._clock.now()

    # -- what is said ---------------------------------------------------------------------------

    def _missing(self, call: Approval, counted: Standing) -> str:
        return say("authority.more_must", n=counted.more, help=self._authority.who_can(call))

    async def _too_late(self, act: Act, call: Approval) -> AlreadySettled:
        fresh = await approvals.get(self._database.reader, call.id) or call
        if act is Act.AGAIN:
            return AlreadySettled("not_ended", say("authority.not_ended"))
        if act is Act.UNDO:
            return AlreadySettled("not_ended", say("files.not_ended"))
        if fresh.state is ApprovalState.PENDING:
            return AlreadySettled("too_late", say("authority.deadline_passed"))
        newer = await requests.newest(self._database.reader, fresh)
        if newer.edited_by is not None and newer.id != fresh.id:
            who = self._who(newer.edited_by)
            return AlreadySettled(
                "edited",
                say("authority.call_changed", who=who),
            )
        return AlreadySettled("too_late", sentences.too_late(fresh, self._who))

    async def refused(self, id: str | None, actor: Actor, refusal: DecisionRefused) -> None:
        """Put a refused press on the trail."""
        async with self._database.begin("refused press") as tx:
            await approvals.refused_press(tx, id, actor=actor.id, at=self._clock.now(), code=refusal.code)

    # -- what is believed -----------------------------------------------------------------------

    async def _is_genuine(self, approval: Approval) -> bool:
        """Whether a waiting row is the one that this bot stored; one that is not becomes `void`."""
        if self._holds(approval):
            return True
        await self._void(approval.id, say("authority.not_genuine"))
        return False

    def _holds(self, approval: Approval) -> bool:
        if approval.state is not ApprovalState.PENDING:
            return True
        # The row, not only its digest: what is decided about, and what a grant is made of, is what the row says now.
        genuine = self._seal.holds(approval.seal, self._seal.asked(approval.id, approval.digest))
        return genuine and digest_of(approval) == approval.digest

    async def _void(self, id: str, why: str) -> None:
        voided = None
        async with self._database.begin("void") as tx:
            for frm in (ApprovalState.PENDING, ApprovalState.APPROVED):
                voided = voided or await approvals.settle(
                    tx, id, ApprovalState.VOID, by=audit.SYSTEM, at=self._clock.now(), note=why, frm=frm
                )
        if voided is not None:
            self.moved(voided)


def fits(act: Act, call: Approval) -> None:
    """Raise `UnknownApproval` if this cannot be done about such a call at all."""
    if call.kind not in _KINDS.get(act, {ToolKind.APPROVAL}):
        raise UnknownApproval("wrong_kind", say("authority.wrong_kind"))


def waits_for(act: Act, call: Approval) -> bool:
    """Whether the call stands where this can be done."""
    if act in {Act.AGAIN, Act.UNDO}:
        return not call.is_open
    return call.state is ApprovalState.PENDING or (act is Act.CANCEL and call.state is ApprovalState.APPROVED)
