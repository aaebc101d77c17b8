"""Stored conversations as plain text: the gist for a job that begins, the whole for a person who wants to read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from bot.agent import enclosed
from bot.agent.history import EVENT, load, read

GIST = 2_000
"""Characters of a gist."""
_LINE = 400


def gist(bodies: Sequence[str]) -> str:
    """What was said last, the newest that fits, oldest first: people's words and answers, no tool calls."""
    kept: list[str] = []
    room = GIST
    for who, text in reversed([said for said in _said(load(bodies)) if said[0] in {"Person", "Event", "Signoff"}]):
        line = f"{who}: {_short(text)}"
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def last_words(bodies: Sequence[str]) -> str:
    """What the agent said last, or ''. The messages may begin anywhere."""
    return next((text.strip() for who, text in reversed(list(_said(read(bodies)))) if who == "Signoff"), "")


def succeeded(bodies: Sequence[str], tool: str) -> list[tuple[str, dict[str, Any]]]:
    """Id and arguments of the calls of a tool whose result says that they succeeded, in order."""
    asked: dict[str, dict[str, Any]] = {}
    done: list[tuple[str, dict[str, Any]]] = []
    for message in read(bodies):
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.tool_name == tool:
                with suppress(ValueError):
                    asked[part.tool_call_id] = part.args_as_dict()
            elif isinstance(part, ToolReturnPart) and part.outcome == "success" and part.tool_call_id in asked:
                done.append((part.tool_call_id, asked.pop(part.tool_call_id)))
    return done


def whole(bodies: Sequence[str]) -> str:
    """Everything, in order."""
    return "\n\n".join(f"## {who}\n{text}" for who, text in _said(load(bodies)))


def _said(messages: Sequence[ModelMessage]) -> Iterator[tuple[str, str]]:
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                match part:
                    case UserPromptPart():
                        yield "Event" if (message.metadata or {}).get(EVENT) else "Person", enclosed.words(part)
                    case ToolReturnPart():
                        yield f"Result of {part.tool_name}", str(part.content)
                    case RetryPromptPart():
                        yield f"Refusal of {part.tool_name or 'the answer'}", str(part.content)
                    case _:
                        continue
        elif isinstance(message, ModelResponse):
            for answer in message.parts:
                match answer:
                    case TextPart() if answer.content.strip():
                        yield "Signoff", answer.content
                    case ToolCallPart():
                        yield f"Call of {answer.tool_name}", answer.args_as_json_str()
                    case _:
                        continue


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"
