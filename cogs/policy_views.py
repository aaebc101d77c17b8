"""How a guild's rules look: all of them, one of them being changed, a rehearsal. Drawn anew from the draft each time.

A press carries the draft, its mark and the number of a rule; all else is in the draft's row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import discord
from discord import ui

from bot.guild_rules import MOST_RULES
from bot.policy_view import PolicyView
from bot.rehearsal import Rehearsal
from bot.texts.text import say
from cogs import inert, layout, limits
from cogs import policy_words as words
from cogs.custom_ids import CustomId, Verb, steady
from cogs.layout import Item
from cogs.speech import shown, tell

Row = ui.ActionRow[ui.LayoutView]

NEW = "new"
OTHER = "other"
_OPTION = 100
"""Characters of an option's label and description (Discord API, components)."""
_OPTIONS = 25
_SECTION, _BESIDE_DRAFT = 700, 380
"""Characters of one list, without and with a draft: four of them and all around them stay below Discord's 4,000."""
_ACTIONS = {
    "allow": (say("policy.allow"), say("policy.allow_hint")),
    "ask": (say("policy.ask_option"), say("policy.ask_hint")),
    "refuse": (say("policy.refuse"), say("policy.refuse_hint")),
}
_GREEN, _RED, _GREY = discord.ButtonStyle.success, discord.ButtonStyle.danger, discord.ButtonStyle.secondary


def custom_id(view: PolicyView, verb: Verb, number: int = 0) -> str:
    """What a component of this view sends."""
    return str(CustomId(verb=verb, id=f"{view.draft.id}-{number}", edition=view.draft.mark))


def overview(view: PolicyView, *, said: str = "") -> ui.LayoutView:
    """All rules in force, what the draft would change, and everything that can be done."""
    items: list[Item] = [layout.text(part) for part in _in_force(view)]
    if view.changes or view.in_force.problem:
        items += [layout.rule(), layout.text(_draft(view))]
    if said or view.note:
        items.append(layout.text(f"**{shown(said or view.note)}**"))
    items += [_pick_what(view), _pick_who(view)]
    buttons = [
        _button(view, Verb.RULES_TRY, tell("policy.rehearse"), _GREY),
    ]
    if view.changes or view.in_force.problem:
        save = _button(view, Verb.RULES_SAVE, tell("policy.save"), _GREEN)
        save.disabled = bool(view.blocked)
        buttons = [save, _button(view, Verb.RULES_DROP, tell("policy.discard"), _RED), *buttons]
    items.append(ui.ActionRow(*buttons))
    return layout.build(*items)


def what_runs(view: PolicyView, number: int, *, said: str = "") -> ui.LayoutView:
    """One rule about what runs, being changed. One that is not there yet has to have a tool first."""
    if number >= len(view.rules.policy):
        items: list[Item] = [
            layout.text(tell("policy.new_rule_page")),
            Row(_tools(view, Verb.RULES_TOOL, number, chosen=())),
            Row(_button(view, Verb.RULES_HOME, tell("lists.back"), _GREY)),
        ]
        return layout.build(*items)
    rule, table = view.rules.policy[number], view.body.policy[number]
    text = tell("policy.rule_runs", number=number + 1, rule=words.what_runs(rule))
    text += _conflicts(view, "policy", number)
    items = [layout.text(text)]
    if said or view.note:
        items.append(layout.text(f"**{shown(said or view.note)}**"))
    actions = [
        discord.SelectOption(label=shown(label), description=shown(what), value=value, default=value == rule.action)
        for value, (label, what) in _ACTIONS.items()
    ]
    select: ui.Select[ui.LayoutView] = ui.Select(
        custom_id=custom_id(view, Verb.RULES_ACTION, number),
        id=steady(custom_id(view, Verb.RULES_ACTION, number)),
        options=actions,
        placeholder=tell("policy.what_happens"),
    )
    up = _button(view, Verb.RULES_UP, tell("policy.up"), _GREY, number)
    up.disabled = number == 0
    items += [
        Row(_tools(view, Verb.RULES_TOOL, number, chosen=(rule.tool,))),
        Row(select),
        Row(_channels(view, Verb.RULES_CHANNELS, number, table.get("channels", ()))),
        Row(_roles(view, Verb.RULES_ROLES, number, table.get("roles", ()), tell("policy.only_roles"))),
        Row(
            _button(view, Verb.RULES_ARGUMENTS, tell("policy.arguments"), _GREY, number),
            up,
            _button(view, Verb.RULES_REMOVE, tell("policy.remove"), _RED, number),
            _button(view, Verb.RULES_HOME, tell("policy.back_to_all"), discord.ButtonStyle.primary),
        ),
        layout.text(tell("policy.not_before_save")),
    ]
    return layout.build(*items)


def who_decides(view: PolicyView, number: int, *, said: str = "") -> ui.LayoutView:
    """One rule about who decides, being changed."""
    rule, table = view.rules.approvers[number], view.body.approvers[number]
    text = tell(
        "policy.rule_who",
        number=number + 1,
        rule=words.who_decides(rule),
        conflicts=_conflicts(view, "approvers", number),
    )
    items: list[Item] = [layout.text(text)]
    if said or view.note:
        items.append(layout.text(f"**{shown(said or view.note)}**"))
    people: ui.MentionableSelect[ui.LayoutView] = ui.MentionableSelect(
        custom_id=custom_id(view, Verb.RULES_PEOPLE, number),
        id=steady(custom_id(view, Verb.RULES_PEOPLE, number)),
        placeholder=tell("policy.who_may"),
        min_values=0,
        max_values=_OPTIONS,
        default_values=[
            *_defaults(table.get("users", ()), discord.SelectDefaultValueType.user),
            *_defaults(table.get("roles", ()), discord.SelectDefaultValueType.role),
        ],
    )
    up = _button(view, Verb.RULES_WHO_UP, tell("policy.up"), _GREY, number)
    up.disabled = number == 0
    items += [
        Row(_tools(view, Verb.RULES_WHO_TOOLS, number, chosen=rule.tools or (), many=True)),
        Row(_channels(view, Verb.RULES_WHO_CHANNELS, number, table.get("channels", ()))),
        Row(people),
        Row(_roles(view, Verb.RULES_EACH, number, table.get("one_of_each", ()), tell("policy.each_must"))),
        Row(
            _button(view, Verb.RULES_DEMANDS, tell("policy.demands"), _GREY, number),
            up,
            _button(view, Verb.RULES_WHO_REMOVE, tell("policy.remove"), _RED, number),
            _button(view, Verb.RULES_HOME, tell("policy.back_to_all"), discord.ButtonStyle.primary),
        ),
        layout.text(tell("policy.not_before_save")),
    ]
    return layout.build(*items)


def rehearsal(view: PolicyView, found: Rehearsal) -> ui.LayoutView:
    """What last week would have looked like."""
    total = sum(found.was.values())
    if not total:
        said = tell("policy.no_calls")
    else:
        said = tell(
            "policy.tried",
            calls=tell("policy.calls", n=total),
            since=found.since // 1000,
            cut=tell("policy.newest_of_them") if found.cut else "",
            was=_counts(found.was),
            now=_counts(found.now),
        )
        if not found.otherwise:
            said += tell("policy.none_otherwise")
        else:
            said += tell("policy.otherwise", calls=tell("policy.calls", n=len(found.otherwise)))
    past = {"ask": tell("policy.asked"), "allow": tell("policy.allowed"), "refuse": tell("policy.refused")}
    lines = [
        tell(
            "policy.changed_call",
            id=one.call.id,
            tool=inert.line(one.call.tool, limit=40),
            was=past[one.call.was],
            now=past[one.now],
            rule=inert.line(shown(one.rule), limit=80),
            at=one.call.at // 1000,
        )
        for one in found.otherwise
    ]
    if found.gone:
        calls = tell("policy.calls", n=found.gone)
        said = tell("policy.not_tried", said=said, calls=calls)
    small = tell("policy.nothing_run")
    items: list[Item] = [layout.text(tell("policy.last_week", said=said))]
    if lines:
        items.append(layout.text(_fitting(lines, room=2_200)))
    items += [
        layout.text(small),
        Row(_button(view, Verb.RULES_HOME, tell("policy.back_to_all"), discord.ButtonStyle.primary)),
    ]
    return layout.build(*items)


# -- pieces -----------------------------------------------------------------------------------------


def _in_force(view: PolicyView) -> list[str]:
    bounds, own = view.bounds, view.in_force
    room = _BESIDE_DRAFT if view.changes else _SECTION
    here = tell("policy.set_here", version=own.version, person=own.changed_by, at=own.changed_at // 1000)
    parts = [tell("policy.what_runs_page")]
    if bounds.file_policy:
        parts.append(_section(tell("policy.from_file"), map(words.what_runs, bounds.file_policy), room))
    if own.problem:
        parts.append(tell("policy.not_believed", problem=inert.line(shown(own.problem), limit=200)))
    elif own.rules.policy:
        parts.append(_section(here, map(words.what_runs, own.rules.policy), room))
    parts.append(tell("policy.built_in"))
    what, parts = "\n".join(parts), [tell("policy.who_page")]
    if bounds.file_approvers:
        lines = [f"**{number}.** {words.who_decides(rule)}" for number, rule in bounds.file_approvers]
        parts.append(tell("policy.from_file_small", lines=_fitting(lines, room=room)))
    if own.rules.approvers and not own.problem:
        parts.append(
            _section(tell("policy.within_file", where=here), map(words.who_decides, own.rules.approvers), room)
        )
    said = words.base(bounds.base, ttl_ms=bounds.ttl_ms, leaves_open=bounds.leaves_open)
    parts.append(tell("policy.no_rule", said=said))
    return [what, "\n".join(parts)]


def _draft(view: PolicyView) -> str:
    lines = [words.change(view, one) for one in view.changes]
    text = tell("policy.draft", lines=_fitting(lines, room=600))
    if notes := list(dict.fromkeys(words.conflict(view, one) for one in view.conflicts)):
        text += f"\n{_fitting([f'- {note}' for note in notes], room=400)}"
    return tell("policy.cannot_save", text=text, why=view.blocked) if view.blocked else text


def _conflicts(view: PolicyView, kind: str, number: int) -> str:
    found = [one for one in view.conflicts if one.kind == kind and one.number == number]
    return "".join(f"\n- {note}" for note in dict.fromkeys(words.conflict(view, one) for one in found))


def _pick_what(view: PolicyView) -> Item:
    options = [
        discord.SelectOption(
            label=inert.label(f"{n + 1}. {rule.name}", limit=_OPTION),
            description=f"{shown(_ACTIONS[rule.action][0])}: {inert.label(rule.tool, limit=_OPTION - 10)}",
            value=str(n),
        )
        for n, rule in enumerate(view.rules.policy)
    ]
    return _pick(view, Verb.RULES_PICK, tell("policy.add_runs"), options)


def _pick_who(view: PolicyView) -> Item:
    options = [
        discord.SelectOption(
            label=inert.label(f"{n + 1}. {', '.join(rule.tools or (tell('policy.every_tool'),))}", limit=_OPTION),
            description=tell("policy.to_approve", n=max(rule.quorum, len(rule.one_of_each))),
            value=str(n),
        )
        for n, rule in enumerate(view.rules.approvers)
    ]
    return _pick(view, Verb.RULES_PICK_WHO, tell("policy.add_who"), options)


def _pick(view: PolicyView, verb: Verb, placeholder: str, options: list[discord.SelectOption]) -> Item:
    if len(options) < MOST_RULES:
        options = [discord.SelectOption(label=tell("policy.new_rule"), value=NEW), *options]
    return Row(
        ui.Select(
            custom_id=custom_id(view, verb), id=steady(custom_id(view, verb)), placeholder=placeholder, options=options
        )
    )


def _tools(
    view: PolicyView, verb: Verb, number: int, *, chosen: Sequence[str], many: bool = False
) -> ui.Select[ui.LayoutView]:
    names = [name for name in dict.fromkeys([*chosen, *view.tools]) if 0 < limits.length(name) <= _OPTION]
    options = [
        discord.SelectOption(label=inert.label(name, limit=_OPTION), value=name, default=name in chosen)
        for name in names[: _OPTIONS - 1]
    ]
    options.append(discord.SelectOption(label=tell("policy.other_name").replace("`", ""), value=OTHER))
    return ui.Select(
        custom_id=custom_id(view, verb, number),
        id=steady(custom_id(view, verb, number)),
        placeholder=tell("policy.which_tools") if many else tell("policy.which_tool"),
        options=options,
        min_values=0 if many else 1,
        max_values=len(options) if many else 1,
    )


def _channels(view: PolicyView, verb: Verb, number: int, chosen: Iterable[str]) -> ui.ChannelSelect[ui.LayoutView]:
    return ui.ChannelSelect(
        custom_id=custom_id(view, verb, number),
        id=steady(custom_id(view, verb, number)),
        placeholder=tell("policy.only_channels"),
        min_values=0,
        max_values=_OPTIONS,
        default_values=_defaults(chosen, discord.SelectDefaultValueType.channel),
    )


def _roles(
    view: PolicyView, verb: Verb, number: int, chosen: Iterable[str], placeholder: str
) -> ui.RoleSelect[ui.LayoutView]:
    return ui.RoleSelect(
        custom_id=custom_id(view, verb, number),
        id=steady(custom_id(view, verb, number)),
        placeholder=placeholder,
        min_values=0,
        max_values=_OPTIONS,
        default_values=_defaults(chosen, discord.SelectDefaultValueType.role),
    )


def _button(
    view: PolicyView, verb: Verb, label: str, style: discord.ButtonStyle, number: int = 0
) -> ui.Button[ui.LayoutView]:
    text = custom_id(view, verb, number)
    return ui.Button(label=label, style=style, custom_id=text, id=steady(text))


def _defaults(ids: Iterable[str], kind: discord.SelectDefaultValueType) -> list[discord.SelectDefaultValue]:
    return [discord.SelectDefaultValue(id=int(id), type=kind) for id in ids]


def _section(title: str, lines: Iterable[str], room: int) -> str:
    return f"-# {title}\n{_fitting([f'**{n}.** {said}' for n, said in enumerate(lines, start=1)], room=room)}"


def _fitting(lines: list[str], *, room: int) -> str:
    kept: list[str] = []
    for line in lines:
        room -= limits.length(line) + 1
        if room < 0:
            break
        kept.append(line)
    if len(kept) < len(lines):
        kept.append(tell("words.more", n=len(lines) - len(kept)))
    return "\n".join(kept)


def _counts(numbers: object) -> str:
    given = dict(numbers) if isinstance(numbers, dict) else {}
    return tell(
        "policy.counts", allowed=given.get("allow", 0), asked=given.get("ask", 0), refused=given.get("refuse", 0)
    )
