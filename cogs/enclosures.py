"""Files that people attach, read from Discord once: for the model, within the limits of `bot.attachments`, and into the
workspace, within those of `bot.files.uploads`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

import discord

from bot import attachments
from bot.attachments import LeftOut, Offer
from bot.files.uploads import MOST_AT_ONCE, Landing, NotTaken, Uploads
from bot.texts.text import joined, key, say
from cogs import inert
from cogs.downloads import Download
from cogs.interactions import DISCORD_FAILED
from storage.attachments import Attached

logger = logging.getLogger(__name__)

_READ_SECONDS = 60.0
_NAME = 80
_PATH = 160


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What goes to the model, and what people are told of the rest."""

    attached: tuple[Attached, ...] = ()
    left_out: str = ""


NOTHING = Taken()


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What became of one file: shown to the model or why not, put into the workspace or why not."""

    shown: Attached | LeftOut
    landed: Attached | LeftOut | None
    """None where nothing lands at all."""


async def take(
    files: Sequence[discord.Attachment], *, takes_images: bool, uploads: Uploads, download: Download
) -> Taken:
    """Read what may go to the model, and put everything into the workspace. What cannot be done is told, by name."""
    if not files:
        return NOTHING
    offers = [
        Offer(name=inert.label(file.filename, limit=_NAME), size=file.size, media_type=file.content_type or "")
        for file in files
    ]
    chosen, left = attachments.choose(offers, takes_images=takes_images)
    reader = _Reader(takes_images=takes_images, uploads=uploads, download=download)
    unshown = iter(left)
    plans = [None if n in chosen else next(unshown) for n in range(len(files))]
    read = await asyncio.gather(
        *(reader.read(files[n], offers[n], unshown=plans[n], many=n >= MOST_AT_ONCE) for n in range(len(files)))
    )
    shown = [one.shown for one in read if isinstance(one.shown, Attached)]
    landed = [one.landed for one in read if isinstance(one.landed, Attached)]
    return Taken(attached=(*shown, *landed), left_out=_told(read))


class _Reader:
    """Reads files, each once."""

    def __init__(self, *, takes_images: bool, uploads: Uploads, download: Download) -> None:
        self._takes_images = takes_images
        self._uploads = uploads
        self._download = download

    async def read(self, file: discord.Attachment, offer: Offer, *, unshown: LeftOut | None, many: bool) -> _Read:
        """`unshown`: the model is not to be shown it, and why; `many`: there are too many to land."""
        if not self._uploads.on:
            landing: Landing | LeftOut | None = None
        elif many:
            landing = LeftOut(name=offer.name, why=say("attachments.too_many", n=MOST_AT_ONCE))
        else:
            try:
                landing = await self._uploads.begin(file.filename, size=file.size)
            except NotTaken as no:
                landing = LeftOut(name=offer.name, why=no.why)
        if unshown is not None and not isinstance(landing, Landing):
            return _Read(shown=unshown, landed=landing)
        try:
            return await self._both(file, offer, unshown, landing)
        finally:
            if isinstance(landing, Landing):
                await landing.drop()

    async def _both(
        self, file: discord.Attachment, offer: Offer, unshown: LeftOut | None, landing: Landing | LeftOut | None
    ) -> _Read:
        most = attachments.MOST_IMAGE_BYTES
        data = bytearray()
        landed: Attached | LeftOut | None = None if isinstance(landing, Landing) else landing
        try:
            async with asyncio.timeout(_READ_SECONDS), aclosing(self._download(file)) as pieces:
                async for piece in pieces:
                    if unshown is None and len(data) <= most:
                        data += piece[: most + 1 - len(data)]
                    if isinstance(landing, Landing) and landed is None:
                        try:
                            await landing.write(piece)
                        except NotTaken as no:
                            landed = LeftOut(name=offer.name, why=no.why)
                    if landed is not None and (unshown is not None or len(data) > most):
                        break  # nobody wants any more of it
        except DISCORD_FAILED as error:
            logger.warning("attachment not read", extra={"action": "attachment_failed", "problem": repr(error)})
            lost = LeftOut(name=offer.name, why=say("attachments.not_given"))
            return _Read(shown=unshown or lost, landed=None if landing is None else lost)
        if isinstance(landing, Landing) and landed is None:
            try:
                landed = await landing.finish(offer.name)
            except NotTaken as no:
                landed = LeftOut(name=offer.name, why=no.why)
        shown = unshown or attachments.read(offer, bytes(data), takes_images=self._takes_images)
        return _Read(shown=shown, landed=landed)


def _told(read: Iterable[_Read]) -> str:
    """What people are told: nothing of a file that was both shown and stored."""
    nowhere: list[LeftOut] = []
    unshown: list[LeftOut] = []
    unstored: list[LeftOut] = []
    for one in read:
        if isinstance(one.shown, Attached):
            unstored += [one.landed] if isinstance(one.landed, LeftOut) else []
        elif isinstance(one.landed, Attached):
            where = say("attachments.lies_at", path=inert.line(one.landed.body, limit=_PATH), why=one.shown.why)
            unshown.append(replace(one.shown, why=where))
        else:
            reasons = [one.shown.why, *([one.landed.why] if one.landed is not None else [])]
            nowhere.append(replace(one.shown, why=joined(dict.fromkeys(reasons), by="; ")))
    told = (
        attachments.sentence(map(_named, nowhere)),
        attachments.sentence(map(_named, unshown), told=key("attachments.only_landed")),
        attachments.sentence(map(_named, unstored), told=key("attachments.not_landed")),
    )
    said = [one for one in told if one]
    return joined(said, by=" ") if said else ""


def _named(one: LeftOut) -> LeftOut:
    return replace(one, name=inert.line(one.name, limit=_NAME))
