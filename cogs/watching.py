"""What happens to the places where cards stand: messages are deleted, channels go, threads are closed.

Nothing but the events themselves is looked at: the cache holds no messages.
"""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import Any

import discord
from discord.ext import commands

from bot.engine import Engine
from cogs.interactions import DISCORD_FAILED
from cogs.places import Place
from cogs.replies import Spawn

logger = logging.getLogger(__name__)


class Watching(commands.Cog):
    """Tells the engine what became of the places."""

    def __init__(self, bot: commands.Bot, engine: Engine, spawn: Spawn) -> None:
        self._bot = bot
        self._engine = engine
        self._showing = engine.showing
        self._spawn = spawn

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """A connection stands that is no resumption of the one before: events may have been missed. Called by
        discord.py."""
        self._spawn(self._look_again(), name="look at cards again")

    async def _look_again(self) -> None:
        await self._showing.look_again()
        await self._engine.sweep()

    @commands.Cog.listener()
    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        """A message was deleted. Called by discord.py."""
        self._deleted(Place(guild=event.guild_id, channel=event.channel_id), event.message_id)

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        """Several messages were deleted at once. Called by discord.py."""
        for message in event.message_ids:
            self._deleted(Place(guild=event.guild_id, channel=event.channel_id), message)

    @commands.Cog.listener()
    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """A channel was deleted. Called by discord.py."""
        place = Place(guild=channel.guild.id, channel=channel.id)
        self._begin(self._showing.place_gone(str(place)), f"channel {channel.id} gone")

    @commands.Cog.listener()
    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        """A thread was deleted. Called by discord.py."""
        place = Place(guild=event.guild_id, channel=event.thread_id)
        self._begin(self._showing.place_gone(str(place), above=_above(event)), f"thread {event.thread_id} gone")

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """The bot was put out of a server, or that was deleted. Called by discord.py."""
        self._begin(self._showing.space_gone(f"discord/{guild.id}/"), f"server {guild.id} gone")

    @commands.Cog.listener()
    async def on_raw_thread_update(self, event: discord.RawThreadUpdateEvent) -> None:
        """A thread was locked or archived, or something of no concern happened to it. Called by discord.py."""
        place = str(Place(guild=event.guild_id, channel=event.thread_id))
        state = event.data["thread_metadata"]
        if state.get("locked"):
            # Not even an administrator can press a button there (discord/discord-api-docs#7900).
            name = f"thread {event.thread_id} locked"
            self._begin(self._showing.place_locked(place, above=_above(event)), name)
        elif state["archived"] and await self._showing.waits_in(place):
            # Some clients do not let people press in an archived thread (discord/discord-api-docs#8474).
            await self._open(event.thread_id)

    async def _open(self, thread: int) -> None:
        try:
            await self._bot.http.edit_channel(thread, archived=False)
        except DISCORD_FAILED as error:
            logger.info("thread stays archived", extra={"action": "thread_archived", "problem": repr(error)})

    def _deleted(self, place: Place, message: int) -> None:
        self._begin(self._showing.lost(str(place), str(message)), f"message {message} deleted")

    def _begin(self, work: Coroutine[Any, Any, bool], name: str) -> None:
        self._spawn(self._see_to(work), name=name)

    async def _see_to(self, work: Coroutine[Any, Any, bool]) -> None:
        if await work:
            await self._engine.sweep()  # a call that has no place left has ended, and its run goes on


def _above(event: discord.RawThreadUpdateEvent | discord.RawThreadDeleteEvent) -> str | None:
    """The thread's channel; a private thread has none: its channel is read by others."""
    if event.thread_type is discord.ChannelType.private_thread:
        return None
    return str(Place(guild=event.guild_id, channel=event.parent_id))
