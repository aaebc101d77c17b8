"""What the bot needs where it works, by the names that people see in Discord's settings.

Answering a slash command needs no permission in the channel; everything that follows does. So a turn looks before
it begins.
"""

from __future__ import annotations

import discord

from bot.texts.text import joined, say

_NAMES = {
    "view_channel": say("permissions.view_channel"),
    "send_messages": say("permissions.send_messages"),
    "send_messages_in_threads": say("permissions.send_in_threads"),
    "embed_links": say("permissions.embed_links"),
    "attach_files": say("permissions.attach_files"),
}


def missing(held: discord.Permissions, *, thread: bool) -> list[str]:
    """The names of what is needed and not held, in a channel or in a thread."""
    instead = "send_messages" if thread else "send_messages_in_threads"
    return [name for flag, name in _NAMES.items() if flag != instead and not getattr(held, flag)]


def missing_in(client: discord.Client, guild_id: int | None, channel_id: int) -> list[str]:
    """The same, as far as the client's cache knows the channel; empty if it does not."""
    guild = client.get_guild(guild_id) if guild_id is not None else None
    channel = guild.get_channel_or_thread(channel_id) if guild is not None else None
    if guild is None or channel is None:
        return []
    return missing(channel.permissions_for(guild.me), thread=isinstance(channel, discord.Thread))


def sentence(names: list[str]) -> str:
    """What a person is told of permissions that are lacking."""
    return say("permissions.cannot_work", lacking=joined(names))


def missing_for_thread(held: discord.Permissions, *, private: bool = False) -> list[str]:
    """The names of what is needed to open a thread in a channel and write in it, and not held."""
    opening = {
        "create_public_threads": say("permissions.create_threads"),
        "create_private_threads": say("permissions.create_private_threads"),
    }
    needed = {
        **{flag: name for flag, name in opening.items() if (flag == "create_private_threads") is private},
        "send_messages_in_threads": say("permissions.send_in_threads"),
    }
    return [name for flag, name in needed.items() if not getattr(held, flag)]
