"""How a guild's rules look: all of them, one of them being changed, a rehearsal. Drawn anew from the draft each time.

A press carries the draft, its revision and the number of a rule; all else is in the draft's row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import discord
from discord import ui

from bot.guild_rules import MOST_RULES
from bot.policy_view import PolicyView
from bot.rehearsal import Rehearsal
from cogs import inert, layout, limits
from cogs import policy_words as words
from cogs.custom_ids import CustomId, Verb, steady
from cogs.layout import Item

Row = ui.ActionRow[ui.LayoutView]

NEW = "new"
OTHER = "other"
_OPTION = 100
"""Characters of an option's label and description (Discord API, components)."""
_OPTIONS = 25
_SECTION, _BESIDE_DRAFT = 700, 380
"""Characters of one list, without and with a draft: four of them and all around them stay below Discord's 4,000."""
_ACTIONS = {
    "allow": ("Allow", "It runs at once, without a card."),
    "ask": ("Ask", "It waits on a card for somebody who may decide."),
    "refuse": ("Refuse", "It does not run, and the model is told no."),
}
_GREEN, _RED, _GREY = discord.ButtonStyle.success, discord.ButtonStyle.danger, discord.ButtonStyle.secondary


def custom_id(view: PolicyView, verb: Verb, number: int = 0) -> str:
    """What a component of this view sends."""
    return str(CustomId(verb=verb, id=f"{view.draft.id}-{number}", edition=view.draft.revision))


def overview(view: PolicyView, *, said: str = "") -> ui.LayoutView:
    """All rules in force, what the draft would change, and everything that can be done."""
    items: list[Item] = [layout.text(part) for part in _in_force(view)]
    if view.changes or view.in_force.problem:
        items += [layout.rule(), layout.text(_draft(view))]
    if said or view.note:
        items.append(layout.text(f"**{said or view.note}**"))
    items += [_pick_what(view), _pick_who(view)]
    buttons = [
        _button(view, Verb.RULES_TRY, "What would last week have looked like?", _GREY),
    ]
    if view.changes or view.in_force.problem:
        save = _button(view, Verb.RULES_SAVE, "Save", _GREEN)
        save.disabled = bool(view.blocked)
        buttons = [save, _button(view, Verb.RULES_DROP, "Discard the draft", _RED), *buttons]
    items.append(ui.ActionRow(*buttons))
    return layout.build(*items)


def what_runs(view: PolicyView, number: int, *, said: str = "") -> ui.LayoutView:
    """One rule about what runs, being changed. One that is not there yet has to have a tool first."""
    if number >= len(view.rules.policy):
        items: list[Item] = [
            layout.text("### A new rule\nWhich tool is it about?"),
            Row(_tools(view, Verb.RULES_TOOL, number, chosen=())),
            Row(_button(view, Verb.RULES_HOME, "Back", _GREY)),
        ]
        return layout.build(*items)
    rule, table = view.rules.policy[number], view.body.policy[number]
    text = f"### Rule {number + 1} of what runs, not saved yet\n{words.what_runs(rule)}"
    text += _conflicts(view, "policy", number)
    items = [layout.text(text)]
    if said or view.note:
        items.append(layout.text(f"**{said or view.note}**"))
    actions = [
        discord.SelectOption(label=label, description=what, value=value, default=value == rule.action)
        for value, (label, what) in _ACTIONS.items()
    ]
    select: ui.Select[ui.LayoutView] = ui.Select(
        custom_id=custom_id(view, Verb.RULES_ACTION, number), options=actions, placeholder="What happens"
    )
    up = _button(view, Verb.RULES_UP, "Move up", _GREY, number)
    up.disabled = number == 0
    items += [
        Row(_tools(view, Verb.RULES_TOOL, number, chosen=(rule.tool,))),
        Row(select),
        Row(_channels(view, Verb.RULES_CHANNELS, number, table.get("channels", ()))),
        Row(_roles(view, Verb.RULES_ROLES, number, table.get("roles", ()), "Only when somebody of these roles asks")),
        Row(
            _button(view, Verb.RULES_ARGUMENTS, "Arguments and name…", _GREY, number),
            up,
            _button(view, Verb.RULES_REMOVE, "Remove", _RED, number),
            _button(view, Verb.RULES_HOME, "Back to all rules", discord.ButtonStyle.primary),
        ),
        layout.text("-# Nothing counts before you press **Save** in the list of all rules."),
    ]
    return layout.build(*items)


def who_decides(view: PolicyView, number: int, *, said: str = "") -> ui.LayoutView:
    """One rule about who decides, being changed."""
    rule, table = view.rules.approvers[number], view.body.approvers[number]
    text = (
        f"### Rule {number + 1} of who decides, not saved yet\n{words.who_decides(rule)}"
        f"{_conflicts(view, 'approvers', number)}"
    )
    items: list[Item] = [layout.text(text)]
    if said or view.note:
        items.append(layout.text(f"**{said or view.note}**"))
    people: ui.MentionableSelect[ui.LayoutView] = ui.MentionableSelect(
        custom_id=custom_id(view, Verb.RULES_PEOPLE, number),
        placeholder="Who may decide (nobody picked: as without this rule)",
        min_values=0,
        max_values=_OPTIONS,
        default_values=[
            *_defaults(table.get("users", ()), discord.SelectDefaultValueType.user),
            *_defaults(table.get("roles", ()), discord.SelectDefaultValueType.role),
        ],
    )
    up = _button(view, Verb.RULES_WHO_UP, "Move up", _GREY, number)
    up.disabled = number == 0
    items += [
        Row(_tools(view, Verb.RULES_WHO_TOOLS, number, chosen=rule.tools or (), many=True)),
        Row(_channels(view, Verb.RULES_WHO_CHANNELS, number, table.get("channels", ()))),
        Row(people),
        Row(
            _roles(
                view, Verb.RULES_EACH, number, table.get("one_of_each", ()), "Somebody of each of these must approve"
            )
        ),
        Row(
            _button(view, Verb.RULES_DEMANDS, "How many, four eyes, how long…", _GREY, number),
            up,
            _button(view, Verb.RULES_WHO_REMOVE, "Remove", _RED, number),
            _button(view, Verb.RULES_HOME, "Back to all rules", discord.ButtonStyle.primary),
        ),
        layout.text("-# Nothing counts before you press **Save** in the list of all rules."),
    ]
    return layout.build(*items)


def rehearsal(view: PolicyView, found: Rehearsal) -> ui.LayoutView:
    """What last week would have looked like."""
    total = sum(found.was.values())
    if not total:
        said = "No call came to me in this server in the last seven days, so there is nothing to try the rules on."
    else:
        said = (
            f"{_count(total, 'call')} came to me in this server since <t:{found.since // 1000}:f>"
            f"{' (the newest of them; there were more)' if found.cut else ''}.\n"
            f"They went like this: {_counts(found.was)}.\n"
            f"With these rules: **{_counts(found.now)}**.\n"
        )
        if not found.otherwise:
            said += "None of them would have gone another way."
        else:
            said += f"{_count(len(found.otherwise), 'call')} would have gone another way:"
    past = {"ask": "asked", "allow": "allowed", "refuse": "refused"}
    lines = [
        f"- `{one.call.id}` {inert.line(one.call.tool, limit=40)}: was {past[one.call.was]}, would be"
        f" **{past[one.now]}** by {inert.line(one.rule, limit=80)} <t:{one.call.at // 1000}:R>"
        for one in found.otherwise
    ]
    if found.gone:
        calls = _count(found.gone, "call")
        said = f"{said}\n-# Not tried: {calls} of tools that are not connected now."
    small = "-# Nothing was run by this. What only looks and ran by default is not counted: it is not on the trail."
    items: list[Item] = [layout.text(f"### What last week would have looked like\n{said}")]
    if lines:
        items.append(layout.text(_fitting(lines, room=2_200)))
    items += [layout.text(small), Row(_button(view, Verb.RULES_HOME, "Back to all rules", discord.ButtonStyle.primary))]
    return layout.build(*items)


# -- pieces -----------------------------------------------------------------------------------------


def _in_force(view: PolicyView) -> list[str]:
    bounds, own = view.bounds, view.in_force
    room = _BESIDE_DRAFT if view.changes else _SECTION
    here = f"Set in this server (version {own.version}, by <@{own.changed_by}> <t:{own.changed_at // 1000}:R>)"
    parts = ["### What runs\nOf each list the first rule that fits a call counts; of several answers the strictest."]
    if bounds.file_policy:
        parts.append(_section("From the operator's file", map(words.what_runs, bounds.file_policy), room))
    if own.problem:
        parts.append(
            f"**The rules of this server are not believed.** {inert.line(own.problem, limit=200)}\n"
            "**Everything is refused here until somebody saves rules anew.**"
        )
    elif own.rules.policy:
        parts.append(_section(here, map(words.what_runs, own.rules.policy), room))
    parts.append("-# Built in, for what no rule is about\nWhat acts asks first; what only looks runs.")
    what, parts = "\n".join(parts), ["### Who decides"]
    if bounds.file_approvers:
        lines = [f"**{number}.** {words.who_decides(rule)}" for number, rule in bounds.file_approvers]
        parts.append(f"-# From the operator's file\n{_fitting(lines, room=room)}")
    if own.rules.approvers and not own.problem:
        parts.append(_section(f"{here}, within what the file says", map(words.who_decides, own.rules.approvers), room))
    said = words.base(bounds.base, ttl_ms=bounds.ttl_ms, leaves_open=bounds.leaves_open)
    parts.append(f"-# For what no rule is about\n{said}")
    return [what, "\n".join(parts)]


def _draft(view: PolicyView) -> str:
    lines = [words.change(view, one) for one in view.changes]
    text = f"**Your draft. None of it counts yet.**\n{_fitting(lines, room=600)}"
    if notes := list(dict.fromkeys(words.conflict(view, one) for one in view.conflicts)):
        text += f"\n{_fitting([f'- {note}' for note in notes], room=400)}"
    return f"{text}\n**You cannot save it.** {view.blocked}" if view.blocked else text


def _conflicts(view: PolicyView, kind: str, number: int) -> str:
    found = [one for one in view.conflicts if one.kind == kind and one.number == number]
    return "".join(f"\n- {note}" for note in dict.fromkeys(words.conflict(view, one) for one in found))


def _pick_what(view: PolicyView) -> Item:
    options = [
        discord.SelectOption(
            label=inert.label(f"{n + 1}. {rule.name}", limit=_OPTION),
            description=f"{rule.action}: {inert.label(rule.tool, limit=_OPTION - 10)}",
            value=str(n),
        )
        for n, rule in enumerate(view.rules.policy)
    ]
    return _pick(view, Verb.RULES_PICK, "Add or change a rule about what runs…", options)


def _pick_who(view: PolicyView) -> Item:
    options = [
        discord.SelectOption(
            label=inert.label(f"{n + 1}. {', '.join(rule.tools or ('every tool',))}", limit=_OPTION),
            description=f"{max(rule.quorum, len(rule.one_of_each))} to approve",
            value=str(n),
        )
        for n, rule in enumerate(view.rules.approvers)
    ]
    return _pick(view, Verb.RULES_PICK_WHO, "Add or change a rule about who decides…", options)


def _pick(view: PolicyView, verb: Verb, placeholder: str, options: list[discord.SelectOption]) -> Item:
    if len(options) < MOST_RULES:
        options = [discord.SelectOption(label="A new rule", value=NEW), *options]
    return Row(ui.Select(custom_id=custom_id(view, verb), placeholder=placeholder, options=options))


def _tools(
    view: PolicyView, verb: Verb, number: int, *, chosen: Sequence[str], many: bool = False
) -> ui.Select[ui.LayoutView]:
    names = [name for name in dict.fromkeys([*chosen, *view.tools]) if 0 < limits.length(name) <= _OPTION]
    options = [
        discord.SelectOption(label=inert.label(name, limit=_OPTION), value=name, default=name in chosen)
        for name in names[: _OPTIONS - 1]
    ]
    options.append(discord.SelectOption(label="Another name, or many by `*`…".replace("`", ""), value=OTHER))
    return ui.Select(
        custom_id=custom_id(view, verb, number),
        placeholder="About which tools (none picked: every tool)" if many else "About which tool",
        options=options,
        min_values=0 if many else 1,
        max_values=len(options) if many else 1,
    )


def _channels(view: PolicyView, verb: Verb, number: int, chosen: Iterable[str]) -> ui.ChannelSelect[ui.LayoutView]:
    return ui.ChannelSelect(
        custom_id=custom_id(view, verb, number),
        placeholder="Only in these channels and their threads (none picked: everywhere)",
        min_values=0,
        max_values=_OPTIONS,
        default_values=_defaults(chosen, discord.SelectDefaultValueType.channel),
    )


def _roles(
    view: PolicyView, verb: Verb, number: int, chosen: Iterable[str], placeholder: str
) -> ui.RoleSelect[ui.LayoutView]:
    return ui.RoleSelect(
        custom_id=custom_id(view, verb, number),
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
    shown: list[str] = []
    for line in lines:
        room -= limits.length(line) + 1
        if room < 0:
            break
        shown.append(line)
    if len(shown) < len(lines):
        shown.append(f"-# and {len(lines) - len(shown)} more")
    return "\n".join(shown)


def _counts(numbers: object) -> str:
    given = dict(numbers) if isinstance(numbers, dict) else {}
    return f"{given.get('allow', 0)} allowed, {given.get('ask', 0)} asked, {given.get('refuse', 0)} refused"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
