"""Reads a message as a Discord client shows it, and what this bot's notation stands for; apart from what it judges.

The grammar is that of the clients' markdown, as their public re-implementations and Discord's markdown reference have
it: at each place the first rule that fits wins, code only where no other rule has begun before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

CODE, BLOCK = "code", "block"

_FENCE = re.compile(r"```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n].*?)\n*```", re.IGNORECASE | re.DOTALL)
_SPAN = re.compile(r"(`+)(.*?[^`])\1(?!`)", re.DOTALL)
_HEADING = re.compile(r"#{1,3} +([^\n]+)")
_SUBTEXT = re.compile(r"-# +([^\n]+)")
_LIST = re.compile(r"( *)(?:[-*]|\d+\.) +([^\n]+)")
_REST_QUOTED = re.compile(r" *>>> +(.*)", re.DOTALL)
_QUOTE = re.compile(r" *>(?!>>) +([^\n]*(?:\n *>(?!>>) +[^\n]*)*)")
_MASKED = re.compile(r"\[((?:\[[^\]]*\]|[^\[\]]|\](?=[^\[]*\]))*)\]\(\s*<?((?:[^\s\\()]|\\.|\([^\s()]*\))*?)>?(?:\s+['\"](.*?)['\"])?\s*\)", re.DOTALL)  # fmt: skip  # noqa: E501
_EMPHASIS = re.compile(r"\b_((?:__|\\.|[^\\_])+?)_\b|\*(?=\S)((?:\*\*|\\.|\s+(?:\\.|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)", re.DOTALL)  # fmt: skip  # noqa: E501
_STYLES = (
    ("strong", re.compile(r"\*\*((?:\\.|[^\\])+?)\*\*(?!\*)", re.DOTALL)),
    ("underline", re.compile(r"__((?:\\.|[^\\])+?)__(?!_)", re.DOTALL)),
    ("strike", re.compile(r"~~([^\n]+?)~~(?!_)")),
    ("spoiler", re.compile(r"\|\|(.+?)\|\|", re.DOTALL)),
)
_ATOMS = (
    ("user", re.compile(r"<@!?\d+>")),
    ("role", re.compile(r"<@&\d+>")),
    ("channel", re.compile(r"<#\d+>")),
    ("everyone", re.compile(r"@(?:everyone|here)\b")),
    ("command", re.compile(r"</[^\n:>]{1,100}:\d+>")),
    ("section", re.compile(r"<id:\w+>")),
    ("emoji", re.compile(r"<a?:\w+:\d+>")),
    ("sound", re.compile(r"<sound:\d+:\d+>")),
    ("time", re.compile(r"<t:-?\d+(?::[tTdDfFRsS])?>")),
    ("link", re.compile(r"<(?:https?|steam)://[^\s<>]+>|<[^\s<>@:]+@[^\s<>@:]+\.[^\s<>@:]+>", re.IGNORECASE)),
    ("link", re.compile(r"(?:https?|steam)://[^\s<]+[^<.,:;\"'\])\s]", re.IGNORECASE)),
)
_ESCAPED = re.compile(r"\\([^0-9A-Za-z\s])")
_PLAIN = re.compile(r"(?:[^\\`*_~|\[<@\nhs]|h(?!ttps?://)|s(?!team://))+", re.IGNORECASE)
"""What no rule begins with, but for those that begin a line."""
_DIGITS = re.compile(r"\d[\d,]*")


@dataclass(frozen=True)
class Node:
    """Something that a client shows. `kind` is text, code, block, break, a style with its `inside`, or an atom."""

    kind: str
    text: str
    inside: tuple[Node, ...] = ()


def read(message: str) -> tuple[Node, ...]:
    """The message as a client shows it."""
    return tuple(_read(message.strip(), quoted=False))


def _read(text: str, *, quoted: bool) -> Iterator[Node]:
    at, plain = 0, []
    while at < len(text):
        found = _next(text, at, quoted)
        if found is None:
            skipped = _PLAIN.match(text, at)
            end = skipped.end() if skipped else at + 1
            plain.append(text[at:end])
            at = end
            continue
        node, end = found
        if plain:
            yield Node("text", "".join(plain))
            plain = []
        yield node
        at = end
    if plain:
        yield Node("text", "".join(plain))


def _next(text: str, at: int, quoted: bool) -> tuple[Node, int] | None:
    """What begins here, and where it ends; None for plain text."""
    char = text[at]
    if char == "\n":
        return Node("break", "\n"), at + 1
    if (at == 0 or text[at - 1] == "\n") and (line := _line(text, at, quoted)) is not None:
        return line
    if char == "\\" and (escaped := _ESCAPED.match(text, at)):
        return Node("text", escaped[1]), escaped.end()
    if char == "`":
        if fence := _FENCE.match(text, at):
            return Node(BLOCK, fence[2], (Node("tag", fence[1] or ""),)), fence.end()
        if span := _SPAN.match(text, at):
            return Node(CODE, span[2]), span.end()
    if char == "[" and (masked := _MASKED.match(text, at)):
        return Node("masked link", masked[2], tuple(_read(masked[1], quoted=quoted))), masked.end()
    if char in "<@hHsS":
        for kind, pattern in _ATOMS:
            if (char in "hHsS") == (pattern.pattern[:3] == "(?:" and kind == "link") and (
                atom := pattern.match(text, at)
            ):
                return Node(kind, atom[0]), atom.end()
    if char in "*_~|":
        for kind, pattern in _STYLES:
            if styled := pattern.match(text, at):
                return Node(kind, "", tuple(_read(styled[1], quoted=quoted))), styled.end()
        if char in "*_" and (leaning := _EMPHASIS.match(text, at)):
            return Node("emphasis", "", tuple(_read(leaning[1] or leaning[2], quoted=quoted))), leaning.end()
    return None


def _line(text: str, at: int, quoted: bool) -> tuple[Node, int] | None:
    """What only begins a line."""
    rules = [("heading", _HEADING), ("subtext", _SUBTEXT), ("list", _LIST)]
    if not quoted:
        rules = [("rest quoted", _REST_QUOTED), ("quote", _QUOTE), *rules]
    for kind, pattern in rules:
        if (found := pattern.match(text, at)) is not None:
            inside = found[found.lastindex or 0]
            if kind == "quote":
                inside = re.sub(r"^ *> ?", "", inside, flags=re.MULTILINE)
            return Node(kind, "", tuple(_read(inside, quoted=quoted or kind in {"quote", "rest quoted"}))), found.end()
    return None


def codes(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Every code span and block, in order."""
    for node in nodes:
        if node.kind in {CODE, BLOCK}:
            yield node
        else:
            yield from codes(node.inside)


def outside(nodes: tuple[Node, ...]) -> list[str]:
    """What stands around the code, a line each: styles and atoms by name, code as a box, numbers as 0."""
    return [_DIGITS.sub("0", line.strip()) for line in _outside(nodes).split("\n") if line.strip()]


def _outside(nodes: tuple[Node, ...]) -> str:
    parts = []
    for node in nodes:
        match node.kind:
            case "text" | "break":
                parts.append(node.text)
            case "code":
                parts.append("□")
            case "block":
                parts.append(f"\n▤{node.inside[0].text}\n")
            case "masked link":
                parts.append(f"<link {_outside(node.inside)}>")
            case "strong" | "underline" | "strike" | "spoiler" | "emphasis" | "heading" | "subtext" | "list" | "quote":
                parts.append(f"<{node.kind} {_outside(node.inside)}>")
            case kind:
                parts.append(f"<{kind}>")
    return "".join(parts)


# -- the notation --------------------------------------------------------------------------------


class Unreadable(ValueError):
    """A text that does not follow the documented notation."""


_MARK = re.compile(r"⟨(?:U\+([0-9A-F]{4,6})|(\d+) (newlines|spaces)|(empty))⟩")
_INVISIBLE = regex.compile(
    r"[\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}\p{Zs}\u2800\U0001D159\uFFFC--[ \n]]", regex.V1
)
_NOTATION = re.compile(r"[⟨⟩↵⇥␠\n]")
_UNMARKED = re.compile(r"[^⟨⟩↵⇥␠\n]+")
_STACKED = regex.compile(r"[\p{Mn}\p{Me}]{3}")


@lru_cache(maxsize=20_000)
def meant(shown: str) -> str:
    """The text that a drawn one stands for. Raises `Unreadable` for one that hides something, or is not well drawn."""
    if hidden := _INVISIBLE.search(shown):
        raise Unreadable(f"U+{ord(hidden[0]):04X} is not to be seen")
    if _STACKED.search(shown):
        raise Unreadable("marks upon marks")
    if not _NOTATION.search(shown):
        return shown
    out, at = [], 0
    while at < len(shown):
        if plain := _UNMARKED.match(shown, at):
            out.append(plain[0])
            at = plain.end()
            continue
        char = shown[at]
        at += 1
        if char == "⟨":
            mark = _MARK.match(shown, at - 1)
            if mark is None:
                raise Unreadable("a mark that is none")
            at = mark.end()
            if mark[1]:
                out.append(chr(int(mark[1], 16)))
            elif mark[2]:
                out.append(("\n" if mark[3] == "newlines" else " ") * int(mark[2]))
                at += mark[3] == "newlines" and shown[at : at + 1] == "\n"
        elif char == "↵":
            out.append("\n")
            at += shown[at : at + 1] == "\n"
        elif char in "⟩\n":
            raise Unreadable(f"{char!r} by itself")
        else:
            out.append({"⇥": "\t", "␠": " "}.get(char, char))
    return "".join(out)


@lru_cache(maxsize=20_000)
def tells(shown: str, text: str) -> bool:
    """Whether a drawn line tells this text: all of it, or its beginning with `…` in the place of the rest."""
    try:
        if shown.endswith("…"):
            told = meant(shown[:-1])
            return len(told) < len(text) and text.startswith(told)
        return meant(shown) == text
    except Unreadable:
        return False
