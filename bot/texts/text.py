"""A text that can be said in every language.

A `Text` is its English sentence: it can be stored, logged and given to the model like any other string. Beside that
it knows its key and what was filled in, so that a face can say it again in the reader's language. Nothing here knows
who reads: that is the face's business (`cogs.speech`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NewType

from bot.texts.catalogue import CATALOGUE
from bot.texts.entry import Language

Key = NewType("Key", str)
"""The name of a text in the catalogue, `area.name`."""


class Text(str):
    """A text of the catalogue, or several of them put together."""

    __slots__ = ("_data", "_parts")

    _data: dict[str, Any]
    _parts: Mapping[str, Any]

    def __new__(cls, data: dict[str, Any], parts: Mapping[str, Any]) -> Text:
        """For `say` and `joined` alone."""
        self = super().__new__(cls, _written(data, parts, Language.EN))
        self._data, self._parts = data, parts
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Copied or pickled it is its English sentence alone."""
        return str, (str(self),)

    def said_in(self, language: Language) -> str:
        """The same in a language."""
        return str.__str__(self) if language is Language.EN else _written(self._data, self._parts, language)

    @property
    def data(self) -> dict[str, Any]:
        """All of it as JSON knows it, for `told`."""
        return {**self._data, "parts": {name: _kept(value) for name, value in self._parts.items()}, "en": str(self)}


def key(name: str) -> Key:
    """Marks a literal as a key, so that the tests see that it is used; for tables of keys."""
    return Key(name)


def say(name: str, /, **values: Any) -> Text:
    """The text of the catalogue with this name, with `values` filled in. A number of things is called `n`."""
    return Text({"say": name}, values)


def joined(parts: Iterable[str], by: str = ", ") -> Text:
    """Several texts as one, `by` between them; that is no word of any language."""
    return Text({"join": by}, {str(number): part for number, part in enumerate(parts)})


def listing(parts: Iterable[str]) -> Text:
    """Names or phrases in a row: `a, b and c`."""
    *first, last = list(parts) or [""]
    return say("words.and", first=joined(first), last=last) if first else joined([last])


def every(parts: Iterable[str]) -> Text:
    """Things that are all meant: `a and b and c`."""
    first, *others = list(parts) or [""]
    whole = joined([first])
    for one in others:
        whole = say("words.and", first=whole, last=one)
    return whole


def also(parts: Iterable[str]) -> Text:
    """Longer phrases in a row: `one of a, and one of b`."""
    first, *others = list(parts) or [""]
    whole = joined([first])
    for one in others:
        whole = say("words.also", first=whole, last=one)
    return whole


def some(names: Sequence[str], most: int) -> Text:
    """The first `most` names, and how many more there are."""
    first = joined(names[:most])
    return say("words.and_more", names=first, n=len(names) - most) if len(names) > most else first


def in_language(text: str, language: Language) -> str:
    """The text in a language, if it is one that is known in several; else as it is."""
    return text.said_in(language) if isinstance(text, Text) else text


def kept(text: str) -> dict[str, Any] | str:
    """The text as JSON knows it, so that what is stored can still be said in every language: see `told`."""
    return text.data if isinstance(text, Text) else text


def told(stored: dict[str, Any] | str) -> str:
    """What `kept` made. One that this program does not know any more stays in English."""
    if isinstance(stored, str):
        return stored
    parts = {name: told(value) if isinstance(value, dict) else value for name, value in stored["parts"].items()}
    data = {name: value for name, value in stored.items() if name not in {"parts", "en"}}
    try:
        return Text(data, parts)
    except (KeyError, ValueError):
        return str(stored["en"])


def worded(text: str) -> dict[str, Any]:
    """The same as part of a message that is owed: its English words, and beside them what is needed for others."""
    return {"text": str(text), "said": kept(text)} if isinstance(text, Text) else {"text": text}


def words_of(body: Mapping[str, Any]) -> str:
    """The text of a message that is owed. What was put behind it afterwards stays as it is."""
    text = str(body["text"])
    said = told(body["said"]) if "said" in body else ""
    return joined([said, text[len(said) :]], by="") if said and text.startswith(said) else text


def _kept(value: Any) -> Any:
    return value.data if isinstance(value, Text) else value


def _written(data: Mapping[str, Any], parts: Mapping[str, Any], language: Language) -> str:
    spoken = {name: in_language(part, language) if isinstance(part, str) else part for name, part in parts.items()}
    if "join" in data:
        return str(data["join"]).join(spoken.values())
    return CATALOGUE[data["say"]].filled(language, spoken)
