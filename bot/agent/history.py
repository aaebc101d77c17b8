"""Model messages to and from their stored form, and the repair of what must not reach a provider open."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from bot.errors import HistoryRefused

EVENT = "event"
"""In a request's metadata: no person wrote what stands in its user position. Providers are not sent it."""

Message = dict[str, Any]
"""One message of a conversation as a JSON object."""

_ONE: TypeAdapter[ModelMessage] = TypeAdapter(ModelMessage)


def dump(messages: Sequence[ModelMessage]) -> list[str]:
    """Each message as JSON."""
    return [_ONE.dump_json(message).decode() for message in messages]


def to_values(messages: Sequence[ModelMessage]) -> list[Message]:
    """Each message as a JSON object."""
    return [_ONE.dump_python(message, mode="json") for message in messages]


def from_values(values: Sequence[Message]) -> list[ModelMessage]:
    """The messages from `to_values`, all of them. Raises `HistoryRefused`."""
    try:
        return ModelMessagesTypeAdapter.validate_json(json.dumps(list(values)))
    except (ValidationError, TypeError, ValueError) as error:
        raise HistoryRefused(f"the history cannot be read: {error}") from error


def read(bodies: Sequence[str]) -> list[ModelMessage]:
    """The messages as they are stored, all of them."""
    return ModelMessagesTypeAdapter.validate_json("[" + ",".join(bodies) + "]")


def load(bodies: Sequence[str]) -> list[ModelMessage]:
    """The messages of a conversation's newest stretch, beginning with something a person (or an event) said.

    What comes before the first such message of a cut-off stretch belongs to a turn whose beginning is missing.
    """
    messages = read(bodies)
    for index, message in enumerate(messages):
        if isinstance(message, ModelRequest) and any(isinstance(part, UserPromptPart) for part in message.parts):
            return messages[index:]
    return []


def forked(bodies: Sequence[str], told: Mapping[str, str]) -> list[str]:
    """What a second conversation begins with that goes on from these messages: no call in it stands open.

    `told` says by call id what the model is told of a call that has no result here.
    """
    messages = load(bodies)
    added = placeholders(messages, lambda call_id: told.get(call_id, "Its outcome is not known in this conversation."))
    return dump([*messages, *added])


def stopped(bodies: Sequence[str], told: Mapping[str, str], *, prompt: str | None, said: str, event: str) -> list[str]:
    """What to append to these messages for a turn that was stopped: no call stands open, and the next turn fits on.

    `prompt` is what the person had asked, unless it stands there already; `said` what the answer had come to.
    """
    added = placeholders(load(bodies), lambda call_id: told.get(call_id, "Its outcome is not known."))
    asked = [ModelRequest(parts=[UserPromptPart(prompt)])] if prompt is not None else []
    answered = [ModelResponse(parts=[TextPart(said)])] if said.strip() else []
    return dump([*added, *asked, *answered, ModelRequest(parts=[UserPromptPart(event)], metadata={EVENT: True})])


def marked(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages, the first of them marked as an event: what stands in the user position is no person's words."""
    return [
        replace(message, metadata={**(message.metadata or {}), EVENT: True})
        if index == 0 and isinstance(message, ModelRequest)
        else message
        for index, message in enumerate(messages)
    ]


def event(text: str) -> str:
    """An event as a stored message, for a conversation whose model had no word about it."""
    return dump([ModelRequest(parts=[UserPromptPart(text)], metadata={EVENT: True})])[0]


def last_said(bodies: Sequence[str]) -> str:
    """What the model said in the last of its answers among these messages, or ''."""
    for message in reversed(read(bodies)):
        if isinstance(message, ModelResponse):
            return message.text or ""
    return ""


def open_calls(messages: Sequence[ModelMessage]) -> list[ToolCallPart]:
    """Calls that have no result, in order.

    A result answers the oldest open call of its id that came before it: providers may use an id again in a later
    turn, and what answered the first call says nothing about the second.
    """
    waiting: list[ToolCallPart] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            waiting += [part for part in message.parts if isinstance(part, ToolCallPart)]
            continue
        for call_id in map(answered_call, message.parts):
            answered = next((call for call in waiting if call.tool_call_id == call_id), None)
            waiting = [call for call in waiting if call is not answered]
    return waiting


def answered_call(part: ModelRequestPart) -> str | None:
    """The id of the call that a part of a request answers, if it answers one."""
    if isinstance(part, ToolReturnPart):
        return part.tool_call_id
    # What pydantic-ai wrote, before it was a result, for a call that the model is to correct.
    if part.part_kind == "retry-prompt" and part.tool_name is not None:
        return part.tool_call_id
    return None


def as_sent(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The conversation as a provider takes it: one request between two answers, the results in it first, and those in
    the order of the calls. What is stored has a request for each thing that happened; what needs no change is the same
    object.
    """
    sent: list[ModelMessage] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            parts: Sequence[ModelRequestPart] = message.parts
            if sent and isinstance(last := sent[-1], ModelRequest):
                sent.pop()
                parts = [*last.parts, *parts]
            if len(parts) > 1:
                parts = _results_first(parts, sent[-1] if sent else None)
            unchanged = len(parts) == len(message.parts) and all(map(operator.is_, parts, message.parts))
            sent.append(message if unchanged else replace(message, parts=list(parts)))
        else:
            sent.append(message)
    return sent


def _results_first(parts: Sequence[ModelRequestPart], asker: ModelMessage | None) -> list[ModelRequestPart]:
    calls = asker.tool_calls if isinstance(asker, ModelResponse) else []
    order = {call.tool_call_id: number for number, call in enumerate(calls)}

    def rank(part: ModelRequestPart) -> int:
        call_id = answered_call(part)
        return len(order) if call_id is None else order.get(call_id, len(order))

    return sorted(parts, key=rank)


def placeholders(messages: Sequence[ModelMessage], explain: Callable[[str], str]) -> list[ModelMessage]:
    """What to append so that no call stands open when somebody speaks while it waits.

    `explain` turns a call id into the sentence for the model. Providers refuse a conversation in which a call
    has no result; the true outcome follows later, as an event.
    """
    missing = open_calls(messages)
    if not missing:
        return []
    parts = [
        ToolReturnPart(tool_name=call.tool_name, content=explain(call.tool_call_id), tool_call_id=call.tool_call_id)
        for call in missing
    ]
    return [ModelRequest(parts=parts)]
