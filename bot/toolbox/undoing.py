"""Gives a file of the workspace back what it held before a write, if it still holds what the write left."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from bot.texts.text import Text, say
from bot.toolbox.beneath import Refused, components, directory
from bot.toolbox.writing import held, mode_of, replace_file


def mark(data: bytes) -> str:
    """What tells this content from any other."""
    return hashlib.sha256(data).hexdigest()


def put_back(workspace: Path, path: str, before: bytes | None, *, after: str, unique: str) -> Text | None:
    """Put `before` back (None: remove the file), if the file holds content of the mark `after`.

    None when it is done; else nothing was changed, and the sentence says what there is in place of it. `unique` names
    the file that exists until the content is complete. Raises OSError.
    """
    *parents, name = components(path)
    try:
        with directory(workspace, parents) as parent:
            if (other := _other(held(parent, name, path), _mark(before), after)) is not None:
                return other
            if before is None:
                os.unlink(name, dir_fd=parent)
                os.fsync(parent)
            else:
                replace_file(parent, name, before, mode_of(parent, name, path), f".signoff-{unique}")
    except Refused as refusal:
        return say("files.gone") if refusal.missing else say("files.not_ordinary", why=str(refusal))
    return None


def other_than(workspace: Path, path: str, before: str | None, *, after: str) -> Text | None:
    """What there is in place of content of the mark `after`, in a sentence; None: just that is there."""
    *parents, name = components(path)
    try:
        with directory(workspace, parents) as parent:
            return _other(held(parent, name, path), before, after)
    except Refused as refusal:
        if refusal.missing:
            return _other(None, before, after)
        return say("files.not_ordinary", why=str(refusal))


def is_before(workspace: Path, path: str, before: str | None) -> bool:
    """Whether the file is as it was before the write, `before` being the mark of that."""
    *parents, name = components(path)
    try:
        with directory(workspace, parents) as parent:
            return _mark(held(parent, name, path)) == before
    except Refused as refusal:
        return refusal.missing and before is None


def _mark(data: bytes | None) -> str | None:
    return None if data is None else mark(data)


def _other(now: bytes | None, before: str | None, after: str) -> Text | None:
    found = _mark(now)
    if found == after:
        return None
    if found == before:
        return say("files.as_before")
    if now is None:
        return say("files.gone")
    return say("files.changed", n=len(now), mark=mark(now)[:12], left=after[:12])
