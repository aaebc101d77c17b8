"""How a server's settings look: what counts, what the draft would change, and everything that can be picked.

Drawn anew from the draft each time; a press carries the draft and its mark.
"""

from __future__ import annotations

import discord
from discord import ui

from bot.settings_desk import SettingsView
from bot.where import MOST_PEOPLE, Places
from cogs import inert, layout, permissions
from cogs import settings_words as words
from cogs.custom_ids import CustomId, Verb, steady
from cogs.layout import Item
from cogs.speech import shown, tell

Row = ui.ActionRow[ui.LayoutView]
Select = ui.Select[ui.LayoutView]

USUAL = "usual"
"""The choice of no model in particular; no model is called so, as each has a provider's name before it."""
_OPTION = 100
_CHANNELS = [
    discord.ChannelType.text,
    discord.ChannelType.news,
    discord.ChannelType.forum,
    discord.ChannelType.public_thread,
    discord.ChannelType.private_thread,
]
"""Where cards can be posted: see `bot.where`."""
_GREEN, _RED, _GREY = discord.ButtonStyle.success, discord.ButtonStyle.danger, discord.ButtonStyle.secondary


def overview(view: SettingsView, client: discord.Client, *, said: str = "") -> ui.LayoutView:
    """All of it."""
    items: list[Item] = [layout.text("\n".join(_in_force(view)))]
    if view.is_changed:
        items += [layout.rule(), layout.text("\n".join(_draft(view, client)))]
    if said or view.note:
        items.append(layout.text(f"**{shown(said or view.note)}**"))
    places = view.wanted.places or Places()
    items += [Row(_channel(view, places)), Row(_people(view, places)), Row(_here(view, places)), Row(_notify(view))]
    if view.models:
        items.append(Row(_model(view)))
    buttons = [
        _button(view, Verb.SET_BUDGETS, tell("settings.budgets"), _GREY),
        _button(view, Verb.SET_QUIET, tell("settings.quiet_hours"), _GREY),
    ]
    if view.is_changed:
        save = _button(view, Verb.SET_SAVE, tell("settings.save"), _GREEN)
        save.disabled = bool(view.blocked)
        buttons = [save, _button(view, Verb.SET_DROP, tell("settings.drop"), _RED), *buttons]
    return layout.build(*items, ui.ActionRow(*buttons))


def _in_force(view: SettingsView) -> list[str]:
    lines = [tell("settings.title")]
    if view.problem:
        lines.append(tell("settings.not_believed", problem=inert.line(view.problem, limit=200)))
    lines += [*words.sentences(view, view.in_force), *words.from_file(view), tell("settings.readers")]
    if view.version:
        lines.append(tell("settings.since", version=view.version, by=view.changed_by, at=view.changed_at // 1000))
    else:
        lines.append(tell("settings.never"))
    return lines


def _draft(view: SettingsView, client: discord.Client) -> list[str]:
    lines = [tell("settings.draft"), *(f"- {sentence}" for sentence in words.differences(view))]
    channel = view.wanted.places.channel if view.wanted.places is not None else None
    if channel is not None and (lacking := permissions.missing_in(client, int(view.guild), int(channel))):
        lines.append(tell("settings.cannot_post", id=channel, missing=", ".join(lacking)))
    if view.blocked:
        lines.append(tell("settings.blocked", why=view.blocked))
    return lines


def _channel(view: SettingsView, places: Places) -> ui.ChannelSelect[ui.LayoutView]:
    there = discord.SelectDefaultValueType.channel
    return ui.ChannelSelect(
        custom_id=custom_id(view, Verb.SET_CHANNEL),
        id=steady(custom_id(view, Verb.SET_CHANNEL)),
        placeholder=tell("settings.pick_channel"),
        channel_types=_CHANNELS,
        min_values=0,
        max_values=1,
        default_values=[]
        if places.channel is None
        else [discord.SelectDefaultValue(id=int(places.channel), type=there)],
    )


def _people(view: SettingsView, places: Places) -> ui.UserSelect[ui.LayoutView]:
    person = discord.SelectDefaultValueType.user
    return ui.UserSelect(
        custom_id=custom_id(view, Verb.SET_PEOPLE),
        id=steady(custom_id(view, Verb.SET_PEOPLE)),
        placeholder=tell("settings.pick_people"),
        min_values=0,
        max_values=MOST_PEOPLE,
        default_values=[discord.SelectDefaultValue(id=int(id), type=person) for id in places.people],
    )


def _here(view: SettingsView, places: Places) -> Select:
    return ui.Select(
        custom_id=custom_id(view, Verb.SET_HERE),
        id=steady(custom_id(view, Verb.SET_HERE)),
        options=[
            discord.SelectOption(
                label=tell("settings.also_here"),
                description=tell("settings.also_here_hint"),
                value="yes",
                default=places.here,
            ),
            discord.SelectOption(
                label=tell("settings.not_here"),
                description=tell("settings.not_here_hint"),
                value="no",
                default=not places.here,
            ),
        ],
    )


def _notify(view: SettingsView) -> Select:
    chosen = view.wanted.notify or "channel"
    labels = {
        "channel": tell("settings.to_channel"),
        "dm": tell("settings.to_dm"),
        "both": tell("settings.to_both"),
    }
    return ui.Select(
        custom_id=custom_id(view, Verb.SET_NOTIFY),
        id=steady(custom_id(view, Verb.SET_NOTIFY)),
        options=[
            discord.SelectOption(label=label, value=value, default=value == chosen) for value, label in labels.items()
        ],
    )


def _model(view: SettingsView) -> Select:
    chosen = view.wanted.model
    usual = inert.label(tell("settings.usual_model", model=view.model), limit=_OPTION)
    return ui.Select(
        custom_id=custom_id(view, Verb.SET_MODEL),
        id=steady(custom_id(view, Verb.SET_MODEL)),
        placeholder=tell("settings.pick_model"),
        options=[
            discord.SelectOption(label=usual, value=USUAL, default=chosen is None),
            *(
                discord.SelectOption(label=inert.label(name, limit=_OPTION), value=name, default=name == chosen)
                for name in view.models
            ),
        ],
    )


def _button(view: SettingsView, verb: Verb, label: str, style: discord.ButtonStyle) -> ui.Button[ui.LayoutView]:
    text = custom_id(view, verb)
    return ui.Button(label=label, style=style, custom_id=text, id=steady(text))


def custom_id(view: SettingsView, verb: Verb) -> str:
    """What a component of this view sends."""
    return str(CustomId(verb=verb, id=view.draft.id, edition=view.draft.mark))
