"""The catalogue of texts: whole in every language, nothing in it that is not used, nothing said that is not in it."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.clock import SystemClock, new_id
from bot.texts.catalogue import CATALOGUE
from bot.texts.entry import Entry, Language
from bot.texts.recall import recall
from bot.texts.text import Text, in_language, joined, kept, listing, say, told
from bot.toolbox import builtin_tools
from bot.toolbox.detached import Detached
from bot.toolbox.sandbox import Sandbox
from cogs.tools import sentence
from tests.literals import OTHERS, literals
from tests.not_for_people import NOT_FOR_PEOPLE

ROOT = Path(__file__).parent.parent
SOURCES = [path for storey in ("bot", "cogs") for path in sorted((ROOT / storey).rglob("*.py"))]
SPEAKING = {"say", "tell", "offered", "key"}
MODULES = [name for name in (str(path.relative_to(ROOT)) for path in SOURCES) if not name.startswith(tuple(OTHERS))]
EVERY = [(name, language) for name in CATALOGUE for language in Language]
SAME_IN_BOTH = {"cards.details", "policy.in", "policy.name"}
"""Keys whose text is the same in both languages."""


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Every call that names a text, with where it stands."""
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        if "from bot.texts.text import" not in source and "from cogs.speech import" not in source:
            continue  # others call other things so
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPEAKING:
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


CALLS = list(calls())


def name_of(call: ast.Call) -> str:
    [first] = call.args
    assert isinstance(first, ast.Constant)
    return str(first.value)


def test_every_text_that_is_said_is_in_the_catalogue() -> None:
    assert [f"{where} {name_of(call)}" for where, call in CALLS if name_of(call) not in CATALOGUE] == []


def test_every_text_of_the_catalogue_is_said_somewhere() -> None:
    used = {name_of(call) for _, call in CALLS} | {"words.and", "words.and_more", "words.also"}
    used |= {name for name in CATALOGUE if name.startswith("toolbox.")}  # the tools say them themselves, see below
    assert sorted(set(CATALOGUE) - used) == []


def test_every_text_is_given_exactly_what_it_fills_in() -> None:
    wrong = []
    for where, call in CALLS:
        if isinstance(call.func, ast.Name) and call.func.id == "key":
            continue
        given = {word.arg for word in call.keywords}
        if None not in given and given != CATALOGUE[name_of(call)].placeholders(Language.EN):
            wrong.append(f"{where} {name_of(call)}: {sorted(map(str, given))}")
    assert wrong == []


@pytest.mark.parametrize("language", Language)
def test_a_language_fills_in_the_same_as_english_and_has_as_many_forms(language: Language) -> None:
    def shape(entry: Entry, language: Language) -> tuple[frozenset[str], int]:
        return entry.placeholders(language), len(entry.forms(language))

    differ = [name for name, entry in CATALOGUE.items() if shape(entry, language) != shape(entry, Language.EN)]
    assert differ == []


def test_no_text_is_blank_or_left_in_english() -> None:
    assert [name for name, language in EVERY if not all(map(str.strip, CATALOGUE[name].forms(language)))] == []
    same = {name for name, entry in CATALOGUE.items() if entry.en == entry.de and _words(entry)}
    assert same == SAME_IN_BOTH


def _words(entry: Entry) -> bool:
    return bool(re.search(r"[A-Za-z]{2}", re.sub(r"`[^`]*`|\{[^}]*\}", "", " ".join(entry.forms(Language.EN)))))


def test_no_text_is_longer_than_its_place_takes() -> None:
    """As it stands here: what is filled in is cut where it is filled in."""
    long = [
        f"{name} ({language}): {len(form)}"
        for name, language in EVERY
        for form in CATALOGUE[name].forms(language)
        if len(form) > CATALOGUE[name].most
    ]
    assert long == []


@pytest.mark.parametrize("module", MODULES)
def test_what_people_read_stands_in_the_catalogue(module: str) -> None:
    _, known = NOT_FOR_PEOPLE.get(module, ("", ()))
    assert [text for text in sorted(literals(ROOT / module)) if not text.startswith(known or "\0")] == []


@pytest.mark.parametrize("module", NOT_FOR_PEOPLE)
def test_what_is_said_not_to_be_for_people_is_still_there(module: str) -> None:
    found = literals(ROOT / module)
    assert [known for known in NOT_FOR_PEOPLE[module][1] if not any(text.startswith(known) for text in found)] == []


def test_a_text_is_its_english_sentence_wherever_strings_are_taken() -> None:
    text = say("presses.counted")
    assert text == "Your approval counts. The card shows who else has to approve."
    assert f"{text}" == str(text) == text.said_in(Language.EN)
    assert in_language(text, Language.DE).startswith("Deine Genehmigung zählt.")
    assert in_language("Your approval counts.", Language.DE) == "Your approval counts."


def test_a_text_inside_a_text_is_said_in_the_same_language() -> None:
    whole = say("presses.not_all", why=say("lists.denied"))
    assert whole == "Not all of them: Denied. Nothing ran."
    assert whole.said_in(Language.DE) == "Nicht alle: Abgelehnt. Nichts ist gelaufen."


def test_numbers_are_written_as_the_language_writes_them() -> None:
    text = say("surface.too_large", n=12345)
    assert "12,345" in text
    assert "12.345" in text.said_in(Language.DE)


def test_names_in_a_row_end_with_the_languages_and() -> None:
    assert listing([]) == ""
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing(["a", "b", "c"]).said_in(Language.DE) == "a, b und c"


def test_what_was_stored_is_said_in_every_language_again() -> None:
    text = say("presses.not_all", why=joined([say("lists.denied"), "ß"], by="\n"))
    again = told(kept(text))
    assert isinstance(again, Text)
    assert again == text
    assert again.said_in(Language.DE) == text.said_in(Language.DE)
    assert told(kept("as it is")) == "as it is"


def test_what_a_newer_program_does_not_know_any_more_is_said_in_english() -> None:
    stored = say("presses.counted").data | {"say": "presses.no_such_text"}
    assert told(stored) == "Your approval counts. The card shows who else has to approve."


def test_the_mind_never_knows_who_reads() -> None:
    """Whose language is spoken is known to the face alone, so that nobody's language gets into what others read."""
    speaking = {path for path in SOURCES if re.search(r"\b(in_language|said_in)\b", path.read_text(encoding="utf-8"))}
    assert {path.parent.name for path in speaking} == {"cogs", "texts"}


def test_what_rows_hold_in_english_is_known_again_with_what_was_filled_in() -> None:
    stored = str(say("authority.why_not", what=say("authority.needs_more"), help="whoever"))
    again = recall(stored)
    assert again == stored
    assert in_language(again, Language.DE) == "es braucht jetzt mehr Genehmigungen: whoever"
    assert recall("a person's own words") == "a person's own words"


def test_no_two_texts_that_rows_hold_are_taken_for_one_another() -> None:
    held = {name: entry for name, entry in CATALOGUE.items() if entry.held}
    for name, entry in held.items():
        filled = say(
            name,
            **{part: 7 if part == "n" else say("permissions.view_channel") for part in entry.placeholders(Language.EN)},
        )
        assert recall(str(filled)).said_in(Language.DE) == filled.said_in(Language.DE), name  # type: ignore[attr-defined]


def test_a_copied_text_is_its_english_sentence() -> None:
    assert copy.deepcopy(say("presses.counted")) == "Your approval counts. The card shows who else has to approve."


def test_what_the_tools_say_of_themselves_is_known_again_and_nothing_else_is_kept_for_them(tmp_path: Path) -> None:
    sandbox, bare = Sandbox(), Sandbox(bare=True)
    detached = Detached(folder=tmp_path, workspace=tmp_path, sandbox=sandbox, clock=SystemClock(), new_id=new_id)
    tools = builtin_tools(workspace=tmp_path, sandbox=sandbox, new_id=new_id, detached=detached)
    said = {tool.profile for tool in tools} | {bare.profile} | {sentence(tool.description) for tool in tools}
    assert {one for one in said if not isinstance(recall(one), Text)} == set()
