"""What people say to the bot: a mention, an answer to it, a direct message, anything in a thread of its own."""

from __future__ import annotations

import logging
import re

import discord
from discord.ext import commands

from bot.errors import DeliveryError
from cogs import limits, permissions
from cogs.begin import Beginner
from cogs.help import HELP
from cogs.interactions import above
from cogs.places import Place
from cogs.posting import Post
from cogs.speech import shown, speaking
from cogs.surface import DiscordSurface

logger = logging.getLogger(__name__)

WORDLESS = "(The person sent this without words.)"
"""The prompt of a message that is nothing but what is attached."""


class Mentions(commands.Cog):
    """Receives messages and hands those that are meant for the bot to the engine."""

    def __init__(self, bot: commands.Bot, surface: DiscordSurface, beginner: Beginner) -> None:
        self._bot = bot
        self._surface = surface
        self._beginner = beginner

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Take a message that is meant for the bot. Called by discord.py for every message it may see."""
        if not is_meant(self._bot.user, message):
            return
        place, prompt = _place_of(message), self._prompt(message)
        lacking = permissions.missing_in(self._bot, place.guild, place.channel)
        if lacking or not prompt:
            await self._say(place, message, permissions.sentence(lacking) if lacking else HELP)
            return
        await self._begin(place, message, message.author, prompt)

    async def take_late(self, message: discord.Message) -> bool:
        """Take a message that was written while the bot was away, as if it came now; whether it was meant for it.

        What could not be worked on is left alone: help, or what is lacking, would come when nobody looks any more.
        Raises what Discord raises when it does not say who wrote it.
        """
        if not is_meant(self._bot.user, message):
            return False
        place, prompt = _place_of(message), self._prompt(message)
        if not prompt or permissions.missing_in(self._bot, place.guild, place.channel):
            return False
        person = message.author
        if message.guild is not None and not isinstance(person, discord.Member):
            person = await message.guild.fetch_member(person.id)  # a history does not tell the roles
        await self._begin(place, message, person, prompt)
        return True

    async def _begin(
        self, place: Place, message: discord.Message, person: discord.User | discord.Member, prompt: str
    ) -> None:
        self._beginner.begin(
            place,
            person,
            within=above(message.channel),
            request=message.id,
            prompt=prompt,
            taken=await self._beginner.take(message.attachments),
            reply_to=message.id,
        )

    def _prompt(self, message: discord.Message) -> str:
        return self._without_mention(message.content) or (WORDLESS if message.attachments else "")

    def _without_mention(self, content: str) -> str:
        me = self._bot.user
        return content if me is None else re.sub(rf"[ \t]*<@!?{me.id}>[ \t,:]*", " ", content).strip()

    async def _say(self, place: Place, to: discord.Message, text: str) -> None:
        nonce = limits.nonce(f"reply/{to.id}")
        with speaking(await self._surface.language(place, str(to.author.id))):
            content = shown(text)
        try:
            await self._surface.channel(place).create(Post(nonce=nonce, content=content, reply_to=to.id))
        except DeliveryError as error:
            logger.warning("could not answer", extra={"action": "answer_failed", "problem": str(error)})


def _place_of(message: discord.Message) -> Place:
    return Place(guild=message.guild.id if message.guild is not None else None, channel=message.channel.id)


def is_meant(me: discord.ClientUser | None, message: discord.Message) -> bool:
    """Whether a person said this to the bot."""
    if me is None or message.author.bot or message.webhook_id is not None or message.is_system():
        return False
    if message.guild is None or me in message.mentions:
        return True
    # Without a mention Discord may hide the text from us (message content intent), and then it is not meant for us
    # either: nothing can be made of it, or the person switched the mention off.
    if not message.content and not message.attachments:
        return False
    answered = message.reference.resolved if message.reference is not None else None
    if isinstance(answered, discord.Message):
        return answered.author == me
    # In a thread that the bot opened it is who people talk to, unless they turn to somebody else by name.
    is_ours = isinstance(message.channel, discord.Thread) and message.channel.owner_id == me.id
    return is_ours and not message.mentions and not message.role_mentions
