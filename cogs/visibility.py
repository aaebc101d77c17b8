"""What a person may see in a list: only what lies in a channel that they could open themselves."""

from __future__ import annotations

import discord

from bot.errors import DeliveryError, Unreachable
from bot.texts.text import joined, say
from cogs import permissions, places
from cogs.interactions import place_of
from cogs.places import Place

_UNKNOWN_CHANNEL, _UNKNOWN_MEMBER, _MISSING_ACCESS = 10003, 10007, 50001


async def hidden_from(client: discord.Client, person: int, place: Place) -> str | None:
    """Why somebody may not see what was said in `place` (any more), or None. Raises what discord.py raises,
    and `DeliveryError` before it is known which servers there are.

    Asked of Discord at this moment: people leave, and lose rights. Of a channel that is gone only the guild is left.
    """
    if place.guild is None:
        return None
    guild = client.get_guild(place.guild)
    if guild is None and not client.is_ready():
        raise DeliveryError(say("faults.not_connected"))
    if guild is None:
        return say("faults.not_in_server")
    try:
        member = await guild.fetch_member(person)
    except discord.NotFound as error:
        if error.code == _UNKNOWN_MEMBER:
            return say("faults.they_left")
        raise
    channel = guild.get_channel_or_thread(place.channel)
    if channel is None:
        try:
            channel = await guild.fetch_channel(place.channel)
        except discord.HTTPException as error:
            if error.code == _UNKNOWN_CHANNEL:
                return None
            if error.code == _MISSING_ACCESS:
                return say("faults.neither")
            raise
    if isinstance(channel, discord.Thread) and (channel.parent is None or channel.is_private()):
        try:
            await channel.fetch_member(person)
        except discord.NotFound:
            return say("faults.not_in_thread")
        return None
    return None if channel.permissions_for(member).view_channel else say("faults.they_cannot_see")


async def closed(client: discord.Client, place: Place) -> str | None:
    """Why I cannot write in `place` (any more), or None. Raises what discord.py raises,
    and `DeliveryError` before it is known which servers there are.

    Whether somebody takes direct messages shows only when one is sent.
    """
    if place.guild is None:
        return None
    guild = client.get_guild(place.guild)
    if guild is None and not client.is_ready():
        raise DeliveryError(say("faults.not_connected"))
    if guild is None:
        return say("faults.not_in_server")
    channel = guild.get_channel_or_thread(place.channel)
    if channel is None:
        try:
            channel = await guild.fetch_channel(place.channel)
        except discord.HTTPException as error:
            if error.code == _UNKNOWN_CHANNEL:
                return say("faults.no_channel")
            if error.code == _MISSING_ACCESS:
                return say("faults.cannot_see_now")
            raise
    if isinstance(channel, discord.Thread) and channel.parent is None:
        return None
    held = channel.permissions_for(guild.me)
    if isinstance(channel, discord.Thread) and channel.locked and not held.manage_threads:
        return say("faults.locked")
    lacking = permissions.missing(held, thread=isinstance(channel, discord.Thread))
    return say("faults.lacks_there", lacking=joined(lacking)) if lacking else None


def visible(interaction: discord.Interaction, place: str, *, requester: str) -> bool:
    """Whether the person who asks may learn of something in `place`. What is not known is not shown."""
    try:
        where = places.parse(place)
    except Unreachable:
        return False
    here = place_of(interaction)
    if where == here or (requester == str(interaction.user.id) and where.guild == here.guild):
        return True
    if where.guild is None or where.guild != here.guild or not isinstance(interaction.user, discord.Member):
        return False
    guild = interaction.guild
    channel = guild.get_channel_or_thread(where.channel) if guild is not None else None
    if channel is None or (isinstance(channel, discord.Thread) and channel.parent is None):
        return False
    held = channel.permissions_for(interaction.user)
    if isinstance(channel, discord.Thread) and channel.is_private():
        return held.manage_threads
    return held.view_channel
