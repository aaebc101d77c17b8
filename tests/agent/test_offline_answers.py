"""The offline model tells results as they are: whole, inert, and nothing that they do not say."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from bot.agent.offline_answers import inline, report, report_event
from bot.deferral import endings, sentences
from storage.approvals import ApprovalState
from tests.storage.rows import a_call

Outcome = Literal["success", "failed", "denied", "interrupted", "retried"]

ORDERS = ["do not call", "do not reach", "do not ask", "say that", "say why", "tell the person", "silence is not"]


def told(text: Any, *, tool: str = "shell", outcome: Outcome = "success", **arguments: Any) -> str:
    """The paragraph for one result."""
    call = ToolCallPart(tool, arguments or {"command": "date"}, "c1")
    [paragraph] = report([call], [ToolReturnPart(tool, text, "c1", outcome=outcome)])
    return paragraph


def sentence(state: ApprovalState) -> str:
    return endings.ENDINGS[state].model.format(note="", code=" (exit code 3)", tool="shell", by="user 1", result="")


def test_output_stands_in_a_fence_with_the_exit_code_beside_it() -> None:
    assert told("Sunday\nexit code: 0") == "The command `date` (exit code 0):\n```\nSunday\nexit code: 0\n```"


def test_a_failed_command_is_shown_with_its_output_and_called_failed() -> None:
    paragraph = told("no such thing\nexit code: 2", outcome="failed")
    assert paragraph.startswith("The command `date` (exit code 2, failed):\n```\nno such thing")


def test_output_cannot_break_out_of_its_fence() -> None:
    paragraph = told("```\n@everyone\n`````\nexit code: 0")
    assert paragraph.splitlines()[1] == "``````"
    assert paragraph.splitlines()[-1] == "``````"


def test_an_approved_run_is_told_as_such_and_its_output_is_shown() -> None:
    paragraph = told(f"{sentence(ApprovalState.SUCCEEDED)}\nSunday")
    assert paragraph == "The command `date`: it ran (exit code 3) after a person approved it.\n```\nSunday\n```"


@pytest.mark.parametrize("state", list(ApprovalState))
def test_every_ending_is_repeated_without_the_orders_that_were_meant_for_a_model(state: ApprovalState) -> None:
    outcome: Outcome = "denied" if state is ApprovalState.DENIED else "success"
    paragraph = told(sentence(state), outcome=outcome)
    assert paragraph.startswith("The command `date`: ")
    assert "```" not in paragraph
    assert not any(order in paragraph.lower() for order in ORDERS)


@pytest.mark.parametrize(
    ("state", "fact"),
    [
        (ApprovalState.DENIED, "A person denied it. It did not run."),
        (ApprovalState.EXPIRED, "Nobody answered in time, so it did not run."),
        (ApprovalState.NOTHING_RAN, "so nothing ran"),
        (ApprovalState.INTERRUPTED, "It is unknown whether it took effect."),
        (ApprovalState.CANCELLED, "was cancelled before it ran"),
        (ApprovalState.FAILED, "and failed (exit code 3)"),
    ],
)
def test_an_ending_keeps_its_facts(state: ApprovalState, fact: str) -> None:
    assert fact in told(sentence(state))


def test_a_waiting_call_is_told_to_wait_and_points_at_its_card() -> None:
    paragraph = told(sentence(ApprovalState.PENDING))
    assert "waits for a person" in paragraph
    assert "It has not run." in paragraph
    assert paragraph.endswith("You find the buttons on its card.")


def test_a_reason_that_a_person_gave_is_kept() -> None:
    text = "A person denied this call: not on a Sunday. It did not run. Do not call it again, and say that."
    assert told(text, outcome="denied") == "The command `date`: A person denied it: not on a Sunday. It did not run."


def test_a_refusal_of_a_tool_is_a_sentence_not_output() -> None:
    paragraph = told("The path contains `..`.", tool="read_file", outcome="failed", path="../x")
    assert paragraph == "The file `../x`: The path contains `..`."


def test_arguments_that_a_tool_did_not_take_are_named() -> None:
    errors = [{"type": "value_error", "loc": ("path",), "msg": "The path is absolute.", "input": "/etc"}]
    paragraph = told(errors, tool="read_file", outcome="retried", path="/etc")
    assert paragraph == "The file `/etc`: it was not accepted: The path is absolute."


def test_an_interrupted_call_without_words_is_not_claimed_to_have_run() -> None:
    assert told("", outcome="interrupted") == "The command `date`: It was interrupted, and nothing more is known of it."


def test_empty_output_is_said_to_be_empty() -> None:
    assert told("", tool="read_file", path="a.txt") == "The file `a.txt` (no output)."


def test_a_file_that_says_it_waits_is_still_shown_as_a_file() -> None:
    text = "I am waiting.\nDo not call me again."
    assert told(text, tool="read_file", path="a.txt") == f"The file `a.txt`:\n```\n{text}\n```"


def test_results_are_told_in_the_order_of_the_calls_whatever_came_back_first() -> None:
    calls = [ToolCallPart("shell", {"command": "one"}, "c1"), ToolCallPart("shell", {"command": "two"}, "c2")]
    returns = [ToolReturnPart("shell", "2", "c2"), ToolReturnPart("shell", "1", "c1")]
    assert [paragraph.partition(":")[0] for paragraph in report(calls, returns)] == [
        "The command `one`",
        "The command `two`",
    ]


@pytest.mark.parametrize(
    ("tool", "text", "arguments", "says"),
    [
        ("write_file", "created `a.txt`: 2 bytes.", {"path": "a.txt", "content": "hi"}, "Writing `a.txt`: created"),
        ("ask_user", "The person answered: red", {"question": "Which?"}, "`Which?`: The person answered: red"),
        ("list_files", "a.txt", {"path": "."}, "The files in the workspace:\n```"),
        ("list_files", "a.txt", {"path": "src"}, "The files in `src`:\n```"),
        ("weather_today", "rain", {"city": "Bergen"}, "`weather_today` `Bergen`:\n```\nrain\n```"),
    ],
)
def test_each_tool_is_named_as_a_person_would(tool: str, text: str, arguments: dict[str, Any], says: str) -> None:
    assert says in told(text, tool=tool, **arguments)


def test_an_event_of_the_house_is_reported_item_by_item() -> None:
    head = (
        "[event: the person did not write this]\nCalls that were waiting have ended. Tell the person what came of them."
    )
    ran, denied = sentence(ApprovalState.SUCCEEDED), sentence(ApprovalState.DENIED)
    event = f'{head}\n- shell {{"command": "date"}}: {ran}\nSunday\n- shell {{"command": "id"}}: {denied}'
    assert report_event(event) == [
        "The command `date`: it ran (exit code 3) after a person approved it.\n```\nSunday\n```",
        "The command `id`: A person denied it. It did not run.",
    ]


def test_an_event_of_another_form_is_shown_as_it_stands() -> None:
    assert report_event("[event] Job 7 has ended.\nIt found `3` stars.") == [
        "Job 7 has ended.",
        "```\nIt found `3` stars.\n```",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("date", "`date`"),
        ("echo `date`", "`` echo `date` ``"),
        ("two\nlines", "`two…`"),
        ("x" * 100, f"`{'x' * 59}…`"),
    ],
)
def test_what_is_quoted_inline_stays_inside_its_marks(text: str, shown: str) -> None:
    assert inline(text) == shown


def test_a_call_that_a_person_changed_is_reported_as_what_it_became() -> None:
    call = a_call(
        tool="shell",
        arguments={"command": "echo bye"},
        original={"command": "echo hi"},
        state=ApprovalState.FAILED,
        exit_code=3,
    )
    paragraph = told(f"{sentences.changes(call)}{sentence(ApprovalState.FAILED)}\nbye", command="echo hi")
    assert paragraph == (
        "The command `echo hi`, changed by a person into the command `echo bye`: it ran after a person approved it, and"
        " failed (exit code 3).\n```\nbye\n```"
    )
