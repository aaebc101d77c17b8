"""The message menu "Ask about this": a form for the question, and a turn that is shown the message as quoted data.

The message comes with the interaction, so it need not be readable for the bot. It is kept in the database while the
question is written, because a submitted form does not bring it again.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import discord
from discord import app_commands
from discord.ext import commands

from bot.clippings import Clippings
from bot.errors import DecisionRefused, DeliveryError
from bot.texts.text import say
from cogs import forms, inert, limits, modals, places, quoting
from cogs.begin import Beginner
from cogs.chat import quoted, refusal_here, show_request
from cogs.custom_ids import CustomId
from cogs.enclosures import Taken
from cogs.interactions import DISCORD_FAILED, acknowledge, open_form, place_of, whisper
from cogs.places import Place
from cogs.posting import Channel, Post
from cogs.speech import offered, tell
from storage.attachments import Attached
from storage.clippings import Clipping

logger = logging.getLogger(__name__)

MENU = say("commands.ask_about")
EMPTY = say("about.empty")
FOR_YOU_ALONE = say("about.for_you_alone")
LATE = say("about.late")
BLANK = say("about.blank")
_KEEP_SECONDS = 1.5
"""A form must be the first answer, within three seconds; so long may it take to keep the message."""
_NAME = 80


class AskAbout(commands.Cog):
    """Receives the menu and its form, and hands the question to the engine."""

    def __init__(self, bot: commands.Bot, beginner: Beginner, clippings: Clippings) -> None:
        self._bot = bot
        self._beginner = beginner
        self._clippings = clippings
        self._menu = app_commands.ContextMenu(
            name=offered("commands.ask_about"),
            callback=self.opened,
            allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
            allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
        )

    async def cog_load(self) -> None:
        """Offer the menu; discord.py takes none from a cog by itself. Called by discord.py."""
        self._bot.tree.add_command(self._menu)

    async def cog_unload(self) -> None:
        """Take it away again. Called by discord.py."""
        self._bot.tree.remove_command(self._menu.name, type=self._menu.type)

    async def opened(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """Keep the message, and open the form."""
        if message.flags.ephemeral and interaction.guild_id is not None:
            await whisper(interaction, FOR_YOU_ALONE)
            return
        files = quoting.files(message)
        body = quoting.words(message)
        if not body and not files:
            await whisper(interaction, EMPTY)
            return
        clipping = Clipping(
            id=str(interaction.id),
            person=str(interaction.user.id),
            place=str(place_of(interaction)),
            message=str(message.id),
            author=quoting.author(message),
            body=body,
            files=tuple(dict(file.to_dict()) for file in files),
            at=0,
        )
        try:
            async with asyncio.timeout(_KEEP_SECONDS):
                await self._clippings.keep(clipping)
        except TimeoutError:
            await whisper(interaction, LATE)
            return
        await open_form(interaction, modals.question(clipping.id, interaction.id))

    async def submitted(self, interaction: discord.Interaction, form: CustomId) -> None:
        """Begin the turn. Raises `DecisionRefused`, with what was typed."""
        question = modals.typed(interaction)
        if not question.strip():
            raise DecisionRefused("blank", BLANK)
        place = place_of(interaction)
        try:
            clipping = await self._clippings.of(form.id, person=str(interaction.user.id), place=str(place))
        except DecisionRefused as refusal:
            raise forms.given_back(refusal, question) from refusal
        link = places.link(place, clipping.message)
        if (lacking := refusal_here(self._bot, interaction)) is not None:
            await self._directly(interaction, clipping, question, lacking=lacking, link=link)
            return
        answered, shown = await show_request(interaction, _shown(question, link))
        if answered:
            taken = await self._taken(interaction, clipping)
            # The opening is the occurrence: a form that is sent twice, its first answer lost, asks once.
            await self._beginner.asked(
                interaction, request=int(clipping.id), prompt=question, shown=shown, taken=taken, about=link
            )

    async def _directly(
        self, interaction: discord.Interaction, clipping: Clipping, question: str, *, lacking: str, link: str
    ) -> None:
        """Where the bot may not write, the person is answered in their direct messages. Raises `DecisionRefused`."""
        await acknowledge(interaction, answer_follows=True)
        try:
            place = Place(guild=None, channel=(await interaction.user.create_dm()).id)
            post = Post(nonce=limits.nonce(f"about/{clipping.id}"), content=_shown(question, link))
            shown = await Channel(self._bot, place).create(post)
        except (DeliveryError, *DISCORD_FAILED) as error:
            logger.info("not asked directly", extra={"action": "about_nowhere", "problem": repr(error)})
            refusal = DecisionRefused("cannot_answer", say("about.nowhere", lacking=lacking))
            raise forms.given_back(refusal, question) from error
        self._beginner.begin(
            place,
            interaction.user,
            within="",
            request=int(clipping.id),
            prompt=question,
            reply_to=shown,
            if_apart=True,
            taken=await self._taken(interaction, clipping),
            about=link,
        )
        await whisper(interaction, tell("about.directly", link=places.link(place, shown)))

    async def _taken(self, interaction: discord.Interaction, clipping: Clipping) -> Taken:
        """The message and what hangs on it, as the model is shown it: marked as data, and by whom."""
        state = interaction._state
        files = [discord.Attachment(data=dict(file), state=state) for file in clipping.files]  # type: ignore[arg-type]
        taken = await self._beginner.take(files)
        names = [inert.label(file.filename, limit=_NAME) for file in files]
        lines = [clipping.body, *([f"[files on it: {', '.join(names)}]"] if names else [])]
        message = Attached(
            name=f"Discord message {clipping.message}, written by {clipping.author}",
            media_type="text/plain",
            body="\n\n".join(line for line in lines if line),
        )
        hanging = (replace(one, name=f"{one.name}, a file on that message") for one in taken.attached)
        return replace(taken, attached=(message, *hanging))


def _shown(question: str, link: str) -> str:
    return f"{quoted(question)}\n{tell('about.shown', link=link)}"
