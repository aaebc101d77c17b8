"""An agent whose consequential calls wait for somebody: the whole of pause and resume, without Discord or a database.

`run` comes back with an answer or with what waits; `resume` goes on from there, in this process or in another, now or
next week. Between the two nothing is held but what `run` returned. See docs/deferral.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model

from bot.agent.executions import Executions
from bot.agent.gate import Gate, Screen
from bot.agent.history import Message, from_values, open_calls
from bot.agent.loop import AgentLoop
from bot.agent.pauses import Claim, ClaimsHere, mismatches
from bot.agent.repair import repair
from bot.agent.stretch import OnText
from bot.agent.work import RunResult, Work
from bot.clock import Clock, NewId, SystemClock, new_id
from bot.deferral.calls import Limits
from bot.deferral.events import OnEvent, Reporter
from bot.deferral.policy import DefaultPolicy, Policy
from bot.deferral.rerun import Rerunner
from bot.deferral.results import DeferredToolRequests, DeferredToolResults, ToolApproved
from bot.deferral.tool import Tool
from bot.errors import AlreadyResumed, HistoryRefused, ResultsMismatch
from storage.runs import Run

__all__ = ["DeferringAgent", "RunResult"]


class DeferringAgent:
    """A model, tools, and a policy that says which calls have to wait. Of its runs it keeps only what was claimed."""

    def __init__(
        self,
        *,
        model: Model,
        tools: Sequence[Tool],
        policy: Policy | None = None,
        clock: Clock | None = None,
        instructions: str = "",
        screen: Screen | None = None,
        mask: Callable[[str], str] = str,
        tool_timeout_seconds: float | None = None,
        model_timeout_seconds: float = 120.0,
        streaming: bool = False,
        claim: Claim | None = None,
        new_id: NewId = new_id,
    ) -> None:
        """`screen` may answer a call in place of deferring it: the registry's place. `mask` goes over every result.

        `tool_timeout_seconds` bounds each body, also on its approved run; None leaves that to the body.
        `claim` sees to it that a pause is resumed once; the default one does so for this agent in this process.
        """
        self._tools = {tool.name: tool for tool in tools}
        self._claim = claim or ClaimsHere()
        self._new_id = new_id
        self._rerunner = Rerunner(tools=self._tools, timeout_seconds=tool_timeout_seconds, mask=mask)
        gate = Gate(
            self._tools,
            policy=policy or DefaultPolicy(),
            clock=clock or SystemClock(),
            screen=screen or _screen_nothing,
            nobody_can_decide=lambda run, tool: None,
            mask=mask,
            timeout_seconds=tool_timeout_seconds,
        )
        self._loop = AgentLoop(
            model=model,
            gate=gate,
            streaming=streaming,
            timeout_seconds=model_timeout_seconds,
            instructions=instructions,
        )

    async def run(
        self,
        prompt: str | None,
        *,
        history: Sequence[Message] = (),
        close_open_calls: bool = False,
        conversation_id: str | None = None,
        request: str | None = None,
        on_event: OnEvent | None = None,
        on_text: OnText | None = None,
        limits: Limits | None = None,
    ) -> RunResult:
        """Run from a prompt; without one, over a history that ends with something to answer.

        A paused history is refused, because going on would lose its gate: `close_open_calls` does so on purpose, and
        its open calls get a result that says they were interrupted. `conversation_id` is the history's own, unless one
        is given (a history from outside could name any); `request` names the occurrence that asked for this.
        Raises `HistoryRefused`, `RunFailed`, `RunCancelled`.
        """
        given = from_values(history)
        waiting = [call.tool_call_id for call in open_calls(given)]
        if waiting and not close_open_calls:
            problem = f"this conversation is paused, {', '.join(waiting)} waits: resume it, or close its open calls"
            raise HistoryRefused(problem, open_calls=waiting)
        whole, _ = repair(given)
        if not prompt and not (whole and isinstance(whole[-1], ModelRequest)):
            raise HistoryRefused("there is neither a prompt nor anything in the history to answer")
        stamp = next((one.conversation_id for one in reversed(given) if one.conversation_id), None)
        work = self._work(conversation_id or stamp or self._new_id(), request, on_event, limits)
        return await work.go(whole, prompt, on_text=on_text, given=given)

    async def resume(
        self,
        paused: Sequence[Message],
        pending: DeferredToolRequests,
        results: DeferredToolResults,
        prompt: str | None = None,
        *,
        strict: bool = False,
        on_event: OnEvent | None = None,
        on_text: OnText | None = None,
        limits: Limits | None = None,
    ) -> RunResult:
        """Go on from a pause: run what was approved, then show the model each result, and the prompt if there is one.

        A pause is resumed once: whoever comes second is refused, and nothing runs. A call that fails is handed to the
        model as failed; with `strict` it ends the run at the tool stage instead.

        Raises before anything is done `HistoryRefused`, `ResultsMismatch`, `AlreadyResumed`, and `ResumeRefused` when
        the limits leave no room; after that `RunFailed` and `RunCancelled`, which carry all that was done.
        """
        messages = from_values(paused)
        results.check(pending, self._tools)
        if problems := list(mismatches(messages, pending, self._tools)):
            raise ResultsMismatch(problems)
        work = self._work(pending.conversation_id, pending.request, on_event, limits)
        work.make_room(sum(isinstance(one, ToolApproved) for one in results.approvals.values()))
        if not await self._claim(pending.run_id):
            raise AlreadyResumed(f"the pause of run {pending.run_id} has been resumed already")
        return await work.resume(messages, pending, results, prompt, strict=strict, on_text=on_text)

    def _work(self, conversation_id: str, request: str | None, on_event: OnEvent | None, limits: Limits | None) -> Work:
        limits = limits or Limits()
        return Work(
            loop=self._loop,
            rerunner=self._rerunner,
            limits=limits,
            executions=Executions(limits.tool_calls),
            report=Reporter(run_id=self._new_id(), conversation_id=conversation_id, on_event=on_event),
            request=request,
        )


async def _screen_nothing(run: Run, intent: str | None, action: str) -> None:
    return None
