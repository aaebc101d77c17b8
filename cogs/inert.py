"""Makes text that nobody vouches for safe to look at: what is shown decodes back to exactly what was given.

An approver decides by what the card shows. So nothing a model writes may hide, reorder, leave its block, ping,
or look like something else. Two rules carry it all:

- every character that does not show itself is written as a bracketed code point, `⟨U+202E⟩`, and so are the
  few visible characters that this notation uses itself, which makes it reversible;
- newlines, tabs and the spaces that a reader or Discord would lose are drawn, and long runs of them counted.

At the end of a line `…` always means that the text goes on: one that ends so itself has it written as a code point.

Words and the single spaces between them stay as they are, and in a block one or two backticks in a row. Discord's own
rules that this answers: a fence ends at three backticks, a first line of one word is taken for a language tag, blank
edges of a block are trimmed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from bot import shapes
from cogs.limits import length

NEWLINE = "↵"
TAB = "⇥"
SPACE = "␠"
OPEN = "⟨"
CLOSE = "⟩"
EMPTY = f"{OPEN}empty{CLOSE}"
MORE = "…"

MAX_NEWLINES = 3
"""A longer run of newlines is shown as its count, so that nothing is pushed out of view."""
MAX_SPACES = 8
MAX_INDENT = 16
"""Spaces at the start of a line are where code carries meaning: they stay readable a little longer."""
MAX_MARKS = 2
"""Combining marks on one letter. More would draw over the lines around it."""

_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_STACKING = frozenset({"Mn", "Me"})
_FILLERS = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180F, 0x2800, 0x3164, 0xFFA0, 0xFFFC, 0x1D159, 0x16FE4}.union(
        range(0x180B, 0x180E), range(0xFE00, 0xFE10), range(0xE0000, 0xE1000)
    )
)
"""Letters and marks that draw nothing (fillers, variation selectors, tags), though their category does not say so."""
_NOTATION = frozenset(NEWLINE + TAB + SPACE + OPEN + CLOSE)

_PLAIN = re.compile(r"[!-_a-~]+(?: [!-_a-~]+)*")
"""Words of ASCII, one space between them: they look the same wherever they stand."""
_CLOSING = re.compile("`{3,}")
_RUN = re.compile(r"\n+| +|[^\n ]+")
_TOKEN = re.compile(
    rf"{OPEN}U\+(?P<point>[0-9A-F]{{4,6}}){CLOSE}"
    rf"|{OPEN}(?P<count>[0-9]+) (?:(?P<newlines>newlines){CLOSE}\n?|spaces{CLOSE})"
    rf"|(?P<empty>{EMPTY})|(?P<newline>{NEWLINE}\n?)|(?P<tab>{TAB})|(?P<space>{SPACE})|(?P<plain>[^{OPEN}{CLOSE}])",
    re.DOTALL,
)


class Form(Enum):
    """Where the text will stand."""

    BLOCK = "block"
    """Several lines in a fenced block."""
    LINE = "line"
    """One line between single backticks, or a label: newlines are drawn, not made."""
    FILE = "file"
    """A text file: newlines, tabs, spaces and backticks are left to it."""


_KEPT = {Form.BLOCK: "`", Form.LINE: "", Form.FILE: "\n\t `"}
"""What the place shows as it is, though another would not."""


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """The two ends of a text too long to show. Both are drawn already; `hidden` counts characters left out."""

    head: str
    tail: str
    hidden: int


def block(text: str) -> str:
    """The whole text in a fenced block of its own."""
    return fence(encode(text))


def fence(shown: str) -> str:
    """A block around text that is drawn already. The tag is never left to Discord's guess."""
    return f"```text\n{shown}\n```"


def line(text: str, *, limit: int | None = None, more: bool = False) -> str:
    """The text as inline code on one line; beyond `limit` code units its end gives way to `…`. `more`: it goes on."""
    return f"`{label(text, limit=limit, more=more)}`"


def label(text: str, *, limit: int | None = None, more: bool = False) -> str:
    """The text on one line for a place that knows no markdown, such as a button."""
    shown = encode(text, Form.LINE) if text or not more else ""
    if more:
        shown += MORE
    elif shown.endswith(MORE):
        shown = shown.removesuffix(MORE) + _point(MORE)
    if limit is None or length(shown) <= limit:
        return shown
    # What is cut off is never just that `…`: it would be there all the same.
    rest = text if more else text.removesuffix(MORE)
    return _take(_units_between(rest, 0, 4 * limit, Form.LINE), limit - 1, lines=1)[0] + MORE


def piece(text: str, start: int, stop: int, *, limit: int) -> str:
    """A piece of the text as inline code in about `limit` code units; `…` stands where it goes on, on both sides.

    It begins and ends where a masked span does: a part of one is never shown.
    """
    if start < stop:
        for span in shapes.find(text):
            start = span.start if span.start < start < span.end else start
            stop = span.end if span.start < stop < span.end else stop
    shown = label(text[start:stop], limit=limit, more=stop < len(text) or start == stop)
    if start:
        return f"`{MORE}{shown.removeprefix(MORE) if start == stop else shown}`"
    return f"`{_point(MORE) + shown[1:] if shown.startswith(MORE) and len(shown) > 1 else shown}`"


def encode(text: str, form: Form = Form.BLOCK, *, bare: bool = False) -> str:
    """Draw the text; `decode` gives it back. Neither end of the result is blank, so nothing can be trimmed off.

    What looks like a credential is masked, as `⟨masked: ...⟩`, unless the text is wanted `bare`.
    """
    spans = [] if bare else shapes.find(text)
    if not spans and _PLAIN.fullmatch(text):
        return text
    return "".join(shown for _, shown in _units(text, form, spans)) or (EMPTY if form is not Form.FILE else "")


def masked(text: str) -> list[shapes.Span]:
    """What of the text is masked wherever it is drawn."""
    return shapes.find(text)


def decode(shown: str) -> str:
    """What `encode` was given, if nothing in it was masked. Raises `ValueError` for a text that it cannot have made."""
    out: list[str] = []
    at = 0
    while at < len(shown):
        match = _TOKEN.match(shown, at)
        if match is None:
            raise ValueError(f"not an inert rendering, at character {at}")
        at = match.end()
        if match["point"]:
            out.append(chr(int(match["point"], 16)))
        elif match["count"]:
            out.append(("\n" if match["newlines"] else " ") * int(match["count"]))
        elif match["newline"]:
            out.append("\n")
        elif match["tab"]:
            out.append("\t")
        elif match["space"]:
            out.append(" ")
        elif match["plain"]:
            out.append(match["plain"])
    return "".join(out)


def excerpt(text: str, *, head: int, tail: int, lines: int) -> Excerpt | None:
    """The ends of the text, each within its budget of code units, or None if it fits into both together.

    `lines` bounds how tall the head may grow; the tail gets a third of that.
    """
    if len(text) <= 4 * (head + tail):
        whole = encode(text)
        if length(whole) <= head + tail and whole.count("\n") < lines:
            return None
    front, front_size = _take(_units_between(text, 0, 4 * head, Form.BLOCK), head, lines=lines)
    last = _units_between(text, max(front_size, len(text) - 4 * tail), len(text), Form.BLOCK)
    back, back_size = _take(reversed(list(last)), tail, lines=max(lines // 3, 1), backwards=True)
    return Excerpt(head=front or EMPTY, tail=back or EMPTY, hidden=len(text) - front_size - back_size)


def _take(units: Iterator[tuple[str, str]], budget: int, *, lines: int, backwards: bool = False) -> tuple[str, int]:
    """As many units as fit, and how many characters of the text they stand for."""
    taken: list[tuple[str, str]] = []
    for raw, shown in units:
        budget -= length(shown)
        lines -= shown.count("\n")
        if budget < 0 or lines < 0:
            break
        taken.append((raw, shown))
    while taken and not taken[-1][1].strip(" "):
        taken.pop()  # A blank at the cut would be lost to the eye; it counts as hidden.
    text = "".join(shown for _, shown in (reversed(taken) if backwards else taken))
    return text.removesuffix("\n"), sum(len(raw) for raw, _ in taken)


def _units_between(text: str, start: int, stop: int, form: Form) -> Iterator[tuple[str, str]]:
    """`_units` of a piece of the text, which gives way to a masked span that it would cut through."""
    spans = shapes.find(text)
    for span in spans:
        start = span.end if span.start < start < span.end else start
        stop = span.start if span.start < stop < span.end else stop
    inside = [
        shapes.Span(span.start - start, span.end - start, span.kind)
        for span in spans
        if start <= span.start and span.end <= stop
    ]
    return _units(text[start:stop], form, inside)


def _units(text: str, form: Form, spans: list[shapes.Span]) -> Iterator[tuple[str, str]]:
    """Pairs of what was given and how it is drawn, in order. `spans` are masked; no blank is in one."""
    waiting = spans[::-1]
    if form is Form.FILE:
        yield from _masked(text, 0, len(text), form, waiting)
        return
    runs = list(_RUN.finditer(text))
    for index, match in enumerate(runs):
        run = match[0]
        first, last = index == 0, index == len(runs) - 1
        if run[0] == "\n":
            yield from _newlines(run, form, last=last)
        elif run[0] == " ":
            starts = not first and runs[index - 1][0][0] == "\n"
            ends = last or runs[index + 1][0][0] == "\n"
            indents = form is Form.BLOCK and starts and not ends
            yield run, _spaces(len(run), indents=indents, edge=first or ends)
        elif waiting:
            yield from _masked(text, *match.span(), form, waiting)
        else:
            yield from _characters(run, form)


def _masked(text: str, at: int, stop: int, form: Form, waiting: list[shapes.Span]) -> Iterator[tuple[str, str]]:
    """A stretch of the text; `waiting` are the spans behind its beginning, the nearest last."""
    while waiting and waiting[-1].end <= stop:
        span = waiting.pop()
        yield from _characters(text[at : span.start], form)
        yield text[span.start : span.end], f"{OPEN}{shapes.name(text, span)}{CLOSE}"
        at = span.end
    yield from _characters(text[at:stop], form)


def _newlines(run: str, form: Form, *, last: bool) -> Iterator[tuple[str, str]]:
    made = "\n" if form is Form.BLOCK else ""
    if len(run) > MAX_NEWLINES:
        yield run, f"{OPEN}{len(run)} newlines{CLOSE}" + ("" if last else made)
        return
    for number in range(1, len(run) + 1):
        yield "\n", NEWLINE + ("" if last and number == len(run) else made)


def _spaces(count: int, *, indents: bool, edge: bool) -> str:
    if indents and count <= MAX_INDENT:
        return " " * count
    if count > MAX_SPACES:
        return f"{OPEN}{count} spaces{CLOSE}"
    return SPACE * count if edge or count > 1 else " "


def _characters(text: str, form: Form) -> Iterator[tuple[str, str]]:
    kept = _KEPT[form]
    # What could end the block; shorter runs of backticks cannot.
    closing = {at for run in _CLOSING.finditer(text) for at in range(*run.span())} if form is Form.BLOCK else ()
    room = 0
    for at, char in enumerate(text):
        if char in kept and at not in closing:
            room = 0
            yield char, char
        elif char.isascii() and char.isprintable() and char != "`":
            room = MAX_MARKS
            yield char, char
        elif char == "\t":
            room = 0
            yield char, TAB
        elif char == "`" or char in _NOTATION or hides(char):
            room = 0
            yield char, _point(char)
        elif unicodedata.category(char) in _STACKING:
            yield char, char if room > 0 else _point(char)
            room -= 1
        else:
            room = MAX_MARKS
            yield char, char


def _point(char: str) -> str:
    return f"{OPEN}U+{ord(char):04X}{CLOSE}"


def hides(char: str) -> bool:
    """Whether a character draws nothing, or changes how others are drawn. Newline, tab and space are for others."""
    return ord(char) in _FILLERS or (char != " " and unicodedata.category(char) in _UNSHOWN)
