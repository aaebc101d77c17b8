"""Runs what was approved: exactly that, at most once.

The only place that turns an approval into an execution. The claim is committed before the tool's first
line; what happens after it is recorded by whoever holds the claim, or found `interrupted` after a crash.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from bot.clock import Clock
from bot.deferral.digest import action_digest
from bot.deferral.seal import Seal
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import ApprovalRequired, CallDeferred, NothingRan
from storage import approvals, audit
from storage.approvals import Approval, ApprovalState
from storage.database import Database

logger = logging.getLogger(__name__)


class Executor:
    """Claims approved calls for one process and runs them."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        boot: str,
        tools: Mapping[str, Tool],
        workspace: str,
        seal: Seal,
        mask: Callable[[str], str],
    ) -> None:
        self._database = database
        self._clock = clock
        self._boot = boot
        self._tools = tools
        self._workspace = workspace
        self.seal = seal
        self._mask = mask

    def digest(self, tool: Tool, arguments: Mapping[str, Any], *, requester: str, place: str, expires_at: int) -> str:
        """The digest of what would run now."""
        return action_digest(
            tool,
            arguments,
            workspace=self._workspace,
            requester=requester,
            place=place,
            expires_at=expires_at,
        )

    async def claim(self, id: str) -> Approval | None:
        """Claim an approved call, or make it `void` if it is no longer what was shown.

        Returns the row in state `running`, to be handed to `run`; None when there is nothing to run.
        """
        approval = await approvals.get(self._database.reader, id)
        if approval is None or approval.state is not ApprovalState.APPROVED:
            return None
        tool = self._tools.get(approval.tool)
        problem = self._unrunnable(tool, approval)
        async with self._database.begin("claim") as tx:
            if tool is not None and problem is None:
                digest = self.digest(
                    tool,
                    approval.arguments,
                    requester=approval.requester,
                    place=approval.place,
                    expires_at=approval.expires_at,
                )
                claimed = await approvals.claim(tx, id, owner=self._boot, digest=digest, at=self._clock.now())
                if claimed is not None or digest == approval.digest:
                    return claimed
                problem = "its arguments or the way it would run changed after it was shown."
            await approvals.settle(
                tx,
                id,
                ApprovalState.VOID,
                by=approval.settled_by or audit.SYSTEM,
                at=self._clock.now(),
                note=problem,
                frm=ApprovalState.APPROVED,
            )
        return None

    def _unrunnable(self, tool: Tool | None, approval: Approval) -> str | None:
        """Why the call cannot run as it was shown and decided, or None."""
        expected = self.seal.approved(approval.id, approval.digest, approval.settled_by or "")
        if not self.seal.holds(approval.seal, expected):
            return "its decision does not bear this bot's seal."
        if tool is None:
            return f"the tool {approval.tool} is not there any more."
        try:
            parse(tool, approval.arguments)
        except ValidationError:
            return f"the tool {approval.tool} takes other arguments now."
        return None

    async def run(self, claimed: Approval) -> Approval | None:
        """Run a claimed call to its end and record it. The row as it ended; None if the claim was lost meanwhile.

        Cancelled (the program stops), the tool is stopped, the row says `interrupted`, and the cancellation goes on.
        """
        tool = self._tools[claimed.tool]
        arguments = parse(tool, claimed.arguments)
        call = Call(
            id=claimed.id,
            run=claimed.run,
            conversation=claimed.conversation,
            place=claimed.place,
            requester=claimed.requester,
            approved=True,
        )
        try:
            outcome = await tool.body(arguments, call)
        except asyncio.CancelledError:
            await asyncio.shield(self._finish(claimed, ApprovalState.INTERRUPTED, ToolOutcome(text="", ok=False)))
            raise
        except NothingRan as signal:
            return await self._finish(
                claimed, ApprovalState.NOTHING_RAN, ToolOutcome(text="", ok=False), note=f"{signal}"
            )
        except (ApprovalRequired, CallDeferred) as signal:
            # An approved call either acts or fails: there is no second card for it.
            again = ToolOutcome(text=f"The tool deferred again after it was approved ({signal}).", ok=False)
            return await self._finish(claimed, ApprovalState.FAILED, again)
        except Exception as error:
            logger.exception("tool failed", extra={"action": "tool_failed", "approval": claimed.id, "tool": tool.name})
            failure = ToolOutcome(
                text=f"The tool failed after it had started: {type(error).__name__}: {error}", ok=False
            )
            return await self._finish(claimed, ApprovalState.FAILED, failure)
        return await self._finish(claimed, ApprovalState.SUCCEEDED if outcome.ok else ApprovalState.FAILED, outcome)

    async def _finish(
        self, claimed: Approval, to: ApprovalState, outcome: ToolOutcome, *, note: str | None = None
    ) -> Approval | None:
        async with self._database.begin("record outcome") as tx:
            return await approvals.finish(
                tx,
                claimed.id,
                to,
                owner=self._boot,
                at=self._clock.now(),
                result=self._mask(outcome.text),
                exit_code=outcome.exit_code,
                note=self._mask(note) if note is not None else None,
            )


def parse(tool: Tool, arguments: Mapping[str, object]) -> Arguments:
    """Validate stored or emitted arguments against the tool's schema; raises `ValidationError`."""
    return tool.arguments.model_validate_json(json.dumps(arguments))
