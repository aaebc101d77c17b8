"""`/inbox`: results that could not be delivered.

What is read here counts as delivered, with the id of the private message that showed it.
"""

from __future__ import annotations

import io
import logging

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from bot.errors import DecisionRefused, DeliveryError
from bot.texts.recall import recall
from bot.texts.text import say, words_of
from cogs import inert, places
from cogs.interactions import DISCORD_FAILED, acknowledge, whisper
from cogs.limits import CONTENT, length
from cogs.posting import NOBODY
from cogs.speech import offered, shown, tell
from cogs.surface import DiscordSurface
from storage import outbox
from storage.outbox import Owed

logger = logging.getLogger(__name__)

EMPTY = say("inbox.empty")
_AT_ONCE = 5
_SHOWN = 1_200
"""Characters of a result that are shown in the message; all of a longer one is attached."""


class Inbox(commands.Cog):
    """Hands over what could not be delivered."""

    def __init__(self, engine: Engine, surface: DiscordSurface) -> None:
        self._engine = engine
        self._surface = surface

    @app_commands.command(description=offered("commands.inbox"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def inbox(self, interaction: discord.Interaction) -> None:
        """Show the oldest ones privately, each in a message of its own."""
        await acknowledge(interaction, answer_follows=True)
        person = str(interaction.user.id)
        found = await self._engine.inbox.of(person)
        seen = [owed for owed in found if await self._may_see(person, owed)]
        for owed in seen[:_AT_ONCE]:
            await self._hand_over(interaction, owed)
        rest: list[str] = [] if seen else [shown(EMPTY)]
        if len(seen) > _AT_ONCE:
            rest.append(tell("inbox.rest", n=len(seen) - _AT_ONCE))
        if len(found) > len(seen):
            rest.append(tell("inbox.unseen", count=len(found) - len(seen)))
        if rest:
            await whisper(interaction, "\n".join(rest))

    async def _may_see(self, person: str, owed: Owed) -> bool:
        """What cannot be made sure of is not shown; it stays in the inbox."""
        try:
            return await self._surface.hidden_from(person, owed.place) is None
        except DeliveryError as error:
            logger.warning("inbox entry kept back", extra={"action": "inbox_kept_back", "problem": str(error)})
            return False

    async def _hand_over(self, interaction: discord.Interaction, owed: Owed) -> None:
        text, files = compose(owed)
        try:
            message = await interaction.followup.send(
                text, ephemeral=True, allowed_mentions=NOBODY, files=files, suppress_embeds=True, wait=True
            )
        except DISCORD_FAILED as error:
            logger.warning("inbox entry not shown", extra={"action": "inbox_failed", "problem": repr(error)})
            return
        try:
            await self._engine.inbox.handed_over(owed, receipt=str(message.id))
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)


def compose(owed: Owed) -> tuple[str, list[discord.File]]:
    """One undelivered result as a private message: where it comes from, the text, why it came to rest here."""
    text = shown(words_of(owed.body))
    files = []
    beginning = text
    if length(text) > _SHOWN:
        beginning = tell("inbox.long", beginning=text[: _SHOWN // 2], n=len(text))
        files = [discord.File(io.BytesIO(text.encode("utf-8", "replace")), filename="result.md")]
    place = places.parse(owed.place)
    where = tell("inbox.from", link=places.link(place, None)) if place.channel else tell("inbox.from_me")
    why = [
        f"-# {_way(failure['way'])}: {inert.line(shown(recall(str(failure['error']))), limit=100)}"
        for failure in owed.failures[-6:]
    ]
    again = [f"-# {tell('surface.repeated')}"] if outbox.is_possible_repeat(owed) else []
    whole = "\n".join([f"-# {where}, <t:{owed.created_at // 1000}:R>", beginning, *again, *why])
    return (whole if length(whole) <= CONTENT else whole[: CONTENT // 2]), files


def _way(way: dict[str, str]) -> str:
    if "person" in way:
        return tell("inbox.as_dm")
    return f"In <#{places.parse(way['place']).channel}>"
