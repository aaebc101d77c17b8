"""What a person may see in a list: only what lies in a channel that they could open themselves."""

from __future__ import annotations

import discord

from bot.errors import Unreachable
from cogs import places
from cogs.interactions import place_of


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
