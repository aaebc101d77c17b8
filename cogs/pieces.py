"""Cuts a long answer into messages: none over the limit, every code block closed and opened again.

The cuts depend only on what stands before them, so an answer that grows keeps its first messages as they are.
"""

from __future__ import annotations

import re

from cogs import limits

_TICKS = "```"
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{0,30}")
_GLUED = re.compile(r"[\u0300-\u036f\u200d\ufe00-\ufe0f\u20d0-\u20ff\U0001f3fb-\U0001f3ff]")
"""What belongs to the character before it: combining marks, joiners, variation selectors, skin tones."""


def split(text: str, limit: int = limits.CONTENT) -> list[str]:
    """The messages, in order; empty for a blank text. `limit` is in UTF-16 code units.

    Blank lines where a cut falls outside a block are dropped, as Discord would trim them anyway.
    """
    cutter = _Cutter(limit)
    for line in text.split("\n"):
        cutter.add(line)
    return cutter.finish()


def closed(text: str) -> str:
    """The text with the code block closed that is open at its end, so that what is put behind it is none of it."""
    opened: str | None = None
    for line in text.split("\n"):
        opened = _state_after(line, opened)
    return text if opened is None else f"{text}\n{_TICKS}"


class _Cutter:
    """Collects lines for the current piece and knows whether a block is open at its end."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[str] = []
        self._lines: list[str] = []
        self._size = 0
        self._open: str | None = None
        """The line that reopens the block that is open, or None."""
        self._reopened = 0
        """How many lines the piece began with on its own account: 1 if it reopens a block."""

    def add(self, line: str) -> None:
        while True:
            after = _state_after(line, self._open)
            if limits.length(line) <= self._room(after):
                self._take(line, after)
                return
            if self._open is not None and line.startswith(_TICKS) and line != _TICKS:
                # The end of a block always fits: the room for it was kept. What follows goes on behind it.
                self._take(_TICKS, None)
                line = line.removeprefix(_TICKS)
            elif len(self._lines) > self._reopened:
                self._cut()
            else:
                # Longer than a whole message: cut at a blank, else between characters.
                head = _prefix(line, self._room(""))
                self._take(head, _state_after(head, self._open))
                self._cut()
                line = line[len(head) :]

    def _room(self, after: str | None) -> int:
        """What is left for one more line, if `after` tells what is open behind it."""
        closing = 0 if after is None else 1 + len(_TICKS)
        return self._limit - self._size - bool(self._lines) - closing

    def finish(self) -> list[str]:
        self._cut()
        return self._pieces

    def _take(self, line: str, after: str | None) -> None:
        self._size += limits.length(line) + bool(self._lines)
        self._lines.append(line)
        self._open = after

    def _cut(self) -> None:
        """End the piece. A block that was only just opened goes to the next one whole."""
        lines = self._lines
        reopen = self._open
        if reopen is not None and len(lines) > self._reopened and lines[-1].strip() == reopen:
            lines.pop()
        elif reopen is not None:
            lines.append(_TICKS)
        body = "\n".join(lines) if self._reopened else "\n".join(lines).strip("\n")
        if body.strip():
            self._pieces.append(body)
        self._lines = [] if reopen is None else [reopen]
        self._reopened = len(self._lines)
        self._size = limits.length(reopen or "")


def _state_after(line: str, opened: str | None) -> str | None:
    """The line that would reopen the block open after `line`, or None if none is open."""
    parts = line.split(_TICKS)
    for number, _ in enumerate(parts[1:], start=1):
        if opened is not None:
            opened = None
        else:
            rest = parts[number]
            last = number == len(parts) - 1
            opened = _TICKS + (rest.rstrip() if last and _LANGUAGE.fullmatch(rest.rstrip()) else "")
    return opened


def _prefix(line: str, room: int) -> str:
    """As much of the line as fits, ending after a blank if there is one in the last third."""
    cut, size = 0, 0
    for char in line:
        size += limits.length(char)
        if size > room:
            break
        cut += 1
    blank = line.rfind(" ", 0, cut)
    if blank >= 2 * cut // 3 > 0:
        return line[: blank + 1]
    while cut > 1 and (_GLUED.match(line, cut) or line[cut - 1 : cut + 1] == "``"):
        cut -= 1
    return line[: max(cut, 1)]
