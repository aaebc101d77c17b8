"""Whether a place shows what it was given: what stands around may not depend on it, what stands in it must tell it.

The first is learned: harmless texts of every length and shape are drawn first, and whatever stands around them is all
that may ever stand there. An attack that adds a word, a link or a ping, or takes a line away, is found by that.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from tests.proof.faces import Field
from tests.proof.reader import BLOCK, CODE, Node, Unreadable, codes, meant, outside, read, tells
from tests.proof.scenes import Scene
from tests.proof.shown import Part, units

Given = Sequence[tuple[Field, Sequence[str], str]]
"""Fields with what is to be read in them and what they were given."""

_LEFT_OUT = re.compile(r"([\d,]+) characters not shown")
_LIST = re.compile(r"□(?:, □)+")

HARMLESS = (
    "y",
    "plain words",
    "y" * 30,
    "y" * 60,
    "y" * 79,
    "y" * 90,
    "y" * 130,
    "y" * 400,
    "y" * 900,
    "y" * 2_100,
    "y" * 9_000,
    "word " * 30 + "y",
    "word " * 300 + "y",
    "word " * 2_000 + "y",
    "y\ny",
    "y\n\ny",
    "y\n" * 30 + "y",
    "y\n" * 600 + "y",
    "ls \u202e y",
    "\u202e" * 60,
    "\u202e" * 300,
    "\u202e" * 3_000,
    "שלום y",
    "\u202e שלום y",
    "ls аpprove",
    "\u202e аpprove",
    "\u202e שלום ls аpprove",
    "curl https://раypal.com",
    "\u202e curl https://раypal.com cхd",
    "שלום ls аpprove",
    "https://раypal.com https://раypal.net https://раypal.org дd",
    "\u202e " + "аpprove " * 400,
    "\u202e\n" * 90,
    "",
    " ",
    "7",
    "y 7",
    "{}",
    "[1]",
    "y*",
    "y `y` y",
    "\t" * 90,
    "\n" * 90,
    "y" * 1_100 + " שלום",
    "שלום" * 300,
    "\x01" * 11,
    "y\u202e" * 2_000 + "שלום",
)


class Unfaithful(AssertionError):
    """A place that does not show what it was given."""


@dataclass(frozen=True)
class Looked:
    """A message as a client shows it: the lines around the code, the code spans, the tags and texts of the blocks."""

    lines: tuple[str, ...]
    spans: tuple[str, ...]
    tags: tuple[str, ...]
    blocks: tuple[str, ...]
    codes: tuple[str, ...]


@lru_cache(maxsize=5_000)
def look(message: str) -> Looked:
    """Depends on the message alone, so what many showings have in common is read once. Raises `Unreadable`."""
    nodes = read(message)
    found = list(codes(nodes))
    return Looked(
        lines=tuple(_lines(nodes)),
        spans=tuple(one.text for one in found if one.kind == CODE),
        tags=tuple(one.inside[0].text for one in found if one.kind == BLOCK),
        blocks=tuple(_excerpts(nodes)),
        codes=tuple(one.text for one in found),
    )


@dataclass(frozen=True)
class Known:
    """Lines around a text, and code and plain texts that have nothing to do with it; and what those stand for."""

    around: frozenset[str]
    constant: frozenset[str]
    constantly: frozenset[str]


@cache
def known(scene: Scene) -> Known:
    """What stands around harmless texts: each of them in each field, and many of them at once."""
    around: set[str] = set()
    constant: set[str] = set()
    for texts in _harmless(len(scene.fields)):
        given = [(field, field.means(text), text) for field, text in zip(scene.fields, texts, strict=True)]
        for part in scene.show(*texts):
            if part.kind == "markdown":
                seen = look(part.text)
                around.update(seen.lines)
                constant.update(one for one in seen.codes if not _of(given, one))
            elif part.kind == "plain" and not _of(given, part.text):
                constant.add(part.text)
    constantly = frozenset(meant(one) for one in constant if _readable(one))
    return Known(frozenset(around), frozenset(constant), constantly)


def _harmless(count: int) -> Iterator[tuple[str, ...]]:
    for text in HARMLESS:
        yield from {("y",) * at + (text,) + ("y",) * (count - at - 1) for at in range(count)}
    rng = random.Random(count)
    if count > 1:
        yield from (tuple(rng.choices(HARMLESS, k=count)) for _ in range(300))


def judge(scene: Scene, *texts: str) -> None:
    """Raise `Unfaithful` with what is wrong with a scene that shows these texts, one for each of its fields."""
    usual = known(scene)
    given = [(field, field.means(text), text) for field, text in zip(scene.fields, texts, strict=True)]
    told = [one for _, means, _ in given for one in means]
    unread = {at for at, (field, _, _) in enumerate(given) if field.always}

    def found(tells_it: Callable[[str], bool]) -> None:
        unread.difference_update([at for at in unread if any(map(tells_it, given[at][1]))])

    for part in scene.show(*texts):
        if not part.least <= units(part.text) <= part.most:
            raise Unfaithful(f"{part.kind} of {units(part.text)} units, {part.least} to {part.most} are taken")
        if part.kind == "markdown":
            seen = look(part.text)
            if strange := [line for line in seen.lines if line not in usual.around]:
                raise Unfaithful(f"around it stands {strange[0]!r}")
            for tag in seen.tags:
                if tag != "text":
                    raise Unfaithful(f"a block that is read as {tag!r}")
            for shown in seen.spans:
                found(partial(tells, shown))
                if shown not in usual.constant and not _of(given, shown):
                    raise Unfaithful(f"it is shown as {shown[:200]!r}")
            for whole in seen.blocks:
                found(whole.__eq__)
                if whole not in told and not any(whole == one for one in usual.constantly):
                    raise Unfaithful(f"a block tells {whole[:200]!r}")
        elif part.kind == "plain":
            if part.text not in usual.constant and not _of(given, part.text) and not _within(part.text, told):
                raise Unfaithful(f"plainly shown as {part.text[:200]!r}")
            found(partial(tells, part.text))
        elif part.kind == "typed":
            found(part.text.__eq__)
    if unread:
        raise Unfaithful(f"nowhere to be read: {', '.join(given[at][0].name for at in sorted(unread))}")


def _lines(nodes: Sequence[Node]) -> list[str]:
    return [_LIST.sub("□", line) for line in outside(tuple(nodes))]


def _of(given: Given, shown: str) -> bool:
    """Whether a drawn line tells one of the texts, or a piece of it where pieces are shown."""
    for field, told, text in given:
        if any(tells(shown, one) for one in told):
            return True
        if field.pieces and (_piece(shown, text) or any(_piece(shown, one) for one in told)):
            return True
    return False


def _piece(shown: str, text: str) -> bool:
    try:
        inner = shown.strip("…")
        # A host stands there as the network spells it, too: each label folded as browsers do, or in punycode.
        network = unicodedata.normalize("NFKC", text).lower()
        return meant(inner) in text or all(one.startswith("xn--") or one in network for one in meant(inner).split("."))
    except Unreadable:
        return False


def _within(shown: str, told: Sequence[str]) -> bool:
    """Whether a label is made of our own words and the text behind them."""
    try:
        whole = meant(shown.removesuffix("…"))
    except Unreadable:
        return False
    cut = shown.endswith("…")
    begins = range(min(len(whole), 40) + 1)
    return any(one.startswith(whole[at:]) if cut else whole[at:] == one for at in begins for one in told)


def _readable(shown: str) -> bool:
    try:
        meant(shown)
    except Unreadable:
        return False
    return True


def _excerpts(nodes: Sequence[Node]) -> Iterator[str]:
    """What each block tells; of two with a count between, what both and the count stand for.

    The characters left out are stood for by as many U+FFFD: they cannot be compared.
    """
    flat = [node for node in nodes if node.kind != "break"]
    at = 0
    while at < len(flat):
        if flat[at].kind != BLOCK:
            at += 1
            continue
        told = meant(flat[at].text)
        between, behind = [*flat[at + 1 : at + 3], None, None][:2]
        if between and behind and between.kind == "subtext" and behind.kind == BLOCK:
            found = _LEFT_OUT.fullmatch(between.inside[0].text)
            if found is not None:
                yield Excerpt(told, int(found[1].replace(",", "")), meant(behind.text))
                at += 3
                continue
        yield told
        at += 1


class Excerpt(str):
    """Two ends and a count, which is the same as every text with these ends and that length."""

    head: str
    hidden: int
    tail: str

    def __new__(cls, head: str, hidden: int, tail: str) -> Excerpt:
        made = super().__new__(cls, f"{head}\ufffd{tail}")
        made.head, made.hidden, made.tail = head, hidden, tail
        return made

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, str)
            and other.startswith(self.head)
            and other.endswith(self.tail)
            and len(other) == len(self.head) + self.hidden + len(self.tail)
        )

    __hash__ = None  # type: ignore[assignment]


__all__ = ["Part", "Unfaithful", "judge", "known"]
