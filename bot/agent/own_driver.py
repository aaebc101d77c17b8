"""Drives one run of the user's own agent through pydantic-ai's loop, step by step.

pydantic-ai's `run` gives either a result or an exception, and the exception takes the transcript with it. Here it is
kept whatever becomes of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import (
    Agent,
    AgentRun,
    CallToolsNode,
    DeferredToolRequests,
    DeferredToolResults,
    ToolDenied,
    ToolReturn,
)
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelRequest,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from bot.agent.cleanse import cleanse
from bot.agent.gate import RunDeps
from bot.agent.metering import taken
from bot.agent.models import explain
from bot.agent.own import written
from bot.agent.recorder import Recorder
from bot.agent.repair import repair
from bot.agent.stretch import (
    NO_CALLS_LEFT,
    LimitReached,
    OnText,
    Stretch,
    Transcript,
    check_ids,
    last_text,
    outcome,
    show_growing,
    tell_batch,
)
from bot.deferral.calls import Limits, Meter, ToolResult, Usage
from bot.deferral.events import EventKind, Reporter
from bot.redact import Redactor

SILENT = Reporter(run_id="", conversation_id="")


@dataclass(frozen=True, kw_only=True)
class OwnDriver:
    """One run and all that it needs."""

    iter: Callable[..., AbstractAsyncContextManager[AgentRun[Any, Any]]]
    """As `Agent.iter`."""
    tools: Collection[str]
    deps: RunDeps
    settings: ModelSettings
    limits: Limits
    report: Reporter
    on_text: OnText | None
    """Takes the newest answer as it grows; None asks the model for whole answers."""
    recorder: Recorder
    """Hears of each step when it is done."""
    redactor: Redactor
    meter: Meter
    unsent: list[ModelRequest] = field(default_factory=list)
    """Results that the model did not get to see, because a limit came first."""

    async def go(
        self,
        prompt: str | None,
        messages: Sequence[ModelMessage],
        results: Sequence[ToolResult] = (),
        *,
        run_id: str | None = None,
    ) -> Stretch:
        """Run to the next answer or pause. Raises only what cancels it from outside."""
        run: AgentRun[Any, Any] | None = None
        error: Exception | None
        try:
            async with self.iter(
                prompt,
                message_history=messages,
                deferred_tool_results=_deferred(results) if results else None,
                deps=self.deps,
                run_id=run_id,
                conversation_id=self.deps.run.conversation,
                model_settings=self.settings,
                usage_limits=UsageLimits(request_limit=self.limits.requests),
            ) as run:
                error = await self._steps(run, resuming=bool(results))
        except Exception as raised:  # noqa: BLE001 - `explain` has a sentence for everything a model may do
            error = explain(raised)
            error.__cause__ = error.__cause__ or (raised if raised is not error else None)
        if run is None:
            whole, _ = repair(messages)
            nothing = Usage(requests=0, tool_calls=self.deps.executions.done, input_tokens=0, output_tokens=0)
            return Stretch(text="", pending=[], new=[], whole=whole, usage=nothing, error=error)
        return self._outcome(messages, run, error)

    async def _steps(self, run: AgentRun[Any, Any], *, resuming: bool) -> Exception | None:
        """Take every step; what ended the run early, or None."""
        node = run.next_node
        while not Agent.is_end_node(node):
            if Agent.is_model_request_node(node):
                resuming = False
                self.meter.before()
                self.report.say(EventKind.MODEL_START)
                try:
                    if self.on_text is not None:
                        async with node.stream(run.ctx) as events:
                            await show_growing(events, self.on_text)
                    node = await run.next(node)
                except Exception:
                    self.report.say(EventKind.MODEL_END, outcome="failed")
                    raise
                if Agent.is_call_tools_node(node):
                    cleanse(node.model_response, self.redactor)
                    self.meter.after(taken(node.model_response))
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
                    return LimitReached(NO_CALLS_LEFT)
            else:
                node = await run.next(node)
        return None

    async def _record(self, run: AgentRun[Any, Any], *results: ModelRequest) -> None:
        turned_away = self.deps.turned_away - self.deps.run.turned_away
        await self.recorder.record([*run.new_messages(), *results], turned_away=turned_away)

    async def _batch(self, node: CallToolsNode[Any, Any], run: AgentRun[Any, Any], report: Reporter) -> None:
        """Let the calls of one response run, and report them in the order in which the model emitted them."""
        calls = node.model_response.tool_calls
        check_ids(calls)
        self.deps.unknown = tuple(dict.fromkeys(call.tool_name for call in calls if call.tool_name not in self.tools))
        outcomes: dict[str, str] = {}
        async with node.stream(run.ctx) as events:
            async for event in events:
                if isinstance(event, FunctionToolCallEvent):
                    report.say(EventKind.TOOL_START, call_id=event.tool_call_id, tool_name=event.part.tool_name)
                elif isinstance(event, FunctionToolResultEvent):
                    outcomes[event.tool_call_id] = event.part.outcome
        tell_batch(report, calls, outcomes, self.deps.stopped)

    def _outcome(self, messages: Sequence[ModelMessage], run: AgentRun[Any, Any], error: Exception | None) -> Stretch:
        output = run.result.output if run.result is not None and error is None else ""
        new = [message for message in [*run.new_messages(), *self.unsent] if message.parts]
        waits = output if isinstance(output, DeferredToolRequests) else None
        transcript = Transcript(
            messages=messages,
            new=new,
            text=last_text(new) if waits is not None else self.redactor.known(written(output)),
            pending=[waits.metadata[call.tool_call_id]["pending"] for call in waits.calls] if waits is not None else [],
            requests=run.usage.requests,
            input_tokens=run.usage.input_tokens,
            output_tokens=run.usage.output_tokens,
            run_id=run.run_id,
            conversation_id=run.conversation_id,
        )
        return outcome(transcript, self.deps, error)


def _deferred(results: Sequence[ToolResult]) -> DeferredToolResults:
    """Answers in pydantic-ai's form. A denial goes under `approvals`, where it keeps its outcome on the wire."""
    answers = DeferredToolResults()
    for result in results:
        if result.outcome == "denied":
            answers.approvals[result.call_id] = ToolDenied(result.text)
        elif result.outcome == "failed":
            answers.calls[result.call_id] = ToolFailed(result.text)
        else:
            answers.calls[result.call_id] = ToolReturn(result.text)
    return answers
