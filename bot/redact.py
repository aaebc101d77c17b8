"""Takes what must never be shown out of texts: for logs, for people, and for the model too.

Known secrets are found as they are, and in the spellings in which they leak by accident or by a small trick:
base64 (any alignment), hex, URL, HTML and JSON escapes, also broken by blanks and newlines as `base64` and `xxd` break
lines. Discord tokens are also known by their shape, whosever they are. This is a net, not a wall: what a
tool can read, a tool can disguise. The wall is that no child process is ever given a secret.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

SHORTEST = 8
"""Shorter values are not secrets worth the name, and masking them would tear holes into ordinary words."""

_TOKEN_SHAPE = re.compile(
    r"(?<![\w-])[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?![\w-])", re.ASCII
)
"""A bot token: base64 of its numeric id, a time, a signature."""


class Redactor:
    """Masks a fixed set of secrets. Cheap to keep, safe to share between threads."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` maps a name that may be shown to a value that may not."""
        forms = {form: name for name, value in secrets.items() if len(value) >= SHORTEST for form in _spellings(value)}
        # The longest first, so that no spelling is cut up by a shorter one within it.
        self._forms = [
            (form, re.compile(r"\s*".join(map(re.escape, form))), f"[masked: {name}]")
            for form, name in sorted(forms.items(), key=lambda item: -len(item[0]))
        ]

    def mask(self, text: str) -> str:
        """`text` with `[masked: NAME]` in place of every secret. A text without one comes back as it is."""
        compact = "".join(text.split())
        for form, pattern, label in self._forms:
            if form in compact:
                text = pattern.sub(label, text)
        return _TOKEN_SHAPE.sub("[masked: Discord token]", text)


def _spellings(value: str) -> Iterator[str]:
    """The value, and what it becomes when encoded: without blanks, as those are allowed anywhere."""
    raw = value.encode()
    plain = [
        value,
        quote(value, safe=""),
        quote_plus(value),
        html.escape(value),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        repr(value)[1:-1],
        raw.hex(),
        raw.hex().upper(),
        *_base64(raw),
    ]
    for spelling in plain:
        without_blanks = "".join(spelling.split())
        if len(without_blanks) >= SHORTEST:
            yield without_blanks


def _base64(raw: bytes) -> Iterator[str]:
    """What of the base64 of a longer text is certain, for each of the three ways the secret can lie in it."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + raw).decode()
        first = (before * 8 + 5) // 6  # characters that also depend on what comes before
        last = (before + len(raw)) * 8 // 6  # and behind
        for text in (encoded, encoded.translate(str.maketrans("+/", "-_"))):
            yield text[first:last]
