"""Rules as sentences, for people who never saw a settings file."""

from __future__ import annotations

import json
from collections.abc import Iterable

from bot.permits import Condition, Hours, PolicyRule
from bot.policy_view import Change, Conflict, PolicyView
from bot.rules import ApproverRule, Rule
from cogs import inert

_DOES = {"allow": "runs without asking", "ask": "asks first", "refuse": "is refused"}
_DO = {"allow": "run without asking", "ask": "ask first", "refuse": "are refused"}
_FILE_SAYS = {"ask": "asks", "refuse": "refuses"}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_VALUE = 80
_UNITS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


def what_runs(rule: PolicyRule) -> str:
    """One rule about what runs, as a sentence with its name before it."""
    return f"{inert.line(rule.name, limit=60)}: {what_runs_bare(rule)}"


def what_runs_bare(rule: PolicyRule) -> str:
    """The same without its name."""
    many = "*" in rule.tool
    subject = "Every tool" if rule.tool == "*" else f"Tools like {_tool(rule.tool)}" if many else _tool(rule.tool)
    does = _DO[rule.action] if many and rule.tool != "*" else _DOES[rule.action]
    parts = [f"{subject} {does}"]
    if rule.where:
        parts.append(f"if {_all(_condition(one) for one in rule.where)}")
    if rule.private is not None:
        parts.append("in direct messages" if rule.private else "outside direct messages")
    if rule.channels:
        parts.append(f"in {_any(f'<#{id}>' for id in sorted(rule.channels))}")
    people = [*(f"<@{id}>" for id in sorted(rule.users or ())), *(f"<@&{id}>" for id in sorted(rule.roles or ()))]
    if rule.users is not None and rule.roles is not None:
        parts.append(f"when {_any(people[: len(rule.users)])}, holding {_any(people[len(rule.users) :])}, asks")
    elif people:
        parts.append(f"when {_any(people)} asks")
    if rule.hours is not None:
        parts.append(_hours(rule.hours))
    return " ".join(parts) + "."


def who_decides(rule: ApproverRule) -> str:
    """One rule about who decides, as a sentence."""
    tools = "every tool" if rule.tools is None else _all(map(_tool, rule.tools))
    where = f" in {_any(f'<#{id}>' for id in sorted(rule.channels))}" if rule.channels else ""
    said = [
        *_demands(rule.users, rule.roles, rule.one_of_each, rule.quorum),
        *([] if rule.four_eyes is None else [_eyes(rule.four_eyes)]),
        *([] if rule.lifetime is None else [f"it waits {duration(rule.lifetime)}"]),
    ]
    return f"For {tools}{where}: {'; '.join(said) or 'as without this rule'}."


def base(rule: Rule, *, ttl_ms: int, leaves_open: bool) -> str:
    """Who decides what no rule is about."""
    named = _demands(rule.users, rule.roles, (), 1)
    who = "; ".join(named) if rule.users or rule.roles else "nobody can approve yet"
    source = "The operator named nobody, so the owner of this bot decides" if leaves_open else "The operator says"
    return f"{source}: {who}; {_eyes(rule.four_eyes)}; it waits {duration(ttl_ms)}."


def change(view: PolicyView, one: Change) -> str:
    """One difference between what counts and the draft, as a line."""
    removed = one.what == "removed"
    if one.kind == "policy":
        found = (view.in_force.rules if removed else view.rules).policy
        said = what_runs(found[one.number]) if one.number < len(found) else "a rule"
    else:
        rules = (view.in_force.rules if removed else view.rules).approvers
        said = who_decides(rules[one.number]) if one.number < len(rules) else "a rule"
    word = {"added": "Added", "changed": "Changed", "removed": "Removed", "moved": "In another order from here"}
    return f"- **{word[one.what]}**: {said}"


def conflict(view: PolicyView, one: Conflict) -> str:
    """Where the file wins, as a sentence."""
    kept = "Your rule is kept, but the file wins"
    number = f"rule {one.rule} of [[approvers]]" if one.rule else "its general setting"
    match one.about:
        case "action":
            own = view.rules.policy[one.number]
            rule = inert.line(one.rule, limit=60)
            says = f"The file {_FILE_SAYS[one.says]} for {_tool(own.tool)} here (its rule {rule})"
            return f"{says}. {kept} where both are about a call."
        case "decides":
            return f"The file says who decides such calls ({number}), so they still ask. {kept}."
        case "self":
            return f"The operator wants somebody else than the requester to decide, so such calls still ask. {kept}."
        case "quorum":
            return f"The file wants more people to approve ({number}). The larger number counts."
        case "four_eyes":
            return f"The file lets nobody decide a call of their own ({number}). {kept}."
        case "lifetime":
            return f"The file lets such calls wait a shorter time ({number}). The shorter one counts."
        case "people":
            return f"The file names who decides ({number}). Of those whom you name, only they count."


def duration(ms: int) -> str:
    """A time span in the largest unit that fits it exactly."""
    for size, unit in _UNITS:
        if ms >= size and ms % size == 0:
            return f"{ms // size} {unit}{'s' * (ms // size != 1)}"
    return f"{ms / 1000:g} seconds"


def _demands(users: Iterable[str] | None, roles: Iterable[str] | None, each: Iterable[str], quorum: int) -> list[str]:
    named = [*(f"<@{id}>" for id in sorted(users or ())), *(f"<@&{id}>" for id in sorted(roles or ()))]
    said = []
    if named:
        said.append(f"{_any(named)} may approve")
    if each := sorted(each):
        said.append(f"{_all(f'somebody of <@&{id}>' for id in each)} has to approve, each time somebody else")
    if quorum > 1:
        said.append(f"{quorum} different people have to approve")
    return said


def _eyes(four: bool) -> str:
    return "never whoever asked for it" if four else "whoever asked may approve it too, if they are an approver"


def _condition(one: Condition) -> str:
    name = f"its {inert.line(one.argument, limit=40)}"
    match one.kind:
        case "argv":
            return f"{name} is exactly {_value(list(one.value))}"
        case "below":
            return f"{name} lies below {_value(one.value, plain=True)}"
        case "host_in":
            return f"{name} is an address at {_any(_value(host, plain=True) for host in one.value)}"
        case "equals":
            return f"{name} is {_value(one.value)}"
        case "one_of":
            return f"{name} is {_any(map(_value, one.value))}"


def _tool(name: str) -> str:
    return inert.line(name, limit=60)


def _value(value: object, *, plain: bool = False) -> str:
    text = value if plain and isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return inert.line(text, limit=_VALUE)


def _hours(hours: Hours) -> str:
    days = "" if len(hours.days) == 7 else f" on {_any(_DAYS[day] for day in sorted(hours.days))}"
    span = "" if (hours.first, hours.last) == (0, 1440) else f" from {_clock(hours.first)} to {_clock(hours.last)}"
    return f"{span}{days} ({hours.zone})".strip()


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _any(words: Iterable[str]) -> str:
    return _joined(list(words), "or")


def _all(words: Iterable[str]) -> str:
    return _joined(list(words), "and")


def _joined(words: list[str], last: str) -> str:
    if len(words) > 8:
        words = [*words[:7], f"{len(words) - 7} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
