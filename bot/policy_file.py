"""Reads the `[[policy]]` tables of `signoff.toml`. Raises `ValueError` with a sentence that goes on after the setting's
name, and names the rule; nothing is guessed, and an unknown key is an error, never a rule that is wider than meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot import interpreters
from bot.permits import Action, Asking, Condition, Example, Hours, PolicyRule, split_path
from bot.tables import tables

_ACTIONS = get_args(Action)
_TOOL = re.compile(r"[A-Za-z0-9_*-]{1,100}", re.ASCII)
_ID = re.compile(r"[1-9][0-9]{0,19}", re.ASCII)
_CLOCK = re.compile(r"([01]\d|2[0-4]):([0-5]\d)", re.ASCII)
_HOST = re.compile(
    r"(?:(?:\*\.)?(?=[a-z0-9.-]*[a-z])[a-z0-9]+(?:[.-]+[a-z0-9]+)*|\d+(?:\.\d+){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?"
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAME_LENGTH = 100
_RULE_KEYS = frozenset(
    {"name", "tool", "action", "where", "guilds", "channels", "private", "users", "roles", "hours", "days", "timezone"}
    | {"network", "example"}
)
_EXAMPLE_KEYS = frozenset(
    {"name", "tool", "arguments", "expect", "rule", "network", "user", "roles", "guild", "channel", "private", "at"}
)
_SOMEBODY, _SOMEWHERE = "1", "1"
_NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def policy_rules(value: object) -> tuple[PolicyRule, ...] | None:
    """Rules about what runs without asking and what not at all: TOML tables, or the same as a JSON list."""
    if value is None or isinstance(value, tuple):
        return value
    rules = tuple(_rule(number, one) for number, one in enumerate(tables(value, name="policy"), start=1))
    names = [rule.name for rule in rules]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"has two rules with the name {twice[0]!r}.")
    return rules


def _rule(number: int, table: object) -> PolicyRule:
    if not isinstance(table, Mapping):
        raise ValueError(f"has rule {number} that is not a table.")
    name = table.get("name", f"rule {number}")
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _NAME_LENGTH:
        raise ValueError(f"has rule {number} whose name is not a short text.")
    try:
        return _read_rule(name.strip(), table)
    except ValueError as problem:
        raise ValueError(f"has the rule {name.strip()!r}, which {problem}") from None


def _read_rule(name: str, table: Mapping[str, Any]) -> PolicyRule:
    _only(table, _RULE_KEYS)
    tool = table.get("tool")
    if not isinstance(tool, str) or not _TOOL.fullmatch(tool):
        raise ValueError("needs a tool: its name, in which `*` stands for any characters.")
    action = _action(table.get("action"), "action")
    where = table.get("where", {})
    if not isinstance(where, Mapping) or ("where" in table and not where):
        raise ValueError("has a where that is not a table of arguments.")
    conditions = tuple(_condition(str(argument), one) for argument, one in where.items())
    for condition in conditions:
        if action == "allow" and condition.kind == "argv" and (problem := interpreters.objection(condition.value)):
            raise ValueError(f"{problem}.")
    rule = PolicyRule(
        name=name,
        tool=tool,
        action=action,
        where=conditions,
        guilds=_ids(table, "guilds"),
        channels=_ids(table, "channels"),
        private=_switch(table, "private"),
        users=_ids(table, "users"),
        roles=_ids(table, "roles"),
        hours=_hours(table),
        network=_switch(table, "network") or False,
    )
    if rule.network and action != "ask":
        raise ValueError('gives network without asking: that goes only with action = "ask".')
    if rule.private and (rule.guilds or rule.channels or rule.roles):
        raise ValueError("can never match: direct messages have no server, channel or role.")
    given = table.get("example", [])
    if not isinstance(given, list):
        raise ValueError("has an example that is no [[policy.example]] table.")
    examples = tuple(_example(f"{name}, example {number}", rule, one) for number, one in enumerate(given, start=1))
    return PolicyRule(**{**{key: getattr(rule, key) for key in rule.__dataclass_fields__}, "examples": examples})


def _condition(argument: str, value: object) -> Condition:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError(f"needs exactly one of argv, below, host_in, equals, one_of for where.{argument}.")
    ((kind, wanted),) = value.items()
    match kind:
        case "argv":
            if not isinstance(wanted, list) or not wanted or not all(isinstance(word, str) for word in wanted):
                raise ValueError(f"needs the words of one whole command in where.{argument}.argv.")
            return Condition(argument=argument, kind="argv", value=tuple(wanted))
        case "below":
            if not isinstance(wanted, str) or split_path(wanted) is None:
                raise ValueError(f"needs a plain path, without `..`, in where.{argument}.below.")
            return Condition(argument=argument, kind="below", value=wanted)
        case "host_in":
            if not isinstance(wanted, list) or not wanted:
                raise ValueError(f"needs a list of hosts in where.{argument}.host_in.")
            for host in wanted:
                if not isinstance(host, str) or not _HOST.fullmatch(host):
                    raise ValueError(
                        f"has an entry in where.{argument}.host_in that is not a host in lower case: {host!r};"
                        " write docs.example, *.docs.example for everything below it, or docs.example:8080."
                    )
            return Condition(argument=argument, kind="host_in", value=tuple(wanted))
        case "equals":
            return Condition(argument=argument, kind="equals", value=_json(wanted, argument))
        case "one_of":
            if not isinstance(wanted, list) or not wanted:
                raise ValueError(f"needs a list of values in where.{argument}.one_of.")
            return Condition(argument=argument, kind="one_of", value=tuple(_json(one, argument) for one in wanted))
        case _:
            raise ValueError(f"has the unknown condition {kind!r} in where.{argument}.")


def _json(value: object, argument: str) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError(f"has a value in where.{argument} that no argument can have.") from None
    return value


def _hours(table: Mapping[str, Any]) -> Hours | None:
    if not table.keys() & {"hours", "days", "timezone"}:
        return None
    if not table.keys() & {"hours", "days"}:
        raise ValueError("has a timezone without hours or days.")
    zone: tzinfo = UTC
    if (named := table.get("timezone")) is not None:
        try:
            zone = ZoneInfo(named) if isinstance(named, str) else UTC
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(
                f"has a timezone that is not known here: {named!r}; write one like Europe/Berlin."
            ) from None
        if not isinstance(named, str):
            raise ValueError("has a timezone that is not a name like Europe/Berlin.")
    first, last = 0, 24 * 60
    if "hours" in table:
        given = table["hours"]
        parts = given.split("-") if isinstance(given, str) else []
        found = [_CLOCK.fullmatch(part.strip()) for part in parts]
        minutes = [int(one[1]) * 60 + int(one[2]) for one in found if one is not None]
        if len(minutes) != 2 or len(parts) != 2 or max(minutes) > 24 * 60 or minutes[0] % (24 * 60) == minutes[1]:
            raise ValueError('needs hours like "09:00-17:00".')
        first, last = minutes
    days = table.get("days", list(_DAYS))
    if not isinstance(days, list) or not days or not all(day in _DAYS for day in days):
        raise ValueError(f"needs days out of {', '.join(_DAYS)}.")
    return Hours(zone=zone, first=first, last=last, days=frozenset(map(_DAYS.index, days)))


def _example(name: str, rule: PolicyRule, table: object) -> Example:
    if not isinstance(table, Mapping):
        raise ValueError("has an example that is not a table.")
    _only(table, _EXAMPLE_KEYS, f" in {name}")
    tool = table.get("tool", rule.tool)
    if not isinstance(tool, str) or not _TOOL.fullmatch(tool) or "*" in tool:
        raise ValueError(f"needs the name of one tool in {name}.")
    arguments = table.get("arguments", {})
    if not isinstance(arguments, Mapping):
        raise ValueError(f"needs a table of arguments in {name}.")
    at = table.get("at", _NOON)
    if not isinstance(at, datetime):
        try:
            at = datetime.fromisoformat(str(at))
        except ValueError:
            raise ValueError(f"needs a date and time in {name}, at: like 2026-01-31T09:30:00Z.") from None
    if at.tzinfo is None:
        at = at.replace(tzinfo=rule.hours.zone if rule.hours else UTC)
    for key in ("user", "guild", "channel"):
        if key in table and (isinstance(table[key], bool) or not _ID.fullmatch(str(table[key]))):
            raise ValueError(f"needs a numeric Discord id in {name}, {key}.")
    private = _switch(table, "private") or False
    if private and table.keys() & {"guild", "channel", "roles"}:
        raise ValueError(f"has a server, channel or role in {name}, which is in private.")
    # Who and where are those the rule names, unless the example says otherwise.
    place = (
        f"discord/{'@me' if private else _first(table, 'guild', rule.guilds)}/{_first(table, 'channel', rule.channels)}"
    )
    if rule.private and "private" not in table:
        place = f"discord/@me/{_SOMEWHERE}"
    roles = _ids(table, "roles")
    return Example(
        name=str(table.get("name", name)),
        tool=tool,
        arguments=json.loads(json.dumps(_json(dict(arguments), "arguments"))),
        expect=_action(table.get("expect"), f"expect in {name}"),
        expect_rule=None if table.get("rule") is None else str(table["rule"]),
        expect_network=_switch(table, "network"),
        asking=Asking(
            requester=_first(table, "user", rule.users),
            place=place,
            now=int(at.timestamp() * 1000),
            roles=roles if roles is not None else frozenset() if private else rule.roles or frozenset(),
        ),
    )


def _first(table: Mapping[str, Any], key: str, otherwise: frozenset[str] | None) -> str:
    return str(table[key]) if key in table else min(otherwise or {_SOMEBODY})


def _action(value: object, what: str) -> Action:
    for action in _ACTIONS:
        if value == action:
            return action  # type: ignore[no-any-return]
    raise ValueError(f"needs {what}: {', '.join(_ACTIONS)}.")


def _switch(table: Mapping[str, Any], key: str) -> bool | None:
    value = table.get(key)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"has {key} that is not true or false.")
    return value


def _ids(table: Mapping[str, Any], key: str) -> frozenset[str] | None:
    if key not in table:
        return None
    value = table[key]
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise ValueError(f"has {key} that is not a list of numeric Discord ids.")
    for entry in value:
        if isinstance(entry, bool) or not _ID.fullmatch(str(entry)):
            raise ValueError(f"has an entry in {key} that is not a numeric Discord id: {str(entry)[:40]!r}.")
    return frozenset(map(str, value))


def _only(table: Mapping[str, Any], known: frozenset[str], where: str = "") -> None:
    if unknown := sorted(map(str, table.keys() - known)):
        raise ValueError(f"has the unknown key {unknown[0]!r}{where}; known are {', '.join(sorted(known))}.")
