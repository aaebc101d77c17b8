"""Who may decide what, as data: rules that are chosen by tool and place, and the count of votes under one of them.

Pure, and nothing but numeric ids: names are for display only. Unknown means no. What stands here is asked at the
press, and again when the call is claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Protocol

from bot.place import channel_of, is_private, space_of

MOST_VOTES = 20
"""People that a rule may ask for."""


class Asked(Protocol):
    """A call, as far as it matters who decides about it."""

    @property
    def tool(self) -> str:
        """The tool's name."""
        ...

    @property
    def place(self) -> str:
        """Where it was asked."""
        ...

    @property
    def within(self) -> str:
        """The channel that the place is a thread of, or ''."""
        ...

    @property
    def requester(self) -> str:
        """Who asked."""
        ...

    @property
    def edited_by(self) -> str | None:
        """Who changed it last, if anybody did."""
        ...


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is asked about, when there is no call yet."""

    tool: str
    place: str
    within: str
    requester: str
    edited_by: str | None = None


class Ballot(Protocol):
    """One person's consent."""

    @property
    def person(self) -> str:
        """Who gave it."""
        ...

    @property
    def roles(self) -> frozenset[str]:
        """Roles that they hold in the call's guild."""
        ...


@dataclass(frozen=True, kw_only=True)
class ApproverRule:
    """One rule as the operator wrote it. None: as for everything that no rule is about."""

    tools: tuple[str, ...] | None = None
    """Names; `*` stands for any characters."""
    guilds: frozenset[str] | None = None
    channels: frozenset[str] | None = None
    """A thread belongs to its channel, too."""
    users: frozenset[str] | None = None
    roles: frozenset[str] | None = None
    one_of_each: tuple[str, ...] = ()
    """Roles: somebody of each has to approve, each time somebody else."""
    quorum: int = 1
    """How many different people have to approve."""
    four_eyes: bool | None = None
    """Whether those who made the call what it is (who asked, who edited it) are no approvers of it."""
    lifetime: int | None = None
    """How long a call waits for a decision, in milliseconds."""

    @property
    def names_somebody(self) -> bool:
        """Whether it says itself who decides."""
        return self.users is not None or self.roles is not None or bool(self.one_of_each)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule with everything filled in."""

    name: str
    """Where the operator finds it, as the beginning of a sentence that goes on with who decides."""
    users: frozenset[str]
    roles: frozenset[str]
    one_of_each: tuple[str, ...] = ()
    quorum: int = 1
    four_eyes: bool = False
    lifetime: int | None = None
    """How long a call waits at most, in milliseconds; None: as long as any."""
    bound: Rule | None = None
    """Somebody whom this rule names has to be named by that one, too."""

    @property
    def own_roles(self) -> frozenset[str]:
        """Every role that makes an approver by this rule."""
        return self.roles | frozenset(self.one_of_each)

    @property
    def every_role(self) -> frozenset[str]:
        """Every role that matters to who may approve."""
        return self.own_roles | (self.bound.every_role if self.bound is not None else frozenset())

    @property
    def needed(self) -> int:
        """How many different people have to approve, at least."""
        return max(self.quorum, len(self.one_of_each))

    def names(self, person: str, roles: frozenset[str], *, guild: str) -> bool:
        """Whether the rule names the person, or a role that they hold in `guild`.

        The role that is the guild itself is held by all its members, so it never counts.
        """
        if self.bound is not None and not self.bound.names(person, roles, guild=guild):
            return False
        return person in self.users or bool((roles & self.own_roles) - {guild})

    def could_be(self, person: str) -> bool:
        """Whether a person it names by id may be an approver, as far as that is known without their roles."""
        return self.bound is None or person in self.bound.users or bool(self.bound.every_role)

    def hangs_on_roles(self, person: str) -> bool:
        """Whether roles decide if this person is an approver."""
        own = bool(self.one_of_each) or (person not in self.users and bool(self.roles))
        return own or (self.bound is not None and self.bound.hangs_on_roles(person))

    def is_author(self, asked: Asked, person: str) -> bool:
        """Whether four eyes keep this person from deciding: the call is what it is because of them."""
        return self.four_eyes and person in {asked.requester, asked.edited_by}


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How far a call has come."""

    given: tuple[str, ...]
    """Who has approved, and counts."""
    more: int
    """How many others have to, at least."""
    roles: tuple[str, ...] = ()
    """Roles of which somebody is missing."""
    open_users: tuple[str, ...] = ()
    """People by name who may still approve."""
    open_roles: tuple[str, ...] = ()
    """Roles whose members may still approve."""

    @property
    def complete(self) -> bool:
        """Whether it is approved."""
        return self.more == 0


def matches(rule: ApproverRule, asked: Asked) -> bool:
    """Whether the rule is about this call. In direct messages no rule that names servers or channels is."""
    if rule.tools is not None and not any(fnmatchcase(asked.tool, pattern) for pattern in rule.tools):
        return False
    if rule.guilds is None and rule.channels is None:
        return True
    if is_private(asked.place):
        return False
    if rule.guilds is not None and space_of(asked.place) not in rule.guilds:
        return False
    return rule.channels is None or not rule.channels.isdisjoint({channel_of(asked.place), asked.within})


def standing(rule: Rule, asked: Asked, votes: Iterable[Ballot]) -> Standing:
    """Count the votes of those who may vote: each person once, each role of `one_of_each` by somebody else."""
    guild = space_of(asked.place)
    private = is_private(asked.place)
    counted: dict[str, frozenset[str]] = {}
    for vote in votes:
        roles = frozenset() if private else vote.roles - {guild}
        if rule.names(vote.person, roles, guild=guild) and not rule.is_author(asked, vote.person):
            counted.setdefault(vote.person, roles)
    uncovered = _uncovered(rule.one_of_each, counted)
    more = max(rule.quorum - len(counted), len(uncovered))
    still = (
        person
        for person in sorted(rule.users)
        if person not in counted and not rule.is_author(asked, person) and rule.could_be(person)
    )
    return Standing(
        given=tuple(counted),
        more=more,
        roles=uncovered,
        open_users=tuple(still),
        open_roles=() if private else tuple(sorted(rule.roles - {guild})),
    )


def can_be_met(rule: Rule, asked: Asked) -> bool:
    """Whether those whom the rule names could approve the call at all, as far as that is known from here.

    Who holds a role is not known from here. In private only the requester sees the card.
    """
    if is_private(asked.place):
        return rule.needed == 1 and not rule.one_of_each and not rule.four_eyes and asked.requester in rule.users
    if rule.own_roles:
        return True
    return sum(not rule.is_author(asked, person) and rule.could_be(person) for person in rule.users) >= rule.quorum


def narrowed(outer: Rule, inner: ApproverRule, *, name: str, fills: bool) -> Rule:
    """What `outer` asks for and `inner` beside it: never less than `outer`.

    `fills`: nobody was named by whom `outer` comes from, so those whom `inner` names decide. Otherwise both have to
    name somebody.
    """
    lifetimes = [one for one in (outer.lifetime, inner.lifetime) if one is not None]
    demands = replace(
        outer,
        name=name,
        one_of_each=tuple(sorted({*outer.one_of_each, *inner.one_of_each})),
        quorum=max(outer.quorum, inner.quorum),
        four_eyes=outer.four_eyes or bool(inner.four_eyes),
        lifetime=min(lifetimes, default=None),
    )
    if not inner.names_somebody:
        return demands
    return replace(
        demands,
        users=inner.users or frozenset(),
        roles=inner.roles or frozenset(),
        bound=None if fills else outer,
    )


def _uncovered(wanted: Sequence[str], holders: dict[str, frozenset[str]]) -> tuple[str, ...]:
    """The roles that are left over when as many as possible have a person of their own (augmenting paths)."""
    taken: dict[str, str] = {}

    def seat(role: str, tried: set[str]) -> bool:
        for person, roles in holders.items():
            if role in roles and person not in tried:
                tried.add(person)
                if person not in taken or seat(taken[person], tried):
                    taken[person] = role
                    return True
        return False

    return tuple(role for role in wanted if not seat(role, set()))
