"""What can be pressed beside a turn while it goes on. The buttons are gone from the message when its answer stands."""

from __future__ import annotations

from collections.abc import Iterator

import discord
from discord import ui

from bot.texts.entry import Language
from cogs.custom_ids import CustomId, Verb, steady
from cogs.speech import speaking, tell


def row(run: str, language: Language, *, lasts: bool = False) -> ui.View:
    """The buttons of the turn `run`; `lasts`: it takes long. Needs a running loop."""
    view = ui.View(timeout=None)
    with speaking(language):
        for button in _buttons(run, lasts):
            view.add_item(button)
    view.stop()  # a finished view is sent but not stored: presses come to `Presses`, also after a restart
    return view


def _buttons(run: str, lasts: bool) -> Iterator[ui.Button[ui.View]]:
    yield _button(tell("turns.stop"), discord.ButtonStyle.secondary, Verb.TURN_STOP, run)
    if lasts:
        yield _button(tell("turns.continue"), discord.ButtonStyle.secondary, Verb.TURN_BACKGROUND, run)


def _button(label: str, style: discord.ButtonStyle, verb: Verb, run: str) -> ui.Button[ui.View]:
    custom_id = CustomId(verb=verb, id=run)
    return ui.Button(label=label, style=style, custom_id=str(custom_id), id=steady(custom_id))
