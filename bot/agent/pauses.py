"""Holds a paused history against the pause it is said to belong to, and lets each pause be resumed once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart

from bot.agent.gate import emitted_arguments
from bot.agent.history import open_calls
from bot.deferral.calls import PendingToolCall
from bot.deferral.results import DeferredToolRequests
from bot.deferral.tool import Tool

Claim = Callable[[str], Awaitable[bool]]
"""Takes the run id of a pause; true for the first who claims it, and never again for anybody.

Whoever resumes in more than one process gives one that is kept outside them: a row with a unique key will do.
"""


class ClaimsHere:
    """Claims of one agent in one process. Forgets nothing, and knows nothing of other processes."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    async def __call__(self, pause: str) -> bool:
        """See `Claim`."""
        if pause in self._taken:
            return False
        self._taken.add(pause)
        return True


def mismatches(
    messages: Sequence[ModelMessage], pending: DeferredToolRequests, tools: Mapping[str, Tool]
) -> Iterator[str]:
    """Everything in which the history is not the one that paused. The pause is believed, the history is not."""
    waiting = {call.call_id: call for call in pending}
    last = next((message for message in reversed(messages) if isinstance(message, ModelResponse)), None)
    asked = list(last.tool_calls) if last is not None else []
    if last is not None and last.run_id not in {None, pending.run_id}:
        yield f"the history ends with run {last.run_id}, the pause belongs to run {pending.run_id}"
    seen = set()
    for call in open_calls(messages):
        named = f"the call {call.tool_call_id or 'without an id'} ({call.tool_name})"
        if call.tool_call_id not in waiting:
            yield f"{named} stands open in the history, and nobody was asked about it"
        elif not any(call is one for one in asked):
            yield f"{named} stands open in the history, but the model has gone on since"
        else:
            seen.add(call.tool_call_id)
            yield from _differences(named, call, waiting[call.tool_call_id], tools.get(call.tool_name))
    for one in pending:
        if one.call_id not in seen:
            yield f"the call {one.call_id} ({one.tool_name}) does not stand open in the history"


def _differences(named: str, call: ToolCallPart, pending: PendingToolCall, tool: Tool | None) -> Iterator[str]:
    if call.tool_name != pending.tool_name:
        yield f"{named} is a call of {pending.tool_name} in the pause"
    elif tool is not None:
        try:
            same = emitted_arguments(tool, call) == dict(pending.args)
        except ValidationError:
            same = False
        if not same:
            yield f"{named} has other arguments in the history than in the pause"
