"""Cards in a forum: each gets a post of its own, because a forum takes no messages by themselves.

Discord has no nonce for creating a post. So the post is told by its name, which ends in the card's id: whoever tries
again after a crash finds it.
"""

from __future__ import annotations

import discord

from bot.surface import CardView
from cogs import arguments, faults, inert, places
from cogs.limits import length
from cogs.places import Place
from cogs.posting import NOBODY
from cogs.speech import tell

_NAME = 100
"""Characters of a post's name (Discord API, "Start Thread in Forum or Media Channel")."""


async def open_post(client: discord.Client, view: CardView) -> str:
    """The card's place: its post if `view.card.place` is a forum, else that place. Raises `DeliveryError`."""
    place = places.parse(view.card.place)
    with faults.delivering():
        channel = client.get_channel(place.channel) or await client.fetch_channel(place.channel)
        if not isinstance(channel, discord.ForumChannel):
            return view.card.place
        post = await _found(channel, view.card.id) or await _create(channel, view)
    return str(Place(guild=place.guild, channel=post.id))


async def _found(forum: discord.ForumChannel, card: str) -> discord.Thread | None:
    return next((post for post in await forum.guild.active_threads() if _is_of(post, forum, card)), None)


def _is_of(post: discord.Thread, forum: discord.ForumChannel, card: str) -> bool:
    return post.parent_id == forum.id and post.name.endswith(card)


async def _create(forum: discord.ForumChannel, view: CardView) -> discord.Thread:
    call = view.approvals[0]
    head, more = arguments.plain_line(call.arguments)
    tool = inert.label(call.tool, limit=30)
    end = f" · {view.card.id}"
    created = await forum.create_thread(
        name=f"{tool} {inert.label(head, limit=_NAME - length(tool) - 1 - len(end), more=more)}{end}",
        content=tell("surface.forum_post", channel=places.parse(call.place).channel),
        allowed_mentions=NOBODY,
    )
    return created.thread
