"""How every turn begins that somebody on Discord asks for, whichever way they asked."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import discord

from bot.engine import Engine
from bot.files.uploads import Uploads
from bot.surface import Reply, TurnContext
from bot.texts.text import say
from cogs import enclosures, places, threads
from cogs.downloads import Download
from cogs.enclosures import NOTHING, Taken
from cogs.interactions import above, place_of, roles_of
from cogs.places import Place
from cogs.replies import Spawn
from cogs.surface import DiscordSurface

logger = logging.getLogger(__name__)

_BROKEN = say("turns.not_begun")


class Beginner:
    """Hands requests to the engine."""

    def __init__(
        self,
        engine: Engine,
        surface: DiscordSurface,
        spawn: Spawn,
        *,
        uploads: Uploads,
        download: Download,
        in_thread: bool = False,
    ) -> None:
        """`in_thread`: open a thread for each request of a channel, unless the person wants it otherwise."""
        self._uploads = uploads
        self._download = download
        self._in_thread = in_thread
        self._engine = engine
        self._surface = surface
        self._spawn = spawn

    async def asked(
        self,
        interaction: discord.Interaction,
        *,
        request: int,
        prompt: str,
        shown: int | None,
        notify: str | None = None,
        thread: bool | None = None,
        taken: Taken = NOTHING,
        about: str = "",
    ) -> None:
        """Start a turn for what somebody asked by a command or a form, here or in a thread of its own.

        `shown` is the message that shows the request, if it is known. Without `notify` the answer goes where the person
        wishes it to. `about`: see `TurnContext`.
        """
        place, within = place_of(interaction), above(interaction.channel)
        if thread or (thread is None and self._in_thread and threads.possible(interaction)):
            name = prompt.splitlines()[0]
            if (opened := await threads.for_request(interaction.client, interaction, shown, name=name)) is not None:
                place, within, shown = opened, str(place.channel), None
        held = interaction.guild_id is None or interaction.app_permissions.read_message_history
        self.begin(
            place,
            interaction.user,
            within=within,
            request=request,
            prompt=prompt,
            notify=notify or await self._engine.desk.notify_of(str(interaction.user.id), str(place)),
            reply_to=shown if held else None,
            if_apart=True,
            taken=taken,
            about=about,
        )

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
        about: str = "",
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
            about=about,
        )
        reply = self._surface.reply(place, f"reply/{request}", reply_to=reply_to, if_apart=if_apart)
        self._spawn(self._turn(ctx, reply), name=f"turn {request}")

    async def take(self, files: Sequence[discord.Attachment]) -> Taken:
        """Read what somebody attached, as far as the model takes it, and put it into the workspace."""
        return await enclosures.take(
            files, takes_images=self._engine.takes_images, uploads=self._uploads, download=self._download
        )

    async def _turn(self, ctx: TurnContext, reply: Reply) -> None:
        try:
            await self._engine.take_turn(ctx, reply)
        except Exception:
            # The edge of a turn: the person must not be left with a typing indicator and no word.
            logger.exception("turn failed", extra={"action": "turn_failed", "request": ctx.request})
            await reply.finish(_BROKEN)
