"""The difference that a write would make to a file, to the letter: what its card shows beside the arguments.

Where no difference can be shown, a sentence says so, and what happens to the file.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from bot.texts.text import say
from bot.toolbox.beneath import Refused
from bot.toolbox.writing import content

MOST_TEXT = 1_000_000
"""Characters of a file that is edited."""
MOST_COMPARED = 200_000
"""Characters of a file that is compared; comparing takes time that grows faster than the file."""
_MOST_LINES = 4_000


def written_over(workspace: Path, path: str, new: str) -> str:
    """What writing `new` does to the file as it is now."""
    try:
        before = content(workspace, path)
    except Refused as refusal:
        return say("toolbox.cannot_write", why=str(refusal))
    if before is None:
        return say("toolbox.new_file", path=named(path))
    try:
        return difference(path, text_of(before, path), new)
    except Refused:
        return say("toolbox.no_text_before", path=named(path), n=len(before))


def difference(path: str, before: str, after: str) -> str:
    """A unified diff; a sentence where nothing changes, or it is too much to compare."""
    if before == after:
        return say("toolbox.nothing_changes", path=named(path))
    old, new = _lines(before), _lines(after)
    if max(len(before), len(after)) > MOST_COMPARED or max(len(old), len(new)) > _MOST_LINES:
        return say("toolbox.too_long", path=named(path), before=len(before), after=len(after))
    lines = difflib.unified_diff(old, new, f"{named(path)} (now)", f"{named(path)} (after)")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def named(path: str) -> str:
    """A path in one line: a line end in it must not begin a line of the difference."""
    return path if path.isprintable() else ascii(path)


def text_of(raw: bytes, path: str) -> str:
    """What a file holds as text. Raises `Refused` for what is none, or too long to be edited."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Refused(f"`{path}` is not a text file.")
    if len(text) > MOST_TEXT:
        raise Refused(f"`{path}` has {len(raw)} bytes; that is too much to edit.")
    return text


def read_text(workspace: Path, path: str) -> str:
    """All of a text file. Raises `Refused` for whatever is none, or is longer than a write may be."""
    raw = content(workspace, path)
    if raw is None:
        raise Refused(f"There is no `{path}` in the workspace.", missing=True)
    return text_of(raw, path)


def _lines(text: str) -> list[str]:
    """Lines as a diff has them: they end at a newline alone. `str.splitlines` takes much else for an end."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])
