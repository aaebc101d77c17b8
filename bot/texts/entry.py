"""One text of the catalogue: its languages side by side, its plural forms, and how long its place lets it be."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

MESSAGE = 2_000
"""Characters of a message's content; this and the others are Discord's numbers (developer documentation)."""
BUTTON = 80
MODAL_TITLE = 45
LABEL = 45
"""Of a form's field."""
HINT = 100
"""What stands below a field's label, and the description of an option in a list."""
MENU = 32
OPTION = 100
"""The name of an option in a list to pick from, and of a command's choice."""
COMMAND = 100
"""The description of a command or of one of its options."""
PLACEHOLDER = 150
"""What a list says while nothing is picked (a form's text field takes 100)."""

Forms = str | tuple[str, str]
"""A text, or two of them: for one (`n` is 1) and for any other number."""


class Language(StrEnum):
    """The languages that the catalogue is written in, by Discord's name of the locale (without the region)."""

    EN = "en"
    DE = "de"


@dataclass(frozen=True)
class Entry:
    """A text in every language. `most` is how long it may be, in characters, as it stands here."""

    en: Forms
    de: Forms
    most: int = MESSAGE
    held: bool = False
    """Rows hold it in English: see `bot.texts.recall`."""

    def forms(self, language: Language) -> tuple[str, ...]:
        """Its one form in that language, or its two."""
        found = self.de if language is Language.DE else self.en
        return (found,) if isinstance(found, str) else found

    def placeholders(self, language: Language) -> frozenset[str]:
        """The names that are filled in, in any of its forms; `n` counts even where a form spells it out."""
        forms = self.forms(language)
        named = {name for form in forms for _, name, _, _ in string.Formatter().parse(form) if name is not None}
        return frozenset(named | ({"n"} if len(forms) > 1 else set()))

    def filled(self, language: Language, values: Mapping[str, Any]) -> str:
        """The text with everything filled in. Raises `KeyError` for a value that is missing."""
        forms = self.forms(language)
        form = forms[0] if len(forms) == 1 or values["n"] == 1 else forms[1]
        parts: list[str] = []
        for before, name, spec, conversion in _parsed(form):
            parts.append(before)
            if name is not None:
                parts.append(_value(values[name], spec or "", conversion, language))
        return "".join(parts)


@cache
def _parsed(form: str) -> tuple[tuple[str, str | None, str | None, str | None], ...]:
    return tuple(string.Formatter().parse(form))


def _value(value: Any, spec: str, conversion: str | None, language: Language) -> str:
    """As `str.format` writes it; numbers are written as the language writes them."""
    shown = repr(value) if conversion == "r" else value
    written = str(format(shown, spec))
    if language is Language.DE and spec and isinstance(shown, int | float):
        return written.translate(_DIGITS)
    return written


_DIGITS = str.maketrans(",.", ".,")


def text(en: Forms, *, de: Forms) -> Entry:
    """A sentence or more, as part of a message."""
    return Entry(en, de)


def stored(en: Forms, *, de: Forms) -> Entry:
    """A sentence that rows hold in English, such as a call's reason, and that is known again when it is shown."""
    return Entry(en, de, held=True)


def button(en: str, *, de: str) -> Entry:
    """What stands on a button."""
    return Entry(en, de, BUTTON)


def title(en: str, *, de: str) -> Entry:
    """The title of a form."""
    return Entry(en, de, MODAL_TITLE)


def label(en: str, *, de: str) -> Entry:
    """What stands above a form's field."""
    return Entry(en, de, LABEL)


def hint(en: str, *, de: str) -> Entry:
    """What stands below a field's label, or below an option in a list."""
    return Entry(en, de, HINT)


def option(en: str, *, de: str) -> Entry:
    """An option in a list to pick from, or a command's choice."""
    return Entry(en, de, OPTION)


def command(en: str, *, de: str) -> Entry:
    """What a command, or one of its options, is for."""
    return Entry(en, de, COMMAND)


def menu(en: str, *, de: str) -> Entry:
    """What a command in a message's or a person's menu is called."""
    return Entry(en, de, MENU)


def placeholder(en: str, *, de: str) -> Entry:
    """What a list says while nothing is picked."""
    return Entry(en, de, PLACEHOLDER)
