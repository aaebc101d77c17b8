"""In what spellings a secret leaks by accident or by a small trick, and how a text is read so that they show.

Two ways meet here. A value is spelled out (`spellings`): as it is, backwards, in hex, in base64 for each of the three
ways it can lie in a longer text. And a text is read (`readings`): blanks fall out, and escapes of JSON and its
relatives, of URLs and of HTML are undone, also one inside another, whichever characters they were used for. Each
reading knows where its characters stand in the text, so that what is found is taken out there.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

SHORTEST = 8
"""Shorter values are not secrets worth the name, and masking them would tear holes into ordinary words."""

_DEEP, _LONG = 3, 200_000
"""Escapes within escapes are undone so many times; in a text of more characters than that, once less."""

_BLANKS = re.compile(r"\s+")
_BACKSLASH = re.compile(
    r"\\(?:u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|x(?P<x>[0-9a-fA-F]{2})|(?P<one>[\"'\\/nrtbfv]))"
)
_PERCENT = re.compile(
    r"%[0-7][0-9a-fA-F]|%[c-dC-D][0-9a-fA-F]%[89abAB][0-9a-fA-F]"
    r"|%[eE][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){2}|%[fF][0-7](?:%[89abAB][0-9a-fA-F]){3}"
)
_ENTITY = re.compile(r"&(?:#(?P<number>[0-9]{1,7})|#[xX](?P<hex>[0-9a-fA-F]{1,6})|(?P<name>amp|lt|gt|quot|apos));")
_ESCAPES = {"\\": _BACKSLASH, "%": _PERCENT, "&": _ENTITY}
"""By the character that all of their kind begin with."""
_UNFINISHED = re.compile(
    r"(?:(?:\\u[dD][89abAB][0-9a-fA-F]{2})?\\+(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?|\\u[dD][89abAB][0-9a-fA-F]{2}"
    r"|(?:%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){0,3})?%[0-9a-fA-F]?"
    r"|%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){0,3}|&[#\w]{0,8})$"
)
_ONE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v"}
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_BETWEEN_HEX = re.compile(r"0x|[:, \t\r\n-]+")
_HEX_DIGITS = {**str.maketrans("ABCDEF", "abcdef"), **dict.fromkeys(map(ord, ":, \t\r\n-"))}


@dataclass(frozen=True)
class Reading:
    """A text as it reads without blanks, with certain escapes undone."""

    source: str
    steps: tuple[str, ...]
    text: str

    @cached_property
    def _maps(self) -> list[_Map]:
        """The way back from the reading to the source, step by step."""
        if self.steps == (_HEX,):
            return [_Map(self.source, _BETWEEN_HEX)]
        maps: list[_Map] = []
        text = self.source
        for pattern in (*(_ESCAPES[step] for step in self.steps), _BLANKS):
            maps.append(_Map(text, pattern))
            text = pattern.sub(_undone, text) if pattern is not _BLANKS else ""
        return maps[::-1]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the source the characters from `start` to before `end` stand."""
        last = end - 1
        for one in self._maps:
            start, end = one.start(start), one.end(last)
            last = end - 1
        return start, end


_HEX = "hex"


def readings(source: str) -> Iterator[Reading]:
    """Every reading of a text, the plainest first."""
    yield Reading(source, (), _compact(source))
    deep = _DEEP if len(source) <= _LONG else _DEEP - 1
    layer: list[tuple[tuple[str, ...], str]] = [((), source)]
    seen = {source}
    for _ in range(deep):
        below: list[tuple[tuple[str, ...], str]] = []
        for steps, text in layer:
            for kind, pattern in _ESCAPES.items():
                if kind not in text:
                    continue
                undone = pattern.sub(_undone, text)
                if undone not in seen:
                    seen.add(undone)
                    below.append(((*steps, kind), undone))
        yield from (Reading(source, steps, _compact(text)) for steps, text in below)
        layer = below


def hexadecimal(source: str) -> Reading:
    """A text as its hex digits read: in small letters, without what stands between them in dumps."""
    return Reading(source, (_HEX,), source.replace("0x", "").translate(_HEX_DIGITS))


def settled(text: str) -> str:
    """`text` without an escape at its end that is not whole yet."""
    return _UNFINISHED.sub("", text)


def spellings(value: str) -> set[str]:
    """What a reading of a text is searched for: without blanks, and long enough to mean something."""
    raw = value.encode("utf-8", "surrogateescape")
    blank_as_plus = _BLANKS.sub("+", value)
    found = chain((value, value[::-1], raw.decode("latin-1"), blank_as_plus), _base64(raw))
    return {form for form in map(_compact, found) if len(form) >= SHORTEST}


def hex_spelling(value: str) -> str:
    """The same for `hexadecimal`."""
    return value.encode("utf-8", "surrogateescape").hex()


def _base64(raw: bytes) -> Iterator[str]:
    """What of the base64 of a longer text is certain, for each of the three ways the secret can lie in it."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + raw).decode()
        first = (before * 8 + 5) // 6  # characters that also depend on what comes before
        last = (before + len(raw)) * 8 // 6  # and behind
        for text in (encoded, encoded.translate(str.maketrans("+/", "-_"))):
            yield text[first:last]


def _compact(text: str) -> str:
    return "".join(text.split())


def _undone(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] == "%":
        return bytes.fromhex(found.replace("%", "")).decode("utf-8", "replace")
    groups = match.groupdict()
    if found[0] == "&":
        if groups["name"]:
            return _NAMED[groups["name"]]
        return _character(int(groups["number"]) if groups["number"] else int(groups["hex"], 16))
    if groups["one"]:
        return _ONE.get(groups["one"], groups["one"])
    if groups["high"]:
        return _character(0x10000 + (int(groups["high"], 16) - 0xD800) * 0x400 + int(groups["low"], 16) - 0xDC00)
    return _character(int(groups["u"] or groups["U"] or groups["x"], 16))


def _character(point: int) -> str:
    return chr(point) if point <= 0x10FFFF else "\ufffd"


class _Map:
    """From the places in a text without a pattern's matches (undone, or dropped) to those in the text."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        drops = pattern in (_BLANKS, _BETWEEN_HEX)
        self._outs, self._ins, self._ends = [0], [0], [-1]
        """Of each stretch: where it begins outside and inside, and where an undone match ends inside (else -1)."""
        out = at = 0
        for match in pattern.finditer(text):
            out += match.start() - at
            at = match.end()
            if not drops:
                self._add(out, match.start(), at)
                out += len(_undone(match))
            self._add(out, at, -1)

    def _add(self, out: int, inside: int, end: int) -> None:
        self._outs.append(out)
        self._ins.append(inside)
        self._ends.append(end)

    def start(self, out: int) -> int:
        """Where the character at `out` begins inside."""
        n = bisect_right(self._outs, out) - 1
        return self._ins[n] + (out - self._outs[n] if self._ends[n] < 0 else 0)

    def end(self, out: int) -> int:
        """Where it ends."""
        n = bisect_right(self._outs, out) - 1
        return self._ins[n] + out - self._outs[n] + 1 if self._ends[n] < 0 else self._ends[n]
