"""No other call ever has the mark that a grant is for, and no grant is made where a call cannot be exact.

Pairs of calls are generated that differ in one place, as little as can be; the hand-written respellings of the
normalisers, which the one-request-one-run key folds, are kept apart here: a key may suppress a card, a mark lets run.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.deferral.grants import TERMS, Remember, Terms, inexact, mark, narrowest
from bot.deferral.intent import canonical_json
from bot.deferral.tool import Arguments, Tool, ToolKind, ToolOutcome
from bot.interpreters import _PROGRAMS
from tests.deferral.test_intent_shell import DIFFERENT, RESPELLINGS

BASE: dict[str, Any] = {
    "tool": "run",
    "arguments": {"argv": ["git", "status"], "depth": 1},
    "bound": {"definition": "d", "workspace": "/w", "profile": "p", "environment": ["HOME"], "files": {"a": "1 byte"}},
    "reason": "run needs a person's sign-off",
    "requester": "2",
    "place": "discord/9/90",
    "within": "",
}

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text("ab \t\u00a0é\u0301'\"", max_size=4),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b", "path", "url"]), VALUES, max_size=3)


@given(ARGUMENTS, ARGUMENTS)
@example({"a": 1}, {"a": 1.0})
@example({"a": True}, {"a": 1})
@example({"a": None}, {})
@example({"a": "1"}, {"a": 1})
@example({"a": ["b", "c"]}, {"a": ["b c"]})
@example({"a": {"b": []}}, {"a": {"b": {}}})
@example({"a": "é"}, {"a": "e\u0301"})
@example({"a": -0.0}, {"a": 0.0})
def test_two_calls_have_one_mark_only_if_their_json_is_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (mark(**BASE | {"arguments": one}) == mark(**BASE | {"arguments": other})) is same


def changed(value: Any, draw: Any) -> Any:
    """The same with something else in one place."""
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        match draw(st.sampled_from(["within", "without", "renamed"])):
            case "within":
                return {**value, key: changed(value[key], draw)}
            case "without":
                return {name: one for name, one in value.items() if name != key}
            case _:
                return {name + "x" * (name == key): one for name, one in value.items()}
    if isinstance(value, list) and value:
        at = draw(st.integers(0, len(value) - 1))
        match draw(st.sampled_from(["within", "without", "joined"])):
            case "within":
                return [changed(one, draw) if n == at else one for n, one in enumerate(value)]
            case "without":
                return value[:at] + value[at + 1 :]
            case _:
                return [" ".join(map(str, value))] if len(value) > 1 else [*value, ""]
    if isinstance(value, str):
        at = draw(st.integers(0, len(value)))
        return value[:at] + draw(st.sampled_from(list(" \t\n;'\"aA\u200b\u00a0/."))) + value[at:]
    if isinstance(value, bool):
        return not value
    return str(value) if value is None or isinstance(value, int) else [value]


@given(st.data(), st.sampled_from(sorted(BASE)))
def test_one_byte_anywhere_makes_another_mark(data: st.DataObject, name: str) -> None:
    other = {**BASE, name: changed(BASE[name], data.draw)}
    assert canonical_json(other) != canonical_json(BASE)
    assert mark(**other) != mark(**BASE)


@pytest.mark.parametrize(("one", "other"), [*DIFFERENT, *((a, b) for a, b in RESPELLINGS if a != b)])
def test_not_even_a_respelling_that_the_key_folds_is_the_same_to_a_grant(one: str, other: str) -> None:
    """T57, S-A57: no folding in matching."""
    for tool, name in (("shell", "command"), ("run", "text")):
        given = [BASE | {"tool": tool, "arguments": {name: text}} for text in (one, other)]
        assert mark(**given[0]) != mark(**given[1])


# -- where a call cannot be exact ---------------------------------------------------------------


class Argv(Arguments):
    argv: list[str]


class Deep(Arguments):
    steps: list[dict[str, Any]]


async def _body(arguments: Any, call: Any) -> ToolOutcome:
    return ToolOutcome(text="")


RUN = Tool(name="run", description="Runs.", arguments=Argv, body=_body)
ANY = replace(RUN, name="any", arguments=Deep)


@given(
    st.sampled_from(sorted(_PROGRAMS)),
    st.sampled_from(["", "/usr/bin/", "/bin/", "./", "/opt/", "../"]),
    st.sampled_from(["", "3", "3.11", "-12", ".exe"]),
    st.booleans(),
    st.lists(st.text(max_size=5), max_size=3),
)
def test_no_program_that_runs_what_it_is_given_can_be_remembered(
    name: str, folder: str, version: str, loud: bool, rest: list[str]
) -> None:
    """T53."""
    program = folder + (name.upper() if loud else name) + version
    assert inexact(RUN, {"argv": [program, *rest]}) is not None


@pytest.mark.parametrize("argv", [[], [""], [" "], ["git status"], ["$X"], ["~/x"], ["a/b"], None, "ls", [1], [["ls"]]])
def test_what_is_no_plain_program_cannot_be_remembered(argv: Any) -> None:
    assert inexact(RUN, {"argv": argv}) is not None


@pytest.mark.parametrize("argv", [["git", "status"], ["/usr/bin/git", "log"], ["ls", "-l", "a b"]])
def test_a_plain_command_can(argv: list[str]) -> None:
    assert inexact(RUN, {"argv": argv}) is None


@pytest.mark.parametrize("name", ["command", "code", "script", "Command_Line", "sql", "SHELL", "snippet", "argv"])
def test_a_programs_text_cannot_wherever_it_stands(name: str) -> None:
    """T51, T52."""
    assert inexact(ANY, {"steps": [{"a": {name: "ls"}}]}) is not None
    assert inexact(ANY, {"steps": [], name: "ls"}) is not None
    assert inexact(ANY, {"steps": [{"path": "ls"}]}) is None


def test_what_is_given_a_secret_cannot_wherever_it_stands() -> None:
    assert inexact(RUN, {"argv": ["ls", "{{secret:github}}"]}) is not None
    assert inexact(ANY, {"steps": [{"a": {"header": ["key={{secret:github}}"]}}]}) is not None


@pytest.mark.parametrize("kind", [ToolKind.QUESTION, ToolKind.EXTERNAL])
def test_what_nobody_signs_off_cannot(kind: ToolKind) -> None:
    assert inexact(replace(RUN, kind=kind), {"argv": ["ls"]}) is not None


def test_what_changes_the_file_that_it_is_bound_to_cannot() -> None:
    """It would be offered, and hold never (facts K28)."""
    assert inexact(replace(RUN, preview=lambda arguments: ""), {"argv": ["ls"]}) is not None


# -- for how long -------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(Remember), min_size=1, max_size=4))
def test_what_several_people_chose_comes_to_no_more_than_any_of_them_chose(wishes: list[Remember]) -> None:
    found = narrowest(wishes)
    for one in (TERMS[wish] for wish in wishes):
        assert one.milliseconds is None or (found.milliseconds or 0) <= one.milliseconds
        assert one.milliseconds is None or found.milliseconds is not None
        assert one.uses is None or (found.uses is not None and found.uses <= one.uses)
    assert (found == Terms()) is (set(wishes) == {Remember.UNTIL_REVOKED})
