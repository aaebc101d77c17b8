"""What a card shows, gathered from the rows: a pure question, asked anew for each posting and each edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.deferral.authority import Approvers, Authority
from bot.deferral.ballots import genuine
from bot.deferral.digest import differences
from bot.deferral.seal import Seal
from bot.deferral.tool import ToolKind
from bot.granting import Granting
from bot.surface import CardView
from storage import approvals, grants, requests, runs, schedules, undo, votes
from storage.approvals import Approval, ApprovalState
from storage.cards import Card
from storage.database import Database
from storage.grants import Grant
from storage.runs import Run, RunKind
from storage.votes import Vote

_WROTE = frozenset({ApprovalState.SUCCEEDED, ApprovalState.INTERRUPTED})
"""Where something may have been written that can be taken back; what failed to write has changed nothing."""


@dataclass(frozen=True, kw_only=True)
class Due:
    """What a reminder is about."""

    users: tuple[str, ...]
    roles: tuple[str, ...]
    deadline: int | None
    """In milliseconds UTC; None if nothing waits any more."""
    place: str
    """Where it was asked."""


class Views:
    """Gathers the cards of one process."""

    def __init__(
        self,
        *,
        database: Database,
        profiles: Mapping[str, str],
        authority: Authority,
        seal: Seal,
        granting: Granting,
    ) -> None:
        """`profiles` says by tool what its body may touch; it may grow."""
        self._database = database
        self._profiles = profiles
        self._authority = authority
        self._seal = seal
        self._granting = granting

    async def of(self, card: Card) -> CardView:
        """What the card shows now."""
        calls = await approvals.of_card(self._database.reader, card.root)
        names = {call.tool for call in calls}
        users, roles = self._whom(calls)
        consent = {call.id: (call, await self._given(call)) for call in calls if call.kind == ToolKind.APPROVAL}
        run = await runs.get(self._database.reader, card.run)
        is_job = run is not None and run.kind is RunKind.JOB
        return CardView(
            card=card,
            approvals=tuple(calls),
            profiles={name: profile for name, profile in self._profiles.items() if name in names},
            job=card.run if is_job else None,
            schedule=await schedules.behind(self._database.reader, card.run) if is_job else None,
            earlier=await self._earlier(card, calls),
            changed={call.id: await self._changed(call, call.replaces) for call in calls if call.replaces},
            standings={id: self._authority.standing(call, given) for id, (call, given) in consent.items()},
            votes={id: tuple(given) for id, (_, given) in consent.items()},
            deciders={id: self._authority.who_can(call) for id, (call, _) in consent.items()},
            ping=tuple(sorted(users)),
            ping_roles=tuple(sorted(roles)),
            grants={id: grant for id, (call, _) in consent.items() if (grant := await self._grant(call)) is not None},
            grantable=frozenset(id for id, (call, _) in consent.items() if self._may_grant(call, run)),
            undos=await undo.of_calls(self._database.reader, [call.id for call in calls if call.state in _WROTE]),
        )

    async def _grant(self, call: Approval) -> Grant | None:
        """The grant that let the call through, or that was made with it."""
        if call.granted is not None:
            return await grants.get(self._database.reader, call.granted)
        return None if call.state is ApprovalState.PENDING else await grants.made_with(self._database.reader, call.id)

    def _may_grant(self, call: Approval, run: Run | None) -> bool:
        return call.state is ApprovalState.PENDING and self._granting.objection(call, run) is None

    async def due(self, card: str) -> Due:
        """Whom to remind of a card, and of when: nobody is asked twice who has approved all of it already."""
        calls = await approvals.of_card(self._database.reader, card)
        waiting = [call for call in calls if call.state is ApprovalState.PENDING]
        users, roles = self._whom(waiting)
        asks = [call for call in waiting if call.kind == ToolKind.APPROVAL]
        done = [frozenset(vote.person for vote in await self._given(call)) for call in asks]
        return Due(
            users=tuple(sorted(users - frozenset.intersection(*done) if done else users)),
            roles=tuple(sorted(roles)),
            deadline=max((call.expires_at for call in waiting), default=None),
            place=calls[0].place,
        )

    def _whom(self, calls: Sequence[Approval]) -> Approvers:
        """Users and roles who can help: the approvers, or the one who was asked when there are only questions."""
        asks = [call for call in calls if call.kind == ToolKind.APPROVAL]
        if asks:
            return self._authority.approvers(asks)
        return frozenset(call.requester for call in calls if call.kind == ToolKind.QUESTION), frozenset()

    async def _given(self, call: Approval) -> list[Vote]:
        return genuine(self._seal, call, await votes.of(self._database.reader, call.id))

    async def _earlier(self, card: Card, calls: Sequence[Approval]) -> tuple[Approval, ...]:
        if not any(call.state is ApprovalState.PENDING and call.kind == ToolKind.APPROVAL for call in calls):
            return ()  # decided: the question has given way to the answer
        return tuple(await requests.refused(self._database.reader, card.run, before=calls[0].pause))

    async def _changed(self, call: Approval, replaces: str) -> tuple[str, ...]:
        before = await approvals.get(self._database.reader, replaces)
        if before is None or before.arguments != call.arguments:
            return ()  # somebody edited it: then it is another action altogether
        if before.granted is not None and before.bound == call.bound:
            return (before.note or "",)
        return tuple(differences(before.bound, call.bound))
