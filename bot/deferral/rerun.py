"""Runs the approved calls of a pause in the process that resumes, for an application that keeps no rows.

The bot does not come here: its executor claims a row before the tool's first line. What both have in common is that an
approved call either acts or fails. It is never asked about a second time, never corrected by the model, and never cut
off because another one failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.deferral.body import run_body
from bot.deferral.calls import PendingToolCall, ToolResult
from bot.deferral.events import EventKind, Reporter
from bot.deferral.executor import parse
from bot.deferral.intent import canonical_json
from bot.deferral.results import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied, denial
from bot.deferral.tool import Call, Tool
from bot.errors import ApprovalRequired, CallDeferred, RunStopped


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """What one pending call came to."""

    result: ToolResult | None
    """For the model; None if the call stopped the run."""
    error: Exception | None = None
    """What the approved run of it raised."""


@dataclass(frozen=True, kw_only=True)
class Rerunner:
    """Resolves pauses in this process."""

    tools: Mapping[str, Tool]
    timeout_seconds: float | None
    """For each approved call; None leaves that to the body."""
    mask: Callable[[str], str]

    async def resolve(
        self, requests: DeferredToolRequests, results: DeferredToolResults, report: Reporter
    ) -> dict[str, Resolved]:
        """Every call of the pause by id. `results` have been checked. Approved calls run side by side.

        A cancellation from outside stops them all and goes on its way.
        """
        resolved = {
            call.call_id: Resolved(
                result=ToolResult(call_id=call.call_id, text=results.external[call.call_id], outcome="success")
            )
            for call in requests.external
        }
        approved: list[tuple[PendingToolCall, ToolApproved]] = []
        for call in requests.approvals:
            match results.approvals[call.call_id]:
                case ToolDenied(message=message):
                    text = denial(call.tool_name, message)
                    denied = ToolResult(call_id=call.call_id, text=text, outcome="denied")
                    resolved[call.call_id] = Resolved(result=denied)
                case decision:
                    approved.append((call, decision))
        for call, _ in approved:
            report.say(EventKind.TOOL_START, call_id=call.call_id, tool_name=call.tool_name)
        running = [self._run(call, decision, requests, report) for call, decision in approved]
        ran = await asyncio.gather(*running, return_exceptions=True)
        for (call, _), one in zip(approved, ran, strict=True):
            if isinstance(one, BaseException):
                raise one  # a fault of ours; but not before every other call has come to its end
            outcome = one.result.outcome if one.result is not None else "stopped"
            report.say(EventKind.TOOL_END, call_id=call.call_id, tool_name=call.tool_name, outcome=outcome)
            resolved[call.call_id] = one
        return resolved

    async def _run(
        self, call: PendingToolCall, decision: ToolApproved, requests: DeferredToolRequests, report: Reporter
    ) -> Resolved:
        tool = self.tools[call.tool_name]
        edited = decision.override_args
        context = Call(
            id=call.call_id,
            run=report.run_id,
            conversation=requests.conversation_id,
            place="",
            requester="",
            approved=True,
        )
        arguments = parse(tool, call.args if edited is None else edited)
        try:
            ran = await run_body(tool, arguments, context, timeout_seconds=self.timeout_seconds, mask=self.mask)
        except RunStopped as signal:
            return Resolved(result=None, error=signal)
        except (ApprovalRequired, CallDeferred) as signal:
            text = f"The tool deferred again after it was approved ({signal}), so it did not do what was asked."
            return Resolved(result=ToolResult(call_id=call.call_id, text=text, outcome="failed"), error=signal)
        text = ran.text if edited is None else f"{_edited(arguments.model_dump(mode='json'))}\n{ran.text}"
        result = ToolResult(call_id=call.call_id, text=text, outcome="success" if ran.ok else "failed")
        return Resolved(result=result, error=ran.error)


def _edited(arguments: Mapping[str, object]) -> str:
    return f"The person approved this call with other arguments than yours: {canonical_json(arguments)}"
