"""Arguments as a text that a person changes: strict on the way back, because it will run."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ConfigDict, field_serializer

from bot.deferral.amend import NotUsable, differences, draft, read
from bot.deferral.tool import Arguments, Tool, ToolOutcome


class OneText(Arguments):
    command: str


class OneNumber(Arguments):
    count: int


class Mixed(Arguments):
    path: str
    mode: int = 5
    names: list[str] = []


def tool(arguments: type[Arguments]) -> Tool:
    async def body(arguments: Any, call: Any) -> ToolOutcome:
        return ToolOutcome(text="")

    return Tool(name="t", description="", arguments=arguments, body=body)


def test_a_tool_of_one_text_is_edited_as_that_text() -> None:
    made_of = {"command": "a\n\tb "}
    made = draft(tool(OneText), made_of)
    assert (made.text, made.field) == ("a\n\tb ", "command")
    assert read(tool(OneText), "a\n\tb ", made_of) == {"command": "a\n\tb "}


def test_a_call_with_nothing_but_its_one_needed_text_is_edited_as_that_text() -> None:
    """A command is no JSON, though `shell` takes more than a command."""
    made = draft(tool(Mixed), {"path": "a.txt"})
    assert (made.text, made.field) == ("a.txt", "path")
    assert read(tool(Mixed), "b.txt", {"path": "a.txt"}) == {"path": "b.txt", "mode": 5, "names": []}
    assert draft(tool(Mixed), {"path": "a.txt", "mode": 6}).field is None
    assert draft(tool(Mixed), {"mode": 6}).field is None


@pytest.mark.parametrize(
    ("arguments", "given"), [(OneNumber, {"count": 3}), (Mixed, {"path": "é\u202e", "mode": 6, "names": ["x"]})]
)
def test_every_other_tool_is_edited_as_json_and_comes_back_the_same(
    arguments: type[Arguments], given: dict[str, Any]
) -> None:
    made = draft(tool(arguments), given)
    assert made.field is None
    assert read(tool(arguments), made.text, given) == given


def test_defaults_are_filled_in_so_that_they_are_shown() -> None:
    assert read(tool(Mixed), '{"path": "a"}', {}) == {"path": "a", "mode": 5, "names": []}


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "1", '{"path": "a", "path": "b"}', '{"path": NaN}', '{"path": "a", "mode": 1e999}',
        '{"path": "a", "mode": "6"}', '{"path": 1}', '{"path": "a", "more": 1}', '{"mode": 1}', '{"path": "\\ud800"}',
        '{"path": "a"} {"path": "b"}', '{"path": "a", "mode": 6.5}', "{'path': 'a'}", '{"path": "a",}',
    ],
)  # fmt: skip
def test_what_the_tool_would_not_take_is_refused_in_words(text: str) -> None:
    with pytest.raises(NotUsable) as refusal:
        read(tool(Mixed), text, {})
    assert str(refusal.value)


def test_half_a_surrogate_in_a_text_is_refused() -> None:
    with pytest.raises(NotUsable):
        read(tool(OneText), "\ud800", {})


def test_json_nested_too_deep_is_refused() -> None:
    with pytest.raises(NotUsable):
        read(tool(Mixed), '{"path": "a", "names": ' + "[" * 100_000 + "]" * 100_000 + "}", {})


def test_differences_name_what_was_added_changed_and_left_out() -> None:
    before = {"a": 1, "b": "x", "c": [1], "same": True}
    after = {"a": 2, "b": "x ", "d": None, "same": True}
    assert differences(before, after) == [
        ("a", "1", "2"),
        ("b", "x", "x "),
        ("c", "[1]", None),
        ("d", None, "null"),
    ]
    assert differences(before, before) == []


def test_a_number_and_its_text_differ() -> None:
    assert differences({"a": 5}, {"a": "5"}) == [("a", "5", '"5"')]
    assert differences({"a": 1}, {"a": True}) == [("a", "1", "true")]


def test_a_tool_that_takes_more_than_it_names_is_edited_as_json() -> None:
    class Open(Arguments):
        model_config = ConfigDict(extra="allow", frozen=True, strict=True)
        command: str

    assert draft(tool(Open), {"command": "a"}).field is None
    assert read(tool(Open), '{"command": "b", "more": 1}', {"command": "a"}) == {"command": "b", "more": 1}


def test_what_a_tool_takes_and_cannot_write_down_is_refused_with_the_reason() -> None:
    """A card could not show it, and no row could hold it."""

    class Unwritable(Arguments):
        what: list[int]

        @field_serializer("what")
        def _write(self, what: list[int]) -> list[int]:
            raise ValueError("no such number")

    with pytest.raises(NotUsable, match="no such number"):
        read(tool(Unwritable), '{"what": [1]}', {"what": [2]})
