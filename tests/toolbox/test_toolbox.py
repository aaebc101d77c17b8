"""The built-in tools as a set, and the question that runs nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.clock import new_id
from bot.deferral.tool import ToolKind
from bot.errors import NothingRan
from bot.toolbox import builtin_tools
from bot.toolbox.ask import AskArguments, make_ask_user
from bot.toolbox.sandbox import Sandbox
from tests.toolbox.conftest import CALL


def test_the_tools_are_these_and_the_harmless_ones_ask_nobody(workspace: Path) -> None:
    tools = builtin_tools(workspace=workspace, sandbox=Sandbox(), new_id=new_id)
    assert {tool.name: tool.gated for tool in tools} == {
        "shell": True,
        "execute_code": True,
        "calculate": True,
        "read_file": False,
        "list_files": False,
        "write_file": True,
        "edit_file": True,
        "http_fetch": True,
        "ask_user": True,
    }


def test_a_model_can_be_told_what_each_takes(workspace: Path) -> None:
    for tool in builtin_tools(workspace=workspace, sandbox=Sandbox(), new_id=new_id):
        schema = tool.arguments.model_json_schema()
        assert schema["additionalProperties"] is False
        assert tool.description.endswith(".")
        # OpenAI's and Anthropic's rule for the names of functions.
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)


async def test_a_question_waits_for_an_answer_and_runs_nothing() -> None:
    tool = make_ask_user()
    assert tool.kind is ToolKind.QUESTION
    with pytest.raises(NothingRan):
        await tool.body(AskArguments(question="Which?"), CALL)


@pytest.mark.parametrize(
    "bad",
    [{"question": ""}, {"question": " "}, {"question": "x" * 1001}, {"question": "?", "choices": ["x"] * 6},
     {"question": "?", "choices": ["x" * 81]}, {"question": "?", "choices": [""]}, {"question": "?", "more": 1}, {}],
)  # fmt: skip
def test_a_question_that_no_card_can_show_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        AskArguments.model_validate(bad)


def test_a_question_with_and_without_choices_is_taken() -> None:
    assert AskArguments(question="Which?", choices=["a"] * 5).choices == ["a"] * 5
    assert AskArguments(question="x" * 1000).choices == []
