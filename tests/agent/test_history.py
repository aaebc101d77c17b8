"""Messages to their stored form and back, where a window begins, and what is put in for calls that wait."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from bot.agent import history


def said(text: str = "please") -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


def calls(*ids: str) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("act", {"what": id}, id) for id in ids])


def results(*ids: str, outcome: Any = "success") -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart("act", "out", id, outcome=outcome) for id in ids])


def answer(text: str = "Done.") -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def ids(messages: list[ModelMessage]) -> list[str]:
    return [call.tool_call_id for call in history.open_calls(messages)]


# -- there and back -----------------------------------------------------------------------------

EVERYTHING: list[ModelMessage] = [
    ModelRequest(
        parts=[SystemPromptPart("be brief"), UserPromptPart("a\0b \u202e \U0001f600 \u2028")],
        instructions="Rules.",
        run_id="run1",
        conversation_id="talk",
    ),
    ModelResponse(
        parts=[
            ThinkingPart("hm", signature="s"),
            TextPart("I will."),
            ToolCallPart("act", '{"what": "x", "what": "y"}', "c1"),
            ToolCallPart("act", {"n": 10**20, "f": 0.1, "none": None}, "c2"),
        ],
        model_name="m",
    ),
    results("c1", outcome="denied"),
    results("c2", outcome="failed"),
    answer(),
]


def test_messages_come_back_as_they_were() -> None:
    bodies = history.dump(EVERYTHING)
    assert history.load(bodies) == EVERYTHING
    assert history.dump(history.load(bodies)) == bodies


def test_each_message_is_a_body_of_its_own() -> None:
    bodies = history.dump(EVERYTHING)
    assert len(bodies) == len(EVERYTHING)
    assert [json.loads(body)["kind"] for body in bodies] == ["request", "response", "request", "request", "response"]


def test_nothing_is_nothing() -> None:
    assert history.dump([]) == []
    assert history.load([]) == []


@pytest.mark.parametrize("body", ["{}", "no json", '{"kind": "nonsense"}', "null", ""])
def test_a_body_that_is_no_message_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        history.load([*history.dump([said()]), body])


# -- where a window begins ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "kept"),
    [
        ([said(), answer()], 2),
        ([answer(), said(), answer()], 2),
        ([results("c1"), answer(), said("second"), answer()], 2),
        ([calls("c1"), results("c1"), answer(), said("second")], 1),
        ([calls("c1"), results("c1"), calls("c2")], 0),
        ([answer()], 0),
    ],
)
def test_a_window_begins_with_what_somebody_said(window: list[ModelMessage], kept: int) -> None:
    assert history.load(history.dump(window)) == window[len(window) - kept :]


# -- what stands open ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "open_ids"),
    [
        ([said()], []),
        ([said(), answer()], []),
        ([said(), calls("c1")], ["c1"]),
        ([said(), calls("c1", "c2", "c3")], ["c1", "c2", "c3"]),
        ([said(), calls("c1", "c2", "c3"), results("c2")], ["c1", "c3"]),
        ([said(), calls("c1", "c2"), results("c2"), results("c1")], []),
        ([said(), calls("c1"), results("c1", outcome="denied")], []),
        ([said(), calls("c1"), results("c1", outcome="failed")], []),
        ([said(), calls("c1"), results("c1", outcome="retried"), calls("c2")], ["c2"]),
        ([said(), calls("c1"), said("and?"), calls("c2")], ["c1", "c2"]),
        # An id that is used again is another call.
        ([said(), calls("c1"), results("c1"), said(), calls("c1")], ["c1"]),
        ([said(), calls("c1"), results("c1"), said(), calls("c1"), results("c1")], []),
        ([said(), calls("c1"), said(), calls("c1"), results("c1")], ["c1"]),
        ([said(), calls("c1", "c1"), results("c1")], ["c1"]),
        # A result without a call answers nothing that comes later.
        ([said(), results("c1"), calls("c1")], ["c1"]),
    ],
)
def test_a_call_is_open_until_a_result_behind_it_answers_it(messages: list[ModelMessage], open_ids: list[str]) -> None:
    assert ids(messages) == open_ids
    assert ids(history.load(history.dump(messages))) == open_ids


@pytest.mark.filterwarnings("ignore:`?RetryPromptPart")
def test_a_call_that_was_sent_back_in_the_older_form_is_answered_too() -> None:
    stored = (
        '{"parts":[{"content":"no","tool_name":"act","tool_call_id":"c1","timestamp":"2024-01-01T00:00:00Z",'
        '"part_kind":"retry-prompt"}],"kind":"request"}'
    )
    messages = history.load([*history.dump([said(), calls("c1")]), stored, *history.dump([calls("c2")])])
    assert RetryPromptPart is not None
    assert ids(messages) == ["c2"]


# -- what is put in -----------------------------------------------------------------------------


def test_every_open_call_gets_its_own_sentence_in_order() -> None:
    messages: list[ModelMessage] = [said(), calls("c1", "c2", "c3"), results("c2")]
    [closing] = history.placeholders(messages, lambda id: f"waits: {id}")
    assert [(part.tool_call_id, part.content) for part in closing.parts if isinstance(part, ToolReturnPart)] == [
        ("c1", "waits: c1"),
        ("c3", "waits: c3"),
    ]
    assert ids([*messages, closing]) == []


def test_where_nothing_is_open_nothing_is_put_in() -> None:
    assert history.placeholders([said(), calls("c1"), results("c1"), answer()], str) == []


def test_putting_in_twice_adds_nothing() -> None:
    messages: list[ModelMessage] = [said(), calls("c1")]
    once = [*messages, *history.placeholders(messages, str)]
    assert history.placeholders(once, str) == []


# -- as a provider takes it -----------------------------------------------------------------------


def sent_ids(messages: list[ModelMessage]) -> list[list[str]]:
    return [
        [getattr(part, "tool_call_id", part.part_kind) for part in message.parts]
        for message in history.as_sent(messages)
        if isinstance(message, ModelRequest)
    ]


def test_results_go_first_and_in_the_order_of_the_calls_also_within_one_request() -> None:
    """A repaired request has its put-in results last; what was said between two requests comes behind both."""
    assert sent_ids([said(), calls("a", "b", "c"), results("c", "a", "b")])[1] == ["a", "b", "c"]
    whole = [said(), calls("a", "b"), results("b"), said("meanwhile"), results("a")]
    assert sent_ids(whole) == [["user-prompt"], ["a", "b", "user-prompt"]]


def test_ids_that_are_used_again_are_ordered_by_the_calls_that_they_answer() -> None:
    whole = [said(), calls("a", "b"), results("a", "b"), calls("b", "a"), results("a"), results("b")]
    assert sent_ids(whole) == [["user-prompt"], ["a", "b"], ["b", "a"]]


def test_what_needs_no_change_is_handed_over_as_it_is_and_nothing_is_mutated() -> None:
    whole = [said(), calls("a", "b"), results("a", "b"), answer(), said("more")]
    assert all(one is other for one, other in zip(history.as_sent(whole), whole, strict=True))
    apart = [said(), calls("a", "b"), results("b"), results("a")]
    before = history.dump(apart)
    once = history.as_sent(apart)
    assert history.dump(apart) == before
    assert history.as_sent(once) == once
