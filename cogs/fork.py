"""`/fork`: go on in a new thread, with all that was said here. What is open here stays here."""

from __future__ import annotations

import logging

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from bot.errors import DeliveryError
from bot.forking import Forked
from bot.texts.text import joined, say
from cogs import arguments, inert, limits, permissions, places, threads
from cogs.interactions import acknowledge, actor_of, place_of, whisper
from cogs.places import Place
from cogs.posting import Channel, Post
from cogs.speech import in_public, offered, shown, tell

logger = logging.getLogger(__name__)

_IN_DM = say("talks.no_threads_in_dm")
_NOT_HERE = say("talks.no_thread_here")
_BROKEN = say("talks.fork_broken")


class Fork(commands.Cog):
    """Receives `/fork` and hands it to the engine."""

    def __init__(self, bot: commands.Bot, engine: Engine) -> None:
        self._bot = bot
        self._engine = engine

    @app_commands.command(description=offered("commands.fork"))
    @app_commands.describe(name=offered("commands.fork_name"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def fork(
        self, interaction: discord.Interaction, name: app_commands.Range[str, 1, limits.THREAD_NAME] = "Fork"
    ) -> None:
        """Open the thread, take the history along, and say in both places where it goes on."""
        await acknowledge(interaction, answer_follows=True)
        here, channel = place_of(interaction), interaction.channel
        private = isinstance(channel, discord.Thread) and channel.is_private()
        try:
            above = self._above(interaction, here, private=private)
            opened = await (self._open_privately if private else self._open)(interaction, above, name)
        except DeliveryError as error:
            await whisper(interaction, error.problem)
            return
        try:
            forked = await self._engine.forks.fork(
                places.conversation(here, interaction.user.id),
                places.conversation(opened, interaction.user.id),
                place=str(here),
                actor=actor_of(interaction),
            )
        except Exception:
            with in_public(self._bot, opened.guild):
                text = shown(_BROKEN)
            await self._say(opened, interaction.id, text)
            raise
        with in_public(self._bot, opened.guild):
            text = told(forked, here)
        await self._say(opened, interaction.id, text)
        if private:
            await whisper(interaction, tell("talks.forked_privately", channel=opened.channel))
        else:
            await whisper(interaction, tell("talks.forked", channel=opened.channel))

    def _above(self, interaction: discord.Interaction, here: Place, *, private: bool) -> Place:
        """The channel that the new thread belongs to. Raises `DeliveryError` when there cannot be one."""
        channel = interaction.channel
        if isinstance(channel, discord.Thread):
            channel = channel.parent
        if here.guild is None or not isinstance(channel, discord.TextChannel):
            raise DeliveryError(_IN_DM if here.guild is None else _NOT_HERE)
        held = channel.permissions_for(channel.guild.me)
        if lacking := [
            *permissions.missing(held, thread=False),
            *permissions.missing_for_thread(held, private=private),
        ]:
            raise DeliveryError(say("talks.fork_lacks", channel=channel.id, lacking=joined(lacking)))
        return Place(guild=here.guild, channel=channel.id)

    async def _open(self, interaction: discord.Interaction, above: Place, name: str) -> Place:
        here, asker = place_of(interaction), interaction.user.id
        with in_public(self._bot, above.guild):
            content = tell("talks.forks", person=asker, channel=here.channel)
        post = Post(nonce=limits.nonce(f"fork/{interaction.id}"), content=content)
        message = await Channel(self._bot, above).create(post)
        return await threads.open_on(self._bot, above, message, asker, name=name)

    async def _open_privately(self, interaction: discord.Interaction, above: Place, name: str) -> Place:
        """What was said in a private thread is for those who were in it: it goes on in a private one, with one of them.

        Who else was there Discord tells only bots with the members intent. The channel above is told nothing.
        """
        return await threads.open_private(self._bot, above, interaction.user.id, name=name)

    async def _say(self, place: Place, interaction: int, text: str) -> None:
        try:
            post = Post(nonce=limits.nonce(f"forked/{interaction}"), content=text)
            await Channel(self._bot, place).create(post)
        except DeliveryError as error:
            logger.warning("fork not announced", extra={"action": "fork_not_shown", "problem": str(error)})


def told(forked: Forked, original: Place) -> str:
    """What stands at the top of the new thread."""
    if forked.messages:
        lead = tell("talks.knows", channel=original.channel)
    else:
        lead = tell("talks.empty", channel=original.channel)
    if forked.working:
        lead += tell("talks.worked_on", n=forked.working)
    lines = [
        tell(
            "talks.stays",
            tool=inert.line(call.tool, limit=40),
            arguments=arguments.first_line(call.arguments, limit=80),
            id=call.id,
            requester=call.requester,
        )
        for call in forked.waiting
    ]
    return f"{lead}\n{limits.listed(lines)}" if lines else lead
