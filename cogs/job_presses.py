"""Presses on a job's card. Routed here by `Presses`, which acknowledges nothing and answers what is refused."""

from __future__ import annotations

import io

import discord

from bot.jobs.desk import JobDesk
from bot.surface import CardPress
from cogs import modals, offers
from cogs.custom_ids import Verb
from cogs.interactions import acknowledge, whisper
from cogs.speech import tell

VERBS = frozenset({Verb.JOB_STOP, Verb.JOB_EXTEND, Verb.JOB_LOG, Verb.JOB_FILES, Verb.FORM_JOB_NOTE})
"""All but the one that opens a form."""


async def handle(interaction: discord.Interaction, verb: Verb, press: CardPress, desk: JobDesk) -> None:
    """Do what was pressed and say privately what came of it. Raises `DecisionRefused`."""
    await acknowledge(interaction, answer_follows=True)
    match verb:
        case Verb.JOB_STOP:
            await whisper(interaction, await desk.stop(press))
        case Verb.JOB_EXTEND:
            await whisper(interaction, await desk.extend(press))
        case Verb.FORM_JOB_NOTE:
            await whisper(interaction, await desk.note(press, modals.typed(interaction)))
        case Verb.JOB_FILES:
            found = await desk.files(press)
            await whisper(interaction, offers.named(found, fetched=True), files=offers.files(found))
        case _:
            text = await desk.log(press)
            file = discord.File(io.BytesIO(text.encode("utf-8", "replace")), filename=f"job-{press.card}.md")
            await whisper(interaction, tell("jobs.log_file", id=press.card), files=[file])
