"""The forms of the list of rules, and how what was typed into them becomes part of a rule.

Raises `ValueError` with a sentence that goes on after "That cannot be: the list".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import discord
from discord import ui

from bot.guild_rules import Body, Table
from bot.policy_view import PolicyView
from bot.texts.text import say
from cogs import limits, modals
from cogs.custom_ids import Verb
from cogs.speech import shown, tell

Kind = Literal["policy", "approvers"]

_KINDS = {
    "host_in": (say("policy.is_address"), say("policy.is_address_hint")),
    "below": (say("policy.is_path"), "notes"),
    "one_of": (say("policy.is_value"), say("policy.is_value_hint")),
    "argv": (say("policy.is_command"), say("policy.is_command_hint")),
}  # fmt: skip
_EYES = {"": say("policy.as_operator"), "yes": say("policy.never_option"), "no": say("policy.requester_option")}
_VALUES = 1_000
_NAME = 100


def tool(view: PolicyView, verb: Verb, number: int, opening: int) -> ui.Modal:
    """The form for the name of a tool that is not in the list, or of many."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(custom_id="tool", min_length=1, max_length=_NAME)
    label = ui.Label(text=tell("policy.name"), description=tell("policy.name_hint"), component=field)
    return _form(tell("policy.which_title"), verb, view, number, opening, label)


def arguments(view: PolicyView, number: int, opening: int) -> ui.Modal:
    """The form for a rule's name and one condition on an argument."""
    rule = view.rules.policy[number]
    named: ui.TextInput[ui.Modal] = ui.TextInput(
        custom_id="name", default=rule.name, max_length=max(_NAME, limits.length(rule.name))
    )
    takes = view.arguments.get(rule.tool, ())[:25]
    first = rule.where[0] if rule.where else None
    which: ui.Select[ui.Modal] | ui.TextInput[ui.Modal]
    if takes:
        chosen = first.argument if first is not None else takes[0]
        options = [discord.SelectOption(label=one[:_NAME], value=one[:_NAME], default=one == chosen) for one in takes]
        which = ui.Select(custom_id="argument", options=options, required=False)
    else:
        which = ui.TextInput(custom_id="argument", required=False, max_length=_NAME)
    kind = first.kind if first is not None and first.kind in _KINDS else "host_in"
    how: ui.Select[ui.Modal] = ui.Select(
        custom_id="kind",
        options=[
            discord.SelectOption(label=shown(label), description=shown(hint), value=value, default=value == kind)
            for value, (label, hint) in _KINDS.items()
        ],
    )
    values: ui.TextInput[ui.Modal] = ui.TextInput(
        custom_id="values",
        style=discord.TextStyle.paragraph,
        required=False,
        max_length=_VALUES,
        default="\n".join(_lines(first.kind, first.value)) if first is not None else None,
    )
    return _form(
        tell("policy.arguments_title"),
        Verb.FORM_RULES_ARGS,
        view,
        number,
        opening,
        ui.Label(text=tell("policy.rule_name"), description=tell("policy.rule_name_hint"), component=named),
        ui.Label(text=tell("policy.if_argument"), component=which),
        ui.Label(text="is", component=how),
        ui.Label(text=tell("policy.what"), description=tell("policy.what_hint"), component=values),
    )


def demands(view: PolicyView, number: int, opening: int) -> ui.Modal:
    """The form for how many have to approve, four eyes, and how long a call waits."""
    table = view.body.approvers[number]
    eyes = {None: "", True: "yes", False: "no"}[table.get("four_eyes")]
    quorum: ui.TextInput[ui.Modal] = ui.TextInput(
        custom_id="quorum", default=str(table.get("quorum", 1)), min_length=1, max_length=2
    )
    who: ui.Select[ui.Modal] = ui.Select(
        custom_id="eyes",
        options=[
            discord.SelectOption(label=shown(label), value=value or "operator", default=value == eyes)
            for value, label in _EYES.items()
        ],
    )
    lifetime: ui.TextInput[ui.Modal] = ui.TextInput(
        custom_id="lifetime", default=str(table.get("lifetime", "")) or None, required=False, max_length=20
    )
    return _form(
        tell("policy.demands_title"),
        Verb.FORM_RULES_DEMANDS,
        view,
        number,
        opening,
        ui.Label(text=tell("policy.how_many"), description=tell("policy.how_many_hint"), component=quorum),
        ui.Label(text=tell("policy.who_not"), component=who),
        ui.Label(text=tell("policy.how_long"), description=tell("policy.how_long_hint"), component=lifetime),
    )


def with_arguments(body: Body, number: int, given: Mapping[str, Sequence[str]]) -> Body:
    """The draft with what the form about arguments says."""
    table = dict(body.policy[number])
    table["name"] = _one(given, "name").strip() or str(table["name"])
    argument, lines = (
        _one(given, "argument").strip(),
        [one for one in _one(given, "values").splitlines() if one.strip()],
    )
    where = {name: one for name, one in dict(table.get("where", {})).items() if name != argument}
    if lines:
        if not argument:
            raise ValueError(tell("policy.needs_argument"))
        where[argument] = {_one(given, "kind"): _values(_one(given, "kind"), lines)}
    return _with(body, "policy", number, {**_but(table, "where"), **({"where": where} if where else {})})


def with_demands(body: Body, number: int, given: Mapping[str, Sequence[str]]) -> Body:
    """The draft with what the form about demands says."""
    quorum, eyes, lifetime = (_one(given, name).strip() for name in ("quorum", "eyes", "lifetime"))
    if not quorum.isascii() or not quorum.isdecimal():
        raise ValueError(tell("policy.needs_number", given=quorum[:20]))
    table: Table = {**_but(body.approvers[number], "four_eyes", "lifetime"), "quorum": int(quorum)}
    if eyes in {"yes", "no"}:
        table["four_eyes"] = eyes == "yes"
    if lifetime:
        table["lifetime"] = lifetime
    return _with(body, "approvers", number, table)


def with_key(body: Body, kind: Kind, number: int, key: str, value: object) -> Body:
    """The draft with one key of one rule set; an empty value takes it away."""
    table = _but(getattr(body, kind)[number], key)
    return _with(body, kind, number, {**table, key: value} if value else table)


def with_tool(body: Body, number: int, name: str) -> Body:
    """The draft with a rule about this tool: the one with that number, or a new one that asks."""
    if number < len(body.policy):
        table = body.policy[number]
        # Another tool takes other arguments.
        return _with(
            body, "policy", number, {**(table if table["tool"] == name else _but(table, "where")), "tool": name}
        )
    taken = {table.get("name") for table in body.policy}
    free = next(one for one in [name, *(f"{name} {n}" for n in range(2, 99))] if one not in taken)
    return replace(body, policy=(*body.policy, {"name": free[:_NAME], "tool": name, "action": "ask"}))


def with_new_who(body: Body) -> Body:
    """The draft with one more rule about who decides, which asks for nothing yet."""
    return replace(body, approvers=(*body.approvers, {"quorum": 1}))


def without(body: Body, kind: Kind, number: int) -> Body:
    """The draft without one rule."""
    rules = getattr(body, kind)
    return _put(body, kind, (*rules[:number], *rules[number + 1 :]))


def moved_up(body: Body, kind: Kind, number: int) -> Body:
    """The draft with one rule before the one above it."""
    rules = list(getattr(body, kind))
    if 0 < number < len(rules):
        rules[number - 1], rules[number] = rules[number], rules[number - 1]
    return _put(body, kind, tuple(rules))


def _with(body: Body, kind: Kind, number: int, table: Table) -> Body:
    rules = getattr(body, kind)
    return _put(body, kind, (*rules[:number], table, *rules[number + 1 :]))


def _put(body: Body, kind: Kind, rules: tuple[Table, ...]) -> Body:
    return replace(body, policy=rules) if kind == "policy" else replace(body, approvers=rules)


def _but(table: Table, *keys: str) -> Table:
    return {key: value for key, value in table.items() if key not in keys}


def _one(given: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(given.get(name, ())), "")


def _values(kind: str, lines: list[str]) -> Any:
    match kind:
        case "host_in":
            return [part for line in lines for part in line.replace(",", " ").split()]
        case "below":
            return lines[0].strip()
        case "argv":
            return lines
        case "one_of":
            return [_json_or_text(line.strip()) for line in lines]
        case _:
            raise ValueError(tell("policy.needs_value"))


def _json_or_text(text: str) -> Any:
    """A number, true, false, null or a quoted text as such; everything else as the text it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _lines(kind: str, value: Any) -> list[str]:
    if kind in {"one_of", "equals"}:
        return [json.dumps(one, ensure_ascii=False) for one in (value if kind == "one_of" else (value,))]
    return [value] if isinstance(value, str) else list(value)


def _form(title: str, verb: Verb, view: PolicyView, number: int, opening: int, *items: ui.Item[ui.Modal]) -> ui.Modal:
    return modals.form(
        title[: limits.MODAL_TITLE], verb, f"{view.draft.id}-{number}", opening, *items, edition=view.draft.mark
    )
