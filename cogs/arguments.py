"""Draws a call's arguments: whole where they fit, else both ends, a count of the rest, and a file with everything.

Whether something is cut depends on the arguments alone, never on the state of the call. So a card keeps its
attachment and its kind of button through all its edits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.texts.text import say
from cogs import inert
from cogs.limits import length
from cogs.speech import tell

_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*")
_SHORT = 80
"""Values up to this long stand beside their name."""
_LEAST = 60
"""A value that gets less room than this is left to the file."""
_LINES = 12
"""Of a passage."""
_FRAME = length(inert.fence("")) + 1
_NOTE = 60


class Ours(str):
    """A name that a card gives to a text: shown so that no argument's name can look like it."""


CHANGES = Ours(say("arguments.changes"))
"""The text in which a tool shows that. No tool that does has an argument of this name."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What a card shows of a call's arguments."""

    text: str
    hidden: int
    """Characters that are not shown."""
    size: int
    """Characters in all."""


def draw(arguments: Mapping[str, Any], *, budget: int, lines: int) -> Drawn:
    """The arguments in at most `budget` code units and about `lines` lines, short ones first."""
    texts = {name: _text(value) for name, value in arguments.items()}
    size = sum(map(len, texts.values()))
    if len(texts) == 1 and isinstance(next(iter(arguments.values())), str):
        (text,) = texts.values()
        shown, hidden = _block(text, budget, lines)
        return Drawn(text=shown, hidden=hidden, size=size)
    short = {name for name, text in texts.items() if _is_short(text)}
    parts: list[str] = []
    hidden = left_out = 0
    waiting = len(texts) - len(short)
    for name in sorted(texts, key=lambda name: name not in short):
        title = _title(name, arguments[name])
        if name in short:
            part = f"{title} {inert.line(texts[name])}"
            lost = 0
        else:
            room = (budget - _NOTE) // waiting - length(title) - 1
            waiting -= 1
            part, lost = _block(texts[name], room, lines) if room >= _LEAST + _FRAME else ("", len(texts[name]))
            part = f"{title}\n{part}" if part else ""
        if not part or length(part) + 1 + _NOTE > budget:
            hidden += len(texts[name])
            left_out += 1
            continue
        budget -= length(part) + 1
        hidden += lost
        parts.append(part)
    if left_out:
        parts.append(tell("arguments.left_out", n=left_out))
    return Drawn(text="\n".join(parts) or tell("arguments.none"), hidden=hidden, size=size)


def texts(arguments: Mapping[str, Any]) -> list[str]:
    """Each argument's text as it is, never to be shown."""
    return list(map(_text, arguments.values()))


def raw(arguments: Mapping[str, Any]) -> str:
    """The arguments' texts as they are, to be looked through, never to be shown."""
    return "\n".join(map(_text, arguments.values()))


def whole(arguments: Mapping[str, Any], *, bare: bool = False) -> str:
    """Everything, for a file. Characters that hide are written out here too; all others are as they run.

    `bare`: what looks like a credential as well.
    """
    texts = {name: inert.encode(_text(value), inert.Form.FILE, bare=bare) for name, value in arguments.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n\n".join(f"{inert.label(name)}:\n{text}" for name, text in texts.items())


def first_line(arguments: Mapping[str, Any], *, limit: int) -> str:
    """The first argument's first line, for a list."""
    head, more = plain_line(arguments)
    return inert.line(head, limit=limit, more=more)


def plain_line(arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """The same as it is, not made inert, and whether more follows."""
    text = next((_text(value) for value in arguments.values()), "")
    head, newline, _ = text.partition("\n")
    return head, bool(newline)


def passage(text: str, *, limit: int) -> str:
    """A text by itself: a quoted line where it reads well as one, else a block whose middle gives way to a count."""
    if "`" not in text and "\n" not in text.strip("\n"):
        return f"> {inert.line(text, limit=limit)}"
    return _block(text, limit + 2 * _FRAME + _NOTE, _LINES)[0]


def _block(text: str, budget: int, lines: int) -> tuple[str, int]:
    """A block, or two with a count between; also how many characters are hidden."""
    room = budget - 2 * _FRAME - _NOTE
    cut = inert.excerpt(text, head=max(room * 2 // 3, 1), tail=max(room // 3, 1), lines=lines)
    if cut is None:
        return inert.block(text), 0
    return tell("arguments.cut", head=inert.fence(cut.head), n=cut.hidden, tail=inert.fence(cut.tail)), cut.hidden


def _is_short(text: str) -> bool:
    return "\n" not in text and length(inert.line(text)) <= _SHORT


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _title(name: str, value: Any) -> str:
    """The name, and the kind of anything but text: `5` and `"5"` are not the same."""
    # An argument's name is bold only without blanks, and ours have some.
    if isinstance(name, Ours):
        name = Ours(tell("arguments.changes"))
    bold = isinstance(name, Ours) or (_PLAIN_NAME.fullmatch(name) and len(name) <= _SHORT)
    shown = f"**{name}**" if bold else inert.line(name, limit=_SHORT)
    match value:
        case str():
            return shown
        case bool():
            return tell("arguments.yes_or_no", name=shown)
        case int() | float():
            return tell("arguments.number", name=shown)
        case None:
            return tell("arguments.nothing", name=shown)
        case list():
            return tell("arguments.list", name=shown)
        case _:
            return tell("arguments.object", name=shown)
