"""`/doctor`: looks at everything that has to be right for a request to be asked, decided and told. Privately."""

from __future__ import annotations

from collections.abc import AsyncIterator

import discord
from discord import app_commands
from discord.ext import commands

from bot.doctor import Finding, Level
from bot.engine import Engine
from bot.errors import NotAllowed
from bot.texts.text import say
from bot.upkeep import Upkeep
from cogs import doctor_checks
from cogs.doctor_checks import MOST_CHANNELS
from cogs.interactions import above, acknowledge, actor_of, place_of, whisper
from cogs.limits import LIST
from cogs.pieces import split
from cogs.places import Place, parse
from cogs.speech import offered, tell
from cogs.surface import DiscordSurface
from cogs.visibility import visible
from storage import audit, reach

NOT_FOR_YOU = say("doctor.not_for_you")
_MOST_MESSAGES = 4


class Doctor(commands.Cog):
    """Examines a server."""

    def __init__(self, bot: commands.Bot, engine: Engine, surface: DiscordSurface, upkeep: Upkeep) -> None:
        self._bot = bot
        self._engine = engine
        self._surface = surface
        self._upkeep = upkeep

    @app_commands.command(description=offered("commands.doctor"))
    @app_commands.describe(channel=offered("commands.doctor_channel"))
    @app_commands.guild_only()
    @app_commands.allowed_installs(guilds=True, users=False)
    async def doctor(
        self, interaction: discord.Interaction, channel: discord.TextChannel | discord.Thread | None = None
    ) -> None:
        """Tell it privately, problems first. Raises `DecisionRefused`."""
        await acknowledge(interaction, answer_follows=True)
        await self._admit(interaction)
        found = [one async for one in self._findings(interaction, channel.id if channel is not None else None)]
        await self._record(interaction, found)
        bad = sum(one.level is not Level.OK for one in found)
        head = tell("doctor.need_a_look", bad=bad, all=len(found)) if bad else tell("doctor.all_fine", all=len(found))
        for piece in split("\n".join([head, *doctor_checks.lines(found)]), LIST)[:_MOST_MESSAGES]:
            await whisper(interaction, piece)

    async def _admit(self, interaction: discord.Interaction) -> None:
        actor, place = actor_of(interaction), place_of(interaction)
        authority = self._engine.authority
        if (
            actor.id in authority.owners
            or interaction.permissions.manage_guild
            or authority.is_approver(actor, str(place), within=above(interaction.channel))
        ):
            return
        refusal = NotAllowed("not_for_everybody", NOT_FOR_YOU)
        await self._engine.decisions.refused(None, actor, refusal)
        raise refusal

    async def _findings(self, interaction: discord.Interaction, asked: int | None) -> AsyncIterator[Finding]:
        guild, place = interaction.guild, place_of(interaction)
        if guild is None or place.guild is None:
            return
        hidden = 0
        for id in await self._channels(place, asked):
            if id == place.channel or visible(interaction, f"discord/{guild.id}/{id}", requester=""):
                yield doctor_checks.channel(guild, id)
            else:
                hidden += 1
        if hidden:
            text = tell("doctor.hidden", n=hidden)
            yield Finding(id="channels", level=Level.OK, text=text)
        looked = Place(guild=place.guild, channel=asked) if asked is not None else place
        within = above(guild.get_channel_or_thread(looked.channel))
        people = doctor_checks.approvers(
            self._engine, self._surface, guild, looked, within=within, tools=self._upkeep.toolbook.names()
        )
        async for finding in people:
            yield finding
        async for finding in doctor_checks.application(self._bot, {one.name for one in self._bot.tree.get_commands()}):
            yield finding
        owns = str(interaction.user.id) in self._engine.authority.owners
        async for finding in self._upkeep.examine():
            yield finding if owns else doctor_checks.masked(finding)

    async def _channels(self, here: Place, asked: int | None) -> list[int]:
        """The one that was asked for; else this one and where something was asked lately, a few at most."""
        if asked is not None:
            return [asked]
        served = await reach.places(self._engine.database.reader, f"discord/{here.guild}/", limit=MOST_CHANNELS)
        return list(dict.fromkeys([here.channel, *(parse(place).channel for place in served)]))[:MOST_CHANNELS]

    async def _record(self, interaction: discord.Interaction, found: list[Finding]) -> None:
        detail = {"place": str(place_of(interaction)), "bad": [one.id for one in found if one.level is not Level.OK]}
        async with self._engine.database.begin("doctor") as tx:
            await audit.record(
                tx, at=self._upkeep.clock.now(), actor=str(interaction.user.id), event="examined", detail=detail
            )
