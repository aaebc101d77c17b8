"""The model that needs no key: fixed rules behind pydantic-ai's `FunctionModel`, so that everything else is real.

Its calls go through the same gate, cards and executor as any model's. It never pretends to be more than it is: each
reply begins with `LABEL`, and what it does not understand it says. Deterministic: the same messages, the same answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.profiles import ModelProfile

from bot.agent.offline_answers import EVENT_MARK, inline, report, report_event
from bot.agent.offline_rules import Reading, read_prompt

LABEL = "-# offline model: fixed rules, no language model"
"""The first line of every reply (`-#` is Discord's small print)."""

SET_A_MODEL = (
    "For a real language model set one line and start again: `SIGNOFF_MODEL=openai:MODEL` with `OPENAI_API_KEY`,"
    " or `SIGNOFF_MODEL=anthropic:MODEL` with `ANTHROPIC_API_KEY`."
)

_BACKGROUND = re.compile(r"\n\n\[Background, added by the program:.*?(?=\n\n\[A note from |\Z)", re.DOTALL)
"""What a job is told of the conversation it comes from (`bot.jobs.words.first_message`): it asks for nothing."""

_ENDED_JOB = re.compile(r"\[event: [^\]]*\]\nBackground job ")
"""How a conversation is told of a job's ending (`bot.jobs.words.event`): people are told by the program."""

_EXAMPLES = (
    ("shell", "run `date`"),
    ("execute_code", "run python: print(1+1), or: calculate 3*7"),
    ("calculate", "calculate 3*7"),
    ("read_file", "read notes.txt"),
    ("list_files", "list files, or: what's in src?"),
    ("write_file", "write hello world to notes.txt"),
    ("http_fetch", "fetch https://example.org"),
    ("start_job", "in the background, run `sleep 5`"),
    ("ask_user", "ask me which colour: red, green or blue"),
)
"""One request in words for each tool: what a person is shown, and what the tests try."""


def offline_model() -> FunctionModel:
    """The model used when `SIGNOFF_MODEL` is not set."""
    return FunctionModel(
        _request, stream_function=_stream, model_name="offline", profile=ModelProfile(supports_image_input=False)
    )


async def _request(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return _respond(messages, info)


async def _stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    """The same answer in pieces: text word by word, each call at once with its complete JSON."""
    for index, part in enumerate(_respond(messages, info).parts):
        if isinstance(part, ToolCallPart):
            yield {index: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}
        elif isinstance(part, TextPart):
            for word in re.findall(r"\s*\S+\s*", part.content):
                yield word


@dataclass(frozen=True)
class _Turn:
    """What the newest stretch of a conversation holds for the answer."""

    prompt: str
    """The newest thing somebody said, or the program in their place."""
    fresh: bool
    """Whether nothing has been answered to it yet."""
    calls: Sequence[ToolCallPart]
    results: Sequence[ToolReturnPart]
    """All results since the last answer in words: those nobody has been told about."""


def _respond(messages: Sequence[ModelMessage], info: AgentInfo) -> ModelResponse:
    turn = _newest_turn(messages)
    tools = [tool.name for tool in info.function_tools]
    told = report(turn.calls, turn.results)
    if turn.fresh and _ENDED_JOB.match(turn.prompt):
        return ModelResponse(parts=[TextPart("nothing to add")])
    if turn.prompt.lstrip().startswith(EVENT_MARK):
        return _words([*report_event(turn.prompt), *told] if turn.fresh else told)
    reading = _small_tier(read_prompt(_BACKGROUND.sub("", turn.prompt)), tools)
    wishes = [wish for wish in reading.wishes if wish.tool in tools]
    if turn.fresh and wishes:
        ids = _call_ids(messages, len(wishes))
        return ModelResponse(
            parts=[
                ToolCallPart(wish.tool, json.dumps(wish.arguments, ensure_ascii=False), tool_call_id=id)
                for wish, id in zip(wishes, ids, strict=True)
            ]
        )
    return _words([*told, *_remarks(reading, tools, acted=bool(wishes))])


def _small_tier(reading: Reading, tools: Sequence[str]) -> Reading:
    """Where programs do not run, they are calculated, if that is offered."""
    if "execute_code" in tools or "calculate" not in tools:
        return reading
    return replace(
        reading,
        wishes=tuple(
            replace(wish, tool="calculate") if wish.tool == "execute_code" else wish for wish in reading.wishes
        ),
    )


def _newest_turn(messages: Sequence[ModelMessage]) -> _Turn:
    prompt, fresh = "", False
    calls: list[ToolCallPart] = []
    results: list[ToolReturnPart] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            fresh = False
            asked = [part for part in message.parts if isinstance(part, ToolCallPart)]
            if not asked:
                results = []
            calls += asked
        elif isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    prompt, fresh = _text(part), True
                elif isinstance(part, ToolReturnPart):
                    results.append(part)
    return _Turn(prompt, fresh, calls, results)


def _text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(
        item if isinstance(item, str) else item.content for item in part.content if isinstance(item, str | TextContent)
    )


def _call_ids(messages: Sequence[ModelMessage], count: int) -> list[str]:
    """Ids that no visible message has used: they name the number of messages so far, and the call's place."""
    used = {part.tool_call_id for message in messages for part in message.parts if isinstance(part, ToolCallPart)}
    number = len(messages)
    while f"offline-{number}-0" in used:
        number += 1
    return [f"offline-{number}-{index}" for index in range(count)]


def _remarks(reading: Reading, tools: Sequence[str], *, acted: bool) -> list[str]:
    """What has to be said beside the results: tools that are missing, words not understood, and what would be."""
    missing = dict.fromkeys(wish.tool for wish in reading.wishes if wish.tool not in tools)
    remarks = [f"I would need the tool {inline(tool)} for that, and it is not available here." for tool in missing]
    if reading.unread:
        parts = ", ".join(map(inline, reading.unread))
        why = "I did nothing about this" if reading.hints else "I do not understand this, and did nothing about it"
        remarks.append(" ".join([f"{why}: {parts}.", *reading.hints]))
    if not acted and not missing:
        remarks.append(_abilities(tools))
    return remarks


def _abilities(tools: Sequence[str]) -> str:
    known_tools = set(tools) - ({"calculate"} if "execute_code" in tools else set())
    examples = [f"- {example}" for tool, example in _EXAMPLES if tool in known_tools]
    if {"shell", "read_file"} <= set(tools):
        examples.append("- run `date` and then read notes.txt")
    known = "\n".join(["This is what I understand, for example:", *examples]) if examples else "I have no tools here."
    return f"{known}\n{SET_A_MODEL}"


def _words(paragraphs: Sequence[str]) -> ModelResponse:
    first, *others = paragraphs or ["There is nothing new to say."]
    return ModelResponse(parts=[TextPart("\n\n".join([f"{LABEL}\n{first}", *others]))])
