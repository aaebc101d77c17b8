"""`/ask`: a request that others see, and the turn that answers it, here or in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
from typing import Literal

import discord
from discord import app_commands
from discord.ext import commands

from bot.texts.text import say
from cogs import limits, permissions
from cogs.begin import Beginner
from cogs.interactions import DISCORD_FAILED, whisper
from cogs.pieces import split
from cogs.posting import NOBODY
from cogs.speech import offered

logger = logging.getLogger(__name__)

Notify = Literal["channel", "dm", "both"]

PROMPT = 6_000
"""Characters of a prompt: as many as Discord takes in an option."""
_QUOTE = 1_200
_ALREADY_ANSWERED = 40060
_OWN_RETRY_SECONDS = 1.0
_NOT_HERE = say("turns.not_a_member")


class Chat(commands.Cog):
    """Receives requests and hands them to the engine."""

    def __init__(self, bot: commands.Bot, beginner: Beginner) -> None:
        self._bot = bot
        self._beginner = beginner

    @app_commands.command(description=offered("commands.ask"))
    @app_commands.describe(
        prompt=offered("commands.ask_prompt"),
        notify=offered("commands.ask_notify"),
        file=offered("commands.ask_file"),
        thread=offered("commands.ask_thread"),
    )
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def ask(
        self,
        interaction: discord.Interaction,
        prompt: app_commands.Range[str, 1, PROMPT],
        notify: Notify | None = None,
        file: discord.Attachment | None = None,
        thread: bool | None = None,
    ) -> None:
        """Quote the request where everybody sees it, then work on it."""
        if refusal := refusal_here(self._bot, interaction):
            await whisper(interaction, refusal)
            return
        answered, shown = await show_request(interaction, quoted(prompt))
        if not answered:
            return
        taken = await self._beginner.take([file] if file is not None else [])
        await self._beginner.asked(
            interaction, request=interaction.id, prompt=prompt, shown=shown, notify=notify, thread=thread, taken=taken
        )


def refusal_here(bot: commands.Bot, interaction: discord.Interaction) -> str | None:
    """Why no turn may begin here, or None. Looks at nothing but the interaction and the cache.

    Answering a command needs no permission, everything afterwards does; a user-installed command even works where
    the bot is no member, and there nothing could follow.
    """
    if interaction.guild_id is None:
        return None
    if bot.get_guild(interaction.guild_id) is None:
        return _NOT_HERE
    lacking = permissions.missing(interaction.app_permissions, thread=isinstance(interaction.channel, discord.Thread))
    return permissions.sentence(lacking) if lacking else None


async def show_request(interaction: discord.Interaction, text: str) -> tuple[bool, int | None]:
    """Acknowledge by showing the request; whether it is ours to work on, and the message if it is known.

    A failed acknowledgement does not lose the request: the answer goes out under the bot's own token. Only when
    somebody else has acknowledged it (a second process), it is theirs. That we are told at once; later it is our own
    first try that got through, whose answer was lost (discord.py waits a second before it tries again).
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        shown = await interaction.response.send_message(text, allowed_mentions=NOBODY, suppress_embeds=True)
    except DISCORD_FAILED as error:
        logger.warning(
            "not acknowledged",
            extra={"action": "not_acknowledged", "interaction": interaction.id, "problem": repr(error)},
        )
        answered = isinstance(error, discord.HTTPException) and error.code == _ALREADY_ANSWERED
        return not answered or clock() - began >= _OWN_RETRY_SECONDS, None
    return True, shown.message_id


def quoted(text: str) -> str:
    """A person's own words as a quote, cut where it would fill the screen."""
    quote = "\n".join(f"> {line}" for line in text.splitlines() or [""])
    return quote if limits.length(quote) <= _QUOTE else f"{split(quote, _QUOTE)[0]}\n> …"
