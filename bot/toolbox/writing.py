"""Puts new content into a file of the workspace, after what it held has been handed out to be kept.

Both file tools write through here, so no write of theirs is without its undo copy: if that cannot be kept, nothing is
written. What is replaced is what was copied: a file that changes in between is left alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from bot.deferral.tool import Call, Overwriting
from bot.errors import NothingRan
from bot.toolbox.beneath import READ, Refused, components, directory, ordinary, refusals, same_owner

MOST_REPLACED = 32_000_000
"""Bytes of a file that a write replaces: so many are kept for an undo."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """What a write came to."""

    size: int
    """Bytes of the file now."""
    replaced: bool
    """Whether there was a file before."""


async def overwrite(
    workspace: Path, path: str, call: Call, after: Callable[[bytes | None], bytes], *, unique: str
) -> Written:
    """Give the file the content that `after` makes of the one it has (None: there is no file).

    `unique` names the file that exists until the new content is complete. Raises `NothingRan` if nothing was written,
    and OSError of which that cannot be said.
    """
    try:
        before = await anyio.to_thread.run_sync(content, workspace, path)
        data = after(before)
        await call.keep(call, Overwriting(path=path, before=before, after=data))
        await anyio.to_thread.run_sync(_put, workspace, path, before, data, f".signoff-{unique}")
    except Refused as refusal:
        raise NothingRan(str(refusal)) from None
    return Written(size=len(data), replaced=before is not None)


def content(workspace: Path, path: str) -> bytes | None:
    """All that a file holds; None if there is none. Raises `Refused` for what is no ordinary file, or too large."""
    *parents, name = components(path)
    try:
        with directory(workspace, parents) as parent:
            return held(parent, name, path)
    except Refused as refusal:
        if refusal.missing:
            return None
        raise


def held(parent: int, name: str, path: str) -> bytes | None:
    """The same of the file `name` in an opened directory."""
    try:
        with refusals(path):
            handle = os.open(name, READ, dir_fd=parent)
    except Refused as refusal:
        if refusal.missing:
            return None
        raise
    try:
        size = ordinary(os.fstat(handle), path).st_size
        with open(handle, "rb", closefd=False) as file:
            raw = file.read(MOST_REPLACED + 1)
    finally:
        os.close(handle)
    if len(raw) > MOST_REPLACED:
        raise Refused(f"`{path}` has {size} bytes; only files of up to {MOST_REPLACED} can be replaced and undone.")
    return raw


def _put(workspace: Path, path: str, before: bytes | None, data: bytes, temporary: str) -> None:
    *parents, name = components(path)
    with directory(workspace, parents, create=True) as parent:
        if held(parent, name, path) != before:
            raise Refused(f"`{path}` changed while it was about to be written, so it was left as it is.")
        replace_file(parent, name, data, mode_of(parent, name, path), temporary)


def mode_of(parent: int, name: str, path: str) -> int | None:
    """The permissions of the file that is to be replaced; None when there is none. Raises `Refused`."""
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return ordinary(found, path).st_mode & 0o777


def replace_file(parent: int, name: str, data: bytes, mode: int | None, temporary: str) -> None:
    """Readers see the old content or all of the new one, also after a crash, and never a part."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666, dir_fd=parent)
    try:
        with open(handle, "wb") as file:
            same_owner(handle, parent)
            if mode is not None:
                os.fchmod(handle, mode)
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent)
        raise
    os.fsync(parent)
