"""Which calls run, which ask, which are refused. First match wins; what nothing matches asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bot.deferral.tool import Tool
from bot.interpreters import program_texts
from bot.permits import Action, Asking, Fit, PolicyRule
from bot.texts.text import say
from storage.runs import Run

__all__ = ["Asking", "DefaultPolicy", "Policy", "RulePolicy", "Verdict", "asking_of", "rule_problems"]


CANNOT_TELL = ": it cannot tell what "
"""Stands in the reason of a rule that demands something of an argument which it cannot read."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What policy says of one call, and which rule said it."""

    action: Action
    rule: str
    network: str = ""
    """The rule that gives the call the machine's network, or ''. Never with `allow`."""


class Policy(Protocol):
    """Decides from the validated, final arguments and from who asks where; never from prose."""

    def decide(self, tool: Tool, arguments: Mapping[str, Any], asking: Asking) -> Verdict:
        """The verdict on one call."""
        ...


def asking_of(run: Run, *, now: int) -> Asking:
    """Who asks for the calls of a run, and where; `now` in milliseconds UTC."""
    return Asking(requester=run.requester, place=run.place, within=run.within, roles=run.roles, now=now)


class DefaultPolicy:
    """Asks for what acts, allows what only looks."""

    def decide(self, tool: Tool, arguments: Mapping[str, Any], asking: Asking) -> Verdict:
        """See `Policy.decide`."""
        if tool.gated:
            return Verdict(action="ask", rule=say("rules.needs_sign_off", tool=tool.name))
        return Verdict(action="allow", rule=say("rules.only_looks", tool=tool.name))


class RulePolicy:
    """The operator's rules in their order, then the default.

    A condition that cannot read its argument ends the search: nothing further down may let the call through.
    """

    def __init__(self, rules: Sequence[PolicyRule], otherwise: Policy | None = None) -> None:
        self._rules = tuple(rules)
        self._otherwise = otherwise or DefaultPolicy()

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """The rules as they are now."""
        return self._rules

    def replace(self, rules: Sequence[PolicyRule]) -> None:
        """From the next call on these are the rules."""
        self._rules = tuple(rules)

    def decide(self, tool: Tool, arguments: Mapping[str, Any], asking: Asking) -> Verdict:
        """See `Policy.decide`."""
        return self.find(tool, arguments, asking) or self._otherwise.decide(tool, arguments, asking)

    def find(self, tool: Tool, arguments: Mapping[str, Any], asking: Asking) -> Verdict | None:
        """What the rules say, or None if none of them is about the call."""
        known = frozenset(tool.schema.get("properties", {}))
        for rule in self._rules:
            if not rule.about(tool.name, asking):
                continue
            fit, unread = rule.fit(arguments, known)
            if fit is Fit.NO:
                continue
            if fit is Fit.UNREADABLE:
                action: Action = "refuse" if rule.action == "refuse" else "ask"
                return Verdict(action=action, rule=f"{rule.name}{CANNOT_TELL}{unread} is")
            if rule.action == "allow" and (problem := _never_allowed(rule, tool)):
                return Verdict(action="ask", rule=f"{rule.name}: it {problem}")
            if rule.action == "allow" and (why := tool.must_ask(arguments)):
                return Verdict(action="ask", rule=say("rules.asks_anyway", rule=rule.name, why=why))
            network = rule.name if rule.network and rule.action == "ask" and tool.networked else ""
            return Verdict(action=rule.action, rule=rule.name, network=network)
        return None


def rule_problems(rules: Iterable[PolicyRule], tools: Iterable[Tool]) -> Iterator[str]:
    """What is wrong with the rules for the tools there are: sentences that name the rule.

    Rules about tools that are not there (yet) are only checked when such a tool is called.
    """
    every = tuple(tools)
    for rule in rules:
        if rule.network and not any(tool.networked for tool in every if rule.about_tool(tool.name)):
            yield f"has the rule {rule.name!r}, which may not give network to {rule.tool}: it takes none."
        for tool in (tool for tool in every if rule.about_tool(tool.name)):
            if rule.action == "allow" and (problem := _never_allowed(rule, tool)):
                yield f"has the rule {rule.name!r}, which {problem}."
            elif rule.tool == tool.name:
                known = tool.schema.get("properties", {})
                for name in (one.argument for one in rule.where if one.argument not in known):
                    yield f"has the rule {rule.name!r}, whose tool {tool.name} has no argument {name!r}."


def _never_allowed(rule: PolicyRule, tool: Tool) -> str | None:
    """Why the rule may not allow this tool, or None."""
    if tool.touches_nothing:
        return None
    lists, text = program_texts(tool.schema)
    if text is not None:
        return f"may not allow {tool.name}: its {text} is a program's text or a command line, which no rule can read"
    fixed = {condition.argument for condition in rule.where if condition.kind == "argv"}
    if missing := sorted(lists - fixed):
        return f"may not allow {tool.name} without the exact words of its {missing[0]} (argv)"
    return None
