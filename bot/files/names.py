"""Names for files that somebody else named: plain, in one folder, and harmless wherever they are shown or typed."""

from __future__ import annotations

import os
import re
import unicodedata

LONGEST = 100
"""Bytes of a name in UTF-8: with a number behind it, it stays well below what file systems take (255)."""
_LONGEST_END = 16
"""Characters of what stands behind the last dot."""
_KEPT = frozenset(" ._-+=@,()")
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")
"""Letters and marks that show as nothing (Unicode: Default_Ignorable_Code_Point)."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.ASCII)
"""Names that Windows keeps for devices, whatever their end (Microsoft: Naming Files, Paths, and Namespaces)."""


def safe_name(given: str) -> str:
    """The name as a file is to have it: letters, digits and a few signs, no path, nothing hidden in it or in front.

    Characters that order text anew, that are invisible, or that a shell or a file system reads as more than a
    character become `_`. Two names may become one: whoever stores files numbers them.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    plain = "".join(char if _is_plain(char) else "_" for char in last)
    # In front: no hidden file, no option of a command. Behind: Windows drops dots and blanks there.
    plain = re.sub(r"\s+", " ", re.sub(r"_{2,}", "_", plain)).lstrip(" ._-").rstrip(" .")
    stem, end = os.path.splitext(plain)
    if len(end) > _LONGEST_END:
        stem, end = plain, ""
    stem = _cut(stem, LONGEST - len(end.encode())).rstrip(" .")
    name = f"{stem}{end}" if stem else "file"
    return f"_{name}" if _RESERVED.fullmatch(name) else name


def numbered(name: str, number: int) -> str:
    """The name for one of several files of that name: `notes.txt`, `notes-2.txt`, `notes-3.txt`."""
    stem, end = os.path.splitext(name)
    return name if number == 1 else f"{stem}-{number}{end}"


def _is_plain(char: str) -> bool:
    return char in _KEPT or (unicodedata.category(char)[0] in "LNM" and not _INVISIBLE.match(char))


def _cut(text: str, most: int) -> str:
    return text.encode()[: max(0, most)].decode("utf-8", "ignore")
