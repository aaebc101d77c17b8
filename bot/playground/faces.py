"""Everybody's face: a colour and an initial, drawn here, so that people can be told apart at a glance."""

from __future__ import annotations

import hashlib
import io

from PIL import Image, ImageDraw, ImageFont

SIZE = 128


def draw_face(name: str, colour: str) -> bytes:
    """A square PNG with the name's initial; `colour` as `#rrggbb`."""
    image = Image.new("RGB", (SIZE, SIZE), colour)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=SIZE * 0.55)
    draw.text((SIZE / 2, SIZE / 2), name[0].upper(), fill="white", anchor="mm", font=font)
    return _png(image)


def draw_stamp(colour: str) -> bytes:
    """The bot's face: a tick on its colour."""
    image = Image.new("RGB", (SIZE * 4, SIZE * 4), colour)
    points = [(150, 265), (230, 345), (375, 180)]
    draw = ImageDraw.Draw(image)
    draw.line(points, fill="white", width=52, joint="curve")
    for x, y in (points[0], points[-1]):
        draw.ellipse((x - 26, y - 26, x + 26, y + 26), fill="white")
    return _png(image.resize((SIZE, SIZE), Image.Resampling.LANCZOS))


def hash_of(face: bytes) -> str:
    """What Discord calls the avatar's hash."""
    return hashlib.md5(face, usedforsecurity=False).hexdigest()


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()
