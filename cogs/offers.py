"""Files that a job made, as Discord shows them: those that are handed over attached, the others by name."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import discord

from bot.files.names import safe_name
from bot.surface import Offered
from cogs import inert
from cogs.speech import tell

_NAME = 60
"""Characters of a path."""
_NAMED = 20
_LONGEST = 80
"""Characters of an attachment's name."""


def files(offered: Sequence[Offered]) -> list[discord.File]:
    """What is handed over. A directory's name becomes part of the file's, so that two of one name stay apart."""
    return [
        discord.File(io.BytesIO(one.body), filename=_file_name(one.path)) for one in offered if one.body is not None
    ]


def named(offered: Sequence[Offered], *, fetched: bool = False) -> str:
    """What there is, in a sentence; `fetched`: somebody has asked for it, else it stands below an ending."""
    if not offered:
        return tell("jobs.no_files")
    names = ", ".join(f"{inert.line(one.path, limit=_NAME)} ({_size(one.size)})" for one in offered[:_NAMED])
    left = [one for one in offered if one.body is None]
    if not left:
        return tell("jobs.files", names=names)
    if fetched:
        return tell("jobs.files_too_large", names=names)
    return tell("jobs.files_at_the_card", names=names)


def _file_name(path: str) -> str:
    """Plain, with nothing hidden in it, and short enough; the end of a path says most."""
    return re.sub(r"[^\w.-]+", "_", safe_name(path.replace("/", "-")))[-_LONGEST:]


def _size(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size // 1024:,} KB"
