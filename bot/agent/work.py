"""One run of a deferring agent, from its first step to its result or its error."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from bot.agent.executions import Executions
from bot.agent.history import Message, open_calls, to_values
from bot.agent.loop import AgentLoop
from bot.agent.repair import repair
from bot.agent.stretch import LimitReached, OnText, stamped
from bot.deferral.calls import Limits, ToolResult, Usage
from bot.deferral.events import EventKind, Reporter
from bot.deferral.rerun import Rerunner
from bot.deferral.results import DeferredToolRequests, DeferredToolResults
from bot.errors import ResumeRefused, RunCancelled, RunFailed, RunStopped, Stage
from storage.runs import Run, RunKind, RunState


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """How a run ended well: with an answer, or with calls that wait. Look at `pending` before `output`."""

    output: str | None
    """The answer; None while something waits."""
    pending: DeferredToolRequests | None
    """What waits; None if nothing does."""
    messages: list[Message]
    """The whole conversation as JSON values; what `resume` or the next `run` takes."""
    conversation_id: str
    run_id: str
    """New for each run and each resume; it stands on every message that the run added."""
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one run works with."""

    loop: AgentLoop
    rerunner: Rerunner
    limits: Limits
    executions: Executions
    report: Reporter
    request: str | None

    def make_room(self, approved: int) -> None:
        """Count the approved calls before any of them runs. Raises `ResumeRefused` if the limits have no room for them.

        Found out later, the limit would cost the result of a call that has acted.
        """
        if self.limits.requests < 1:
            raise ResumeRefused("the limits leave no model request that could see the results")
        if self.limits.tool_calls is not None and approved > self.limits.tool_calls:
            raise ResumeRefused(f"{approved} approved calls, and the limits leave room for {self.limits.tool_calls}")
        self.executions.done = approved

    async def resume(
        self,
        messages: Sequence[ModelMessage],
        pending: DeferredToolRequests,
        results: DeferredToolResults,
        prompt: str | None,
        *,
        strict: bool,
        on_text: OnText | None,
    ) -> RunResult:
        """Run what was approved, and go on with the results."""
        try:
            resolved = await self.rerunner.resolve(pending, results, self.report)
        except asyncio.CancelledError:
            self.report.say(EventKind.CANCELLED)
            raise
        known = [one.result for one in resolved.values() if one.result is not None]
        for call in pending.approvals:
            if isinstance(signal := resolved[call.call_id].error, RunStopped):
                self.report.say(EventKind.CANCELLED)
                raise self._cancelled(signal, self._answered(messages, known)) from signal
        for call in pending.approvals if strict else ():
            if (error := resolved[call.call_id].error) is not None:
                problem = f"approved re-run failed: {call.call_id} ({call.tool_name}): {error}"
                raise self._failed("tool", problem, self._answered(messages, known)) from error
        return await self.go(messages, prompt, results=known, on_text=on_text, given=messages)

    async def go(
        self,
        messages: Sequence[ModelMessage],
        prompt: str | None,
        *,
        results: Sequence[ToolResult] = (),
        on_text: OnText | None,
        given: Sequence[ModelMessage],
    ) -> RunResult:
        """Let the model work. What is in `messages` and was not `given` was added for this run.

        Raises `RunFailed`, `RunCancelled`.
        """
        report = self.report
        # The gate's notion of a run is a row; this one is in no table.
        run = Run(
            id=report.run_id,
            conversation=report.conversation_id,
            kind=RunKind.TURN,
            state=RunState.RUNNING,
            place="",
            requester="",
            request=self.request,
            prompt=prompt or "",
            notify="",
            created_at=0,
        )
        try:
            stretch = await self.loop.go(
                run,
                messages,
                prompt or None,
                results,
                run_id=report.run_id,
                on_text=on_text,
                report=report,
                limits=self.limits,
                executions=self.executions,
            )
        except asyncio.CancelledError:
            report.say(EventKind.CANCELLED)
            raise
        whole = self._stamp(stretch.whole, given)
        if isinstance(stretch.error, RunStopped):
            raise self._cancelled(stretch.error, whole) from stretch.error
        if stretch.error is not None:
            raise self._failed(_stage(stretch.error), str(stretch.error), whole) from stretch.error
        pending = None
        if stretch.pending:
            pending = DeferredToolRequests.of(
                stretch.pending,
                run_id=report.run_id,
                conversation_id=report.conversation_id,
                request=self.request,
            )
        return RunResult(
            output=None if pending else stretch.text,
            pending=pending,
            messages=to_values(whole),
            conversation_id=report.conversation_id,
            run_id=report.run_id,
            usage=stretch.usage,
        )

    def _answered(self, messages: Sequence[ModelMessage], results: Sequence[ToolResult]) -> list[ModelMessage]:
        """The paused conversation with what is known of its calls: each has a result, in the model's order."""
        known = {result.call_id: result for result in results}
        parts = [
            ToolReturnPart(
                tool_name=call.tool_name,
                content=result.text,
                tool_call_id=call.tool_call_id,
                outcome=result.outcome,
            )
            for call in open_calls(messages)
            if (result := known.get(call.tool_call_id)) is not None
        ]
        whole, _ = repair([*messages, *([ModelRequest(parts=parts)] if parts else [])])
        return self._stamp(whole, messages)

    def _stamp(self, messages: Sequence[ModelMessage], given: Sequence[ModelMessage]) -> list[ModelMessage]:
        return stamped(messages, given, run_id=self.report.run_id, conversation_id=self.report.conversation_id)

    def _failed(self, stage: Stage, problem: str, messages: Sequence[ModelMessage]) -> RunFailed:
        return RunFailed(
            stage,
            problem,
            messages=to_values(messages),
            run_id=self.report.run_id,
            conversation_id=self.report.conversation_id,
        )

    def _cancelled(self, signal: RunStopped, messages: Sequence[ModelMessage]) -> RunCancelled:
        return RunCancelled(
            "cancellation",
            signal.reason,
            messages=to_values(messages),
            run_id=self.report.run_id,
            conversation_id=self.report.conversation_id,
        )


def _stage(error: Exception) -> Stage:
    over = isinstance(error, LimitReached) or isinstance(error.__cause__, UsageLimitExceeded)
    return "limits" if over else "model"
