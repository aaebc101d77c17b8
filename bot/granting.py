"""Grants at work: made with an approval, looked for when a call is about to be asked, spent when it is claimed, ended.

A grant stands in for the people who made it and for nobody else: it holds only as long as their approvals would
complete what the rule asks for, which is looked up at each use. Whatever is not certain is asked.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.clock import Clock, NewId
from bot.deferral import grants as rules
from bot.deferral.authority import WRONG_GUILD, Act, Authority
from bot.deferral.grants import Remember
from bot.deferral.seal import Seal
from bot.deferral.sentences import Who
from bot.deferral.tool import Tool, ToolKind
from bot.errors import AlreadySettled, DecisionRefused, DeliveryError, NotAllowed, UnknownApproval
from bot.place import is_private, space_of
from bot.surface import Actor
from bot.texts.text import say
from storage import approvals, audit, grants, requests, runs
from storage.approvals import Approval
from storage.database import Database, Transaction
from storage.grants import Grant, NotRecorded
from storage.runs import Run, RunKind
from storage.votes import Vote

logger = logging.getLogger(__name__)

MOST_GRANTS = 25
"""Grants that hold, for one person in one guild: more than anybody keeps in mind."""

NOT_RECORDED = say("grants.not_recorded")


@dataclass(frozen=True, kw_only=True)
class Maker:
    """Somebody on whose approval a grant rests, as a voter: which roles they hold is looked up at each use."""

    person: str
    roles: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A grant in somebody's list."""

    grant: Grant
    may_revoke: bool


class Granting:
    """The grants of one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        authority: Authority,
        seal: Seal,
        tools: Mapping[str, Tool],
        who: Who,
        enabled: bool,
    ) -> None:
        """Without `enabled` none is made, and none holds."""
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._authority = authority
        self._seal = seal
        self._tools = tools
        self._who = who
        self._enabled = enabled

    # -- made -----------------------------------------------------------------------------------

    def objection(self, call: Approval, run: Run | None) -> str | None:
        """Why no grant can be made with this call, as a sentence; None if one can."""
        if not self._enabled:
            return say("grants.off")
        if run is None or not _is_asked(run):
            return say("grants.of_a_job")
        tool = self._tools.get(call.tool)
        problem = say("grants.no_tool") if tool is None else rules.inexact(tool, call.arguments)
        return None if problem is None else say("grants.never", why=problem)

    async def agree(self, tx: Transaction, call: Approval, actor: Actor) -> None:
        """Return if `actor` may wish for a grant with this call. Raises `DecisionRefused`."""
        self._authority.permit(Act.GRANT, call, actor)
        if (problem := self.objection(call, await runs.get(tx, call.run))) is not None:
            raise DecisionRefused("not_grantable", problem)
        held = await grants.live(tx, space=_space(call.place), now=self._clock.now())
        if sum(one.requester == call.requester for one in held) >= MOST_GRANTS:
            raise DecisionRefused("too_many_grants", say("grants.too_many", n=MOST_GRANTS))

    async def make(self, tx: Transaction, call: Approval, votes: Sequence[Vote], *, by: str) -> Grant | None:
        """The call was approved by these votes: the grant that they come to, or None.

        Those who wish for one have to complete by themselves what the rule asks for. Raises `NotRecorded`.
        """
        wishing = [vote for vote in votes if vote.remember]
        if not wishing or not self._authority.standing(call, wishing).complete:
            return None
        if self.objection(call, await runs.get(tx, call.run)) is not None:
            return None
        terms, now = rules.narrowest(Remember(vote.remember) for vote in wishing), self._clock.now()
        grant = Grant(
            id=self._new_id(),
            mark=rules.mark_of(call),
            action=call.action,
            origin=call.id,
            space=_space(call.place),
            place=call.place,
            within=call.within,
            requester=call.requester,
            tool=call.tool,
            arguments=call.arguments,
            bound=call.bound,
            reason=call.reason,
            makers=tuple(sorted(vote.person for vote in wishing)),
            made_at=now,
            expires_at=None if terms.milliseconds is None else now + terms.milliseconds,
            uses=terms.uses,
            seal="",
        )
        grant = replace(grant, seal=rules.sealed(self._seal, grant))
        await grants.make(tx, grant, call, by=by)
        return grant

    # -- looked for, in place of people ---------------------------------------------------------

    async def find(self, run: Run, call: Approval) -> Grant | None:
        """The grant that would let the call through, as it is now. Asks the face about people, so it comes before the
        transaction; `allow` looks once more."""
        tool = self._tools.get(call.tool)
        if not self._enabled or not _is_asked(run) or call.kind != ToolKind.APPROVAL or tool is None:
            return None
        if rules.inexact(tool, call.arguments) is not None:
            return None
        for grant in await grants.matching(self._database.reader, rules.mark_of(call)):
            if self._problem(grant, call) is None and await self._lost(grant, call) is None:
                return grant
        return None

    async def still(self, tx: Transaction, grant: Grant | None, run: Run, call: Approval) -> Grant | None:
        """The same grant if it still holds for the call, read inside the transaction; not in a request of which people
        have refused something: whoever said no there is asked again."""
        fresh = await grants.get(tx, grant.id) if grant is not None and _is_asked(run) else None
        if fresh is None or self._problem(fresh, call) is not None or await requests.refusals(tx, call.run):
            return None
        return fresh

    async def allow(self, tx: Transaction, grant: Grant, call: Approval) -> None:
        """Approve a call that was just stored, in the commit that stores it."""
        seal = self._seal.granted(call.id, call.digest, grant.id)
        if await grants.allow(tx, call, grant, seal=seal, at=self._clock.now()) is None:
            raise RuntimeError(f"call {call.id} moved within a transaction")

    # -- spent ----------------------------------------------------------------------------------

    async def lapsed(self, call: Approval) -> str | None:
        """See `bot.deferral.executor.Grants`."""
        grant = await grants.get(self._database.reader, call.granted or "")
        return self._problem(grant, call) or await self._lost(grant, call)

    async def spend(self, tx: Transaction, call: Approval) -> str | None:
        """See `bot.deferral.executor.Grants`."""
        grant = await grants.get(tx, call.granted or "")
        if (problem := self._problem(grant, call)) is not None or grant is None:
            return problem
        run = await runs.get(tx, call.run)
        if run is None or not _is_asked(run):
            return say("grants.became_job")
        seal = rules.used_once_more(self._seal, grant)
        if not await grants.spend(tx, grant, call, seal=seal, at=self._clock.now()):
            raise RuntimeError(f"grant {grant.id} moved within a transaction")
        return None

    def _problem(self, grant: Grant | None, call: Approval) -> str | None:
        """Why the grant does not hold for the call, as far as its row says; None if it does."""
        now = self._clock.now()
        if not self._enabled:
            return say("grants.switched_off")
        if grant is None or not rules.is_genuine(self._seal, grant):
            if grant is not None and grant.why is not None:
                if grant.ended_by == audit.SYSTEM:
                    return say("grants.another_application")
                who = self._who(grant.ended_by or "")
                return (
                    say("grants.was_denied", who=who) if grant.why == "denied" else say("grants.was_revoked", who=who)
                )
            return say("grants.not_genuine")
        if grant.mark != rules.mark_of(call):
            return say("grants.another_call")
        if not grant.holds_at(now):
            return say("grants.used_up") if grant.left == 0 else say("grants.over")
        return None

    async def _lost(self, grant: Grant | None, call: Approval) -> str | None:
        """Why its makers' approvals would not be enough now. What cannot be told counts as lost."""
        try:
            return await self._authority.recheck(call, [Maker(person=one) for one in grant.makers]) if grant else None
        except DeliveryError as error:
            logger.warning("makers not known", extra={"action": "grant_unsure", "call": call.id, "problem": str(error)})
            return say("grants.makers_unknown", problem=str(error))

    async def made_with(self, call: Approval) -> Grant | None:
        """The grant that was made with this call, if one was."""
        return await grants.made_with(self._database.reader, call.id)

    # -- ended ----------------------------------------------------------------------------------

    async def denied(self, tx: Transaction, call: Approval, *, by: str) -> None:
        """Somebody denied a call: what would have let the like through ends with that. Raises `NotRecorded`."""
        for grant in await grants.alike(tx, action=call.action, requester=call.requester, place=call.place):
            await grants.end(tx, grant, "denied", by=by, at=self._clock.now())

    async def another_application(self, tx: Transaction) -> None:
        """The bot is another application now: what people allowed under the one before ends. Raises `NotRecorded`."""
        for grant in await grants.listed(tx):
            if grant.holds_at(self._clock.now()):
                await grants.end(tx, grant, "revoked", by=audit.SYSTEM, at=self._clock.now())

    async def revoke(self, id: str, actor: Actor) -> Grant:
        """End a grant: for those who made it, for whom it was made, and for whoever decides such calls.

        Raises `DecisionRefused`; that is on the trail.
        """
        grant = await grants.get(self._database.reader, id)
        try:
            if grant is None:
                raise UnknownApproval("unknown_grant", say("grants.unknown"))
            await self._may_end(grant, actor)
            return await self._end(grant, actor)
        except DecisionRefused as refusal:
            async with self._database.begin("refused press") as tx:
                origin = grant.origin if grant is not None else None
                await approvals.refused_press(tx, origin, actor=actor.id, at=self._clock.now(), code=refusal.code)
            raise

    async def _end(self, grant: Grant, actor: Actor) -> Grant:
        try:
            async with self._database.begin("revoke grant") as tx:
                if not grant.holds_at(self._clock.now()) or not await grants.end(
                    tx, grant, "revoked", by=actor.id, at=self._clock.now()
                ):
                    raise AlreadySettled("grant_ended", say("grants.ended"))
        except NotRecorded as error:
            logger.exception("not recorded", extra={"action": "not_recorded", "grant": grant.id})
            raise DecisionRefused("not_recorded", NOT_RECORDED) from error
        return grant

    async def _may_end(self, grant: Grant, actor: Actor) -> None:
        """Raise `DecisionRefused` unless `actor` may end it."""
        if actor.guild is not None and actor.guild != space_of(grant.place):
            raise NotAllowed("wrong_guild", WRONG_GUILD)
        if actor.id not in grant.makers:
            self._authority.permit(
                Act.REVOKE, _Subject(grant), await self._authority.meet(Act.REVOKE, _Subject(grant), actor)
            )

    async def listed(self, place: str, actor: Actor) -> list[Listed]:
        """What holds in the space of a place, oldest first, and what `actor` may end of it."""
        found = await grants.live(self._database.reader, space=_space(place), now=self._clock.now())
        listed = []
        for grant in found:
            if not self._enabled or not rules.is_genuine(self._seal, grant):
                continue  # it lets nothing through
            try:
                await self._may_end(grant, actor)
            except DecisionRefused:
                listed.append(Listed(grant=grant, may_revoke=False))
            else:
                listed.append(Listed(grant=grant, may_revoke=True))
        return listed


class _Subject:
    """What a grant is about, as a call that is asked (`bot.rules.Asked`)."""

    edited_by = None

    def __init__(self, grant: Grant) -> None:
        self.tool, self.place, self.within, self.requester = grant.tool, grant.place, grant.within, grant.requester


def _is_asked(run: Run) -> bool:
    """Whether a person asked for this run, here and now: not a job, not what a schedule or an ending began."""
    return run.kind is RunKind.TURN and run.request is not None and run.announces is None


def _space(place: str) -> str:
    return place if is_private(place) else space_of(place)
