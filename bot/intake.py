"""How a request becomes a run: one commit with all that the run begins with, or the run that was there before."""

from __future__ import annotations

from dataclasses import replace

from bot.accounts import Accounts
from bot.clock import Clock, NewId
from bot.errors import DecisionRefused
from bot.jobs import endings
from bot.jobs.desk import JobDesk
from bot.place import space_of
from bot.surface import TurnContext
from bot.texts.text import say, worded
from storage import approvals, attachments, audit, conversations, outbox, runs
from storage.approvals import Approval
from storage.database import Database, Transaction
from storage.runs import Run, RunKind, RunState


class Intake:
    """Stores new runs, for one process."""

    def __init__(
        self, *, database: Database, clock: Clock, new_id: NewId, boot: str, desk: JobDesk, accounts: Accounts
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._boot = boot
        self._desk = desk
        self._accounts = accounts

    async def turn(
        self, ctx: TurnContext, *, again: Approval | None = None, most_waiting: int | None = None
    ) -> tuple[Run, bool]:
        """Store a turn; or the one that this occurrence has started before, and False. `again`: `Engine.run_again`.

        Raises `DecisionRefused` if `most_waiting` requests of the conversation wait already behind the one at work, or
        a budget is spent.
        """
        run = self._run(ctx, RunKind.TURN, id=self._new_id(), conversation=ctx.conversation, again=again)
        async with self._database.begin("start run") as tx:
            if (same := await runs.of_request(tx, run.conversation, run.request)) is not None:
                return same, False
            refusal = self._spent(ctx)
            if most_waiting is not None and await runs.in_line(tx, run.conversation) > most_waiting:
                refusal = DecisionRefused("line_full", say("turns.line_full", most=most_waiting))
            if refusal is not None:
                await self._record(tx, run, ctx, "turn_refused", why=refusal.code)
            else:
                await self._store(tx, run, ctx)
            if again is not None and refusal is None:
                await approvals.trail(tx, again, "run_again", ctx.requester, run.created_at, {"run": run.id})
        if refusal is not None:
            raise refusal
        return run, True

    async def job(
        self, ctx: TurnContext, *, parent: str | None, depth: int, budget_ms: int | None, background: str
    ) -> Run:
        """Store a job, in a conversation of its own; or the one that `parent` has started for this goal.

        Raises `DecisionRefused` if a budget is spent.
        """
        conversation, id = f"job/{self._new_id()}", self._new_id()
        run = self._run(ctx, RunKind.JOB, id=id, conversation=conversation, parent=parent, budget_ms=budget_ms)
        async with self._database.begin("start run") as tx:
            if parent is not None and (same := await runs.job_of(tx, parent, ctx.prompt)) is not None:
                return same
            if (refusal := self._spent(ctx)) is not None:
                await self._record(tx, run, ctx, "job_refused", why=refusal.code)
            else:
                await self._store(tx, run, ctx)
                await self._desk.open(tx, run, ctx, depth=depth, background=background)
        if refusal is not None:
            raise refusal
        return run

    def _spent(self, ctx: TurnContext) -> DecisionRefused | None:
        """Why nothing may be begun for this person there now."""
        why = self._accounts.refusal(ctx.requester, space_of(ctx.place))
        return None if why is None else DecisionRefused("budget_spent", why)

    def _run(
        self,
        ctx: TurnContext,
        kind: RunKind,
        *,
        id: str,
        conversation: str,
        parent: str | None = None,
        budget_ms: int | None = None,
        again: Approval | None = None,
    ) -> Run:
        return Run(
            id=id,
            conversation=conversation,
            kind=kind,
            state=RunState.QUEUED,
            place=ctx.place,
            within=ctx.within,
            roles=ctx.roles,
            again=again.id if again is not None else None,
            requester=ctx.requester,
            # A job is its own request: what its parent may not repeat has nothing to do with it.
            request=ctx.request if kind is RunKind.TURN else f"job/{id}",
            prompt=ctx.prompt,
            notify=ctx.notify,
            parent=parent,
            owner=self._boot,
            budget_ms=budget_ms,
            # A job sheds its parent's clock for its whole life, and for that of its own jobs.
            clocked=ctx.clock.binds and kind is RunKind.TURN,
            created_at=self._clock.now(),
        )

    async def _store(self, tx: Transaction, run: Run, ctx: TurnContext) -> None:
        await conversations.ensure(tx, run.conversation, at=run.created_at)
        await runs.create(tx, run)
        await attachments.put(tx, run.id, ctx.attached)
        if ctx.left_out:
            await outbox.owe(
                tx,
                key=f"left-out:{run.id}",
                run=run.id,
                place=run.place,
                body={**worded(ctx.left_out), "ladder": endings.ladder(replace(run, notify="channel"), None)},
                at=run.created_at,
                person=run.requester,
            )
        await self._record(tx, run, ctx, f"{run.kind}_started")

    async def _record(self, tx: Transaction, run: Run, ctx: TurnContext, event: str, **more: str) -> None:
        await audit.record(
            tx,
            at=run.created_at,
            actor=run.requester,
            event=event,
            run=run.id,
            conversation=run.conversation,
            detail={"place": run.place, "request": ctx.request, **_also(ctx), **more},
        )


def _also(ctx: TurnContext) -> dict[str, str]:
    """What else the trail says of a request: what it is about, and what came with it into the workspace."""
    landed = ", ".join(one.body for one in ctx.attached if one.media_type == attachments.LANDED)
    return ({"about": ctx.about} if ctx.about else {}) | ({"uploads": landed} if landed else {})
