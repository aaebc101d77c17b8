"""`Run again`: an ended call is asked about once more, in a turn of its own that somebody pressed for."""

from __future__ import annotations

import logging

import discord
from discord.ext import commands

from bot.deferral.authority import Act
from bot.engine import Engine
from bot.errors import DecisionRefused
from bot.surface import Press, Reply, TurnContext
from bot.texts.text import say
from cogs import places
from cogs.chat import refusal_here
from cogs.interactions import above, place_of, roles_of
from cogs.replies import Spawn
from cogs.surface import DiscordSurface

logger = logging.getLogger(__name__)

_BROKEN = say("turns.not_asked_again")


async def run_again(
    interaction: discord.Interaction,
    press: Press,
    bot: commands.Bot,
    engine: Engine,
    surface: DiscordSurface,
    spawn: Spawn,
) -> None:
    """Begin the turn, its answer growing under the card. Raises `DecisionRefused`; nothing runs by this."""
    if refusal := refusal_here(bot, interaction):
        raise DecisionRefused("cannot_answer", refusal)
    await engine.decisions.permitted(press, Act.AGAIN)
    place, person = place_of(interaction), interaction.user
    ctx = TurnContext(
        conversation=places.conversation(place, person.id),
        place=str(place),
        within=above(interaction.channel),
        requester=str(person.id),
        roles=roles_of(person, interaction.guild_id),
        request=str(interaction.id),
        prompt="",
    )
    reply_to = int(press.message) if press.message is not None else None
    reply = surface.reply(place, f"reply/{interaction.id}", reply_to=reply_to, if_apart=True)
    spawn(_turn(engine, press, ctx, reply), name=f"again {interaction.id}")


async def _turn(engine: Engine, press: Press, ctx: TurnContext, reply: Reply) -> None:
    try:
        await engine.run_again(press, ctx, reply)
    except DecisionRefused as refusal:
        await reply.finish(refusal.sentence)  # between the first look and this one somebody else was faster
    except Exception:
        # The edge of a turn: the person must not be left with a typing indicator and no word.
        logger.exception("turn failed", extra={"action": "turn_failed", "request": ctx.request})
        await reply.finish(_BROKEN)
