"""Drives one run of pydantic-ai's agent, step by step, and keeps what it did whatever becomes of it.

pydantic-ai's `run` gives either a result or an exception, and the exception takes the transcript with it. Here a run
that fails, is stopped or uses up a limit still has its transcript, with every call in it closed: nothing that was done
is lost, so nothing has to be done twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import Agent, AgentRun, CallToolsNode, DeferredToolRequests, DeferredToolResults, ModelRequestNode
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from bot.agent.gate import RunDeps
from bot.agent.models import explain
from bot.agent.own import written
from bot.agent.recorder import Recorder
from bot.agent.repair import repair
from bot.deferral.calls import Limits, PendingToolCall, Usage
from bot.deferral.events import EventKind, Reporter
from bot.deferral.tool import ToolKind
from bot.errors import EmptyAnswer, ModelError

OnText = Callable[[str], Awaitable[None]]
Output = str | DeferredToolRequests


SILENT = Reporter(run_id="", conversation_id="")


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


@dataclass(frozen=True, kw_only=True)
class Driver:
    """One run and all that it needs."""

    iter: Callable[..., AbstractAsyncContextManager[AgentRun[RunDeps, Output]]]
    """As `Agent.iter`."""
    tools: Collection[str]
    deps: RunDeps
    settings: ModelSettings
    limits: Limits
    report: Reporter
    on_text: OnText | None
    """Takes the newest answer as it grows; None asks the model for whole answers."""
    recorder: Recorder = field(default_factory=lambda: Recorder(None))
    """Hears of each step when it is done."""
    unsent: list[ModelRequest] = field(default_factory=list)
    """Results that the model did not get to see, because a limit came first."""

    async def go(
        self,
        prompt: str | None,
        messages: Sequence[ModelMessage],
        results: DeferredToolResults | None = None,
        *,
        run_id: str | None = None,
    ) -> Stretch:
        """Run to the next answer or pause. Raises only what cancels it from outside."""
        run: AgentRun[RunDeps, Output] | None = None
        error: Exception | None
        try:
            async with self.iter(
                prompt,
                message_history=messages,
                deferred_tool_results=results,
                deps=self.deps,
                run_id=run_id,
                conversation_id=self.deps.run.conversation,
                model_settings=self.settings,
                usage_limits=UsageLimits(request_limit=self.limits.requests),
            ) as run:
                error = await self._steps(run, resuming=results is not None)
        except Exception as raised:  # noqa: BLE001 - `explain` has a sentence for everything a model may do
            error = explain(raised)
            error.__cause__ = error.__cause__ or (raised if raised is not error else None)
        if run is None:
            whole, _ = repair(messages)
            return Stretch(text="", pending=[], new=[], whole=whole, usage=_usage(None, self.deps), error=error)
        return self._outcome(messages, run, error)

    async def _steps(self, run: AgentRun[RunDeps, Output], *, resuming: bool) -> Exception | None:
        """Take every step; what ended the run early, or None."""
        node = run.next_node
        while not Agent.is_end_node(node):
            if Agent.is_model_request_node(node):
                resuming = False
                self.report.say(EventKind.MODEL_START)
                try:
                    if self.on_text is not None:
                        await _show(node, run, self.on_text)
                    node = await run.next(node)
                except Exception:
                    self.report.say(EventKind.MODEL_END, outcome="failed")
                    raise
                said = node.model_response.text if Agent.is_call_tools_node(node) else None
                self.report.say(EventKind.MODEL_END, outcome="success", text=said)
                if Agent.is_call_tools_node(node) and node.model_response.tool_calls:
                    await self._record(run)
            elif Agent.is_call_tools_node(node):
                # A resume begins with a batch of calls that are already answered: nothing runs, nothing is heard.
                await self._batch(node, run, SILENT if resuming else self.report)
                if self.deps.stopped:
                    return next(iter(self.deps.stopped.values()))
                node = await run.next(node)
                if Agent.is_model_request_node(node) and not resuming:
                    await self._record(run, node.request)
                if self.deps.executions.refused and Agent.is_model_request_node(node):
                    self.unsent.append(node.request)
                    return LimitReached(f"This took more than the {self.limits.tool_calls} tool calls it may take.")
            else:
                node = await run.next(node)
        return None

    async def _record(self, run: AgentRun[RunDeps, Output], *results: ModelRequest) -> None:
        turned_away = self.deps.turned_away - self.deps.run.turned_away
        await self.recorder.record([*run.new_messages(), *results], turned_away=turned_away)

    async def _batch(
        self, node: CallToolsNode[RunDeps, Output], run: AgentRun[RunDeps, Output], report: Reporter
    ) -> None:
        """Let the calls of one response run, and report them in the order in which the model emitted them."""
        calls = node.model_response.tool_calls
        self.deps.unknown = tuple(dict.fromkeys(call.tool_name for call in calls if call.tool_name not in self.tools))
        outcomes: dict[str, str] = {}
        async with node.stream(run.ctx) as events:
            async for event in events:
                if isinstance(event, FunctionToolCallEvent):
                    report.say(EventKind.TOOL_START, call_id=event.tool_call_id, tool_name=event.part.tool_name)
                elif isinstance(event, FunctionToolResultEvent):
                    outcomes[event.tool_call_id] = event.part.outcome
        for call in calls:
            id, name = call.tool_call_id, call.tool_name
            if id in outcomes:
                outcome = "stopped" if id in self.deps.stopped else outcomes[id]
                report.say(EventKind.TOOL_END, call_id=id, tool_name=name, outcome=outcome)
            elif not self.deps.stopped:
                report.say(EventKind.DEFERRED, call_id=id, tool_name=name)
        if self.deps.stopped:
            report.say(EventKind.CANCELLED)

    def _outcome(
        self, messages: Sequence[ModelMessage], run: AgentRun[RunDeps, Output], error: Exception | None
    ) -> Stretch:
        output = run.result.output if run.result is not None and error is None else ""
        new = [message for message in [*run.new_messages(), *self.unsent] if message.parts]
        waits = isinstance(output, DeferredToolRequests)
        text = _last_text(new) if waits else written(output)
        pending = pending_calls(output) if isinstance(output, DeferredToolRequests) else []
        if error is None and any(not call.call_id for call in pending):
            error = ModelError("The model made a call that has no id, so nothing could answer it. Ask again.")
        if error is None and not pending and not text.strip():
            error = EmptyAnswer("The model gave an empty answer. Ask again, or ask in other words.")
        whole = [*messages, *new]
        if error is not None:
            text, pending = "", []
            whole = closed(whole, run.run_id, run.conversation_id, discard=bool(self.deps.stopped))
        return Stretch(
            text=text,
            pending=pending,
            new=new,
            whole=whole,
            usage=_usage(run, self.deps),
            error=error,
            turned_away=self.deps.turned_away - self.deps.run.turned_away,
        )


def closed(messages: Sequence[ModelMessage], run_id: str, conversation_id: str, *, discard: bool) -> list[ModelMessage]:
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


def pending_calls(requests: DeferredToolRequests) -> list[PendingToolCall]:
    """What waits, from what the gate noted when it deferred the calls."""
    return [_pending(call, requests.metadata[call.tool_call_id]) for call in requests.calls]


def _pending(call: ToolCallPart, noted: dict[str, Any]) -> PendingToolCall:
    return PendingToolCall(
        call_id=call.tool_call_id,
        tool_name=call.tool_name,
        args=noted["args"],
        reason=noted["reason"],
        kind=ToolKind(noted["kind"]),
        intent=noted["intent"],
        action=noted["action"],
    )


def _usage(run: AgentRun[RunDeps, Output] | None, deps: RunDeps) -> Usage:
    used = run.usage if run is not None else None
    return Usage(
        requests=used.requests if used else 0,
        tool_calls=deps.executions.done,
        input_tokens=used.input_tokens if used else 0,
        output_tokens=used.output_tokens if used else 0,
        cost_micros=cost_of(run.new_messages()) if run is not None else 0,
    )


def cost_of(messages: Sequence[ModelMessage]) -> int | None:
    """What the answers among the messages cost, in millionths of a US dollar; None if one has no known price."""
    try:
        prices = [message.cost().total_price for message in messages if isinstance(message, ModelResponse)]
    except (LookupError, ValueError, AssertionError):  # no such model, no usage, no name: all mean "unknown"
        return None
    return round(sum(prices) * 1_000_000)


def _last_text(messages: Sequence[ModelMessage]) -> str:
    """What the model said beside the calls it paused for."""
    for message in reversed(messages):
        if message.kind == "response":
            return "".join(part.content for part in message.parts if isinstance(part, TextPart))
    return ""


async def _show(node: ModelRequestNode[RunDeps, Output], run: AgentRun[RunDeps, Output], on_text: OnText) -> None:
    """Ask the model for a stream, and hand on its text as it grows."""
    text = ""
    async with node.stream(run.ctx) as events:
        async for event in events:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=more))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=more))
                ):
                    text += more
                case _:
                    continue
            if text:
                with contextlib.suppress(OSError):  # a face that cannot show progress must not stop the work
                    await on_text(text)
