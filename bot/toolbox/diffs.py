"""The difference that a write would make to a text file: what its card shows beside the arguments."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from bot.toolbox.beneath import READ, Refused, components, directory, ordinary, refusals

MOST_TEXT = 1_000_000
"""Characters of a file that is edited."""
MOST_COMPARED = 200_000
"""Characters of a file that is compared; comparing takes time that grows faster than the file."""
_MOST_LINES = 4_000


def written_over(workspace: Path, path: str, content: str) -> str:
    """The difference that writing `content` makes to a file that is there; '' where there is none to show."""
    try:
        return difference(path, read_text(workspace, path), content)
    except Refused:
        return ""


def difference(path: str, before: str, after: str) -> str:
    """A unified diff. '' when it is too much to compare, or nothing changes."""
    if max(len(before), len(after)) > MOST_COMPARED:
        return ""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(old), len(new)) > _MOST_LINES:
        return ""
    lines = difflib.unified_diff(old, new, f"{path} (now)", f"{path} (after)")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def read_text(workspace: Path, path: str) -> str:
    """All of a text file. Raises `Refused` for whatever is none, or is longer than a write may be."""
    *parents, name = components(path)
    with (
        directory(workspace, parents) as parent,
        refusals(path),
        open(os.open(name, READ, dir_fd=parent), "rb") as file,
    ):
        size = ordinary(os.fstat(file.fileno()), path).st_size
        raw = file.read(4 * MOST_TEXT + 1)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Refused(f"`{path}` is not a text file.")
    if len(text) > MOST_TEXT:
        raise Refused(f"`{path}` has {size} bytes; that is too much to edit.")
    return text
