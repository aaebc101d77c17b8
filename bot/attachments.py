"""What people may attach to a request: which kinds, how many, how large; and what they are told of the rest.

An image is known by its first bytes, not by what it is called; everything else has to be text.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.texts.text import Key, joined, key, say
from storage.attachments import Attached

MOST_FILES = 6
MOST_IMAGES = 4
MOST_TEXT_BYTES = 100_000
"""Of one text."""
MOST_IMAGE_BYTES = 3_000_000
"""Of one image. Four of them stay within what providers take in one request."""

_IMAGES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_NO_IMAGES = say("attachments.no_images")
_NO_TEXT = say("attachments.no_text")
_LEFT_OUT = key("attachments.left_out")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A file as it is described, before anybody has read it."""

    name: str
    size: int
    media_type: str

    @property
    def may_be_image(self) -> bool:
        """Whether it is described as an image."""
        return self.media_type.startswith("image/")


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A file that does not go to the model, and why."""

    name: str
    why: str


def choose(offers: Sequence[Offer], *, takes_images: bool) -> tuple[list[int], list[LeftOut]]:
    """The positions of the files that are worth reading, and what is left out unread."""
    chosen: list[int] = []
    left: list[LeftOut] = []
    images = 0
    for position, offer in enumerate(offers):
        most = MOST_IMAGE_BYTES if offer.may_be_image else MOST_TEXT_BYTES
        why = None
        if offer.may_be_image and not takes_images:
            why = _NO_IMAGES
        elif offer.size > most:
            why = say("attachments.too_large", n=most // 1000)
        elif offer.may_be_image and images == MOST_IMAGES:
            why = say("attachments.images", n=MOST_IMAGES)
        elif len(chosen) == MOST_FILES:
            why = say("attachments.files", n=MOST_FILES)
        if why is not None:
            left.append(LeftOut(name=offer.name, why=why))
            continue
        images += offer.may_be_image
        chosen.append(position)
    return chosen, left


def read(offer: Offer, data: bytes, *, takes_images: bool) -> Attached | LeftOut:
    """What was read as it goes to the model, whatever it was described as."""
    if (media_type := _image_type(data)) is not None:
        if not takes_images:
            return LeftOut(name=offer.name, why=_NO_IMAGES)
        if len(data) > MOST_IMAGE_BYTES:
            return LeftOut(name=offer.name, why=say("attachments.too_large", n=MOST_IMAGE_BYTES // 1000))
        return Attached(name=offer.name, media_type=media_type, body=base64.b64encode(data).decode("ascii"))
    if len(data) > MOST_TEXT_BYTES:
        return LeftOut(name=offer.name, why=say("attachments.too_large", n=MOST_TEXT_BYTES // 1000))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return LeftOut(name=offer.name, why=_NO_TEXT)
    if "\0" in text:
        return LeftOut(name=offer.name, why=_NO_TEXT)
    return Attached(name=offer.name, media_type="text/plain", body=text)


def sentence(left: Iterable[LeftOut], *, told: Key = _LEFT_OUT) -> str:
    """What people are told of what does not go to the model, by name and with the reason; '' if everything does.

    `told`: of what did not go elsewhere.
    """
    named = [say("attachments.one", name=one.name, why=one.why) for one in left]
    return say(told, files=joined(named)) if named else ""


def _image_type(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _IMAGES.items() if data.startswith(start)), None)
