"""What a guild's people may set about policy in chat, as data: the same tables as in `signoff.toml`, as JSON.

Pure. The file is the outer bound: what stands here may only narrow it, or fill in what it leaves open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bot import policy_file, values
from bot.permits import PolicyRule
from bot.rules import ApproverRule
from bot.texts.text import say

Table = dict[str, Any]
"""One rule as `signoff.toml` writes it."""

MOST_RULES = 20
"""Of each kind, in one guild: as many as one list of choices holds, with room for a new one."""
_KINDS = frozenset({"policy", "approvers"})
_ELSEWHERE = frozenset({"guilds", "private", "network", "example"})
"""Keys of the file that make no sense inside one guild, or are not its people's to use."""


@dataclass(frozen=True, kw_only=True)
class GuildRules:
    """A guild's own rules, in order: the first that matches counts."""

    policy: tuple[PolicyRule, ...] = ()
    approvers: tuple[ApproverRule, ...] = ()


NONE = GuildRules()
_UNREADABLE = say("rules.unreadable")
REFUSE_ALL = GuildRules(
    policy=(PolicyRule(name=_UNREADABLE, tool="*", action="refuse"),),
    approvers=(ApproverRule(users=frozenset()),),
)
"""What counts where the stored rules are not as this bot stored them: nothing runs, and nobody decides."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """The rules as they are stored: tables."""

    policy: tuple[Table, ...] = ()
    approvers: tuple[Table, ...] = ()

    def to_json(self) -> str:
        """One text for the same rules."""
        return json.dumps(
            {"policy": self.policy, "approvers": self.approvers},
            ensure_ascii=False,
            sort_keys=True,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> Body:
        """See `to_json`. Raises `ValueError` for anything else."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError("is no JSON.") from error
        if not isinstance(found, dict) or set(found) != _KINDS:
            raise ValueError("is no list of rules.")
        if not all(
            isinstance(found[kind], list) and all(isinstance(one, dict) for one in found[kind]) for kind in found
        ):
            raise ValueError("has a rule that is not a table.")  # fmt: skip
        return cls(policy=tuple(found["policy"]), approvers=tuple(found["approvers"]))

    def rules(self) -> GuildRules:
        """What the tables say. Raises `ValueError` with a sentence that goes on after its subject."""
        if max(len(self.policy), len(self.approvers)) > MOST_RULES:
            raise ValueError(f"has more than {MOST_RULES} rules of one kind.")
        for table in (*self.policy, *self.approvers):
            if foreign := sorted(_ELSEWHERE & table.keys()):
                raise ValueError(f"has the key {foreign[0]!r}, which only the file can have.")
        return GuildRules(
            policy=policy_file.policy_rules(list(self.policy)) or () if self.policy else (),
            approvers=values.approver_rules(list(self.approvers)) or () if self.approvers else (),
        )


EMPTY = Body()


def lets_through(old: GuildRules, new: GuildRules) -> bool:
    """Whether the new rules may let a call run without asking that the old ones did not.

    They do not if each rule that allows was there before, in the same order, behind all that kept calls from it.
    """
    allowing = [rule for rule in new.policy if rule.action == "allow"]
    if not allowing:
        return False
    kept = [rule for rule in new.policy if rule.action == "allow" or rule in old.policy]
    if [rule for rule in old.policy if rule.action != "allow"] != [rule for rule in kept if rule.action != "allow"]:
        return True
    return not _within(kept, old.policy)


def names_people(old: GuildRules, new: GuildRules) -> bool:
    """Whether the new rules say otherwise than the old ones who decides, by name."""
    if old.approvers == new.approvers:
        return False
    return any(rule.names_somebody for rule in (*old.approvers, *new.approvers))


def _within(some: Iterable[PolicyRule], every: Iterable[PolicyRule]) -> bool:
    """Whether `some` come in `every` in the same order."""
    rest = iter(every)
    return all(any(one == other for other in rest) for one in some)
