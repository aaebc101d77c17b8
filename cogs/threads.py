"""Threads that the bot opens: for one request, or for a conversation that goes on beside another."""

from __future__ import annotations

import logging

import discord

from bot.errors import DeliveryError
from bot.texts.text import listing, say
from cogs import inert, limits, permissions
from cogs.interactions import place_of, whisper
from cogs.places import Place
from cogs.posting import Channel, Post
from cogs.speech import in_public, tell

logger = logging.getLogger(__name__)

_NO_THREADS = say("talks.no_threads_at_all")
_ALREADY_IN_ONE = say("talks.already_thread")


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
        await whisper(interaction, tell("talks.answer_here", why=obstacle))
        return None
    place = place_of(interaction)
    channel = Channel(client, place)
    try:
        if shown is None:  # the acknowledgement was lost, and with it the message
            nonce = limits.nonce(f"thread/{interaction.id}")
            with in_public(client, place.guild):
                content = tell("talks.asked", person=interaction.user.id)
            shown = await channel.create(Post(nonce=nonce, content=content))
        return await open_on(client, place, shown, interaction.user.id, name=name)
    except DeliveryError as error:
        await whisper(interaction, tell("talks.not_opened", problem=error.problem))
        return None


async def open_on(client: discord.Client, place: Place, message: int, person: int, *, name: str) -> Place:
    """Open a public thread on a message of a channel. Raises `DeliveryError`, `Unreachable`."""
    title = inert.label(name, limit=limits.THREAD_NAME)
    thread = Place(guild=place.guild, channel=await Channel(client, place).open_thread(message, title))
    await let_in(client, thread, person)
    return thread


async def open_private(client: discord.Client, place: Place, person: int, *, name: str) -> Place:
    """Open a private thread in a channel, with this person in it. Raises `DeliveryError`, `Unreachable`."""
    title = inert.label(name, limit=limits.THREAD_NAME)
    thread = Place(guild=place.guild, channel=await Channel(client, place).open_private_thread(title))
    await Channel(client, thread).let_in(person)  # without that they could not even see it
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
        return tell("talks.no_threads_of_kind")
    lacking = permissions.missing_for_thread(interaction.app_permissions)
    return tell("talks.thread_lacks", lacking=listing(lacking)) if lacking else None
