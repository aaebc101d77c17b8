"""Any message of Discord's in plain words, for the model: text, embeds, components, what it forwards, its poll.

Read from the message as the interaction brought it. Nothing is looked up, so it works where the bot may not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import discord

from cogs import inert

_NAME = 60


def words(message: discord.Message) -> str:
    """Everything that can be read in a message; '' if that is nothing."""
    parts = [*_said(message), *_polled(message.poll)]
    for forwarded in message.message_snapshots:
        parts += [f"[forwarded]\n{part}" for part in _said(forwarded)]
    return "\n\n".join(part for part in parts if part.strip())


def files(message: discord.Message) -> list[discord.Attachment]:
    """What hangs on it, and on what it forwards."""
    return [*message.attachments, *(file for one in message.message_snapshots for file in one.attachments)]


def author(message: discord.Message) -> str:
    """Who wrote it, with their id where it is somebody's: a name alone is whatever its owner likes."""
    name = inert.label(message.author.display_name, limit=_NAME)
    if message.webhook_id is not None and message.interaction_metadata is None:
        return f"{name!r}, a webhook"
    return f"{name!r}, {'a bot' if message.author.bot else 'a person'} with the id {message.author.id}"


def _said(message: discord.Message | discord.MessageSnapshot) -> Iterator[str]:
    yield message.content
    for embed in message.embeds:
        yield "\n".join(_embedded(embed))
    yield "\n".join(_components(message.components))
    yield from (f"[sticker {inert.label(sticker.name, limit=_NAME)}]" for sticker in message.stickers)


def _embedded(embed: discord.Embed) -> Iterator[str]:
    fields = [line for field in embed.fields for line in (field.name, field.value)]
    every = [embed.author.name, embed.title, embed.url, embed.description, *fields, embed.footer.text]
    yield from (line for line in every if line)


def _components(components: Iterable[Any]) -> Iterator[str]:
    for component in components:
        if isinstance(component, discord.TextDisplay):
            yield component.content
        yield from _components(getattr(component, "children", ()))


def _polled(poll: discord.Poll | None) -> Iterator[str]:
    if poll is not None:
        yield "\n".join([poll.question, *(f"- {answer.text}" for answer in poll.answers)])
