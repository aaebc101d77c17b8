"""`/new`: begin the conversation of this place afresh. What it ends is named, where everybody sees it."""

from __future__ import annotations

import logging

import discord
from discord import app_commands
from discord.ext import commands

from bot.anew import Begun
from bot.engine import Engine
from bot.errors import DecisionRefused, DeliveryError
from bot.texts.text import say
from cogs import arguments, inert, limits, places
from cogs.interactions import acknowledge, actor_of, place_of, whisper
from cogs.posting import Post
from cogs.speech import in_public, offered, shown, tell
from cogs.surface import DiscordSurface
from storage.approvals import Approval

logger = logging.getLogger(__name__)

BEGUN = say("talks.new")
NOTHING_OPEN = say("talks.nothing_open")


class New(commands.Cog):
    """Receives `/new` and hands it to the engine."""

    def __init__(self, engine: Engine, surface: DiscordSurface) -> None:
        self._engine = engine
        self._surface = surface

    @app_commands.command(description=offered("commands.new"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def new(self, interaction: discord.Interaction) -> None:
        """Begin afresh, and say so to everybody here."""
        await acknowledge(interaction, answer_follows=True)
        place = place_of(interaction)
        conversation = places.conversation(place, interaction.user.id)
        try:
            begun = await self._engine.anew.begin(conversation, place=str(place), actor=actor_of(interaction))
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)
            return
        await whisper(interaction, told(begun))
        if interaction.guild_id is not None:
            with in_public(interaction.client, interaction.guild_id):
                content = f"<@{interaction.user.id}>: {told(begun)}"
            post = Post(nonce=limits.nonce(f"new/{interaction.id}"), content=content)
            try:
                await self._surface.channel(place).create(post)
            except DeliveryError as error:
                logger.warning("beginning not shown", extra={"action": "new_not_shown", "problem": str(error)})


def told(begun: Begun) -> str:
    """What a new beginning ended, by name."""
    lines = [tell("talks.cancelled", call=_named(call)) for call in begun.cancelled]
    lines += [tell("talks.still_running", call=_named(call)) for call in begun.running]
    if not lines:
        ended = tell("talks.ended", n=begun.requests)
        return f"{shown(BEGUN)} {ended if begun.requests else shown(NOTHING_OPEN)}"
    return f"{shown(BEGUN)}\n{limits.listed(lines)}"


def _named(call: Approval) -> str:
    what = f"{inert.line(call.tool, limit=40)} {arguments.first_line(call.arguments, limit=80)}"
    return tell("talks.call", call=what, id=call.id, requester=call.requester)
