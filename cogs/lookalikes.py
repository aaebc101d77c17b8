"""What an approver should be told about a text before reading it: what it hides, and what only looks familiar."""

from __future__ import annotations

import re
import unicodedata

from cogs import inert
from cogs.speech import tell

_HOST = re.compile(r"(?:://|@)(?:[^\s/@]*@)?([^\s/:?#@\"'`<>()\[\]{}|\\,;]+)")
_WORD = re.compile(r"[^\W\d_]+")
_DOTS = re.compile(r"[.\u3002\uff0e\uff61]")
"""What separates the labels of a host, as browsers read it (RFC 3490, section 3.1)."""
_SCRIPTS = frozenset(
    {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN", "LISU", "GOTHIC", "DESERET"}
    | {"FULLWIDTH", "MATHEMATICAL"}
)
"""Alphabets whose letters are taken for one another. Chinese, Japanese and Korean mix with Latin in daily use."""
_SHOWN = 3
"""Examples of one kind; more would only push the call out of view."""


def remarks(text: str) -> list[str]:
    """Plain sentences about a text, each safe to put into a message as it stands."""
    found: list[str] = []
    letters = set(text)
    if any(inert.hides(char) for char in letters - set("\n\t\r")):
        found.append(tell("arguments.invisible"))
    if any(unicodedata.bidirectional(char) in {"R", "AL"} for char in letters):
        found.append(tell("arguments.right_to_left"))
    hosts = _strange_hosts(text)
    found.extend(
        tell("arguments.address", shown=inert.line(host, limit=80), real=inert.line(real, limit=80))
        for host, real in hosts
    )
    mixed = [word for word in _mixed_words(text) if not any(word in host for host, _ in hosts)]
    if mixed:
        found.append(tell("arguments.mixed", words=", ".join(map(_shown_word, mixed))))
    return found


def _strange_hosts(text: str) -> list[tuple[str, str]]:
    hosts = dict.fromkeys(host for host in _HOST.findall(text) if not host.isascii())
    return [(host, punycode(host)) for host in list(hosts)[:_SHOWN]]


def punycode(host: str) -> str:
    """The host as the network spells it."""
    labels = _DOTS.split(unicodedata.normalize("NFKC", host).lower())
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode", "backslashreplace").decode("ascii")
        for label in labels
    )


def _mixed_words(text: str) -> list[str]:
    if text.isascii():
        return []
    words = dict.fromkeys(word for word in _WORD.findall(text) if not word.isascii())
    return [word for word in words if len({_script(char) for char in word} & _SCRIPTS) > 1][:_SHOWN]


def _script(char: str) -> str:
    return "LATIN" if char.isascii() else unicodedata.name(char, "").partition(" ")[0]


def _shown_word(word: str) -> str:
    return inert.line(word, limit=40)
