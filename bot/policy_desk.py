"""What people do about a guild's rules: look, change a draft, try it on last week, save it.

Who may: those who manage the guild and those whom the operator named as approvers. Only the latter may let a call
through that asked before, or say who decides where the operator left that open: nobody can make themselves an approver
of somebody else's machine by inviting the bot. Decided here, anew at every press; refusals are on the trail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from bot.clock import Clock, NewId
from bot.deferral.authority import Authority
from bot.deferral.policy import RulePolicy, rule_problems
from bot.deferral.tool import Tool
from bot.drafts import MOVED_ON, OVERTAKEN, Current, DraftPress, Drafts
from bot.errors import DecisionRefused, NotAllowed
from bot.guild_book import GuildBook
from bot.guild_rules import Body, GuildRules, lets_through, names_people
from bot.policy_view import Bounds, PolicyView, changes, concerns, conflicts
from bot.rehearsal import Rehearsal, Rehearse
from bot.surface import Actor
from bot.texts.text import say
from storage import audit, guilds
from storage.database import Database
from storage.guilds import Draft, Topic

Edit = Callable[[Body], Body]
"""Makes the next state of a draft. May raise `ValueError` with a sentence that goes on after "The rules"."""

NOT_HERE = say("policy.in_server")
NOT_YOURS = say("policy.not_yours")
_NOT_YOURS: Mapping[Topic, str] = {"policy": NOT_YOURS, "settings": say("settings.not_yours")}


class PolicyDesk:
    """The rules of every guild, for the people who may see or change them."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        authority: Authority,
        book: GuildBook,
        file: RulePolicy,
        tools: Mapping[str, Tool],
        rehearse: Rehearse,
        mask: Callable[[str], str],
    ) -> None:
        """`file` are the operator's rules; `tools` may grow; `mask` hides secrets on the trail."""
        self._database = database
        self._clock = clock
        self._authority = authority
        self._book = book
        self._file = file
        self._tools = tools
        self._rehearse = rehearse
        self._drafts = Drafts(
            "policy", self._current, database=database, clock=clock, new_id=new_id, book=book, mask=mask
        )

    async def look(self, actor: Actor) -> PolicyView:
        """The rules of the actor's guild, with the draft they left, or a new one. Raises `DecisionRefused`."""
        guild = await self.permit(actor)
        return self._view(actor, await self._drafts.left_by(actor.id, guild))

    async def again(self, press: DraftPress) -> PolicyView:
        """The draft as it stands. Raises `DecisionRefused`."""
        return self._view(press.actor, await self.own(press))

    async def change(self, press: DraftPress, edit: Edit) -> PolicyView:
        """Change the draft; nothing counts by this. Raises `DecisionRefused` for rules that make no sense."""
        draft = await self.own(press)
        if draft.mark != press.mark:
            return replace(self._view(press.actor, draft), note=MOVED_ON)
        try:
            body = edit(Body.from_json(draft.body))
            self._check(body.rules(), draft.guild)
        except ValueError as problem:
            raise DecisionRefused(
                "no_rule", say("policy.cannot_be", problem=problem.args[0] if problem.args else problem)
            ) from problem
        return self._view(press.actor, await self._drafts.change(draft, body.to_json()))

    async def discard(self, press: DraftPress) -> PolicyView:
        """Forget the draft. Raises `DecisionRefused`."""
        draft = await self.own(press)
        return self._view(press.actor, await self._drafts.begin(press.actor.id, draft.guild))

    async def save(self, press: DraftPress) -> PolicyView:
        """Let the draft count, for every call from now on. Raises `DecisionRefused`."""
        draft = await self.own(press)
        view = self._view(press.actor, draft)
        if draft.mark != press.mark:
            return replace(view, note=MOVED_ON)
        if view.blocked:
            refusal = NotAllowed("not_yours_to_save", say("policy.nothing_saved", why=view.blocked))
            await self.refused(press.actor, draft.guild, refusal)
            raise refusal
        self._check(view.rules, draft.guild)
        return self._view(press.actor, await self._drafts.save(draft))

    async def rehearse(self, press: DraftPress) -> tuple[PolicyView, Rehearsal]:
        """What last week would have looked like under the draft. Runs nothing. Raises `DecisionRefused`."""
        draft = await self.own(press)
        view = self._view(press.actor, draft)
        return view, await self._rehearse(draft.guild, view.rules.policy)

    # -- who may --------------------------------------------------------------------------------

    async def permit(self, actor: Actor) -> str:
        """The guild whose rules and settings the actor may see and change. Raises `NotAllowed`, likewise."""
        if actor.guild is None:
            raise NotAllowed("not_here", NOT_HERE)
        if not self.may_manage(actor):
            refusal = NotAllowed(
                "not_manager",
                say("policy.may_not", help=self._authority.base_help()),
            )
            await self.refused(actor, actor.guild, refusal)
            raise refusal
        return actor.guild

    def may_manage(self, actor: Actor) -> bool:
        """Whether the actor may see what their guild's people set and use."""
        return actor.manages or self._is_trusted(actor)

    def _is_trusted(self, actor: Actor) -> bool:
        return actor.guild is not None and self._authority.base.names(actor.id, actor.roles, guild=actor.guild)

    async def own(self, press: DraftPress, topic: Topic = "policy") -> Draft:
        """The draft of a press. Raises `NotAllowed`; that is on the trail."""
        guild = await self.permit(press.actor)
        draft = await guilds.draft(self._database.reader, press.draft)
        if draft is None or (draft.guild, draft.person, draft.topic) != (guild, press.actor.id, topic):
            refusal = NotAllowed("not_yours", _NOT_YOURS[topic])
            await self.refused(press.actor, guild, refusal)
            raise refusal
        return draft

    def _blocked(self, actor: Actor, old: GuildRules, new: GuildRules) -> str:
        """Why the actor may not make these rules count, or ''."""
        if self._is_trusted(actor):
            return ""
        who = self._authority.base_help()
        if lets_through(old, new):
            return say("policy.lets_run", who=who)
        if self._authority.leaves_open and names_people(old, new):
            return say("policy.changes_who", who=who)
        return ""

    async def refused(
        self, actor: Actor, guild: str, refusal: DecisionRefused, *, event: str = "policy_refused"
    ) -> None:
        """Put a refusal on the trail."""
        async with self._database.begin("refused press") as tx:
            await audit.record(
                tx,
                at=self._clock.now(),
                actor=actor.id,
                event=event,
                detail={"guild": guild, "code": refusal.code},
            )

    # -- what is shown --------------------------------------------------------------------------

    def _current(self, guild: str) -> Current:
        now = self._book.of(guild)
        return Current(version=now.version, body=now.body.to_json(), stored=now.stored)

    def _view(self, actor: Actor, draft: Draft) -> PolicyView:
        body = Body.from_json(draft.body)
        rules, now, bounds = body.rules(), self._book.of(draft.guild), self._bounds(draft.guild)
        return PolicyView(
            guild=draft.guild,
            bounds=bounds,
            in_force=now,
            draft=draft,
            body=body,
            rules=rules,
            changes=tuple(changes(now.body, body)),
            conflicts=tuple(conflicts(rules, bounds, draft.guild, self._tools.keys())),
            tools=tuple(sorted(self._tools)),
            arguments={name: tuple(tool.schema.get("properties", {})) for name, tool in self._tools.items()},
            blocked=OVERTAKEN if draft.base != now.version else self._blocked(actor, now.rules, rules),
        )

    def _bounds(self, guild: str) -> Bounds:
        authority = self._authority
        return Bounds(
            file_policy=tuple(rule for rule in self._file.rules if concerns(rule, guild)),
            file_approvers=tuple(
                (number, rule) for number, rule in enumerate(authority.file_rules, start=1) if concerns(rule, guild)
            ),
            base=authority.base,
            leaves_open=authority.leaves_open,
            ttl_ms=authority.ttl_ms,
            ttl_binds=authority.base.lifetime is not None,
        )

    def _check(self, rules: GuildRules, guild: str) -> None:
        """Raise `ValueError` for what no rule may say about the tools there are, or here."""
        roles: set[str] = set()
        for asks in rules.policy:
            roles |= asks.roles or frozenset()
        for decides in rules.approvers:
            roles |= (decides.roles or frozenset()) | set(decides.one_of_each)
        if guild in roles:
            raise ValueError(say("policy.everybody"))
        for problem in rule_problems(rules.policy, self._tools.values()):
            raise ValueError(problem)
