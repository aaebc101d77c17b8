"""How a turn begins: `/ask`, a mention, an answer to the bot, a direct message."""

from __future__ import annotations

import logging
import re
from typing import Literal

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from bot.errors import DeliveryError
from bot.surface import Reply, TurnContext
from cogs import limits, permissions, places
from cogs.help import HELP
from cogs.interactions import DISCORD_FAILED, above, place_of, roles_of, whisper
from cogs.pieces import split
from cogs.places import Place
from cogs.posting import NOBODY, Post
from cogs.replies import Spawn
from cogs.surface import DiscordSurface

logger = logging.getLogger(__name__)

Notify = Literal["channel", "dm", "both"]

PROMPT = 6_000
"""Characters of a prompt: as many as Discord takes in an option."""
_QUOTE = 1_200
_ALREADY_ANSWERED = 40060
_NOT_HERE = "I am not a member of this server, so I could not answer here later. Ask somebody to add me to it."
_BROKEN = "Something went wrong inside me before I could begin. The log has the details."


class Chat(commands.Cog):
    """Receives requests and hands them to the engine."""

    def __init__(self, bot: commands.Bot, engine: Engine, surface: DiscordSurface, spawn: Spawn) -> None:
        self._bot = bot
        self._engine = engine
        self._surface = surface
        self._spawn = spawn

    @app_commands.command(description="Ask for something. What it does for you waits for a sign-off.")
    @app_commands.describe(
        prompt="What you want, in your own words.",
        notify="Where a late answer goes: this channel, a direct message, or both; else as set with /notify.",
    )
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def ask(
        self,
        interaction: discord.Interaction,
        prompt: app_commands.Range[str, 1, PROMPT],
        notify: Notify | None = None,
    ) -> None:
        """Quote the request where everybody sees it, then work on it."""
        if refusal := refusal_here(self._bot, interaction):
            await whisper(interaction, refusal)
            return
        answered, shown = await show_request(interaction, quoted(prompt))
        if not answered:
            return
        place = place_of(interaction)
        held = interaction.guild_id is None or interaction.app_permissions.read_message_history
        self.begin(
            place,
            interaction.user,
            channel=interaction.channel,
            request=interaction.id,
            prompt=prompt,
            notify=notify or await self._engine.desk.notify_of(str(interaction.user.id), str(place)),
            reply_to=shown if held else None,
            if_apart=True,
        )

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Take a message that is meant for the bot. Called by discord.py for every message it may see."""
        if message.author.bot or message.webhook_id is not None or message.is_system():
            return
        if not self._is_meant(message):
            return
        place = Place(guild=message.guild.id if message.guild is not None else None, channel=message.channel.id)
        prompt = self._without_mention(message.content)
        lacking = permissions.missing_in(self._bot, place.guild, place.channel)
        if lacking or not prompt:
            await self._say(place, message.id, _lacking(lacking) if lacking else HELP)
            return
        self.begin(
            place,
            message.author,
            channel=message.channel,
            request=message.id,
            prompt=prompt,
            reply_to=message.id,
        )

    def begin(
        self,
        place: Place,
        person: discord.User | discord.Member,
        *,
        channel: object,
        request: int,
        prompt: str,
        notify: str = "channel",
        reply_to: int | None,
        if_apart: bool = False,
    ) -> None:
        """Start a turn in the background; its answer grows in a message of its own."""
        ctx = TurnContext(
            conversation=places.conversation(place, person.id),
            place=str(place),
            within=above(channel),
            roles=roles_of(person, place.guild),
            requester=str(person.id),
            request=str(request),
            prompt=prompt,
            notify=notify,
        )
        reply = self._surface.reply(place, f"reply/{request}", reply_to=reply_to, if_apart=if_apart)
        self._spawn(self._turn(ctx, reply), name=f"turn {request}")

    async def _turn(self, ctx: TurnContext, reply: Reply) -> None:
        try:
            await self._engine.take_turn(ctx, reply)
        except Exception:
            # The edge of a turn: the person must not be left with a typing indicator and no word.
            logger.exception("turn failed", extra={"action": "turn_failed", "request": ctx.request})
            await reply.finish(_BROKEN)

    def _is_meant(self, message: discord.Message) -> bool:
        me = self._bot.user
        if me is None:
            return False
        if message.guild is None or me in message.mentions:
            return True
        # An answer to one of our messages. Without a mention Discord hides its text from us, and then it is not
        # meant for us either: the person switched the mention off.
        answered = message.reference.resolved if message.reference is not None else None
        return isinstance(answered, discord.Message) and answered.author == me and bool(message.content)

    def _without_mention(self, content: str) -> str:
        me = self._bot.user
        return content if me is None else re.sub(rf"[ \t]*<@!?{me.id}>[ \t,:]*", " ", content).strip()

    async def _say(self, place: Place, to: int, text: str) -> None:
        nonce = limits.nonce(f"reply/{to}")
        try:
            await self._surface.channel(place).create(Post(nonce=nonce, content=text, reply_to=to))
        except DeliveryError as error:
            logger.warning("could not answer", extra={"action": "answer_failed", "problem": str(error)})


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
    return _lacking(lacking) if lacking else None


async def show_request(interaction: discord.Interaction, text: str) -> tuple[bool, int | None]:
    """Acknowledge by showing the request; whether it is ours to work on, and the message if it is known.

    A failed acknowledgement does not lose the request: the answer goes out under the bot's own token. Only when
    somebody else has acknowledged it (a second process), it is theirs.
    """
    try:
        shown = await interaction.response.send_message(text, allowed_mentions=NOBODY, suppress_embeds=True)
    except DISCORD_FAILED as error:
        logger.warning(
            "not acknowledged",
            extra={"action": "not_acknowledged", "interaction": interaction.id, "problem": repr(error)},
        )
        return not (isinstance(error, discord.HTTPException) and error.code == _ALREADY_ANSWERED), None
    return True, shown.message_id


def quoted(text: str) -> str:
    """A person's own words as a quote, cut where it would fill the screen."""
    quote = "\n".join(f"> {line}" for line in text.splitlines() or [""])
    return quote if limits.length(quote) <= _QUOTE else f"{split(quote, _QUOTE)[0]}\n> …"


def _lacking(names: list[str]) -> str:
    return (
        f"I cannot work here: I lack {', '.join(names)}. Somebody who manages this server can give me that in the"
        " channel's settings, under Permissions."
    )
