"""What people are shown is what was given: attacks in every field, read back from what Discord displays (issue 4, "Card
fidelity"; threats T31 to T41).

The fields are in `faces`, Discord's reading in `reader`, what counts as faithful in `judge`. Texts that are markdown by
intention are no fields: the model's answers and a person's own request, which are bounded and can notify nobody.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from itertools import cycle, islice

import pytest

from cogs import inert
from tests.proof.attacks import CORPUS, made
from tests.proof.every_field import strings, unfaithful
from tests.proof.faces import FIELDS, Field, drawn, private
from tests.proof.faces_rows import call, card
from tests.proof.judge import Unfaithful, judge
from tests.proof.reader import codes, read
from tests.proof.scenes import SCENES, Scene, alone
from tests.proof.shown import Part, message, name

MOST_LOOKED_AT = (
    "card: tool", "card: a text alone", "card: a text beside others", "card: reason", "card: question",
    "card of several: a text", "details: a text",
)  # fmt: skip
CHUNKS = 20
"""Into so many the long run is cut, so that several processes can share it."""


def tried(field: Field, texts: Iterator[tuple[str, str]]) -> list[str]:
    """What was not shown faithfully, by the attack's name."""
    wrong = []
    for known_as, text in texts:
        try:
            judge(alone(field), text)
        except (Unfaithful, ValueError, AssertionError) as problem:
            wrong.append(f"{known_as} {text[:80]!r}: {problem}")
    return wrong


def test_the_corpus_has_names_for_more_than_three_hundred_attacks() -> None:
    assert len(CORPUS) >= 300
    assert len(set(CORPUS.values())) > 300


@pytest.mark.parametrize("field", [field for field in FIELDS if field.name in MOST_LOOKED_AT], ids=lambda one: one.name)
async def test_every_named_attack_is_shown_as_what_it_is_where_people_look_most(field: Field) -> None:
    assert tried(field, iter(CORPUS.items())) == []


@pytest.mark.parametrize("field", FIELDS, ids=lambda one: one.name)
async def test_attacks_in_any_field_are_shown_as_what_they_are(field: Field) -> None:
    rng = random.Random(field.name)
    named = islice(cycle(CORPUS.items()), len(field.name), len(CORPUS), 19)
    assert tried(field, named) == []
    assert tried(field, (("made", made(rng)) for _ in range(8))) == []


@pytest.mark.slow
@pytest.mark.parametrize("field", FIELDS, ids=lambda one: one.name)
async def test_every_named_attack_is_shown_as_what_it_is_in_every_field(field: Field) -> None:
    assert tried(field, iter(CORPUS.items())) == []


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_made_attacks_are_shown_as_what_they_are_in_every_field(chunk: int) -> None:
    """Each string goes into every field. `every_field` goes on to 200,000 of them, in an hour of a core."""
    assert list(unfaithful(SCENES, strings(chunk, count=500))) == []


# -- a change ----------------------------------------------------------------------------------------


def changed(rng: random.Random, text: str) -> str:
    """The text with one thing about it changed."""
    at = rng.randint(0, len(text))
    match rng.randrange(3):
        case 0:
            return text[:at] + rng.choice(("x", "\u202e", "\u200b", " ", "\n", "`", "…", "é", "\U0010ffff")) + text[at:]
        case 1:
            return text[:at] + text[at + 1 :]
        case _:
            return text[:at] + text[at : at + 1].swapcase() + text[at + 1 :] + rng.choice(("", "\u3164"))


def told_changes(parts: list[Part]) -> Iterator[tuple[str, str]]:
    """What each line about a change says it was, and is."""
    for part in parts:
        for line in part.text.splitlines() if part.kind == "markdown" else ():
            if line.startswith("✎") and (both := re.search(r"changed (?:`[^`]*` )?(.+) → (.+)$", line)):
                yield both[1], both[2]


async def test_a_change_of_one_character_is_seen_wherever_it_is() -> None:
    """What stays the same around it, however wide it is drawn, never pushes it out of view."""
    rng = random.Random(5)
    alike = []
    for _ in range(400):
        before = made(rng)
        after = changed(rng, before)
        if before == after:
            continue
        edited = call(1, arguments={"command": after, "n": 1}, original={"command": before, "n": 1}, edited_by="100")
        for show in (drawn(card(edited)), drawn(card(call(0), edited, call(2))), private(card(edited))):
            found = list(told_changes(show))
            assert found
            alike += [(before, after) for was, is_now in found if was == is_now]
    assert alike == []


# -- the judge itself --------------------------------------------------------------------------------


def cut(text: str) -> str:
    return inert.encode(text, inert.Form.LINE)[:40] or "x"


SEEDED: dict[str, Callable[[str], list[Part]]] = {
    "a text in code as it is": lambda text: message(f"Tool `{text}`."[:2_000]),
    "a text as markdown": lambda text: message(f"Tool {text}."[:2_000]),
    "a block as it is": lambda text: message(f"```text\n{text[:1_900]}\n```"),
    "a block whose tag Discord guesses": lambda text: message(f"```\n{inert.encode(text)[:1_900]}\n```"),
    "bold around code": lambda text: message(f"**{inert.line(text, limit=90)}** asks"),
    "a link around code": lambda text: message(f"[{inert.line(text, limit=90)}](https://a.example)"),
    "an end that is cut off silently": lambda text: message(f"`{cut(text)}`"),
    "hidden characters left out": lambda text: message(inert.line(re.sub("[\u200b-\u206f]", "", text), limit=90)),
    "newlines left out": lambda text: message(inert.line(text.replace("\n", " "), limit=90)),
    "case lost": lambda text: message(inert.line(text.lower(), limit=90)),
    "a name too long": lambda text: name(inert.label(text, limit=101)),
    "a name as it is": lambda text: name(text[:100] or "x"),
    "two runs of blanks made one": lambda text: message(inert.line(re.sub(" +", " ", text), limit=90)),
    "our own words let through": lambda text: message(f"{inert.line(text, limit=90)}\n-# {len(set(text))} {text[:1]}."),
}


@pytest.mark.parametrize("bug", SEEDED)
async def test_the_judge_notices_what_it_is_for(bug: str) -> None:
    assert tried(Field(name=bug, show=SEEDED[bug]), iter(CORPUS.items())) != []


@pytest.mark.parametrize("bug", SEEDED)
async def test_the_judge_notices_it_beside_a_text_that_is_shown_well(bug: str) -> None:
    """Where a scene shows several texts, one that is shown well hides no other."""
    field, sound = Field(name=bug, show=SEEDED[bug]), Field(name="sound", show=lambda text: message(inert.line(text)))
    scene = Scene(name=bug, fields=(sound, field), show=lambda well, text: [*sound.show(well[:90]), *field.show(text)])
    texts = list(CORPUS.values())
    assert any(true for true in unfaithful([scene], [text[:90] for text in texts]))


def test_every_field_is_in_exactly_one_scene() -> None:
    assert sorted(field.name for scene in SCENES for field in scene.fields) == sorted(field.name for field in FIELDS)


def test_each_field_of_a_scene_gets_every_text_once() -> None:
    shown: list[tuple[str, ...]] = []

    def show(*texts: str) -> list[Part]:
        shown.append(texts)
        return []

    fields = tuple(Field(name=name, show=show, always=False) for name in "abc")
    texts = strings(1, count=12)
    assert list(unfaithful([Scene(name="noted", fields=fields, show=show)], texts)) == []
    for got in zip(*shown[-len(texts) :], strict=True):
        assert sorted(got) == sorted(texts)


async def test_the_judge_finds_nothing_where_nothing_is_wrong() -> None:
    sound = Field(name="sound", show=lambda text: message(f"Tool {inert.line(text, limit=90)} asks."))
    assert tried(sound, iter(CORPUS.items())) == []


def test_code_begins_only_where_nothing_else_has_begun() -> None:
    """The reader reads as the clients do: a bold text that began before a code span ends within it."""
    assert [one.text for one in codes(read("a `b` **c** `d**`"))] == ["b", "d**"]
    assert [one.text for one in codes(read("**`a**`"))] == []
