"""Two layers of policy: the operator's file, and within it what a guild's people set in chat. The stricter one counts.

Chat may narrow what the file says, and fill in what it leaves open. It can let nothing through that the file asks
about or refuses, nor anything about which the file says who has to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.deferral.policy import DefaultPolicy, RulePolicy, Verdict
from bot.deferral.tool import Tool
from bot.permits import Asking, PolicyRule
from bot.place import is_private, space_of
from bot.rules import Asked, Subject
from bot.texts.text import say

Reserved = Callable[[Asked], str | None]
"""Why chat may not let such a call through, or None."""

STRICTNESS = {"allow": 0, "ask": 1, "refuse": 2}
IN_CHAT = say("rules.in_guild")


class LayeredPolicy:
    """The policy of one process. What the guilds set is read anew for each call."""

    def __init__(
        self, file: RulePolicy, *, guild_rules: Callable[[str], Sequence[PolicyRule]], reserved: Reserved
    ) -> None:
        self._file = file
        self._guild_rules = guild_rules
        self._reserved = reserved
        self._otherwise = DefaultPolicy()

    def decide(self, tool: Tool, arguments: Mapping[str, Any], asking: Asking) -> Verdict:
        """See `Policy.decide`."""
        in_guild = asking.place.count("/") >= 2 and not is_private(asking.place)
        rules = self._guild_rules(space_of(asking.place)) if in_guild else ()
        return self.with_rules(rules, tool, arguments, asking)

    def with_rules(
        self, rules: Sequence[PolicyRule], tool: Tool, arguments: Mapping[str, Any], asking: Asking
    ) -> Verdict:
        """What would be decided if these were the guild's own rules."""
        outer = self._file.find(tool, arguments, asking)
        inner = RulePolicy(rules).find(tool, arguments, asking) if rules else None
        if inner is None:
            return outer or self._otherwise.decide(tool, arguments, asking)
        inner = Verdict(action=inner.action, rule=say("rules.by", rule=inner.rule, where=IN_CHAT))
        if outer is not None:
            return inner if STRICTNESS[inner.action] > STRICTNESS[outer.action] else outer
        if inner.action == "allow" and tool.gated and (why := self._reserved(_subject(tool, asking))) is not None:
            return Verdict(action="ask", rule=say("rules.would_let", rule=inner.rule, why=why))
        return inner


def _subject(tool: Tool, asking: Asking) -> Subject:
    return Subject(tool=tool.name, place=asking.place, within=asking.within, requester=asking.requester)
