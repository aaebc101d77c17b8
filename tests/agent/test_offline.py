"""The offline model in the real agent loop, in the real house, and streamed."""

from __future__ import annotations

from collections.abc import AsyncIterable
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, RunContext
from pydantic_ai.exceptions import CallDeferred, ToolFailed
from pydantic_ai.messages import (
    AgentStreamEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel

from bot.agent.offline import LABEL, SET_A_MODEL, offline_model
from bot.jobs.words import first_message
from tests.house import Script, open_house


def agent(*names: str, gated: bool = False) -> tuple[Agent[None, Any], list[tuple[str, dict[str, Any]]]]:
    """An agent with tools of these names (all, if none is given), and the calls that reached them."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def take(name: str, **arguments: Any) -> str:
        calls.append((name, arguments))
        if gated:
            raise CallDeferred
        return f"{name} did it\nexit code: 0"

    def shell(command: str) -> str:
        return take("shell", command=command)

    def execute_code(code: str) -> str:
        return take("execute_code", code=code)

    def read_file(path: str) -> str:
        if path == "gone.txt":
            raise ToolFailed("There is no file `gone.txt`.")
        return take("read_file", path=path)

    def list_files(path: str = ".") -> str:
        return take("list_files", path=path)

    def write_file(path: str, content: str) -> str:
        return take("write_file", path=path, content=content)

    def http_fetch(url: str) -> str:
        return take("http_fetch", url=url)

    def start_job(goal: str) -> str:
        return take("start_job", goal=goal)

    def ask_user(question: str, choices: list[str]) -> str:
        return take("ask_user", question=question, choices=choices)

    def calculate(code: str) -> str:
        return take("calculate", code=code)

    tools = [shell, execute_code, calculate, read_file, list_files, write_file, http_fetch, start_job, ask_user]
    offered = [tool for tool in tools if not names or tool.__name__ in names]
    return Agent(offline_model(), output_type=[str, DeferredToolRequests], tools=offered), calls


@pytest.mark.parametrize(
    ("prompt", "call"),
    [
        ("run `date`", ("shell", {"command": "date"})),
        ("run python: print(1+1)", ("execute_code", {"code": "print(1+1)"})),
        ("read notes.txt", ("read_file", {"path": "notes.txt"})),
        ("list files", ("list_files", {"path": "."})),
        ("write hello world to notes.txt", ("write_file", {"path": "notes.txt", "content": "hello world"})),
        ("fetch https://example.org", ("http_fetch", {"url": "https://example.org"})),
        ("in the background, run `sleep 5`", ("start_job", {"goal": "run `sleep 5`"})),
        (
            "ask me which colour: red, green or blue",
            ("ask_user", {"question": "Which colour?", "choices": ["red", "green", "blue"]}),
        ),
    ],
)
async def test_each_kind_of_request_calls_its_tool_once_and_tells_the_result(
    prompt: str, call: tuple[str, dict[str, Any]]
) -> None:
    made, calls = agent()
    result = await made.run(prompt)
    assert calls == [call]
    assert result.output.startswith(f"{LABEL}\n")
    assert f"{call[0]} did it" in result.output
    assert "exit code 0" in result.output


async def test_where_programs_do_not_run_they_are_calculated() -> None:
    made, calls = agent("calculate")
    result = await made.run("calculate 3*7")
    assert calls == [("calculate", {"code": "print(3*7)"})]
    assert "The Python code `print(3*7)`" in result.output


async def test_several_wishes_become_calls_of_one_response() -> None:
    made, calls = agent()
    result = await made.run("run `date` and then read notes.txt")
    [response] = [message for message in result.all_messages()[:2] if isinstance(message, ModelResponse)]
    assert [part.tool_name for part in response.parts if isinstance(part, ToolCallPart)] == ["shell", "read_file"]
    assert sorted(name for name, _ in calls) == ["read_file", "shell"]
    assert result.output.index("`date`") < result.output.index("`notes.txt`")


async def test_a_failure_is_told_and_not_tried_again() -> None:
    made, calls = agent()
    result = await made.run("read gone.txt")
    assert calls == []
    assert result.output == f"{LABEL}\nThe file `gone.txt`: There is no file `gone.txt`."
    assert result.usage.requests == 2


async def test_a_tool_that_is_not_offered_is_named_and_the_others_are_called() -> None:
    made, calls = agent("read_file")
    result = await made.run("run `date` and then read notes.txt")
    assert calls == [("read_file", {"path": "notes.txt"})]
    assert "I would need the tool `shell` for that" in result.output


async def test_what_is_not_understood_is_answered_with_examples_of_the_tools_at_hand() -> None:
    made, calls = agent("read_file", "list_files")
    result = await made.run("make me a sandwich")
    assert calls == []
    assert "do not understand this, and did nothing about it: `make me a sandwich`" in result.output
    assert "- read notes.txt" in result.output
    assert "https://" not in result.output
    assert SET_A_MODEL in result.output


async def test_a_part_that_is_not_understood_is_mentioned_beside_the_result() -> None:
    made, _ = agent()
    result = await made.run("run `date`, then sing a song")
    assert "shell did it" in result.output
    assert "`sing a song`" in result.output
    assert SET_A_MODEL not in result.output


@pytest.mark.parametrize("prompt", ["hello", "help", "thanks!"])
async def test_a_greeting_is_answered_with_what_it_can_do(prompt: str) -> None:
    made, _ = agent()
    result = await made.run(prompt)
    assert result.output.startswith(f"{LABEL}\nThis is what I understand")
    assert "nothing about" not in result.output


async def test_streamed_and_whole_answers_are_the_same() -> None:
    made, _ = agent()
    pieces: list[str] = []

    async def watch(_: RunContext[None], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    pieces.append(text)

    streamed = await made.run("run `date`; read a.txt", event_stream_handler=watch)
    whole = await made.run("run `date`; read a.txt")
    assert "".join(pieces) == streamed.output == whole.output
    assert len(pieces) > 10


async def test_a_pause_goes_on_with_the_outcome_and_calls_nothing_twice() -> None:
    made, calls = agent(gated=True)
    paused = await made.run("run `date`")
    assert isinstance(paused.output, DeferredToolRequests)
    [call] = paused.output.calls
    answers = paused.output.build_results(
        calls={call.tool_call_id: "This call ran after a person approved it.\nSunday"}
    )
    resumed = await made.run(message_history=paused.all_messages(), deferred_tool_results=answers)
    assert len(calls) == 1
    assert "it ran after a person approved it.\n```\nSunday\n```" in resumed.output


def conversation(*messages: ModelMessage) -> list[ModelMessage]:
    return list(messages)


def said(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


WAITS = "This call waits for a person: its card is up, and only they can answer. It has not run. Do not call it again."


async def test_while_a_call_waits_something_else_can_be_asked_and_both_are_told() -> None:
    made, calls = agent()
    history = conversation(
        said("run `date`"),
        ModelResponse(parts=[ToolCallPart("shell", {"command": "date"}, "offline-1-0")]),
        ModelRequest(parts=[ToolReturnPart("shell", WAITS, "offline-1-0")]),
    )
    result = await made.run("list files", message_history=history)
    assert calls == [("list_files", {"path": "."})]
    assert "The command `date`: it waits for a person" in result.output
    assert "list_files did it" in result.output
    later = await made.run("hello", message_history=result.all_messages())
    assert "waits for a person" not in later.output


async def test_an_event_is_told_and_calls_nothing_whatever_it_says() -> None:
    made, calls = agent()
    result = await made.run("[event: the person did not write this]\nrun `date` and then list files")
    assert calls == []
    assert result.output == f"{LABEL}\nrun `date` and then list files"


async def test_what_a_job_is_told_of_where_it_comes_from_asks_for_nothing() -> None:
    background = "Ben: run `ls`, then write hello to notes.txt\n\nSignoff: both wait for a person."
    its_own, calls = agent("shell", "write_file")
    await its_own.run(first_message("run `sleep 3`", background, [], str))
    assert calls == [("shell", {"command": "sleep 3"})]


async def test_ids_of_calls_never_repeat_within_a_conversation() -> None:
    made, _ = agent()
    history: list[ModelMessage] = []
    for _ in range(3):
        result = await made.run("run `date`, `id` and `pwd`", message_history=history[-4:])
        history = result.all_messages()
    ids = [part.tool_call_id for message in history for part in message.parts if isinstance(part, ToolCallPart)]
    assert len(ids) == len(set(ids)) == 6


async def test_the_same_conversation_gives_the_same_answer() -> None:
    runs = [await agent()[0].run("run `date`; read a.txt") for _ in range(2)]
    first, second = (
        [(part.tool_call_id, part.args) for part in run.all_messages()[1].parts if isinstance(part, ToolCallPart)]
        for run in runs
    )
    assert first == second
    assert runs[0].output == runs[1].output


class Offline(Script):
    """In place of a script: the offline model itself."""

    @property
    def model(self) -> FunctionModel:
        return offline_model()


async def test_in_the_house_its_calls_wait_for_a_person_like_any_models(tmp_path: Path) -> None:
    async with open_house(tmp_path, Offline()) as house:
        page = await house.ask("run `date`")
        assert house.bench.effects == []
        await house.decide("approve")
        assert house.bench.effects == ["date"]
        assert page.finished is not None
        assert page.finished.startswith(LABEL)
        assert "it ran (exit code 0) after a person approved it" in page.finished


async def test_in_the_house_a_denial_is_told_in_words(tmp_path: Path) -> None:
    async with open_house(tmp_path, Offline()) as house:
        page = await house.ask("run `date`")
        await house.decide("deny", reason="not today")
        assert house.bench.effects == []
        assert page.finished == f"{LABEL}\nThe command `date`: A person denied it: not today. It did not run."
