"""Runs what was approved: exactly that, at most once.

The only place that turns an approval into an execution. The claim is committed before the tool's first
line; what happens after it is recorded by whoever holds the claim, or found `interrupted` after a crash.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import anyio.to_thread
from pydantic import ValidationError

from bot.background import to_the_end, was_cancelled
from bot.clock import Clock
from bot.deferral.ballots import genuine
from bot.deferral.digest import action_digest, differences, surroundings
from bot.deferral.policy import Policy, asking_of
from bot.deferral.seal import Seal
from bot.deferral.tool import Arguments, Call, Keep, Tool, ToolOutcome, keep_nothing
from bot.deferral.vault import Vault, with_values
from bot.errors import ApprovalRequired, CallDeferred, DeliveryError, NothingRan
from bot.plain import describe, plain, words_of
from bot.texts.text import joined, say
from storage import approvals, audit, runs, votes
from storage.approvals import Approval, ApprovalState
from storage.database import Database, Transaction
from storage.grants import NotRecorded
from storage.votes import Vote

AskAgain = Callable[[Transaction, Approval, Mapping[str, Any], str], Awaitable[bool]]
"""Takes an approved call, what it would run in now, and what changed, in words; whether it is asked again like that,
the old row being void."""

Recheck = Callable[[Approval, Sequence[Vote]], Awaitable[str | None]]
"""Takes an approved call and who approved it; why that does not count any more, or None. Raises `DeliveryError` when it
cannot be told now."""

logger = logging.getLogger(__name__)


class Grants(Protocol):
    """What people allowed beforehand, as far as the claim of a call that a grant approved has to know."""

    async def lapsed(self, call: Approval) -> str | None:
        """Why the grant does not hold for the call any more, in words that go on after a colon; None if it does."""
        ...

    async def spend(self, tx: Transaction, call: Approval) -> str | None:
        """The same once more, inside the claim's transaction; where it holds, one use of it is counted and recorded.

        Raises `NotRecorded`.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """Somebody stopped a call."""

    note: str
    """For its row."""
    task: asyncio.Task[Any]


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
        ask_again: AskAgain | None = None,
        recheck: Recheck | None = None,
        vault: Vault | None = None,
        grants: Grants | None = None,
        keep: Keep = keep_nothing,
        policy: Policy | None = None,
    ) -> None:
        """Without `ask_again`, a call that is no longer what was shown is void and nothing else.

        Without `recheck`, consent that was given counts. Without `grants`, nothing runs that a grant approved. `keep`
        keeps what a call is about to write over; `policy` says which calls are given network, without it none is.
        """
        self._database = database
        self._clock = clock
        self._boot = boot
        self._tools = tools
        self._workspace = workspace
        self.seal = seal
        self.mask = mask
        self._ask_again = ask_again
        self._recheck = recheck
        self._vault = vault or Vault()
        self._grants = grants
        self._keep = keep
        self._policy = policy
        self._claimed: set[str] = set()
        """Calls that this process claims, runs, or has just run."""
        self._at_work: dict[str, asyncio.Task[Any] | None] = {}
        """Whose body runs at this moment, and in which task."""
        self._cut_short: dict[str, _Cut] = {}
        """Those that somebody stopped."""
        self._unsure: set[str] = set()
        """Approved calls of which it cannot be told whether their approval still counts."""
        self._unrecorded: dict[str, Callable[[], Awaitable[Approval | None]]] = {}
        """How to store the outcomes that could not be stored so far."""

    async def bound(self, tool: str, arguments: Mapping[str, Any], run: str) -> dict[str, Any]:
        """What decides beside the arguments, as it is now; looked at when the card is made and again at the claim."""
        found = self._tools[tool]
        files: Mapping[str, str] = {}
        preview = ""
        if found.binds is not None:
            files = await anyio.to_thread.run_sync(found.binds, parse(found, arguments))
        if found.preview is not None:
            preview = self.mask(plain(await anyio.to_thread.run_sync(found.preview, parse(found, arguments))))
        sends = found.sends(parse(found, arguments)) if found.sends is not None else {}
        return surroundings(
            found,
            workspace=self._workspace,
            files=files,
            preview=preview,
            sends=sends,
            secrets=self._vault.bound(arguments),
            network=await self._granted_network(found, arguments, run),
        )

    async def _granted_network(self, tool: Tool, arguments: Mapping[str, Any], run: str) -> str:
        """The rule that gives such a call of the run network, as the rules are now; '' where there is none."""
        if not tool.networked or self._policy is None or (asked := await runs.get(self._database.reader, run)) is None:
            return ""
        return self._policy.decide(tool, arguments, asking_of(asked, now=self._clock.now())).network

    def is_asked(self, approval: Approval) -> bool:
        """Whether a waiting row is what this bot stored, to the last byte."""
        genuine_seal = self.seal.holds(approval.seal, self.seal.asked(approval.id, approval.digest))
        return genuine_seal and digest_of(approval) == approval.digest

    async def claim(self, id: str) -> Approval | None:
        """Claim an approved call, or make it `void` if it is no longer what was shown.

        Returns the row in state `running`, to be handed to `run` at once; None when there is nothing to run.
        """
        if id in self._claimed:
            return None
        # Before the commit: whoever finds the row `running` must also find that somebody is at it.
        self._claimed.add(id)
        claimed = None
        try:
            claimed = await self._claim(id)
        finally:
            if claimed is None:
                self._claimed.discard(id)
        return claimed

    async def _claim(self, id: str) -> Approval | None:
        approval = await approvals.get(self._database.reader, id)
        if approval is None or approval.state is not ApprovalState.APPROVED:
            return None
        given = genuine(self.seal, approval, await votes.of(self._database.reader, id))
        problem, again = self._unrunnable(approval, given), ""
        if not problem and approval.granted is not None:
            again = _lapsed(
                await self._grants.lapsed(approval) if self._grants is not None else say("grants.none_here")
            )
        elif not problem and self._recheck is not None:
            try:
                problem = await self._recheck(approval, given)
                self._unsure.discard(id)
            except DeliveryError as error:
                problem = self._unknown(approval, error)
                if problem is None:
                    return None
        now: Mapping[str, Any] = approval.bound
        if not problem:
            try:
                now = await self.bound(approval.tool, approval.arguments, approval.run)
            except Exception as error:
                # A tool's own code: what it cannot look at now is not what was shown, and must not wait for ever.
                logger.exception("cannot look", extra={"action": "bound_failed", "approval": id, "tool": approval.tool})
                problem = say("void.not_looked_up", problem=describe(error))
        if changes := differences(approval.bound, now):
            again = say("void.moved", changes=joined(changes, by="; "))
        try:
            return await self._commit(approval, now, problem=problem, again=again)
        except NotRecorded:
            logger.exception("grant not used", extra={"action": "not_recorded", "approval": id})
        return await self._commit(approval, now, again=_lapsed(say("grants.use_not_recorded")))

    async def _commit(
        self, approval: Approval, now: Mapping[str, Any], *, problem: str | None = None, again: str
    ) -> Approval | None:
        """The claim, or what comes of the call instead: `problem` makes it void, `again` has it asked anew."""
        async with self._database.begin("claim") as tx:
            if await approvals.get(tx, approval.id) != approval:
                return None  # it moved while it was looked at
            if await audit.has(tx, approval.id, ApprovalState.RUNNING):
                problem = say("void.ran_already")  # whoever can write to the database put it back as it was
            if not problem and not again and approval.granted is not None and self._grants is not None:
                again = _lapsed(await self._grants.spend(tx, approval))
            if not problem and not again:
                return await approvals.claim(
                    tx, approval.id, owner=self._boot, digest=digest_of(approval), at=self._clock.now()
                )
            if not problem and self._ask_again is not None and await self._ask_again(tx, approval, now, again):
                return None
            await approvals.settle(
                tx,
                approval.id,
                ApprovalState.VOID,
                by=audit.SYSTEM,
                at=self._clock.now(),
                note=problem or again,
                frm=ApprovalState.APPROVED,
            )
        return None

    def _unknown(self, approval: Approval, error: DeliveryError) -> str | None:
        """Whether those who approved may still do so cannot be told: then nothing runs, and that for a time only."""
        if approval.id not in self._unsure:
            self._unsure.add(approval.id)  # said once, however often it is tried
            logger.warning(
                "approvers not known",
                extra={"action": "recheck_failed", "approval": approval.id, "problem": str(error)},
            )
        if self._clock.now() < approval.expires_at:
            return None  # approved it stays, and the next sweep asks again
        return say("void.approvers_unknown", problem=error.problem)

    def _unrunnable(self, approval: Approval, given: Sequence[Vote]) -> str | None:
        """Why the call cannot run as it was shown and decided, whatever has changed around it; or None."""
        everybody = [vote.person for vote in given]
        expected = self.seal.approved(approval.id, approval.digest, approval.settled_by or "", everybody)
        if approval.granted is not None:
            expected = self.seal.granted(approval.id, approval.digest, approval.granted)
        if not self.seal.holds(approval.seal, expected):
            return say("void.no_seal")
        if digest_of(approval) != approval.digest:
            return say("void.not_shown")
        tool = self._tools.get(approval.tool)
        if tool is None:
            return say("void.no_tool", tool=approval.tool)
        try:
            parse(tool, approval.arguments)
        except ValidationError:
            return say("void.other_arguments", tool=approval.tool)
        return None

    async def run(self, claimed: Approval) -> Approval | None:
        """Run a claimed call to its end and record it. The row as it ended; None if the claim was lost meanwhile.

        Cancelled (the program stops), the tool is stopped, the row says `interrupted`, and the cancellation goes on.
        An outcome that cannot be stored is kept for `record_unrecorded`, and the error goes on.
        """
        try:
            to, outcome, note = await self._outcome(claimed)
        except asyncio.CancelledError:
            nothing = ToolOutcome(text="", ok=False)
            if (cut := self._cut_short.pop(claimed.id, None)) is None:
                await self._record(claimed.id, ApprovalState.INTERRUPTED, nothing)
                raise
            others = cut.task.uncancel()  # this one was about the call, and the task goes on
            row = await self._record(claimed.id, ApprovalState.INTERRUPTED, nothing, note=cut.note)
            if others:
                raise
            return row
        if (cut := self._cut_short.pop(claimed.id, None)) is not None:  # it came to its own end all the same
            cut.task.uncancel()
        return await self._record(claimed.id, to, outcome, note=note)

    def cut_short(self, ids: Iterable[str], note: str) -> None:
        """Stop these calls if they run here. What they had done stands; their rows say `interrupted`, with the note."""
        for id in ids:
            if (task := self._at_work.get(id)) is not None and id not in self._cut_short:
                self._cut_short[id] = _Cut(note=note, task=task)
                task.cancel()

    async def _outcome(self, claimed: Approval) -> tuple[ApprovalState, ToolOutcome, str | None]:
        """Run the body. Whatever it raises is an outcome; only being cancelled from outside is not."""
        tool = self._tools[claimed.tool]
        nothing = ToolOutcome(text="", ok=False)
        try:
            secrets = self._vault.given(tool, claimed.arguments)
            arguments = parse(tool, with_values(tool, claimed.arguments, secrets))
        except NothingRan as signal:
            return ApprovalState.NOTHING_RAN, nothing, words_of(signal)
        except ValidationError:  # its words would hold the value
            return ApprovalState.NOTHING_RAN, nothing, say("void.no_value")
        call = Call(
            id=claimed.id,
            run=claimed.run,
            conversation=claimed.conversation,
            place=claimed.place,
            requester=claimed.requester,
            approved=True,
            secrets=secrets,
            network=bool(claimed.bound.get("network")),
            keep=self._keep,
        )
        try:
            outcome = await self._ran(tool, arguments, call)
        except NothingRan as signal:
            return ApprovalState.NOTHING_RAN, nothing, words_of(signal)
        except (ApprovalRequired, CallDeferred) as signal:
            # An approved call either acts or fails: there is no second card for it.
            again = f"The tool deferred again after it was approved ({words_of(signal)})."
            return ApprovalState.FAILED, replace(nothing, text=again), None
        except (KeyboardInterrupt, GeneratorExit):
            raise  # these are not the tool's
        except BaseException as error:  # also `sys.exit` in a tool's code: it must not end the bot
            if isinstance(error, asyncio.CancelledError) and was_cancelled():
                raise
            logger.exception("tool failed", extra={"action": "tool_failed", "approval": claimed.id, "tool": tool.name})
            failure = f"The tool failed after it had started: {describe(error)}"
            return ApprovalState.FAILED, replace(nothing, text=failure), None
        if outcome.unknown:
            return ApprovalState.INTERRUPTED, nothing, outcome.text
        return ApprovalState.SUCCEEDED if outcome.ok else ApprovalState.FAILED, outcome, None

    async def _ran(self, tool: Tool, arguments: Arguments, call: Call) -> ToolOutcome:
        """The body, as something that can be cut short while it runs, and no longer."""
        self._at_work[call.id] = asyncio.current_task()
        try:
            return await tool.body(arguments, call)
        finally:
            self._at_work.pop(call.id, None)

    async def record_unrecorded(self) -> None:
        """Store what could not be stored before, and own up to calls that nobody is at any more."""
        for record in tuple(self._unrecorded.values()):
            await record()
        for id in await approvals.running_of(self._database.reader, owner=self._boot):
            if id not in self._claimed:
                await self._record(id, ApprovalState.INTERRUPTED, ToolOutcome(text="", ok=False))

    async def _record(
        self, id: str, to: ApprovalState, outcome: ToolOutcome, *, note: str | None = None
    ) -> Approval | None:
        async def record() -> Approval | None:
            async with self._database.begin("record outcome") as tx:
                row = await approvals.finish(
                    tx,
                    id,
                    to,
                    owner=self._boot,
                    at=self._clock.now(),
                    result=self.mask(plain(outcome.text)),
                    exit_code=outcome.exit_code,
                    note=self.mask(note) if note is not None else None,
                )
            self._unrecorded.pop(id, None)
            self._claimed.discard(id)
            return row

        # What has run must not be forgotten because the program stops at this moment.
        self._unrecorded[id] = record
        return await to_the_end(record())


def _lapsed(problem: str | None) -> str:
    return say("grants.lapsed", why=problem) if problem else ""


def digest_of(approval: Approval) -> str:
    """The digest of what a row says."""
    return action_digest(
        approval.tool,
        approval.arguments,
        approval.bound,
        requester=approval.requester,
        place=approval.place,
        expires_at=approval.expires_at,
        within=approval.within,
        edited_by=approval.edited_by,
    )


def parse(tool: Tool, arguments: Mapping[str, object]) -> Arguments:
    """Validate stored or emitted arguments against the tool's schema; raises `ValidationError`."""
    return tool.arguments.model_validate_json(json.dumps(arguments))
