"""What every command, button and form needs: who acts, where, an acknowledgement in time, a private word back."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import aiohttp
import discord

from bot.surface import Actor
from cogs.limits import CONTENT, length
from cogs.pieces import split
from cogs.places import Place
from cogs.posting import NOBODY
from cogs.speech import shown, tell

logger = logging.getLogger(__name__)

ACKNOWLEDGE_SECONDS = 2.5
"""Discord gives three seconds; after that the token is dead, and waiting on only delays what was asked."""

DISCORD_FAILED = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)
"""Everything that a request to Discord may raise."""


def place_of(interaction: discord.Interaction) -> Place:
    """Where it happened."""
    if interaction.channel_id is None:
        raise ValueError("an interaction without a channel")
    return Place(guild=interaction.guild_id, channel=interaction.channel_id)


def above(channel: object) -> str:
    """The channel that a thread belongs to, or ''."""
    return str(channel.parent_id) if isinstance(channel, discord.Thread) else ""


def roles_of(user: discord.User | discord.Member, guild: int | None) -> frozenset[str]:
    """The roles a person holds in this guild, as the event's own payload says; in direct messages there are none.

    The guild's default role, which everybody holds, is nobody's authority.
    """
    if guild is None or not isinstance(user, discord.Member):
        return frozenset()
    return frozenset(str(role.id) for role in user.roles if role.id != guild)


def actor_of(interaction: discord.Interaction) -> Actor:
    """Who acts. Ids only, roles from this interaction's own payload; in direct messages there are none.

    In direct messages Discord puts the person elsewhere in the payload; discord.py reads both places.
    """
    user = interaction.user
    guild = None if interaction.guild_id is None else str(interaction.guild_id)
    return Actor(
        id=str(user.id),
        guild=guild,
        roles=roles_of(user, interaction.guild_id),
        manages=guild is not None and (interaction.permissions.administrator or interaction.permissions.manage_guild),
    )


async def acknowledge(interaction: discord.Interaction, *, answer_follows: bool = False) -> bool:
    """Tell Discord in time that this was received; whether that worked. What was asked is done either way.

    `answer_follows`: a private answer will replace a "thinking" line. Otherwise nothing is shown.
    """
    try:
        async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
            await interaction.response.defer(ephemeral=answer_follows, thinking=answer_follows)
    except DISCORD_FAILED as error:
        logger.warning(
            "not acknowledged",
            extra={"action": "not_acknowledged", "interaction": interaction.id, "problem": repr(error)},
        )
        return False
    return True


async def whisper(
    interaction: discord.Interaction,
    text: str,
    *,
    files: list[discord.File] | None = None,
    view: discord.ui.View | None = None,
) -> None:
    """Answer privately, whatever was answered before. If even that fails it is logged; there is no other way left."""
    text = shown(text)
    if length(text) > CONTENT:
        text = split(text, CONTENT - 2)[0] + "\n…"
    rest: dict[str, Any] = {} if view is None else {"view": view}
    try:
        async with asyncio.timeout(ACKNOWLEDGE_SECONDS * 2):
            if interaction.response.is_done():
                await interaction.followup.send(
                    text, ephemeral=True, allowed_mentions=NOBODY, files=files or [], **rest
                )
            else:
                await interaction.response.send_message(
                    text, ephemeral=True, allowed_mentions=NOBODY, files=files or [], **rest
                )
    except DISCORD_FAILED as error:
        logger.warning(
            "private answer lost",
            extra={"action": "whisper_failed", "interaction": interaction.id, "problem": repr(error)},
        )


async def show_private(interaction: discord.Interaction, view: discord.ui.LayoutView) -> None:
    """Put a view where the acknowledged answer is to be, or in the place of the private message that was pressed.

    An acknowledgement cannot carry the mark of such a message, so it becomes one by an edit.
    """
    try:
        async with asyncio.timeout(ACKNOWLEDGE_SECONDS * 2):
            await interaction.edit_original_response(view=view, allowed_mentions=NOBODY)
    except DISCORD_FAILED as error:
        logger.warning(
            "private list lost",
            extra={"action": "show_failed", "interaction": interaction.id, "problem": repr(error)},
        )


async def open_form(interaction: discord.Interaction, form: discord.ui.Modal) -> None:
    """Show a form. It must be the first answer."""
    try:
        await interaction.response.send_modal(form)
    except DISCORD_FAILED as error:
        logger.warning("form not shown", extra={"action": "form_failed", "problem": repr(error)})
        await whisper(interaction, tell("forms.not_shown"))
