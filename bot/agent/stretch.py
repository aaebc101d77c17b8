"""What one stretch of the model loop came to, whichever loop drove it.

A run that fails, is stopped or uses up a limit still has its transcript, with every call in it closed: nothing that was
done is lost, so nothing has to be done twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)

from bot.agent.gate import RunDeps
from bot.agent.metering import cost_of
from bot.agent.repair import repair
from bot.deferral.calls import PendingToolCall, Usage
from bot.deferral.events import EventKind, Reporter
from bot.errors import EmptyAnswer, ModelError
from bot.texts.text import say

OnText = Callable[[str], Awaitable[None]]
"""Takes the newest answer as it grows."""


NO_CALLS_LEFT = (
    "This used up the calls of tools that one request may make, so it was stopped. What ran is done; ask again for the"
    " rest."
)


class LimitReached(ModelError):
    """The run has used up the tool calls it may make."""


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """What one run came to."""

    text: str
    """The answer, or what the model said beside the calls that wait."""
    pending: Sequence[PendingToolCall]
    """In the model's emission order; empty unless the run paused."""
    new: Sequence[ModelMessage]
    """What it added to the conversation."""
    whole: Sequence[ModelMessage]
    """The conversation with it. If `error` is set, no call in it stands open."""
    usage: Usage
    error: Exception | None
    """Why there is neither an answer nor a pause: a `ModelError`, or the `RunStopped` of a tool."""
    turned_away: int = 0
    """Calls that it made and that were answered in place of a card."""
    left_out: Sequence[PendingToolCall] = ()
    """See `LoopResult.left_out`."""


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """What a loop has to say of one run when it is over."""

    messages: Sequence[ModelMessage]
    """The conversation before it."""
    new: Sequence[ModelMessage]
    """What it added."""
    text: str
    pending: Sequence[PendingToolCall]
    requests: int
    """How often the model was asked."""
    input_tokens: int
    output_tokens: int
    run_id: str
    conversation_id: str


def check_ids(calls: Sequence[ToolCallPart]) -> None:
    """Hold each call of a batch to an id of its own, before any of them runs: a result is told apart by nothing else.

    Raises `ModelError`.
    """
    ids = [call.tool_call_id for call in calls]
    if not all(ids):
        raise ModelError(say("model.no_id"))
    if len(set(ids)) < len(ids):
        raise ModelError(say("model.same_id"))


def outcome(run: Transcript, deps: RunDeps, error: Exception | None) -> Stretch:
    """The stretch. With `error` it has neither answer nor pause, and no call stands open."""
    text, pending = run.text, run.pending
    if error is None and not pending and not text.strip():
        error = EmptyAnswer(say("model.empty"))
    whole = [*run.messages, *run.new]
    if error is not None:
        text, pending = "", []
        whole = _closed(whole, run.run_id, run.conversation_id, discard=bool(deps.stopped))
    return Stretch(
        text=text,
        pending=pending,
        new=run.new,
        whole=whole,
        usage=Usage(
            requests=run.requests,
            tool_calls=deps.executions.done,
            input_tokens=run.input_tokens,
            output_tokens=run.output_tokens,
            cost_micros=cost_of(run.new),
        ),
        error=error,
        turned_away=deps.turned_away - deps.run.turned_away,
        left_out=deps.left_out,
    )


def _closed(
    messages: Sequence[ModelMessage], run_id: str, conversation_id: str, *, discard: bool
) -> list[ModelMessage]:
    """The messages with no call open, what is added stamped.

    With `discard` the results of the last batch are left out: it was stopped, so all of its calls are closed alike.
    """
    kept = list(messages)
    while discard and kept and not isinstance(kept[-1], ModelResponse):
        kept.pop()
    return stamped(repair(kept)[0], messages, run_id=run_id, conversation_id=conversation_id)


def stamped(
    messages: Sequence[ModelMessage], old: Sequence[ModelMessage], *, run_id: str, conversation_id: str
) -> list[ModelMessage]:
    """Stamp the messages that are not among `old`; what somebody else stamped stays as it is."""
    known = {id(message) for message in old}
    return [
        message
        if message.run_id is not None or id(message) in known
        else replace(message, run_id=run_id, conversation_id=conversation_id)
        for message in messages
    ]


def last_text(messages: Sequence[ModelMessage]) -> str:
    """What the model said beside the calls it paused for."""
    for message in reversed(messages):
        if message.kind == "response":
            return "".join(part.content for part in message.parts if isinstance(part, TextPart))
    return ""


async def show_growing(events: AsyncIterable[object], on_text: OnText) -> None:
    """Hand on the text of a streamed answer as it grows."""
    text = ""
    async for event in events:
        match event:
            case PartStartEvent(part=TextPart(content=more)) | PartDeltaEvent(delta=TextPartDelta(content_delta=more)):
                text += more
            case _:
                continue
        if text:
            with contextlib.suppress(OSError):  # a face that cannot show progress must not stop the work
                await on_text(text)


def tell_batch(
    report: Reporter, calls: Sequence[ToolCallPart], outcomes: Mapping[str, str], stopped: Collection[str]
) -> None:
    """Report how the calls of a batch ended, in the model's order. A call without an outcome waits."""
    for call in calls:
        id, name = call.tool_call_id, call.tool_name
        if id in outcomes:
            ended = "stopped" if id in stopped else outcomes[id]
            report.say(EventKind.TOOL_END, call_id=id, tool_name=name, outcome=ended)
        elif not stopped:
            report.say(EventKind.DEFERRED, call_id=id, tool_name=name)
    if stopped:
        report.say(EventKind.CANCELLED)
