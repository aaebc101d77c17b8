"""Changes of what waits: other arguments, a later deadline. Either is bound anew; neither decides anything.

Whoever may change a call may also see it bare, without its card's masks.

An edit is a new action: the old call is cancelled, a new one with its own digest takes its place in the same pause and
on the same card, and nobody has approved it yet. A put-off deadline leaves the action and its votes as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot import shapes
from bot.asking import Asking
from bot.clock import Clock, NewId
from bot.decisions import Decisions, waits_for
from bot.deferral.amend import Draft, NotUsable, draft, read
from bot.deferral.authority import Act, Authority
from bot.deferral.ballots import carried
from bot.deferral.executor import Executor, parse
from bot.deferral.intent import action_key, intent_key
from bot.deferral.policy import Policy, asking_of
from bot.deferral.tool import Tool
from bot.deferral.vault import Vault
from bot.errors import AlreadySettled, DecisionRefused, UnknownApproval
from bot.surface import CardPress, Press
from bot.texts.text import say
from storage import approvals, cards, requests, runs, votes
from storage.approvals import Approval, ApprovalState
from storage.database import Database, Transaction

MOST_EXTENSIONS = 3
"""How often a card's deadline can be put off, each time by one lifetime: what nobody decides must end some day."""


class Edits:
    """Changes calls on behalf of people, for one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        authority: Authority,
        executor: Executor,
        asking: Asking,
        policy: Policy,
        tools: Mapping[str, Tool],
        decisions: Decisions,
        vault: Vault,
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._authority = authority
        self._executor = executor
        self._asking = asking
        self._policy = policy
        self._tools = tools
        self._decisions = decisions
        self._vault = vault

    async def draft(self, press: Press) -> Draft:
        """See `Engine.draft`. A form shows what the card masks: that is on the trail, as for `reveal`."""
        call = await self._decisions.permitted(press, Act.EDIT)
        form = draft(self._tool(call), call.arguments)
        if shapes.find(form.text):
            await self._revealed(call, press.actor.id)
        return form

    async def reveal(self, press: Press) -> Approval:
        """The call, for somebody who may decide it and wants to see what its card masks. Raises `DecisionRefused`.

        That it was seen, and by whom, is on the trail first.
        """
        call = await self._decisions.permitted(press, Act.REVEAL)
        await self._revealed(call, press.actor.id)
        return call

    async def _revealed(self, call: Approval, by: str) -> None:
        async with self._database.begin("reveal") as tx:
            await approvals.trail(tx, call, "revealed", by, self._clock.now(), {})

    async def edit(self, press: Press, text: str) -> Approval:
        """See `Engine.edit`."""
        old = await self._decisions.permitted(press, Act.EDIT)
        try:
            new = await self._changed(old, text, by=press.actor.id)
            async with self._database.begin("edit") as tx:
                await self._still_waits(tx, old)
                who = f"edited by {press.actor.id}"
                if not await requests.replace(tx, old, new, ApprovalState.CANCELLED, by=press.actor.id, note=who):
                    raise AlreadySettled(
                        "same_call",
                        say("edits.has_that"),
                    )
                await cards.edited(tx, old.card)
                await approvals.trail(tx, new, "edited", press.actor.id, new.requested_at, {"replaces": old.id})
        except DecisionRefused as refusal:
            await self._decisions.refused(press.approval, press.actor, refusal)
            raise
        self._decisions.moved(new)
        return new

    async def extend(self, press: CardPress) -> int:
        """See `Engine.extend`."""
        calls = await approvals.of_card(self._database.reader, press.card)
        try:
            if not calls:
                raise UnknownApproval("unknown", say("authority.card_unknown"))
            until = await self._extend(press, calls)
        except DecisionRefused as refusal:
            await self._decisions.refused(calls[0].id if calls else None, press.actor, refusal)
            raise
        self._decisions.moved(calls[0])
        return until

    # -- another action -------------------------------------------------------------------------

    async def _changed(self, old: Approval, text: str, *, by: str) -> Approval:
        """The call as the text says it, nothing stored yet. Raises `DecisionRefused`."""
        tool = self._tool(old)
        try:
            arguments = read(tool, text, old.arguments)
        except NotUsable as error:
            raise DecisionRefused(
                "not_usable",
                say("edits.not_usable", problem=error.args[0]),
            ) from error
        if arguments == old.arguments:
            raise DecisionRefused("unchanged", say("edits.same"))
        if (problem := self._vault.refusal(tool, arguments, lambda: parse(tool, arguments))) is not None:
            raise DecisionRefused("secret", say("secrets.not_usable", why=problem))
        run = await runs.get(self._database.reader, old.run)
        if run is None:
            raise UnknownApproval("unknown", say("edits.unknown"))
        verdict = self._policy.decide(tool, arguments, asking_of(run, now=self._clock.now()))
        if verdict.action == "refuse":
            raise DecisionRefused("policy", say("edits.refused", rule=verdict.rule))
        return self._asking.sealed(
            replace(
                old,
                id=self._new_id(),
                arguments=arguments,
                bound=await self._executor.bound(tool.name, arguments, run.id),
                reason=verdict.rule if verdict.action == "ask" else old.reason,
                intent=intent_key(run.asked_in, run.request, tool.name, arguments),
                action=action_key(tool.name, arguments),
                replaces=old.id,
                edited_by=by,
                original=old.original or old.arguments,
                requested_at=self._clock.now(),
            )
        )

    async def _still_waits(self, tx: Transaction, call: Approval) -> None:
        """Raise `DecisionRefused` unless the row is as it was, in time, and genuine: only that may be sealed anew."""
        if await approvals.get(tx, call.id) != call or call.expires_at <= self._clock.now():
            raise AlreadySettled("too_late", say("edits.meanwhile"))
        if not self._executor.is_asked(call):
            raise AlreadySettled("not_genuine", say("edits.not_as_stored"))

    def _tool(self, call: Approval) -> Tool:
        tool = self._tools.get(call.tool)
        if tool is None:
            raise UnknownApproval("no_tool", say("edits.no_tool", tool=call.tool))
        return tool

    # -- another deadline -----------------------------------------------------------------------

    async def _extend(self, press: CardPress, calls: list[Approval]) -> int:
        waiting = [call for call in calls if waits_for(Act.EXTEND, call)]
        if not waiting:
            raise AlreadySettled("too_late", say("edits.nothing_waits"))
        for call in waiting:
            one = Press(actor=press.actor, approval=call.id, place=press.place, message=press.message)
            await self._decisions.on_its_card(one)
            if call.kind == "approval":
                actor = await self._authority.meet(Act.EXTEND, call, press.actor)
                self._authority.permit(Act.EXTEND, call, actor)
        async with self._database.begin("put off") as tx:
            now = self._clock.now()
            card = await cards.get_card(tx, press.card)
            if card is None or card.extended >= MOST_EXTENSIONS:
                raise DecisionRefused("extended_enough", say("edits.most_extensions", most=MOST_EXTENSIONS))
            longer = min(self._asking.lifetime(call) for call in waiting)
            for old in waiting:
                await self._still_waits(tx, old)
                new = self._asking.sealed(replace(old, expires_at=old.expires_at + longer))
                if not await requests.extend(tx, old, new, by=press.actor.id, at=now):
                    raise AlreadySettled("too_late", say("edits.decided_meanwhile"))
                await votes.reseal(tx, carried(self._executor.seal, old, new, await votes.of(tx, old.id)))
            await cards.extended(tx, press.card)
            until = max(call.expires_at for call in waiting) + longer
            await self._asking.remind_again(tx, waiting[0], card.extended + 1, expires_at=until, now=now)
        return until
