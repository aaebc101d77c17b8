"""Credentials that nobody here knows, found by their shape, so that a card need not show them to a whole channel.

A span holds letters, digits and `_-.+/=:` only, and is as long as the shape says: a quote, a `$`, a backtick, a `;`, a
bracket or a blank always ends it. So what hides behind a mask is never code. (A usual mask of `KEY=value` covered
`$(curl ...|sh)` whole.) Words that those characters can make, a path or a command's name, are no credential either:
where one cannot be told from the other, it is shown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SHAPES = {
    "Discord token": r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}",
    "GitHub token": r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255}",
    "GitLab token": r"gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{20,64}",
    "Slack token": r"xox[abeprs]-[A-Za-z0-9-]{20,255}",
    "Stripe key": r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}",
    "API key": (
        r"sk-(?=[a-z0-9_-]{0,254}[A-Z])(?=[A-Z0-9_-]{0,254}[a-z])(?=[A-Za-z_-]{0,254}[0-9])[A-Za-z0-9_-]{20,255}"
    ),
    "AWS key": r"A(?:KIA|SIA|ROA)[A-Z0-9]{16}",
    "Google key": r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,255}",
    "npm token": r"npm_[A-Za-z0-9]{36}",
    "PyPI token": r"pypi-[A-Za-z0-9_-]{50,255}",
    "Hugging Face token": r"hf_[A-Za-z0-9]{30,64}",
    "Telegram token": r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    "JSON web token": r"eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{10,2000}",
}
"""What a credential is called, and how it is written. None of these is a word, a path or a program."""

_ANY = re.compile(
    r"(?<![A-Za-z0-9_-])(?:" + "|".join(f"({shape})" for shape in SHAPES.values()) + r")(?![A-Za-z0-9_-])", re.ASCII
)
_NAMES = tuple(SHAPES)
_HINTS = (
    "gh",
    "_pat_",
    "gl",
    "xox",
    "k_",
    "sk-",
    "AKIA",
    "ASIA",
    "AROA",
    "AIza",
    "ya29",
    "npm_",
    "pypi-",
    "hf_",
    ":AA",
    "eyJ",
)
"""One of these is in every match, but for the first shape, which has two dots."""

_SENT = re.compile(
    r"\b(?:proxy-)?authorization\\{0,3}[\"']?[),]?[ ]{0,3}[:=]?[ ]{0,3}\\{0,3}[\"']?(?:bearer|bot|basic|token)[ ]+"
    r"(?P<span>(?=[A-Za-z0-9+=_.~-]{0,200}[0-9])(?=[A-Za-z0-9+=_.~-]{0,200}[A-Za-z])[A-Za-z0-9][A-Za-z0-9+=_.~-]{15,4000})",
    re.ASCII | re.IGNORECASE,
)
"""Whatever is sent as an authorization and looks like nothing that runs: no slash is in it."""
_HOOK = re.compile(r"/api/webhooks/[0-9]{15,21}/(?P<span>[A-Za-z0-9_-]{60,80})", re.ASCII)
_BREAK = r"(?:\\n|\r?\n)[ \t]{0,16}"
_PEM = re.compile(
    r"-----BEGIN (?P<what>(?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY)-----"
    rf"(?P<body>(?={_BREAK}(?:M|b3BlbnNzaC1r))(?:{_BREAK}[A-Za-z0-9+/]{{64,76}})+(?:{_BREAK}[A-Za-z0-9+/]{{1,75}}={{0,2}})?)"
    rf"{_BREAK}-----END (?P=what)-----",
    re.ASCII,
)
"""A whole key, up to its end, in full lines as every tool writes them (RFC 7468): a first line alone hides nothing."""
_PEM_LINE = re.compile(
    rf"{_BREAK}(?P<span>(?=[^\r\n\\]*[0-9])(?=[^\r\n\\]*[A-Z])(?=[^\r\n\\]*[a-z])[A-Za-z0-9+][A-Za-z0-9+/]{{15,75}}={{0,2}})"
    r"(?=\\n|\r?\n|$)",
    re.ASCII,
)
_LIKE_PEM = re.compile(r"PRIVATE KEY-----(?:\s+|\\n|[A-Za-z0-9+/=]+)*", re.ASCII)
_LIKE_API = re.compile(r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,255}", re.ASCII)
_LIKE_LINE = re.compile(r"[A-Za-z0-9+/=]{16,100}", re.ASCII)


@dataclass(frozen=True, order=True)
class Span:
    """A part of a text that looks like a credential."""

    start: int
    end: int
    kind: str


def find(text: str) -> list[Span]:
    """The spans of a text, in order; none overlaps another."""
    return _apart(_spans(text))


def _apart(spans: Iterable[Span]) -> list[Span]:
    found = sorted(spans, key=lambda span: (span.start, -span.end))
    kept: list[Span] = []
    for span in found:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def covered(text: str) -> str:
    """The text with what is shown in the place of each span, in square brackets: for logs.

    Nobody decides by a log: what may be a part of a key, or a key, is left out of it as well.
    """
    parts: list[str] = []
    at = 0
    for span in _apart([*_spans(text), *_alike(text)]):
        parts += [text[at : span.start], f"[{name(text, span)}]"]
        at = span.end
    return "".join([*parts, text[at:]])


def name(text: str, span: Span) -> str:
    """What is shown in its place: what it is, how long, and a mark by which two that are the same can be told."""
    token = text[span.start : span.end]
    mark = hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"masked: {span.kind}, {len(token)} characters, {mark}"


def _spans(text: str) -> Iterator[Span]:
    if any(hint in text for hint in _HINTS) or text.count(".") > 1:
        for match in _ANY.finditer(text):
            yield Span(match.start(), match.end(), _NAMES[(match.lastindex or 1) - 1])
    lowered = text.lower()
    if "authorization" in lowered:
        yield from (Span(*match.span("span"), "authorization") for match in _SENT.finditer(text))
    if "/api/webhooks/" in lowered:
        yield from (Span(*match.span("span"), "webhook token") for match in _HOOK.finditer(text))
    if "PRIVATE KEY-----" in text:
        for match in _PEM.finditer(text):
            begin = match.start("body")
            for one in _PEM_LINE.finditer(match["body"]):
                yield Span(begin + one.start("span"), begin + one.end("span"), "private key")


def _alike(text: str) -> Iterator[Span]:
    if "sk-" in text:
        yield from (Span(*match.span(), "API key") for match in _LIKE_API.finditer(text))
    if "PRIVATE KEY-----" in text:
        for match in _LIKE_PEM.finditer(text):
            for one in _LIKE_LINE.finditer(text, match.start(), match.end()):
                yield Span(one.start(), one.end(), "private key")
