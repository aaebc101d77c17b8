"""For a bot that runs as root: let the sandbox's user work with what root owns in the workspace.

Sandboxed commands never run as root, yet the workspace is theirs to work in. So what root owns in it becomes the
workspace owner's, or, where root owns the workspace itself, the sandbox user's. What other users own is left alone.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

DEEPEST = 64
"""Directories nested deeper than this are left as they are; one descriptor is held per level."""


def lend(workspace: Path, user: int) -> tuple[int, int]:
    """Give away what root owns in `workspace`; `user` is the fallback. Returns whom commands there run as (uid, gid).

    Goes by open handles, never through a link and never onto another filesystem, and leaves files with several
    names alone: one of the names may lie outside. Raises OSError where ownership cannot be changed.
    """
    top = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        found = os.fstat(top)
        owner = (found.st_uid or user, found.st_gid or user)
        if found.st_uid == 0:
            os.fchown(top, *owner)
        _lend_below(top, owner, found.st_dev, DEEPEST)
    finally:
        os.close(top)
    return owner


def _lend_below(directory: int, owner: tuple[int, int], device: int, levels: int) -> None:
    with os.scandir(directory) as entries:
        names = [entry.name for entry in entries if _concerns_us(entry)]
    for name in names:
        # A command in a sandbox may be moving things about meanwhile: what is gone, or has become a link, is passed
        # over. O_PATH opens nothing, so a FIFO or a device cannot hold us up.
        with contextlib.suppress(FileNotFoundError):
            _lend_one(name, directory, owner, device, levels)


def _concerns_us(entry: os.DirEntry[str]) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return entry.is_dir(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_uid == 0
    return False


def _lend_one(name: str, directory: int, owner: tuple[int, int], device: int, levels: int) -> None:
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        found = os.fstat(handle)
        is_directory = stat.S_ISDIR(found.st_mode)
        ours = is_directory or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1)
        if found.st_dev != device or not ours:
            return
        if found.st_uid == 0:
            os.chown(f"/proc/self/fd/{handle}", *owner)
        if is_directory and levels > 0:
            below = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
            try:
                _lend_below(below, owner, device, levels - 1)
            finally:
                os.close(below)
    finally:
        os.close(handle)
