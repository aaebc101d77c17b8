"""Who may do what about a call. One function for every route; numeric ids only; unknown means no.

The rules are data (`bot.rules`). They are asked at the press, with the roles of the press itself, and once more when
the call is claimed, with the roles as they are then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum

from bot.errors import DeliveryError, NotAllowed, UnknownApproval
from bot.place import is_private, space_of
from bot.rules import ApproverRule, Asked, Ballot, Rule, Standing, Subject, can_be_met, matches, narrowed, standing
from bot.surface import Actor, People, Press
from bot.texts.text import Text, also, every, joined, say
from storage.approvals import Approval
from storage.cards import Card

Approvers = tuple[frozenset[str], frozenset[str]]
"""User ids and role ids."""

_MOST_NAMED = 8
DEFAULT_TTL_MS = 24 * 3_600_000


class Act(StrEnum):
    """What somebody wants to do about a call."""

    APPROVE = "approve"
    DENY = "deny"
    EDIT = "edit"
    EXTEND = "extend"
    REVEAL = "reveal"
    """See what the card masks."""
    CANCEL = "cancel"
    AGAIN = "run again"
    UNDO = "undo"
    """Take back what it wrote."""
    ANSWER = "answer"
    GRANT = "grant"
    """Approve it, and the very call from now on."""
    REVOKE = "revoke"


_OF_THE_REQUESTER = {
    Act.ANSWER: say("authority.only_asked"),
    Act.CANCEL: say("authority.only_requester"),
}
_ALSO_OF_THE_REQUESTER = frozenset({Act.AGAIN, Act.REVOKE})
_OF_OTHERS = frozenset({Act.APPROVE, Act.GRANT, Act.DENY, Act.UNDO})
"""Where a rule wants somebody else than the author to decide, this is for somebody else."""


WRONG_GUILD = say("authority.other_server")


def belongs(approval: Approval, copies: Iterable[Card], press: Press) -> None:
    """Return if the press can mean this call: it came from its guild, and from one of the messages that are its card,
    if from any.

    Raises `NotAllowed`, `UnknownApproval`.
    """
    if press.actor.guild is not None and press.actor.guild != space_of(approval.place):
        raise NotAllowed("wrong_guild", WRONG_GUILD)
    if press.message is None:
        return
    # A card whose id has not been stored yet (the press was faster) is matched by its place alone.
    here = (card for card in copies if card.place == press.place and not card.gone)
    if not any(card.message in {None, press.message} for card in here):
        raise UnknownApproval("wrong_message", say("authority.other_message"))


class Authority:
    """The approvers of this installation.

    With neither users nor roles configured, the application's owner or team decides; the face tells who that
    is after it has logged in, and until then nobody may.
    """

    def __init__(
        self,
        *,
        users: frozenset[str] | None,
        roles: frozenset[str] | None,
        self_approval: bool,
        rules: Sequence[ApproverRule] = (),
        ttl_ms: int = DEFAULT_TTL_MS,
        ttl_binds: bool = False,
        guild_rules: Callable[[str], Sequence[ApproverRule]] = lambda guild: (),
    ) -> None:
        """`ttl_ms` is how long a call waits where no rule says so; with `ttl_binds` no guild may make it longer.

        `guild_rules` are what a guild's own people set, within all else.
        """
        self._configured = users is not None or roles is not None
        self._base = Rule(
            name=say("authority.settings_decide"),
            users=users or frozenset(),
            roles=roles or frozenset(),
            four_eyes=not self_approval,
            lifetime=ttl_ms if ttl_binds else None,
        )
        self._ttl_ms = ttl_ms
        self._guild_rules = guild_rules
        self._rules = rules
        self._people: People | None = None
        self.owners: frozenset[str] = frozenset()
        """Who owns the application, whoever decides."""
        self._owners_known = False

    def replace(
        self,
        *,
        users: frozenset[str] | None,
        roles: frozenset[str] | None,
        self_approval: bool,
        rules: Sequence[ApproverRule],
        ttl_ms: int,
        ttl_binds: bool,
    ) -> None:
        """The operator has written anew who decides: it holds from the next press, and at the next claim."""
        fresh = Authority(
            users=users, roles=roles, self_approval=self_approval, rules=rules, ttl_ms=ttl_ms, ttl_binds=ttl_binds
        )
        self._configured, self._rules = fresh._configured, fresh._rules
        self._base, self._ttl_ms = fresh._base, fresh._ttl_ms
        if self._owners_known:
            self.set_owners(self.owners)

    def connect(self, people: People) -> None:
        """From now on there is a face that knows who holds which role."""
        self._people = people

    def set_owners(self, owners: frozenset[str]) -> None:
        """Learn who owns the application. They decide unless approvers are configured."""
        self.owners = owners
        self._owners_known = True
        if not self._configured:
            self._base = replace(self._base, name=say("authority.owner_decides"), users=owners)

    def every_role(self) -> frozenset[str]:
        """Every role that some rule names."""
        named = [rule.roles or frozenset() for rule in self._rules]
        each = [frozenset(rule.one_of_each) for rule in self._rules]
        return self._base.roles.union(*named, *each)

    def rule_for(self, asked: Asked) -> Rule:
        """The rule about a call: the first of the operator's that matches, narrowed by the guild's own."""
        rule, file = self._base, self.file_rule(asked)
        if file is not None:
            number, found = file
            rule = self._filled(say("authority.file_rule", number=number), found)
        if is_private(asked.place):
            return rule
        for number, own in enumerate(self._guild_rules(space_of(asked.place)), start=1):
            if matches(own, asked):
                fills = not self._configured and not (file is not None and file[1].names_somebody)
                name = say("authority.guild_rule", number=number)
                return narrowed(rule, own, name=name, fills=fills)
        return rule

    def file_rule(self, asked: Asked) -> tuple[int, ApproverRule] | None:
        """The operator's rule about a call and its number, or None if only the base is about it."""
        return next(
            ((number, one) for number, one in enumerate(self._rules, start=1) if matches(one, asked)),
            None,
        )

    def lifetime(self, asked: Asked) -> int:
        """How long a call waits for a decision, in milliseconds."""
        return self.rule_for(asked).lifetime or self._ttl_ms

    def reserved(self, asked: Asked) -> str | None:
        """Why nobody in chat may let such a call run without asking, or None."""
        if (file := self.file_rule(asked)) is not None:
            return say("authority.reserved_by_rule", number=file[0])
        if self._base.four_eyes:
            return say("authority.reserved_four_eyes")
        return None

    @property
    def file_rules(self) -> Sequence[ApproverRule]:
        """The operator's rules, in their order."""
        return self._rules

    @property
    def ttl_ms(self) -> int:
        """How long a call waits where no rule says so."""
        return self._ttl_ms

    @property
    def base(self) -> Rule:
        """Who decides what no rule is about: those whom the operator trusts most."""
        return self._base

    @property
    def leaves_open(self) -> bool:
        """Whether the operator left it open who decides, so that the owner does."""
        return not self._configured

    def _filled(self, name: str, rule: ApproverRule) -> Rule:
        names_somebody = rule.users is not None or rule.roles is not None or bool(rule.one_of_each)
        base = self._base
        return Rule(
            name=name,
            users=(rule.users or frozenset()) if names_somebody else base.users,
            roles=(rule.roles or frozenset()) if names_somebody else base.roles,
            one_of_each=rule.one_of_each,
            quorum=rule.quorum,
            four_eyes=base.four_eyes if rule.four_eyes is None else rule.four_eyes,
            lifetime=rule.lifetime or base.lifetime,
        )

    def approvers(self, calls: Iterable[Asked]) -> Approvers:
        """Users and roles who may approve any of the calls: whom to notify."""
        users: set[str] = set()
        roles: set[str] = set()
        for asked in calls:
            rule = self.rule_for(asked)
            users |= {one for one in rule.users if not rule.is_author(asked, one) and rule.could_be(one)}
            roles |= rule.own_roles - {space_of(asked.place)}
        return frozenset(users), frozenset(roles)

    def anyone_can_decide(self, asked: Asked) -> bool:
        """Whether the call can be approved at all, as far as that is known."""
        return can_be_met(self.rule_for(asked), asked)

    def standing(self, asked: Asked, votes: Iterable[Ballot]) -> Standing:
        """How far the call has come with these approvals."""
        return standing(self.rule_for(asked), asked, votes)

    # -- at the press ---------------------------------------------------------------------------

    def permit(self, act: Act, asked: Asked, actor: Actor) -> None:
        """Return if `actor` may do this now; raise `NotAllowed` with the rule that says no, and who can help.

        `actor` is as `meet` gave it: its roles are those of the call's own guild.
        """
        if (refusal := _OF_THE_REQUESTER.get(act)) is not None:
            if actor.id != asked.requester:
                raise NotAllowed("not_requester", refusal)
            return
        if act in _ALSO_OF_THE_REQUESTER and actor.id == asked.requester:
            return
        rule = self.rule_for(asked)
        guild = space_of(asked.place)
        roles = actor.roles if actor.guild == guild and not is_private(asked.place) else frozenset()
        if not rule.names(actor.id, roles, guild=guild):
            raise NotAllowed("not_approver", say("authority.not_approver", help=self._help(rule)))
        # An author's no is a no all the same; who asked has a button of their own for it.
        denies_own_edit = act is Act.DENY and actor.id != asked.requester
        if act in _OF_OTHERS and rule.is_author(asked, actor.id) and not denies_own_edit:
            help = self._help(rule, but=actor.id)
            if act is Act.UNDO:
                raise NotAllowed("four_eyes", say("files.four_eyes", help=help))
            asked_it = actor.id == asked.requester
            why = (
                say("authority.asked_yourself", help=help) if asked_it else say("authority.changed_yourself", help=help)
            )
            raise NotAllowed("four_eyes", why)

    def is_approver(self, actor: Actor, place: str, *, within: str = "", tool: str = "") -> bool:
        """Whether `actor` decides about what is asked in `place`: for jobs and conversations, which are no calls."""
        guild = space_of(place)
        rule = self.rule_for(Subject(tool=tool, place=place, within=within, requester=""))
        return rule.names(actor.id, actor.roles if actor.guild == guild else frozenset(), guild=guild)

    async def meet(self, act: Act, asked: Asked, actor: Actor) -> Actor:
        """The actor with the roles that count for this call: those of the press, or looked up in the call's guild.

        Raises `NotAllowed` when the press came from another guild, and when who it is cannot be looked up.
        """
        guild = space_of(asked.place)
        if actor.guild is not None and actor.guild != guild:
            raise NotAllowed("wrong_guild", WRONG_GUILD)
        own = act in _OF_THE_REQUESTER or (act in _ALSO_OF_THE_REQUESTER and actor.id == asked.requester)
        if actor.guild is not None or is_private(asked.place) or own:
            return actor
        try:
            roles = await self._roles_of(guild, actor.id)
        except DeliveryError as error:
            raise NotAllowed(
                "unknown_member",
                say("authority.roles_unknown", problem=error.problem),
            ) from error
        if roles is None:
            raise NotAllowed("not_member", say("authority.no_member"))
        return replace(actor, guild=guild, roles=roles)

    async def _roles_of(self, guild: str, person: str) -> frozenset[str] | None:
        if self._people is None:
            raise DeliveryError(say("authority.no_connection"))
        return await self._people.roles_of(guild, person)

    # -- at the claim ---------------------------------------------------------------------------

    async def recheck(self, asked: Asked, votes: Sequence[Ballot]) -> str | None:
        """Why what was approved does not count any more, or None: everybody is looked at once more.

        Raises `DeliveryError` when that cannot be told now; nothing may run until it can.
        """
        rule = self.rule_for(asked)
        known = self._configured or self._owners_known
        if not known and not rule.users and not rule.every_role:
            raise DeliveryError(say("authority.not_known_yet"))
        guild = space_of(asked.place)
        now = []
        for vote in votes:
            roles: frozenset[str] | None = frozenset()
            if rule.hangs_on_roles(vote.person) and not is_private(asked.place):
                roles = await self._roles_of(guild, vote.person)
            now.append(_Now(vote.person, roles or frozenset()))
        found = standing(rule, asked, now)
        if found.complete:
            return None
        gone = [self._who(vote.person) for vote in votes if vote.person not in found.given]
        what = say("authority.approval_gone", names=joined(gone)) if gone else say("authority.needs_more")
        return say("authority.why_not", what=what, help=self.who_can(asked))

    # -- words ----------------------------------------------------------------------------------

    def who_can(self, asked: Asked) -> Text:
        """One sentence naming the rule and who can help."""
        return self._help(self.rule_for(asked))

    def base_help(self) -> Text:
        """The same about whom the operator trusts most."""
        return self._help(self._base)

    def _help(self, rule: Rule, *, but: str | None = None) -> Text:
        people = sorted(person for person in rule.users - {but} if rule.could_be(person))
        if not people and not rule.own_roles:
            if rule.bound is not None:
                return say("authority.names_nobody_who_may", rule=rule.name, help=self._help(rule.bound, but=but))
            if rule.name != self._base.name and but is None:
                return say("authority.names_nobody", rule=rule.name)
            return say("authority.no_approver") if but is None else say("authority.no_other")
        names = [*map(self._who, people), *map(self._group, sorted(rule.roles))]
        shown = joined(names[:_MOST_NAMED])
        if len(names) > _MOST_NAMED:
            shown = say("authority.and_others", names=shown)
        wants: list[Text] = []
        if names:
            wants.append(say("authority.some_of", n=rule.quorum, names=shown) if rule.quorum > 1 else shown)
        if rule.one_of_each:
            wants.append(every(say("authority.one_of", role=self._group(role)) for role in rule.one_of_each))
        return say("authority.help", rule=rule.name, wants=also(wants))

    def _who(self, person: str) -> str:
        return self._people.who(person) if self._people is not None else say("authority.user", person=person)

    def _group(self, role: str) -> str:
        return self._people.group(role) if self._people is not None else say("authority.role", role=role)


class _Now:
    """A voter as they stand at the claim."""

    def __init__(self, person: str, roles: frozenset[str]) -> None:
        self.person = person
        self.roles = roles
