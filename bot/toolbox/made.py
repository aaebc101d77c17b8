"""Finds and reads what was made in the workspace, for people: ordinary files below it, by handles, and no links."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from bot.toolbox.beneath import DIRECTORY, READ, Refused, components, directory, ordinary, refusals

MOST_SEEN = 5_000
"""Names that are looked at when it is looked for what has changed."""
_DEEPEST = 12
SLACK_MS = 1_000
"""A file's time may be that much beside the call's: file systems keep time more coarsely than we do."""


def size_of(workspace: Path, path: str) -> int | None:
    """The size of an ordinary file in bytes; None if there is none of that name."""
    found = _opened(workspace, path, most=None)
    return found[0] if found is not None else None


def read(workspace: Path, path: str, *, most: int) -> bytes | None:
    """What an ordinary file of at most `most` bytes holds; None if there is no such file."""
    found = _opened(workspace, path, most=most)
    return found[1] if found is not None and found[0] <= most and len(found[1]) <= most else None


def changed(workspace: Path, windows: Sequence[tuple[int, int]], *, most: int, but: Collection[str] = ()) -> list[str]:
    """Ordinary files last written in one of the `windows` (milliseconds UTC, from and until); at most `most`.

    Those in `but` are somebody else's. What begins with a dot is left out: it is a tool's own.
    """
    found: list[str] = []
    if windows:
        with contextlib.suppress(Refused, OSError), directory(workspace, ()) as root:
            for path, at in _walk(root, "", 0, [MOST_SEEN]):
                if path not in but and any(begin - SLACK_MS <= at <= end + SLACK_MS for begin, end in windows):
                    found.append(path)
                    if len(found) == most:
                        break
    return sorted(found)


def _walk(handle: int, above: str, depth: int, left: list[int]) -> Iterator[tuple[str, int]]:
    """Path and time of change of ordinary files, no more than `left` says."""
    with os.scandir(handle) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        left[0] -= 1
        if left[0] < 0:
            return
        if entry.name.startswith("."):
            continue
        about = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
            yield above + entry.name, about.st_mtime_ns // 1_000_000
        elif stat.S_ISDIR(about.st_mode) and depth < _DEEPEST:
            with contextlib.suppress(OSError):
                below = os.open(entry.name, DIRECTORY, dir_fd=handle)
                try:
                    yield from _walk(below, f"{above}{entry.name}/", depth + 1, left)
                finally:
                    os.close(below)


def _opened(workspace: Path, path: str, *, most: int | None) -> tuple[int, bytes] | None:
    """A file's size and, with `most`, its first bytes: one more than `most`, to show that there are more."""
    try:
        *parents, name = components(path)
        with directory(workspace, parents) as parent:
            with refusals(path):
                handle = os.open(name, READ, dir_fd=parent)
            try:
                size = ordinary(os.fstat(handle), path).st_size
                with open(handle, "rb", closefd=False) as file:
                    return size, b"" if most is None else file.read(most + 1)
            finally:
                os.close(handle)
    except (Refused, ValueError, OSError):
        return None
