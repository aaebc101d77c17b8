"""Messages that were written while the bot was away: Discord does not send them again, so they are looked up.

Only where somebody has asked before, only within bounds (`bot/missed.py`), and each once: a message that has begun a
turn has its id on that turn.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import discord
from discord.ext import commands

from bot.errors import Unreachable
from bot.missed import MOST_MESSAGES, Missed
from cogs import places
from cogs.interactions import DISCORD_FAILED
from cogs.mentions import Mentions
from cogs.replies import Spawn
from storage.heard import Heard

logger = logging.getLogger(__name__)


class Catching(commands.Cog):
    """Takes up what was missed, after each fresh connection."""

    def __init__(self, bot: commands.Bot, missed: Missed, mentions: Mentions, spawn: Spawn) -> None:
        self._bot = bot
        self._missed = missed
        self._mentions = mentions
        self._spawn = spawn

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """A connection stands that is no resumption of the one before. Called by discord.py."""
        self._spawn(self._catch_up(), name="take up what was missed")

    async def _catch_up(self) -> None:
        for place in await self._missed.places():
            try:
                taken = await self._look(place)
            except (*DISCORD_FAILED, Unreachable) as error:
                # One place that cannot be read (any more) must not keep the others from being read.
                logger.info("history not read", extra={"action": "missed_unread", "problem": repr(error)})
                continue
            if taken:
                logger.info("took up what was missed", extra={"action": "missed_taken", "count": taken})

    async def _look(self, heard: Heard) -> int:
        place = places.parse(heard.place)
        channel = self._bot.get_channel(place.channel) or await self._bot.fetch_channel(place.channel)
        if not isinstance(channel, discord.abc.Messageable):
            return 0
        since = discord.utils.time_snowflake(datetime.fromtimestamp(self._missed.oldest() / 1000, UTC))
        after = discord.Object(max(heard.newest, since))
        found = [one async for one in channel.history(limit=MOST_MESSAGES, after=after, oldest_first=True)]
        taken = 0
        for message in found:
            taken += await self._mentions.take_late(message)
        return taken
