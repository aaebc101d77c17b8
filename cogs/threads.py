"""Threads that the bot opens: for one request, or for a conversation that goes on beside another."""

from __future__ import annotations

import logging

import discord

from bot.errors import DeliveryError
from cogs import inert, limits, permissions
from cogs.interactions import place_of, whisper
from cogs.places import Place
from cogs.posting import Channel, Post

logger = logging.getLogger(__name__)

_NO_THREADS = "There are no threads in direct messages"
_ALREADY_IN_ONE = "This is a thread already"


def possible(interaction: discord.Interaction) -> bool:
    """Whether a thread can be opened where this happened, as far as the interaction tells."""
    return _obstacle(interaction) is None


async def for_request(
    client: discord.Client, interaction: discord.Interaction, shown: int | None, *, name: str
) -> Place | None:
    """Open a thread on the message that shows a request, and let its person in.

    None if that cannot be: the person is told why, and the answer comes where they asked.
    """
    if (obstacle := _obstacle(interaction)) is not None:
        await whisper(interaction, f"{obstacle}, so I answer here.")
        return None
    place = place_of(interaction)
    channel = Channel(client, place)
    try:
        if shown is None:  # the acknowledgement was lost, and with it the message
            nonce = limits.nonce(f"thread/{interaction.id}")
            shown = await channel.create(Post(nonce=nonce, content=f"<@{interaction.user.id}> asked."))
        return await open_on(client, place, shown, interaction.user.id, name=name)
    except DeliveryError as error:
        await whisper(interaction, f"I could not open a thread, so I answer here. {error}")
        return None


async def open_on(client: discord.Client, place: Place, message: int, person: int, *, name: str) -> Place:
    """Open a public thread on a message of a channel. Raises `DeliveryError`, `Unreachable`."""
    title = inert.label(name, limit=limits.THREAD_NAME)
    thread = Place(guild=place.guild, channel=await Channel(client, place).open_thread(message, title))
    await let_in(client, thread, person)
    return thread


async def let_in(client: discord.Client, thread: Place, person: int) -> None:
    """Put somebody on a thread's list, so that it is in front of them. Best effort: they can open it all the same."""
    try:
        await Channel(client, thread).let_in(person)
    except DeliveryError as error:
        logger.info("nobody put on the thread's list", extra={"action": "let_in_failed", "problem": str(error)})


def _obstacle(interaction: discord.Interaction) -> str | None:
    if interaction.guild_id is None:
        return _NO_THREADS
    if isinstance(interaction.channel, discord.Thread):
        return _ALREADY_IN_ONE
    if not isinstance(interaction.channel, discord.TextChannel):
        return "A channel of this kind has no threads"
    lacking = permissions.missing_for_thread(interaction.app_permissions)
    return f"I cannot open a thread here, because I lack {' and '.join(lacking)}" if lacking else None
