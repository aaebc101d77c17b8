"""`/job`: work in the background, with a conversation of its own. It announces its own ending."""

from __future__ import annotations

import logging

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from bot.errors import DecisionRefused
from bot.jobs.words import state_word
from bot.surface import TurnContext
from bot.texts.text import say
from cogs import command_list, inert, places
from cogs.chat import PROMPT, Notify, quoted, refusal_here, show_request
from cogs.interactions import DISCORD_FAILED, above, acknowledge, actor_of, place_of, roles_of, whisper
from cogs.limits import listed
from cogs.posting import NOBODY
from cogs.speech import in_public, offered, shown, tell
from cogs.visibility import visible
from storage import runs
from storage.runs import Run

logger = logging.getLogger(__name__)

NO_JOBS = say("jobs.none_open")
NO_SUCH_JOB = say("jobs.no_such")
_CHOICES = 25
"""Suggestions that Discord takes while somebody types."""

JobId = app_commands.Range[str, 1, 40]


@app_commands.allowed_installs(guilds=True, users=False)
@app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
class Jobs(commands.GroupCog, group_name="job", group_description=offered("commands.job")):
    """Receives commands about background jobs and hands them to the engine."""

    def __init__(self, bot: commands.Bot, engine: Engine) -> None:
        super().__init__()
        self._bot = bot
        self._engine = engine

    @app_commands.command(description=offered("commands.job_start"))
    @app_commands.describe(
        goal=offered("commands.job_goal"),
        notify=offered("commands.job_notify"),
        budget=offered("commands.job_minutes"),
    )
    async def start(
        self,
        interaction: discord.Interaction,
        goal: app_commands.Range[str, 1, PROMPT],
        notify: Notify | None = None,
        budget: app_commands.Range[int, 1, 60] | None = None,
    ) -> None:
        """Show the goal, start the job, and name it."""
        if refusal := refusal_here(self._bot, interaction):
            await whisper(interaction, refusal)
            return
        answered, shown = await show_request(interaction, quoted(goal))
        if not answered:
            return
        place = place_of(interaction)
        ctx = TurnContext(
            conversation=places.conversation(place, interaction.user.id),
            place=str(place),
            within=above(interaction.channel),
            roles=roles_of(interaction.user, place.guild),
            requester=str(interaction.user.id),
            request=str(interaction.id),
            prompt=goal,
            notify=notify or await self._engine.desk.notify_of(str(interaction.user.id), str(place)),
            budget_ms=None if budget is None else budget * 60_000,
        )
        try:
            run = await self._engine.start_job(ctx)
        except DecisionRefused as refused:
            await whisper(interaction, refused.sentence)
            return
        if shown is not None:
            with in_public(interaction.client, interaction.guild_id):
                text = tell("jobs.begun", goal=quoted(goal), id=run.id)
            await _name(interaction, text)

    @app_commands.command(name="list", description=offered("commands.job_list"))
    async def list_open(self, interaction: discord.Interaction) -> None:
        """List privately, oldest first."""
        await acknowledge(interaction, answer_follows=True)
        entries = [
            tell(
                "jobs.line",
                id=run.id,
                state=state_word(run),
                goal=inert.line(run.prompt, limit=100),
                person=run.requester,
                at=run.created_at // 1000,
            )
            for run in await self._seen(interaction)
        ]
        commands = await command_list.seen(interaction, self._engine.commands)
        text = listed([*(entries or [shown(NO_JOBS)]), *command_list.lines(commands)])
        await whisper(interaction, text, view=command_list.buttons(commands))

    @app_commands.command(description=offered("commands.job_show"))
    @app_commands.describe(id=offered("commands.job_id"))
    async def show(self, interaction: discord.Interaction, id: JobId) -> None:
        """Show privately."""
        await acknowledge(interaction, answer_follows=True)
        run = next((run for run in await self._seen(interaction, every=True) if run.id == id.strip()), None)
        if run is None:
            await whisper(interaction, NO_SUCH_JOB)
            return
        lines = [
            tell("jobs.head", id=run.id, state=state_word(run)),
            tell("jobs.started", person=run.requester, at=run.created_at // 1000),
            quoted(run.prompt[:600]),
        ]
        if run.ended_at is not None:
            lines[1] += tell("jobs.and_ended", at=run.ended_at // 1000)
        if run.result:
            lines.append(inert.block(run.result) if len(run.result) < 500 else _ends(run.result))
        await whisper(interaction, "\n".join(lines))

    @app_commands.command(description=offered("commands.job_cancel"))
    @app_commands.describe(id=offered("commands.job_id"))
    async def cancel(self, interaction: discord.Interaction, id: JobId) -> None:
        """Cancel as the job's owner or as an approver."""
        await acknowledge(interaction, answer_follows=True)
        id = id.strip()
        job = await runs.get(self._engine.database.reader, id)
        if job is None or not visible(interaction, job.place, requester=job.requester):
            # In the same words as of one that there is not: whose id it is, is nobody's business elsewhere.
            await whisper(interaction, tell("desk.no_job", id=id))
            return
        try:
            run = await self._engine.cancel_job(id, actor_of(interaction))
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)
            return
        await whisper(interaction, tell("jobs.cancelled", id=run.id))

    @show.autocomplete("id")
    @cancel.autocomplete("id")
    async def suggest(self, interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        """Open jobs whose id or goal contains what was typed so far."""
        found = [
            run for run in await self._seen(interaction) if current.casefold() in f"{run.id} {run.prompt}".casefold()
        ]
        return [
            app_commands.Choice(name=inert.label(f"{run.id} {run.prompt}", limit=100), value=run.id)
            for run in found[-_CHOICES:]
        ]

    async def _seen(self, interaction: discord.Interaction, *, every: bool = False) -> list[Run]:
        jobs = await self._engine.jobs(every=every)
        return [run for run in jobs if visible(interaction, run.place, requester=run.requester)]


def _ends(text: str) -> str:
    cut = inert.excerpt(text, head=300, tail=300, lines=12)
    if cut is None:
        return inert.block(text)
    return tell("arguments.cut", head=inert.fence(cut.head), n=cut.hidden, tail=inert.fence(cut.tail))


async def _name(interaction: discord.Interaction, text: str) -> None:
    try:
        await interaction.edit_original_response(content=text, allowed_mentions=NOBODY)
    except DISCORD_FAILED as error:
        logger.info("job not named", extra={"action": "job_not_named", "problem": repr(error)})
