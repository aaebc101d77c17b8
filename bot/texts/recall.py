"""Texts that rows hold in English, known again by their words when they are shown.

A call's reason and its note are stored as the sentences that the model reads. Some of them are ours: those are marked
`stored` in the catalogue, and only those are looked for. Whatever else a row holds stays as it is.
"""

from __future__ import annotations

import re
import string

from bot.texts.catalogue import CATALOGUE
from bot.texts.entry import Language
from bot.texts.text import Text, say


def recall(stored: str) -> str:
    """The text of the catalogue that was stored as `stored`, or that string itself."""
    for name, pattern in _BY_FIRST.get(stored[:1], _ANY_FIRST):
        if (found := pattern.fullmatch(stored)) is not None:
            parts: dict[str, str | int] = {value: recall(part) for value, part in found.groupdict().items()}
            if "n" in parts and str(parts["n"]).isdecimal():
                parts["n"] = int(parts["n"])
            if name in _WORDLESS and not any(isinstance(part, Text) for part in parts.values()):
                continue  # punctuation alone makes nothing ours
            return say(name, **parts)
    return stored


def _pattern(form: str) -> re.Pattern[str]:
    parts = []
    for before, name, _, _ in string.Formatter().parse(form):
        parts.append(re.escape(before))
        if name is not None:
            parts.append(f"(?P<{name}>.+?)")
    return re.compile("".join(parts), re.DOTALL)


def _literal(name: str) -> str:
    return re.sub(r"\{[^}]*\}", "", "".join(CATALOGUE[name].forms(Language.EN)))


# The more of its own words a text has, the earlier it is tried.
_HELD = sorted((name for name, entry in CATALOGUE.items() if entry.held), key=lambda name: -len(_literal(name)))
_PATTERNS = [(name, _pattern(form)) for name in _HELD for form in CATALOGUE[name].forms(Language.EN)]
_WORDLESS = {name for name in _HELD if not re.search(r"[A-Za-z]", _literal(name))}
_FIRST = [form.partition("{")[0][:1] for name in _HELD for form in CATALOGUE[name].forms(Language.EN)]
"""The character that each pattern begins with; empty for one that begins with what is filled in."""
_ANY_FIRST = [one for one, first in zip(_PATTERNS, _FIRST, strict=True) if not first]
_BY_FIRST = {
    char: [one for one, first in zip(_PATTERNS, _FIRST, strict=True) if first in {"", char}]
    for char in set(_FIRST) - {""}
}
"""Those that a text can be, by its first character, in the same order."""
