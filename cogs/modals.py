"""Forms. A form carries all that its submit needs in its custom id, so one opened before a restart still counts.

None is registered with discord.py: two people with the same form open, or a restart, would lose a submit. What is
typed comes back through `on_interaction` and is read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import discord
from discord import ui

from bot.deferral.amend import Draft
from bot.deferral.grants import Remember
from bot.texts.entry import Language
from bot.texts.text import key, say
from cogs import inert, limits
from cogs.custom_ids import CustomId, Verb
from cogs.speech import shown, tell

_FIELD = "text"
_FILE = "file"
_REASON = 1_000
"""Characters of a denial's reason."""
TERMS = "terms"
"""The field of the form for remembering."""
_TERMS = {
    Remember.HALF_HOUR: key("grants.half_hour"),
    Remember.FIVE_TIMES: key("grants.five_times"),
    Remember.UNTIL_REVOKED: key("grants.until_revoked"),
}
CONFIRMATION = say("modals.confirmation")
"""What has to be typed to approve something that the card does not show whole."""


def answer(id: str, opening: int) -> ui.Modal:
    """The form for a question's answer. `opening` tells it from every other opening of the same form."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph, custom_id=_FIELD, min_length=1, max_length=limits.MODAL_INPUT
    )
    return form(
        tell("modals.answer_title"),
        Verb.FORM_ANSWER,
        id,
        opening,
        ui.Label(text=tell("modals.answer"), component=field),
    )


def reason(id: str, opening: int) -> ui.Modal:
    """The form for a denial's reason."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph, custom_id=_FIELD, min_length=1, max_length=_REASON
    )
    label = ui.Label(text=tell("modals.reason"), description=tell("modals.reason_hint"), component=field)
    return form(tell("modals.deny_title"), Verb.FORM_DENY, id, opening, label)


def remember(id: str, opening: int) -> ui.Modal:
    """The form for approving a call, and the very same from then on."""
    terms: ui.Select[ui.Modal] = ui.Select(
        custom_id=TERMS,
        options=[discord.SelectOption(label=shown(say(label)), value=wish) for wish, label in _TERMS.items()],
    )
    return form(
        tell("grants.title"),
        Verb.FORM_REMEMBER,
        id,
        opening,
        ui.TextDisplay(tell("grants.covers")),
        ui.Label(text=tell("grants.how_long"), component=terms),
    )


def edit(id: str, opening: int, draft: Draft) -> ui.Modal:
    """The form with a call's arguments. What is too long for one is changed as a file."""
    what = tell("modals.it") if draft.field is not None else tell("modals.as_json")
    fits = limits.length(draft.text) <= limits.MODAL_INPUT
    file: ui.Label[ui.Modal] = ui.Label(
        text=tell("modals.or_file") if fits else tell("modals.changed_file"),
        description=tell("modals.file_hint") if fits else None,
        component=ui.FileUpload(custom_id=_FILE, min_values=0 if fits else 1, max_values=1, required=not fits),
    )
    if not fits:
        whole: ui.TextDisplay[Any] = ui.TextDisplay(tell("modals.too_long", what=what))
        return form(tell("modals.edit_title"), Verb.FORM_EDIT, id, opening, whole, file)
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph,
        custom_id=_FIELD,
        default=draft.text,
        max_length=limits.MODAL_INPUT,
        required=False,
    )
    named = tell("modals.arguments") if draft.field is None else inert.label(draft.field, limit=limits.MODAL_TITLE)
    label = ui.Label(text=named, component=field)
    return form(tell("modals.edit_title"), Verb.FORM_EDIT, id, opening, label, file)


def note(id: str, opening: int) -> ui.Modal:
    """The form for a note to a job."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph, custom_id=_FIELD, min_length=1, max_length=limits.MODAL_INPUT
    )
    label = ui.Label(text=tell("modals.note"), component=field)
    return form(tell("modals.note_title"), Verb.FORM_JOB_NOTE, id, opening, label)


def question(id: str, opening: int) -> ui.Modal:
    """The form for a question about a message."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph,
        custom_id=_FIELD,
        min_length=1,
        max_length=limits.MODAL_INPUT,
        placeholder=tell("about.example"),
    )
    label = ui.Label(text=tell("about.question"), component=field)
    return form(tell("about.title"), Verb.FORM_ASK_ABOUT, id, opening, label)


def confirmation(verb: Verb, id: str, opening: int, *, edition: int | None = None) -> ui.Modal:
    """The second step before approving something that the card does not show whole."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(custom_id=_FIELD, min_length=1, max_length=20)
    return form(
        tell("modals.unseen_title"),
        verb,
        id,
        opening,
        ui.TextDisplay(tell("modals.unseen")),
        ui.Label(text=tell("modals.unseen_type", word=CONFIRMATION), component=field),
        edition=edition,
    )


def confirms(text: str) -> bool:
    """Whether that is the word, in whichever language: the form may have been opened in another one."""
    return text.strip().casefold() in {CONFIRMATION.said_in(language) for language in Language}


def typed(interaction: discord.Interaction) -> str:
    """What was typed into one of our forms, or ''."""
    data: Mapping[str, Any] = dict(interaction.data or {})
    for field in _fields(data.get("components", [])):
        if field.get("custom_id") == _FIELD and isinstance(field.get("value"), str):
            return str(field["value"])
    return ""


def filled(interaction: discord.Interaction) -> dict[str, list[str]]:
    """Everything that was typed and picked in one of our forms, by field."""
    data: Mapping[str, Any] = dict(interaction.data or {})
    found: dict[str, list[str]] = {}
    for field in _fields(data.get("components", [])):
        if isinstance(name := field.get("custom_id"), str):
            given = field["values"] if isinstance(field.get("values"), list) else [field.get("value") or ""]
            found[name] = [str(one) for one in given]
    return found


def uploaded(interaction: discord.Interaction) -> Mapping[str, Any] | None:
    """The file that came with one of our forms, as Discord describes it, or None."""
    data: Mapping[str, Any] = dict(interaction.data or {})
    files: Mapping[str, Any] = data.get("resolved", {}).get("attachments", {})
    for field in _fields(data.get("components", [])):
        if field.get("custom_id") == _FILE:
            return next((files[id] for id in field.get("values", []) if id in files), None)
    return None


def picked(interaction: discord.Interaction) -> str:
    """What was picked in one of our lists, or ''."""
    return next(iter(all_picked(interaction)), "")


def all_picked(interaction: discord.Interaction) -> list[str]:
    """Everything that was picked in one of our lists."""
    data: Mapping[str, Any] = dict(interaction.data or {})
    return [str(value) for value in data.get("values", [])]


def picked_roles(interaction: discord.Interaction) -> frozenset[str]:
    """Which of what was picked are roles, as Discord says."""
    data: Mapping[str, Any] = dict(interaction.data or {})
    return frozenset(map(str, data.get("resolved", {}).get("roles", {})))


def _fields(components: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for component in components:
        yield component
        yield from _fields(component.get("components", []))
        if "component" in component:
            yield from _fields([component["component"]])


def form(
    title: str, verb: Verb, id: str, opening: int, *items: ui.Item[ui.Modal], edition: int | None = None
) -> ui.Modal:
    """A form of these items, which discord.py does not keep."""
    custom_id = CustomId(verb=verb, id=id, number=opening, edition=edition)
    modal = ui.Modal(title=title[: limits.MODAL_TITLE], custom_id=str(custom_id))
    for item in items:
        modal.add_item(item)
    modal.stop()
    return modal
