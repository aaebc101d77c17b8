"""What somebody sees who looks at a guild's rules: what counts, what they are changing, and what the file says to it.

Pure: the desk (`bot.policy_desk`) gathers, the face words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from bot.guild_book import InForce
from bot.guild_rules import Body, GuildRules, Table
from bot.permits import PolicyRule
from bot.rules import ApproverRule, Rule
from storage.guilds import Draft

_STRICTNESS = {"allow": 0, "ask": 1, "refuse": 2}


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What the operator says about one guild; `file_*` keep their numbers in the file."""

    file_policy: tuple[PolicyRule, ...]
    file_approvers: tuple[tuple[int, ApproverRule], ...]
    base: Rule
    leaves_open: bool
    """Whether the operator named nobody, so that the owner of the bot decides."""
    ttl_ms: int
    ttl_binds: bool


@dataclass(frozen=True, kw_only=True)
class Change:
    """One difference between what counts and a draft; `number` is the rule's place in the draft, or where it was."""

    kind: Literal["policy", "approvers"]
    what: Literal["added", "changed", "removed", "moved"]
    number: int


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Where a rule of the guild says less than the file: it is kept, and the file wins."""

    kind: Literal["policy", "approvers"]
    number: int
    about: Literal["action", "decides", "self", "quorum", "four_eyes", "lifetime", "people"]
    says: str = ""
    """For `action`: what the file says (ask, refuse)."""
    rule: str = ""
    """The file's rule: its name, or its number among [[approvers]]; '' for what stands outside rules."""


@dataclass(frozen=True, kw_only=True)
class PolicyView:
    """Everything that is shown."""

    guild: str
    bounds: Bounds
    in_force: InForce
    draft: Draft
    body: Body
    """The draft's rules as tables."""
    rules: GuildRules
    changes: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]
    tools: tuple[str, ...]
    arguments: dict[str, tuple[str, ...]]
    """What each tool takes."""
    blocked: str = ""
    """Why this person cannot save the draft as it is."""
    note: str = ""
    """What has just happened, if that wants a word."""


def changes(old: Body, new: Body) -> Iterator[Change]:
    """How a draft differs from what counts."""
    kinds: tuple[Literal["policy", "approvers"], ...] = ("policy", "approvers")
    for kind in kinds:
        before: tuple[Table, ...] = getattr(old, kind)
        after: tuple[Table, ...] = getattr(new, kind)
        names = {table.get("name") for table in after} if kind == "policy" else set()
        was = {table.get("name") for table in before} if kind == "policy" else set()
        for number, table in enumerate(after):
            if table not in before:
                yield Change(kind=kind, what="changed" if table.get("name") in was else "added", number=number)
        for number, table in enumerate(before):
            if table not in after and table.get("name") not in names:
                yield Change(kind=kind, what="removed", number=number)
        kept, stay = [one for one in before if one in after], [one for one in after if one in before]
        if kept != stay:
            first = next(n for n, one in enumerate(after) if one in before and kept[stay.index(one)] != one)
            yield Change(kind=kind, what="moved", number=first)


def conflicts(rules: GuildRules, bounds: Bounds, guild: str, tools: Collection[str]) -> Iterator[Conflict]:
    """Where the file wins over the guild's own rules."""
    for number, own in enumerate(rules.policy):
        yield from _about_action(number, own, bounds, guild, tools)
    for number, rule in enumerate(rules.approvers):
        yield from _about_people(number, rule, bounds, tools)


def concerns(rule: PolicyRule | ApproverRule, guild: str) -> bool:
    """Whether a rule of the file can be about calls in this guild."""
    if isinstance(rule, PolicyRule) and rule.private:
        return False
    return rule.guilds is None or guild in rule.guilds


def _about_action(
    number: int, own: PolicyRule, bounds: Bounds, guild: str, tools: Collection[str]
) -> Iterator[Conflict]:
    for rule in bounds.file_policy:
        stricter = _STRICTNESS[rule.action] > _STRICTNESS[own.action]
        if stricter and _meet((own.tool,), (rule.tool,), tools) and _overlap(own.channels, rule.channels):
            yield Conflict(kind="policy", number=number, about="action", says=rule.action, rule=rule.name)
    if own.action != "allow":
        return
    for n, file in bounds.file_approvers:
        if _meet((own.tool,), file.tools, tools) and _overlap(own.channels, file.channels):
            yield Conflict(kind="policy", number=number, about="decides", rule=str(n))
    if bounds.base.four_eyes:
        yield Conflict(kind="policy", number=number, about="self")


def _about_people(number: int, own: ApproverRule, bounds: Bounds, tools: Collection[str]) -> Iterator[Conflict]:
    def found(about: Literal["quorum", "four_eyes", "lifetime", "people"], rule: str = "") -> Conflict:
        return Conflict(kind="approvers", number=number, about=about, rule=rule)

    for n, file in bounds.file_approvers:
        if not (_meet(own.tools, file.tools, tools) and _overlap(own.channels, file.channels)):
            continue
        if own.quorum < max(file.quorum, len(file.one_of_each)):
            yield found("quorum", str(n))
        if file.four_eyes and not own.four_eyes:
            yield found("four_eyes", str(n))
        if own.lifetime is not None and file.lifetime is not None and own.lifetime > file.lifetime:
            yield found("lifetime", str(n))
        if own.names_somebody and file.names_somebody:
            yield found("people", str(n))
    if bounds.base.four_eyes and own.four_eyes is False:
        yield found("four_eyes")
    if bounds.ttl_binds and own.lifetime is not None and own.lifetime > bounds.ttl_ms:
        yield found("lifetime")
    if own.names_somebody and not bounds.leaves_open:
        yield found("people")


def _meet(own: Sequence[str] | None, file: Sequence[str] | None, tools: Collection[str]) -> bool:
    """Whether two lists of patterns can be about the same tool."""
    for one in own or ("*",):
        for other in file or ("*",):
            if fnmatchcase(one, other) or fnmatchcase(other, one):
                return True
            if any(fnmatchcase(tool, one) and fnmatchcase(tool, other) for tool in tools):
                return True
    return False


def _overlap(own: frozenset[str] | None, file: frozenset[str] | None) -> bool:
    return own is None or file is None or not own.isdisjoint(file)
