"""Takes what must never be shown out of texts: before they are stored, posted, logged or handed to the model.

Known secrets are found in the spellings of `bot.spellings`. Discord tokens are also known by their shape, whosever they
are. This is a net, not a wall: what a tool can read, a tool can disguise. The wall is that a child process is given no
secret but the named ones that an approved call refers to.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from bot.spellings import SHORTEST, Reading, hex_spelling, hexadecimal, readings, settled, spellings

_TOKEN_SHAPE = re.compile(
    r"(?<![\w-])[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?![\w-])", re.ASCII
)
"""A bot token: base64 of its numeric id, a time, a signature."""

_MASK = re.compile(r"\[masked: (?:part of )?([^\]\n]{1,100})\]")
_CUT = re.compile(r"\[\.\.\.[^\]\n]{0,80}\.\.\.\]")
"""How this house marks where a text was cut: what stands beside it may be the half of a secret."""
_LEAST, _PART = 4, 8
"""So many characters at a cut are the part of a secret, by how long that is."""

Span = tuple[int, int, str]
"""Where a secret begins and ends, and its label."""


class Redactor:
    """Masks a set of secrets. Cheap to keep, safe to share between threads."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` maps a name that may be shown to a value that may not. Values too short to be told from ordinary
        words are left alone."""
        self._forms: Mapping[str, str] = {}
        self._hex: Mapping[str, str] = {}
        self._names: set[str] = set()
        self._longest = self._shortest = 0
        self.learn(secrets)

    def learn(self, secrets: Mapping[str, str]) -> None:
        """Mask these as well from now on."""
        fit = {name: value for name, value in secrets.items() if len("".join(value.split())) >= SHORTEST}
        self._forms = dict(self._forms) | {form: name for name, value in fit.items() for form in spellings(value)}
        self._hex = dict(self._hex) | {hex_spelling(value): name for name, value in fit.items()}
        self._names = {*self._forms.values(), *self._hex.values()}
        lengths = [*map(len, self._forms), *map(len, self._hex)]
        self._longest, self._shortest = max(lengths, default=0), min(lengths, default=sys.maxsize)

    def mask(self, text: str) -> str:
        """`text` with `[masked: NAME]` in place of every secret. A text without one comes back as it is."""
        return _TOKEN_SHAPE.sub("[masked: Discord token]", self.known(text))

    def known(self, text: str) -> str:
        """The same for known secrets only: what is to run must not change for its looks."""
        return _replaced(text, self._found(text))

    def result(self, text: str) -> str:
        """`mask`, for what a tool gave: also parts of secrets at its ends, and wherever it says that it was cut."""
        if not self._forms:
            return self.mask(text)
        pieces: list[str] = []
        at = 0
        for cut in (*_CUT.finditer(text), None):
            piece = text[at : cut.start() if cut else len(text)]
            pieces += [_replaced(piece, [*self._found(piece), *self._edges(piece)]), cut[0] if cut else ""]
            at = cut.end() if cut else at
        return _TOKEN_SHAPE.sub("[masked: Discord token]", self.known("".join(pieces)))

    def growing(self, text: str) -> str:
        """`mask`, for a text that will go on: what may turn out to be the beginning of a secret is held back."""
        whole = settled(text)
        cut = len(whole)
        tail_at = max(0, len(whole) - 6 * self._longest)  # an escape takes up to six characters for one
        for reading in readings(whole[tail_at:]):
            for form in self._forms:
                if (size := _overlap(reading.text, form)) > 0:
                    cut = min(cut, tail_at + reading.span(len(reading.text) - size, len(reading.text))[0])
        reading = hexadecimal(whole[tail_at:])
        for form in self._hex:
            if (size := _overlap(reading.text, form)) > 1:  # one digit says nothing
                cut = min(cut, tail_at + reading.span(len(reading.text) - size, len(reading.text))[0])
        cut = min([cut, *(start for start, end, _ in self._found(whole) if start < cut < end)])
        return self.mask(whole[:cut])

    def values(self, value: Any) -> Any:
        """`known` for every text in a JSON value, names included."""
        if isinstance(value, str):
            return self.known(value)
        if isinstance(value, Mapping):
            return {self.values(name): self.values(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.values(one) for one in value]
        return value

    def marked(self, value: Any) -> str | None:
        """The name of a known secret whose mask stands somewhere in a JSON value, or None."""
        if isinstance(value, str):
            names = [*_MASK.findall(value)] if "[masked: " in value else []
            return next((name for name in names if name in self._names), None)
        if isinstance(value, Mapping):
            value = [*value, *value.values()]
        if isinstance(value, list | tuple):
            return next((name for one in value if (name := self.marked(one)) is not None), None)
        return None

    def _found(self, text: str) -> list[Span]:
        if len(text) < self._shortest:
            return []
        found: list[Span] = []
        for reading in readings(text):
            for form, name in self._forms.items():
                if form in reading.text:
                    found.extend(_spans(reading, form, name))
        reading = hexadecimal(text)
        for form, name in self._hex.items():
            if form in reading.text:
                found.extend(_spans(reading, form, name))
        return found

    def _edges(self, text: str) -> Iterator[Span]:
        """What at either end of `text` is the part of a secret."""
        for reading in [*readings(text), hexadecimal(text)]:
            read = reading.text
            for form, name in self._hex.items() if reading.steps == ("hex",) else self._forms.items():
                least = max(_LEAST, min(_PART, len(form) // 2))
                if (size := _overlap(read, form)) >= least:
                    yield *reading.span(len(read) - size, len(read)), f"[masked: part of {name}]"
                if (size := _overlap(read[::-1], form[::-1])) >= least:
                    yield *reading.span(0, size), f"[masked: part of {name}]"


def _overlap(text: str, form: str) -> int:
    """How many characters at the end of `text` are the beginning of `form`, though not all of it."""
    tail = text[max(0, len(text) - len(form) + 1) :]
    at = tail.find(form[0])
    while at >= 0:
        if form.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(form[0], at + 1)
    return 0


def _spans(reading: Reading, form: str, name: str) -> Iterator[Span]:
    at = reading.text.find(form)
    while at >= 0:
        yield *reading.span(at, at + len(form)), f"[masked: {name}]"
        at = reading.text.find(form, at + len(form))


def _replaced(text: str, spans: list[Span]) -> str:
    """The labels in place of the spans; of spans that overlap, that of the longest for all of them."""
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    spans = sorted(spans)
    while spans:
        start, end, label = spans.pop(0)
        longest = end - start
        while spans and spans[0][0] < end:
            other = spans.pop(0)
            end = max(end, other[1])
            if other[1] - other[0] > longest:
                longest, label = other[1] - other[0], other[2]
        parts += [text[at:start], label]
        at = end
    return "".join([*parts, text[at:]])
