"""`/fork`: go on in a new thread, with all that was said here. What is open here stays here."""

from __future__ import annotations

import logging

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from bot.errors import DeliveryError
from bot.forking import Forked
from cogs import arguments, inert, limits, permissions, places, threads
from cogs.interactions import acknowledge, actor_of, place_of, whisper
from cogs.places import Place
from cogs.posting import Channel, Post

logger = logging.getLogger(__name__)

_IN_DM = "There are no threads in direct messages. `/new` begins afresh here."
_NOT_HERE = "Here no thread can be opened, so nothing was forked. Use `/fork` in a text channel or in a thread of one."
_PRIVATE = (
    "This thread is private, and what was said here must not go into one that others can read. Nothing was forked."
)
_BROKEN = "Something went wrong inside me, so this thread begins empty. The log has the details."


class Fork(commands.Cog):
    """Receives `/fork` and hands it to the engine."""

    def __init__(self, bot: commands.Bot, engine: Engine) -> None:
        self._bot = bot
        self._engine = engine

    @app_commands.command(description="Go on in a new thread with all that was said here. What is open stays here.")
    @app_commands.describe(name="What to call the thread.")
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def fork(
        self, interaction: discord.Interaction, name: app_commands.Range[str, 1, limits.THREAD_NAME] = "Fork"
    ) -> None:
        """Open the thread, take the history along, and say in both places where it goes on."""
        await acknowledge(interaction, answer_follows=True)
        here = place_of(interaction)
        try:
            above = self._above(interaction, here)
            opened = await self._open(interaction, above, name)
        except DeliveryError as error:
            await whisper(interaction, str(error))
            return
        try:
            forked = await self._engine.forks.fork(
                places.conversation(here, interaction.user.id),
                places.conversation(opened, interaction.user.id),
                place=str(here),
                actor=actor_of(interaction),
            )
        except Exception:
            await self._say(opened, interaction.id, _BROKEN)
            raise
        await self._say(opened, interaction.id, told(forked, here))
        await whisper(interaction, f"It goes on in <#{opened.channel}>, and here as well.")

    def _above(self, interaction: discord.Interaction, here: Place) -> Place:
        """The channel that the new thread belongs to. Raises `DeliveryError` when there cannot be one."""
        channel = interaction.channel
        if isinstance(channel, discord.Thread):
            if channel.is_private():
                raise DeliveryError(_PRIVATE)
            channel = channel.parent
        if here.guild is None or not isinstance(channel, discord.TextChannel):
            raise DeliveryError(_IN_DM if here.guild is None else _NOT_HERE)
        held = channel.permissions_for(channel.guild.me)
        if lacking := [*permissions.missing(held, thread=False), *permissions.missing_for_thread(held)]:
            raise DeliveryError(f"I cannot open a thread in <#{channel.id}>: I lack {', '.join(lacking)}.")
        return Place(guild=here.guild, channel=channel.id)

    async def _open(self, interaction: discord.Interaction, above: Place, name: str) -> Place:
        here, asker = place_of(interaction), interaction.user.id
        post = Post(
            nonce=limits.nonce(f"fork/{interaction.id}"),
            content=f"<@{asker}> goes on from <#{here.channel}> in a thread of its own.",
        )
        message = await Channel(self._bot, above).create(post)
        return await threads.open_on(self._bot, above, message, asker, name=name)

    async def _say(self, place: Place, interaction: int, text: str) -> None:
        try:
            post = Post(nonce=limits.nonce(f"forked/{interaction}"), content=text)
            await Channel(self._bot, place).create(post)
        except DeliveryError as error:
            logger.warning("fork not announced", extra={"action": "fork_not_shown", "problem": str(error)})


def told(forked: Forked, original: Place) -> str:
    """What stands at the top of the new thread."""
    if forked.messages:
        lead = f"I know what was said in <#{original.channel}> until now; from here on the two go separate ways."
    else:
        lead = f"Nothing was said to me in <#{original.channel}> yet, so this begins empty."
    if forked.working:
        one = forked.working == 1
        lead += (
            f" {forked.working} {'request is' if one else 'requests are'} still being worked on there;"
            f" {'its answer comes' if one else 'their answers come'} there."
        )
    lines = [
        f"- stays there: {inert.line(call.tool, limit=40)} {arguments.first_line(call.arguments, limit=80)}"
        f" · `{call.id}`, asked by <@{call.requester}>"
        for call in forked.waiting
    ]
    return f"{lead}\n{limits.listed(lines)}" if lines else lead
