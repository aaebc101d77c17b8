"""Makes a history whole: each call has one result, behind it and before the next answer, and each result has its call.

Providers refuse anything else. pydantic-ai repairs histories too, silently and merging messages on the way, which costs
them the stamps of their runs; here nothing else is touched, and there is a report.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
)

from bot.agent.history import answered_call

INTERRUPTED = "This call was interrupted before it had a result. Nothing is known of it; do not assume that it ran."


@dataclass(frozen=True, kw_only=True)
class RepairReport:
    """What was not as it should be: call ids in the order of the history."""

    synthesised: tuple[str, ...] = ()
    """Calls without a result, which got one that says so."""
    moved: tuple[str, ...] = ()
    """Calls whose result came after a later answer, and was put where it belongs."""
    dropped: tuple[str, ...] = ()
    """Results of no call, or of one that had its result."""
    truncated: tuple[str, ...] = ()
    """Calls whose arguments are not a whole JSON object. They stay as they are, and stay reported."""


@dataclass
class _Turn:
    """One response (none before the first) and what follows it up to the next."""

    response: ModelResponse | None
    requests: list[ModelRequest] = field(default_factory=list)
    open: list[ToolCallPart] = field(default_factory=list)
    """Its calls that have no result so far."""
    stray: list[ModelRequestPart] = field(default_factory=list)
    """Results here that answer none of its calls."""
    due: list[tuple[ToolCallPart, ModelRequestPart]] = field(default_factory=list)
    """Results to be put in."""

    @property
    def calls(self) -> Sequence[ToolCallPart]:
        return self.response.tool_calls if self.response is not None else ()

    def take(self, call_id: str) -> ToolCallPart | None:
        """Take the oldest open call of that id as answered."""
        call = next((one for one in self.open if one.tool_call_id == call_id), None)
        self.open = [one for one in self.open if one is not call]
        return call

    def messages(self) -> list[ModelMessage]:
        """The turn as it should be; what needs no change is the same object."""
        requests = [kept for request in self.requests if (kept := _without(request, self.stray)) is not None]
        position = {id(call): number for number, call in enumerate(self.calls)}
        due = [part for _, part in sorted(self.due, key=lambda pair: position[id(pair[0])])]
        if due and requests and (behind := _after_results(requests[0])):
            parts = requests[0].parts
            requests[0] = replace(requests[0], parts=[*parts[:behind], *due, *parts[behind:]])
        elif due:
            requests.insert(0, ModelRequest(parts=due))
        return [*([self.response] if self.response is not None else []), *requests]


def repair(
    messages: Sequence[ModelMessage], *, keep_open: Collection[str] = ()
) -> tuple[list[ModelMessage], RepairReport]:
    """The history made whole, and what that took. Done again, it changes nothing; what is whole comes back as it is.

    `keep_open`: ids of calls of the last response that wait for their result, and go on waiting.
    """
    turns = _turns(messages)
    moved: list[str] = []
    dropped: list[str] = []
    for number, turn in enumerate(turns):
        for part in [part for request in turn.requests for part in request.parts]:
            call_id = answered_call(part)
            if call_id is None or turn.take(call_id) is not None:
                continue
            turn.stray.append(part)
            # The newest turn that used the id is the one that is meant.
            asker = next((one for one in reversed(turns[: number + 1]) if _asks(one, call_id)), turn)
            if (call := asker.take(call_id)) is None:
                dropped.append(call_id)
            else:
                moved.append(call_id)
                asker.due.append((call, part))
    synthesised: list[str] = []
    for turn in turns:
        for call in turn.open:
            if turn.response is not None and (turn is not turns[-1] or call.tool_call_id not in keep_open):
                synthesised.append(call.tool_call_id)
                turn.due.append((call, _no_result(call, turn.response)))
    truncated = [call.tool_call_id for turn in turns for call in turn.calls if not is_whole(call)]
    report = RepairReport(
        synthesised=tuple(synthesised), moved=tuple(moved), dropped=tuple(dropped), truncated=tuple(truncated)
    )
    return [message for turn in turns for message in turn.messages()], report


def _turns(messages: Sequence[ModelMessage]) -> list[_Turn]:
    turns = [_Turn(None)]
    for message in messages:
        if isinstance(message, ModelResponse):
            turns.append(_Turn(message, open=list(message.tool_calls)))
        else:
            turns[-1].requests.append(message)
    return turns


def _asks(turn: _Turn, call_id: str) -> bool:
    return any(call.tool_call_id == call_id for call in turn.calls)


def _without(request: ModelRequest, stray: Sequence[ModelRequestPart]) -> ModelRequest | None:
    parts = [part for part in request.parts if not any(part is one for one in stray)]
    if len(parts) == len(request.parts):
        return request
    return replace(request, parts=parts) if parts else None


def _after_results(request: ModelRequest) -> int:
    """How many parts there are up to the last result; 0 if there is none."""
    return max((n for n, part in enumerate(request.parts, start=1) if answered_call(part) is not None), default=0)


def _no_result(call: ToolCallPart, response: ModelResponse) -> ToolReturnPart:
    return ToolReturnPart(
        tool_name=call.tool_name,
        content=INTERRUPTED,
        tool_call_id=call.tool_call_id,
        outcome="interrupted",
        timestamp=response.timestamp,  # not now: the repair must come out the same every time
    )


def is_whole(call: ToolCallPart) -> bool:
    """Whether the arguments, if they are text, are one whole JSON object."""
    if not isinstance(call.args, str) or not call.args:
        return True
    try:
        return isinstance(json.loads(call.args), dict)
    except (ValueError, RecursionError):
        return False
