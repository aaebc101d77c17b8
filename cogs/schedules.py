"""`/schedule`: background jobs that start by themselves at set times."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any, Literal

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from bot.errors import DecisionRefused, DeliveryError
from bot.jobs.schedules import Entry
from bot.surface import TurnContext
from bot.texts.text import say
from cogs import inert, places, schedule_drafts, schedule_words
from cogs.chat import PROMPT, Notify, refusal_here
from cogs.choices import zone_choices
from cogs.interactions import above, acknowledge, actor_of, place_of, roles_of, whisper
from cogs.limits import listed
from cogs.speech import offered, tell
from cogs.visibility import visible
from storage import schedules

logger = logging.getLogger(__name__)

NONE = say("schedules.none")
UNSURE = say("schedules.not_looked")
_CHOICES = 25
"""Suggestions that Discord takes while somebody types."""

ScheduleId = app_commands.Range[str, 1, 40]


@app_commands.allowed_installs(guilds=True, users=False)
@app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
class Schedules(commands.GroupCog, group_name="schedule", group_description=offered("commands.schedule")):
    """Receives commands about schedules and hands them on."""

    def __init__(self, bot: commands.Bot, engine: Engine) -> None:
        super().__init__()
        self._bot = bot
        self._schedules, self._reader = engine.schedules, engine.database.reader
        self._desk = engine.desk

    @app_commands.command(description=offered("commands.schedule_add"))
    @app_commands.describe(
        goal=offered("commands.schedule_goal"),
        when=offered("commands.schedule_when"),
        timezone=offered("commands.schedule_zone"),
        missed=offered("commands.schedule_missed"),
        notify=offered("commands.schedule_notify"),
    )
    async def add(
        self,
        interaction: discord.Interaction,
        goal: app_commands.Range[str, 1, PROMPT],
        when: app_commands.Range[str, 1, 100],
        timezone: app_commands.Range[str, 1, 60] | None = None,
        missed: Literal["once", "skip"] = "once",
        notify: Notify | None = None,
    ) -> None:
        """Show privately what it would be, with the buttons that save it."""
        if refusal := refusal_here(self._bot, interaction):
            await whisper(interaction, refusal)
            return
        await acknowledge(interaction, answer_follows=True)
        place, person = place_of(interaction), str(interaction.user.id)
        ctx = TurnContext(
            conversation=places.conversation(place, interaction.user.id),
            place=str(place),
            within=above(interaction.channel),
            roles=roles_of(interaction.user, place.guild),
            requester=person,
            request=str(interaction.id),
            prompt=goal,
            notify=notify or await self._desk.notify_of(person, str(place)),
        )
        try:
            draft = await self._schedules.draft(ctx, when, zone=timezone, missed=missed)
        except DecisionRefused as not_made:
            await whisper(interaction, not_made.sentence)
            return
        await whisper(interaction, schedule_words.draft(draft), view=schedule_drafts.buttons(draft.schedule.id))

    @app_commands.command(name="list", description=offered("commands.schedule_list"))
    async def list_all(self, interaction: discord.Interaction) -> None:
        """List privately, oldest first."""
        await acknowledge(interaction, answer_follows=True)
        entries = [schedule_words.entry(one) for one in await self._seen(interaction)]
        await whisper(interaction, listed(entries) if entries else NONE)

    @app_commands.command(description=offered("commands.schedule_pause"))
    @app_commands.describe(id=offered("commands.schedule_id"))
    async def pause(self, interaction: discord.Interaction, id: ScheduleId) -> None:
        """Pause."""

        async def pause() -> str:
            one = await self._schedules.pause(id.strip(), actor_of(interaction))
            return tell("schedules.paused", schedule=schedule_words.named(one))

        await self._answer(interaction, id, pause)

    @app_commands.command(description=offered("commands.schedule_resume"))
    @app_commands.describe(id=offered("commands.schedule_id"))
    async def resume(self, interaction: discord.Interaction, id: ScheduleId) -> None:
        """Resume."""

        async def resume() -> str:
            one = await self._schedules.resume(id.strip(), actor_of(interaction))
            return tell("schedules.goes_on", schedule=schedule_words.named(one), at=(one.next_at or 0) // 1000)

        await self._answer(interaction, id, resume)

    @app_commands.command(name="run-now", description=offered("commands.schedule_run"))
    @app_commands.describe(id=offered("commands.schedule_id"))
    async def run_now(self, interaction: discord.Interaction, id: ScheduleId) -> None:
        """Start one."""

        async def start() -> str:
            run = await self._schedules.run_now(id.strip(), actor_of(interaction))
            return tell("schedules.run_now", id=run.id, place=places.link(places.parse(run.place), None))

        await self._answer(interaction, id, start)

    @app_commands.command(description=offered("commands.schedule_remove"))
    @app_commands.describe(id=offered("commands.schedule_id"))
    async def remove(self, interaction: discord.Interaction, id: ScheduleId) -> None:
        """Remove."""

        async def remove() -> str:
            one = await self._schedules.remove(id.strip(), actor_of(interaction))
            return tell("schedules.removed", schedule=schedule_words.named(one))

        await self._answer(interaction, id, remove)

    @pause.autocomplete("id")
    @resume.autocomplete("id")
    @run_now.autocomplete("id")
    @remove.autocomplete("id")
    async def suggest(self, interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        """Schedules whose id, words or goal contain what was typed so far."""
        seen = [one.schedule for one in await self._seen(interaction)]
        texts = {one.id: f"{one.id} {one.spoken}: {one.goal}" for one in seen}
        found = [id for id, text in texts.items() if current.casefold() in text.casefold()]
        return [app_commands.Choice(name=inert.label(texts[id], limit=100), value=id) for id in found[-_CHOICES:]]

    @add.autocomplete("timezone")
    async def suggest_zone(self, interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        """Time zones whose name contains what was typed so far."""
        return zone_choices(current)

    async def _seen(self, interaction: discord.Interaction) -> list[Entry]:
        place = place_of(interaction)
        found = await self._schedules.listed(str(place) if place.guild is None else place.space)
        return [one for one in found if visible(interaction, one.schedule.place, requester=one.schedule.person)]

    async def _answer(
        self, interaction: discord.Interaction, id: str, work: Callable[[], Coroutine[Any, Any, str]]
    ) -> None:
        """Do something about a schedule and say privately what came of it."""
        await acknowledge(interaction, answer_follows=True)
        one = await schedules.get(self._reader, id.strip())
        if one is None or not visible(interaction, one.place, requester=one.person):
            await whisper(interaction, tell("schedules.no_schedule", id=id.strip()))
            return
        try:
            text = await work()
        except DecisionRefused as refusal:
            text = refusal.sentence
        except DeliveryError as error:
            logger.warning("not looked up", extra={"action": "schedule_unsure", "problem": str(error)})
            text = UNSURE
        await whisper(interaction, text)
