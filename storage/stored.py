"""Reads the JSON that rows hold. What somebody else left there must not keep everything behind it from being done.

A text that cannot be read stands for something that nobody ever sealed: the row becomes `void` by its digest, and the
next one has its turn.
"""

from __future__ import annotations

import json
from typing import Any

UNREADABLE = "(not readable)"


def mapping(text: str | None) -> dict[str, Any]:
    """The object in `text`, or one that no digest was ever made of."""
    found = _read(text)
    return found if isinstance(found, dict) else {UNREADABLE: True}


def maybe_mapping(text: str | None) -> dict[str, Any] | None:
    """The same, where nothing may stand as well."""
    return None if text is None or text == "null" else mapping(text)


def texts(text: str | None) -> tuple[str, ...]:
    """The texts in a list, or `UNREADABLE` alone."""
    found = _read(text)
    return tuple(found) if isinstance(found, list) and all(isinstance(one, str) for one in found) else (UNREADABLE,)


def _read(text: str | None) -> Any:
    try:
        found = json.loads(text or "")
        if "\\u" in (text or ""):
            json.dumps(found, ensure_ascii=False).encode()  # half a character, which nobody can seal
        return found
    except (ValueError, RecursionError):
        return None
