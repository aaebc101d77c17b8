"""How every turn begins that somebody on Discord asks for, whichever way they asked."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import discord

from bot.engine import Engine
from bot.surface import Reply, TurnContext
from bot.texts.text import say
from cogs import enclosures, places
from cogs.enclosures import NOTHING, Taken
from cogs.interactions import roles_of
from cogs.places import Place
from cogs.replies import Spawn
from cogs.surface import DiscordSurface

logger = logging.getLogger(__name__)

_BROKEN = say("turns.not_begun")


class Beginner:
    """Hands requests to the engine."""

    def __init__(self, engine: Engine, surface: DiscordSurface, spawn: Spawn) -> None:
        self._engine = engine
        self._surface = surface
        self._spawn = spawn

    def begin(
        self,
        place: Place,
        person: discord.User | discord.Member,
        *,
        within: str,
        request: int,
        prompt: str,
        notify: str = "channel",
        reply_to: int | None,
        if_apart: bool = False,
        taken: Taken = NOTHING,
    ) -> None:
        """Start a turn in the background; its answer grows in a message of its own."""
        ctx = TurnContext(
            conversation=places.conversation(place, person.id),
            place=str(place),
            within=within,
            roles=roles_of(person, place.guild),
            requester=str(person.id),
            request=str(request),
            prompt=prompt,
            notify=notify,
            attached=taken.attached,
            left_out=taken.left_out,
        )
        reply = self._surface.reply(place, f"reply/{request}", reply_to=reply_to, if_apart=if_apart)
        self._spawn(self._turn(ctx, reply), name=f"turn {request}")

    async def take(self, files: Sequence[discord.Attachment]) -> Taken:
        """Read what somebody attached, as far as the model takes it."""
        return await enclosures.take(files, takes_images=self._engine.takes_images)

    async def _turn(self, ctx: TurnContext, reply: Reply) -> None:
        try:
            await self._engine.take_turn(ctx, reply)
        except Exception:
            # The edge of a turn: the person must not be left with a typing indicator and no word.
            logger.exception("turn failed", extra={"action": "turn_failed", "request": ctx.request})
            await reply.finish(_BROKEN)
