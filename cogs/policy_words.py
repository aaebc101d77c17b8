"""Rules as sentences, for people who never saw a settings file."""

from __future__ import annotations

import json
from collections.abc import Iterable

from bot.permits import Condition, Hours, PolicyRule
from bot.policy_view import Change, Conflict, PolicyView
from bot.rules import ApproverRule, Rule
from bot.texts.text import Key, key, say
from cogs import inert
from cogs.speech import shown, tell

_DOES = {"allow": say("policy.runs"), "ask": say("policy.asks"), "refuse": say("policy.is_refused")}
_DO = {"allow": say("policy.run"), "ask": say("policy.ask"), "refuse": say("policy.are_refused")}
_FILE_SAYS = {"ask": key("policy.file_asks"), "refuse": key("policy.file_refuses")}
_DAYS = tuple(
    say(day)
    for day in (
        key("policy.mon"), key("policy.tue"), key("policy.wed"), key("policy.thu"), key("policy.fri"),
        key("policy.sat"), key("policy.sun"),
    )
)  # fmt: skip
_VALUE = 80
_UNITS = (
    (86_400_000, key("policy.days")),
    (3_600_000, key("policy.hours_long")),
    (60_000, key("policy.minutes")),
    (1_000, key("policy.whole_seconds")),
)


def what_runs(rule: PolicyRule) -> str:
    """One rule about what runs, as a sentence with its name before it."""
    return f"{inert.line(rule.name, limit=60)}: {what_runs_bare(rule)}"


def what_runs_bare(rule: PolicyRule) -> str:
    """The same without its name."""
    many = "*" in rule.tool
    subject = tell("policy.tools_like", name=_tool(rule.tool)) if many else _tool(rule.tool)
    subject = tell("policy.every_tool_start") if rule.tool == "*" else subject
    does = _DO[rule.action] if many and rule.tool != "*" else _DOES[rule.action]
    parts = [f"{subject} {shown(does)}"]
    if rule.network:
        parts.append(tell("policy.with_network"))
    if rule.where:
        parts.append(tell("policy.if", conditions=_all(_condition(one) for one in rule.where)))
    if rule.private is not None:
        parts.append(tell("policy.in_dm") if rule.private else tell("policy.outside_dm"))
    if rule.channels:
        parts.append(tell("policy.in", channels=_any(f"<#{id}>" for id in sorted(rule.channels))))
    people = [*(f"<@{id}>" for id in sorted(rule.users or ())), *(f"<@&{id}>" for id in sorted(rule.roles or ()))]
    if rule.users is not None and rule.roles is not None:
        some, roles = _any(people[: len(rule.users)]), _any(people[len(rule.users) :])
        parts.append(tell("policy.when_holding", people=some, roles=roles))
    elif people:
        parts.append(tell("policy.when", people=_any(people)))
    if rule.hours is not None:
        parts.append(_hours(rule.hours))
    return " ".join(parts) + "."


def who_decides(rule: ApproverRule) -> str:
    """One rule about who decides, as a sentence."""
    tools = tell("policy.every_tool") if rule.tools is None else _all(map(_tool, rule.tools))
    where = (
        "" if not rule.channels else " " + tell("policy.in", channels=_any(f"<#{id}>" for id in sorted(rule.channels)))
    )
    said = [
        *_demands(rule.users, rule.roles, rule.one_of_each, rule.quorum),
        *([] if rule.four_eyes is None else [_eyes(rule.four_eyes)]),
        *([] if rule.lifetime is None else [tell("policy.it_waits", time=duration(rule.lifetime))]),
    ]
    whole = "; ".join(said) or tell("policy.as_without")
    return tell("policy.for", tools=tools, where=where, said=whole)


def base(rule: Rule, *, ttl_ms: int, leaves_open: bool) -> str:
    """Who decides what no rule is about."""
    named = _demands(rule.users, rule.roles, (), 1)
    who = "; ".join(named) if rule.users or rule.roles else tell("policy.nobody_can")
    source = tell("policy.named_nobody") if leaves_open else tell("policy.operator_says")
    return tell("policy.base", source=source, who=who, eyes=_eyes(rule.four_eyes), time=duration(ttl_ms))


_CHANGES = {
    "added": key("policy.added"),
    "changed": key("policy.changed"),
    "removed": key("policy.removed"),
    "moved": key("policy.moved"),
}


def change(view: PolicyView, one: Change) -> str:
    """One difference between what counts and the draft, as a line."""
    removed = one.what == "removed"
    if one.kind == "policy":
        found = (view.in_force.rules if removed else view.rules).policy
        said = what_runs(found[one.number]) if one.number < len(found) else tell("policy.a_rule")
    else:
        rules = (view.in_force.rules if removed else view.rules).approvers
        said = who_decides(rules[one.number]) if one.number < len(rules) else tell("policy.a_rule")
    return f"- **{tell(_CHANGES[one.what])}**: {said}"


def conflict(view: PolicyView, one: Conflict) -> str:
    """Where the file wins, as a sentence."""
    kept = tell("policy.kept")
    number = tell("policy.file_rule", number=one.rule) if one.rule else tell("policy.general")
    match one.about:
        case "action":
            own = view.rules.policy[one.number]
            rule = inert.line(one.rule, limit=60)
            says = tell(_FILE_SAYS[one.says], tool=_tool(own.tool), rule=rule)
            return tell("policy.file_wins", says=says, kept=kept)
        case "decides":
            return tell("policy.still_ask", number=number, kept=kept)
        case "self":
            return tell("policy.other_eyes", kept=kept)
        case "quorum":
            return tell("policy.more_people", number=number)
        case "four_eyes":
            return tell("policy.not_own", number=number, kept=kept)
        case "lifetime":
            return tell("policy.shorter", number=number)
        case "people":
            return tell("policy.names_who", number=number)


def duration(ms: int) -> str:
    """A time span in the largest unit that fits it exactly."""
    for size, unit in _UNITS:
        if ms >= size and ms % size == 0:
            return tell(unit, n=ms // size)
    return tell("policy.seconds", n=ms / 1000)


def _demands(users: Iterable[str] | None, roles: Iterable[str] | None, each: Iterable[str], quorum: int) -> list[str]:
    named = [*(f"<@{id}>" for id in sorted(users or ())), *(f"<@&{id}>" for id in sorted(roles or ()))]
    said = []
    if named:
        said.append(tell("policy.may_approve", people=_any(named)))
    if each := sorted(each):
        said.append(tell("policy.each_time", people=_all(tell("policy.somebody_of", role=id) for id in each)))
    if quorum > 1:
        said.append(tell("policy.different", n=quorum))
    return said


def _eyes(four: bool) -> str:
    return tell("policy.never_requester") if four else tell("policy.requester_too")


def _condition(one: Condition) -> str:
    name = tell("policy.its", name=inert.line(one.argument, limit=40))
    match one.kind:
        case "argv":
            return tell("policy.exactly", name=name, value=_value(list(one.value)))
        case "below":
            return tell("policy.below", name=name, value=_value(one.value, plain=True))
        case "host_in":
            return tell("policy.address_at", name=name, value=_any(_value(host, plain=True) for host in one.value))
        case "equals":
            return tell("policy.equals", name=name, value=_value(one.value))
        case "one_of":
            return tell("policy.equals", name=name, value=_any(map(_value, one.value)))


def _tool(name: str) -> str:
    return inert.line(name, limit=60)


def _value(value: object, *, plain: bool = False) -> str:
    text = value if plain and isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return inert.line(text, limit=_VALUE)


def _hours(hours: Hours) -> str:
    days = span = ""
    if len(hours.days) != 7:
        days = tell("policy.on", days=_any(shown(_DAYS[day]) for day in sorted(hours.days)))
    if (hours.first, hours.last) != (0, 1440):
        span = tell("policy.hours", first=_clock(hours.first), last=_clock(hours.last))
    return f"{span}{days} ({hours.zone})".strip()


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _any(words: Iterable[str]) -> str:
    return _joined(list(words), key("words.or"))


def _all(words: Iterable[str]) -> str:
    return _joined(list(words), key("words.and"))


def _joined(words: list[str], last: Key) -> str:
    if len(words) > 8:
        words = [*words[:7], tell("policy.more", n=len(words) - 7)]
    return words[0] if len(words) == 1 else tell(last, first=", ".join(words[:-1]), last=words[-1])
