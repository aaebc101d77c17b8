"""The small change of the offline rules: quotes, backticks, fences, courtesy, and what a rule hands back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wish:
    """A tool call somebody asked for."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Read:
    """What a rule made of a clause."""

    wishes: tuple[Wish, ...] = ()
    unread: tuple[str, ...] = ()
    """What it could not act on, in the person's words."""
    hints: tuple[str, ...] = ()
    """How to say it instead."""


Rule = Callable[[str], Read | None]
"""Takes one clause without its courtesies. None: not a matter of this rule."""

SPAN = r"(?:``(?!`)[^\n]+?``(?!`)|`[^`]+`)"
"""An inline code span, as Discord writes it. Has no group of its own."""

FENCE = re.compile(
    r"```(?:(?P<lang>[\w+#.-]*)[ \t]*\n(?P<body>.*?)\n?[ \t]*|(?P<line>[^\n`]+))```",
    re.DOTALL,
)

_PROTECTED = re.compile(
    rf"```.*?(?:```|\Z)|{SPAN}|\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)|https?://\S*[\w/=&#%-]",
    re.DOTALL | re.IGNORECASE,
)


def mask(text: str) -> str:
    """The same text, of the same length, with everything quoted, fenced or addressed blotted out."""
    return _PROTECTED.sub(lambda found: "\x00" * len(found[0]), text)


def fenced(found: re.Match[str]) -> tuple[str, str]:
    """Language (lower case, maybe empty) and body of a match of `FENCE`."""
    return (found["lang"] or "").lower(), found["line"].strip() if found["body"] is None else found["body"]


_QUOTES = {'"': '"', "“": "”", "'": "'", "`": "`"}


def quoted(text: str) -> bool:
    """Whether the whole text stands in one pair of quotes or backticks."""
    if text.startswith("``") and not text.startswith("```"):
        return re.fullmatch(SPAN, text) is not None
    end = _QUOTES.get(text[:1])
    return end is not None and len(text) > 2 and text.find(end, 1) == len(text) - 1


def plain(text: str) -> str:
    """The text without the one pair of quotes or backticks around it, if there is one."""
    text = text.strip()
    if not quoted(text):
        return text
    return text[2:-2].strip() if text.startswith("``") else text[1:-1]


_LEADING = re.compile(
    r"(?:<@!?\d+>[,:]?\s*"
    r"|(?:[-*•]|\d+[.)])\s+"
    r"|(?:hi|hello|hey|good\s+(?:morning|evening|day))(?:\s+(?:there|bot|signoff|all))?\s*[,!.:]\s*"
    r"|(?:please|pls|kindly|now|also|first|just|and|then|finally|next|ok|okay|so|signoff)(?!\w)[,!.:]?\s+"
    r"|(?:can|could|would|will)\s+you\s+"
    r"|(?:i\s+want|i['’]d\s+like|i\s+would\s+like|i\s+need)\s+you\s+to\s+"
    r"|let['’]?s\s+|go\s+ahead\s+and\s+"
    r"|use\s+(?:the\s+)?(?:shell|terminal|bash|command\s+line)(?:\s+tool)?\s+to\s+)+",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"[\s,]+(?:please|pls|thanks|thank\s+you|for\s+me|would\s+you|will\s+you)$", re.IGNORECASE)


def without_courtesy(text: str) -> str:
    """The text without a mention, a greeting, a bullet or `please` in front of it."""
    text = text.strip()
    found = _LEADING.match(text)
    return text[found.end() :].strip() if found else text


def trim(text: str) -> str:
    """The text without `please` and a full stop behind it. What is quoted stays exact."""
    before, text = "", text.strip()
    while text != before:
        before, end = text, text[-24:]
        if found := _TRAILING.search(end):
            text = text[: found.start() - len(end)].rstrip()
        bare = text.rstrip(".!?,;")
        if bare and (bare[-1].isalnum() or bare[-1] in "_\"'`”)]/"):
            text = bare
    return text


_IGNORABLE = re.compile(
    r"(?:again|now|once\s+more|right\s+away|(?:many\s+)?thanks?(?:\s+you)?(?:\s+(?:very|so)\s+much|\s+a\s+lot)?|please|cheers|ok|okay|great|cool"
    r"|hi|hello|hey|good\s+(?:morning|evening|day)|report\s+back|in\s+the\s+(?:shell|terminal)"
    r"|help(?:\s+me)?|what\s+can\s+you\s+do|who\s+are\s+you|what\s+are\s+you|how\s+do\s+you\s+work|what\s+do\s+you\s+understand"
    r"|(?:show|tell|give|send)\s+(?:me|us)\s+(?:the\s+|its\s+|what\s+)?"
    r"(?:output|outcome|results?|answer|it\s+(?:says|prints|shows)|happens|happened|you\s+(?:see|find|get)))"
    r"(?:\s+there|\s+please|\s+all)?[\s.!?,]*",
    re.IGNORECASE,
)


def is_courtesy(clause: str) -> bool:
    """Whether no tool is asked for: thanks, greetings, `help`, and `show me the output`, which happens anyway."""
    return _IGNORABLE.fullmatch(clause) is not None


def left_over(text: str) -> tuple[str, ...]:
    """What is left of a clause behind what a rule took, unless it is only courtesy."""
    text = without_courtesy(trim(text))
    return () if not text or is_courtesy(text) else (text,)
