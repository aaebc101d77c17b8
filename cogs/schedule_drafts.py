"""A schedule before it is saved: what it would do, and two buttons. Presses come here through `Presses`."""

from __future__ import annotations

import logging

import discord
from discord import ui

from bot.jobs.schedules import Schedules
from bot.surface import Actor
from bot.texts.text import say
from cogs import schedule_words
from cogs.custom_ids import CustomId, Verb
from cogs.interactions import DISCORD_FAILED, whisper
from cogs.posting import NOBODY
from cogs.speech import tell

logger = logging.getLogger(__name__)

DISCARDED = say("schedules.discarded")


def buttons(id: str) -> ui.View:
    """`Save` and `Discard`. Needs a running loop."""
    view = ui.View(timeout=None)
    for label, style, verb in (
        (tell("schedules.save"), discord.ButtonStyle.success, Verb.SCHEDULE_SAVE),
        (tell("schedules.discard"), discord.ButtonStyle.secondary, Verb.SCHEDULE_DROP),
    ):
        view.add_item(ui.Button(label=label, style=style, custom_id=str(CustomId(verb=verb, id=id))))
    view.stop()  # a finished view is sent but not stored: presses come to `Presses`, like all presses
    return view


async def handle(interaction: discord.Interaction, pressed: CustomId, actor: Actor, schedules: Schedules) -> None:
    """Save or discard, and put what came of it in the draft's place. Raises `DecisionRefused`."""
    if pressed.verb is Verb.SCHEDULE_SAVE:
        text = schedule_words.saved(await schedules.save(pressed.id, actor))
    else:
        await schedules.discard(pressed.id, actor)
        text = DISCARDED
    try:
        await interaction.edit_original_response(content=text, view=None, allowed_mentions=NOBODY)
    except DISCORD_FAILED as error:
        logger.info("draft not replaced", extra={"action": "draft_not_replaced", "problem": repr(error)})
        await whisper(interaction, text)
