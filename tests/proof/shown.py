"""What goes to Discord, taken apart: every text of a message, a form or a list, with the limit that Discord sets it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import discord
from discord import ui

Kind = Literal["markdown", "plain", "typed", "file"]


@dataclass(frozen=True)
class Part:
    """One text. Markdown is rendered; plain is shown as it is; typed stands in a field that somebody can change."""

    kind: Kind
    text: str
    least: int
    most: int


def units(text: str) -> int:
    """UTF-16 code units, by way of the encoding itself."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def message(text: str, files: Iterable[discord.File] = ()) -> list[Part]:
    """An ordinary message."""
    return [Part("markdown", text, 1, 2_000), *map(_file, files)]


def name(text: str, most: int = 100) -> list[Part]:
    """A thread's name, or a suggestion's."""
    return [Part("plain", text, 1, most)]


def view(shown: ui.LayoutView | ui.View | ui.Modal) -> list[Part]:
    """A card, a list or a form. Raises `AssertionError` for what Discord would refuse as a whole."""
    items = list(shown.walk_children())
    assert len(items) <= 40, f"{len(items)} components"
    whole = sum(units(item.content) for item in items if isinstance(item, ui.TextDisplay))
    assert whole <= 4_000, f"{whole} units of text"
    ids = [item.custom_id for item in items if isinstance(item, ui.Button | ui.Select | ui.TextInput)]
    assert len(set(ids)) == len(ids), "a custom id twice"
    assert all(1 <= len(id or "") <= 100 for id in ids), "a custom id too long"
    parts = [part for item in items for part in _item(item)]
    return [Part("plain", shown.title, 1, 45), *parts] if isinstance(shown, ui.Modal) else parts


def _item(item: Any) -> Iterator[Part]:
    match item:
        case ui.TextDisplay():
            yield Part("markdown", item.content, 1, 4_000)
        case ui.Button():
            yield Part("plain", item.label or "", 1, 80)
        case ui.Label():
            yield Part("plain", item.text, 1, 45)
            if item.description is not None:
                yield Part("plain", item.description, 1, 100)
        case ui.TextInput():
            if item.default is not None:
                yield Part("typed", item.default, 0, min(item.max_length or 4_000, 4_000))
        case _ if hasattr(item, "options"):
            assert 1 <= len(item.options) <= 25, f"{len(item.options)} options"
            values = [option.value for option in item.options]
            assert len(set(values)) == len(values), "an option's value twice"
            for option in item.options:
                yield Part("plain", option.label, 1, 100)
                assert 1 <= units(option.value) <= 100, "an option's value too long"
                if option.description is not None:
                    yield Part("plain", option.description, 1, 100)


def _file(file: discord.File) -> Part:
    return Part("file", file.fp.read().decode(), 0, 10_000_000)
