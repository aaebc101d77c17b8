"""Forms. A form carries all that its submit needs in its custom id, so one opened before a restart still counts.

None is registered with discord.py: two people with the same form open, or a restart, would lose a submit. What is
typed comes back through `on_interaction` and is read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import discord
from discord import ui

from cogs import limits
from cogs.custom_ids import CustomId, Verb

_FIELD = "text"
CONFIRMATION = "approve"
"""What has to be typed to approve something that the card does not show whole."""


def answer(id: str, opening: int) -> ui.Modal:
    """The form for a question's answer. `opening` tells it from every other opening of the same form."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph, custom_id=_FIELD, min_length=1, max_length=limits.MODAL_INPUT
    )
    return _form("Your answer", Verb.FORM_ANSWER, id, opening, ui.Label(text="Answer", component=field))


def note(id: str, opening: int) -> ui.Modal:
    """The form for a note to a job."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph, custom_id=_FIELD, min_length=1, max_length=limits.MODAL_INPUT
    )
    label = ui.Label(text="What it should know", component=field)
    return _form("A note for the job", Verb.FORM_JOB_NOTE, id, opening, label)


def confirmation(verb: Verb, id: str, opening: int) -> ui.Modal:
    """The second step before approving something that the card does not show whole."""
    field: ui.TextInput[ui.Modal] = ui.TextInput(custom_id=_FIELD, min_length=1, max_length=20)
    return _form(
        "Approve what is not all shown?",
        verb,
        id,
        opening,
        ui.TextDisplay(
            "This card shows only a part; the whole is in its attached file, and the whole would run. Read the file"
            " first."
        ),
        ui.Label(text=f"Type {CONFIRMATION} to approve the whole", component=field),
    )


def typed(interaction: discord.Interaction) -> str:
    """What was typed into one of our forms, or ''."""
    data: Mapping[str, Any] = dict(interaction.data or {})
    for field in _fields(data.get("components", [])):
        if field.get("custom_id") == _FIELD and isinstance(field.get("value"), str):
            return str(field["value"])
    return ""


def _fields(components: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for component in components:
        yield component
        yield from _fields(component.get("components", []))
        if "component" in component:
            yield from _fields([component["component"]])


def _form(title: str, verb: Verb, id: str, opening: int, *items: ui.Item[ui.Modal]) -> ui.Modal:
    modal = ui.Modal(title=title[: limits.MODAL_TITLE], custom_id=str(CustomId(verb=verb, id=id, number=opening)))
    for item in items:
        modal.add_item(item)
    modal.stop()
    return modal
