"""Files that people attach, read from Discord within the limits of `bot.attachments`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import discord

from bot import attachments
from bot.attachments import LeftOut, Offer
from bot.texts.text import say
from cogs import inert
from cogs.interactions import DISCORD_FAILED
from storage.attachments import Attached

logger = logging.getLogger(__name__)

_READ_SECONDS = 20.0
_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What goes to the model, and what people are told of the rest."""

    attached: tuple[Attached, ...] = ()
    left_out: str = ""


NOTHING = Taken()


async def take(files: Sequence[discord.Attachment], *, takes_images: bool) -> Taken:
    """Read what may go to the model. What cannot be read is left out, by name."""
    if not files:
        return NOTHING
    offers = [
        Offer(name=inert.label(file.filename, limit=_NAME), size=file.size, media_type=file.content_type or "")
        for file in files
    ]
    chosen, left = attachments.choose(offers, takes_images=takes_images)
    read = await asyncio.gather(*(_read(files[n], offers[n], takes_images=takes_images) for n in chosen))
    left += [one for one in read if isinstance(one, LeftOut)]
    named = [replace(one, name=inert.line(one.name, limit=_NAME)) for one in left]
    return Taken(attached=tuple(one for one in read if isinstance(one, Attached)), left_out=attachments.sentence(named))


async def _read(file: discord.Attachment, offer: Offer, *, takes_images: bool) -> Attached | LeftOut:
    try:
        async with asyncio.timeout(_READ_SECONDS):
            data = await file.read()
    except DISCORD_FAILED as error:
        logger.warning("attachment not read", extra={"action": "attachment_failed", "problem": repr(error)})
        return LeftOut(name=offer.name, why=say("attachments.not_given"))
    return attachments.read(offer, data, takes_images=takes_images)
