"""The verbs of the house: take a turn, decide, answer, resume, announce, recover.

Nothing here waits for a person. A run that needs one becomes rows; whatever settles the last of its calls
takes the run up again. `sweep` is the net under every wake: it finds what a crash or a lost wake left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot.anew import Anew
from bot.background import Alarm, Background
from bot.backgrounding import Backgrounding
from bot.clock import Clock, NewId
from bot.commands import Commands
from bot.decisions import Decisions, Together, Verdict
from bot.deferral import sentences
from bot.deferral.authority import Act, Authority
from bot.deferral.executor import Executor
from bot.deferral.external import deliver
from bot.deferral.grants import Remember
from bot.delivery import Delivery
from bot.edits import Edits
from bot.errors import DecisionRefused, UnknownApproval
from bot.farewell import farewell
from bot.forking import Forks
from bot.holding import Holding
from bot.intake import Intake
from bot.jobs.budget import budget
from bot.jobs.cards import JobCards
from bot.jobs.desk import JobDesk
from bot.jobs.endings import Inbox
from bot.jobs.schedules import Schedules
from bot.jobs.watch import JobWatch
from bot.policy_desk import PolicyDesk
from bot.refusing import Refusing
from bot.settings_desk import SettingsDesk
from bot.stopping import Stopping
from bot.surface import Actor, CardPress, CardView, Press, Reply, Surface, TurnContext
from bot.texts.text import say
from bot.turns import MOST_LOSSES, Turns
from storage import approvals, audit, cards, open_calls, outbox, runs
from storage.approvals import Approval, ApprovalState
from storage.database import Database
from storage.open_calls import OpenCall
from storage.runs import Run, RunKind

logger = logging.getLogger(__name__)

SHORTEST_ALARM_MS = 200
"""What cannot be delivered yet must not keep the process busy."""


class Engine:
    """Everything a face may ask of the mind."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        boot: str,
        authority: Authority,
        executor: Executor,
        decisions: Decisions,
        edits: Edits,
        delivery: Delivery,
        turns: Turns,
        holding: Holding,
        background: Background,
        sweep_ms: int,
        watch: JobWatch,
        schedules: Schedules,
        commands: Commands | None = None,
        policy_desk: PolicyDesk,
        settings_desk: SettingsDesk,
        most_waiting: int,
        tidy: Callable[[], Awaitable[None]],
    ) -> None:
        """`most_waiting`: how many requests may wait in line behind the one that a conversation works on; `tidy`
        forgets what is kept for a time only, and is part of the sweep."""
        self.database = database
        self.commands = commands
        """What people do about background commands; None where there are none."""
        self.authority, self.policy_desk, self.settings_desk = authority, policy_desk, settings_desk
        self._clock = clock
        self._boot = boot
        self._executor = executor
        self._delivery = delivery
        self._turns, self._holding = turns, holding
        self._background = background
        self._sweep_ms = sweep_ms
        """How often to look for what other processes wrote. Deadlines are met by the alarm itself."""
        self._alarm = Alarm(clock, self._ring)
        self._stopping = False
        self._watch, self._tidy = watch, tidy
        self._most_waiting, self._refusing = most_waiting, Refusing(clock)
        self._job_cards = JobCards(database=database, clock=clock, watch=watch, has_files=delivery.files.any)
        self.inbox = Inbox(database=database, clock=clock)
        """What people could not be told."""
        self.desk = JobDesk(
            database=database,
            clock=clock,
            authority=authority,
            link=delivery.link_to,
            above=delivery.above,
            turns=turns,
            deliver=self._deliver,
            watch=watch,
            cut_short=executor.cut_short,
            notify_in=settings_desk.notify_in,
            made=delivery.files.fetched,
        )
        """What people do about jobs."""
        self._intake = Intake(
            database=database, clock=clock, new_id=new_id, boot=boot, desk=self.desk, accounts=watch.accounts
        )
        self.anew = Anew(database=database, clock=clock, authority=authority, turns=turns, deliver=self._deliver)
        """How conversations begin afresh."""
        self.stopping = Stopping(
            database=database,
            clock=clock,
            authority=authority,
            turns=turns,
            deliver=self._deliver,
            who=delivery.who,
            cut_short=executor.cut_short,
        )
        """How turns are stopped."""
        self.backgrounding = Backgrounding(self.stopping, new_id=new_id, watch=watch, above=delivery.above)
        """How they go on as jobs."""
        self.forks = Forks(database=database, clock=clock)
        """How they go on in a second place."""
        self.decisions, self.edits, self.schedules = decisions, edits, schedules
        self.granting = decisions.granting
        self.showing, self.wishes = delivery.showing, delivery.wishes
        decisions.listen(self._after)
        schedules.listen(self._deliver)

    def connect(self, surface: Surface) -> None:
        """There is a face now: cards and messages that are owed can go out, and people be looked up."""
        self.authority.connect(surface)
        self._delivery.connect(surface)
        self._job_cards.connect(surface)
        self.schedules.occurrences.connect(surface)

    def set_owners(self, owners: frozenset[str]) -> None:
        """The application's owner or team, who decide when no approver is configured."""
        self.authority.set_owners(owners)

    async def run_again(self, press: Press, ctx: TurnContext, reply: Reply) -> None:
        """Ask about an ended call once more, in a turn of its own: it goes through the gate like any other call.

        For its requester and for who may decide it; raises `DecisionRefused`. Nothing runs by this.
        """
        call = await self.decisions.permitted(press, Act.AGAIN)
        await self.take_turn(replace(ctx, prompt=sentences.once_more(call)), reply, again=call)

    @property
    def takes_images(self) -> bool:
        """Whether the model can be shown images."""
        return self._turns.takes_images

    async def take_turn(self, ctx: TurnContext, reply: Reply, *, again: Approval | None = None) -> None:
        """Run one request until it is answered, waits for people, or has failed. The answer goes to `reply`.

        A request that comes a second time (its occurrence is known already) starts nothing. `again`: see `run_again`.
        """
        try:
            run, is_new = await self._intake.turn(ctx, again=again, most_waiting=self._most_waiting)
        except DecisionRefused as refusal:
            await self._refusing.say(ctx, reply, refusal)
            return
        if not is_new:
            await self._holding.again(run, reply, ctx.clock)
            return
        self._holding.begin(run.id, reply, ctx.clock)
        if ctx.left_out:
            self._background.spawn(self._deliver(), name=f"left out {run.id}")
        # The turn is ours from here on: it goes on if the face's own task is cancelled.
        await asyncio.shield(self._background.spawn(self._go(run.id), name=f"turn {run.id}"))

    async def start_job(self, ctx: TurnContext, *, parent: str | None = None, depth: int = 1) -> Run:
        """Start detached work on `ctx.prompt`, in a conversation of its own; it announces its own ending.

        One goal of one `parent` is one job: a turn that is begun again after a crash does not start it twice. Its
        compute budget is captured here, at the last moment anything knows who held a clock over the asker. Raises
        `DecisionRefused` if a budget is spent.
        """
        run = await self._intake.job(
            ctx,
            parent=parent,
            depth=depth,
            budget_ms=budget(clocked=ctx.clock.binds, wished_ms=ctx.budget_ms),
            background=await self.desk.gist(ctx.conversation),
        )
        self._background.spawn(self._job_cards.deliver(), name=f"show job {run.id}")  # at the pace of its place
        self._background.spawn(self._go(run.id), name=f"job {run.id}")
        return run

    async def _go(self, run_id: str) -> None:
        """Take a run up, as far as it goes without people, and bring out what came of it."""
        if self._stopping:
            await self._turns.part([run_id])
            return  # queued it stays, and is taken up after the next start
        await self._turns.go(run_id)
        await self._start_approved()  # what a grant lets through waits for no press
        await self._holding.part(run_id)
        await self._deliver()

    async def _deliver(self) -> None:
        self._look_again()  # set first: a face that is stuck must not keep the next look away
        await self._take_up_queued()
        await asyncio.gather(self._job_cards.deliver(), self._delivery.deliver())
        await self._take_up_queued()  # calls that could not be shown to anybody have just ended
        await self._set_alarm()

    async def start_job_from(self, run_id: str, goal: str) -> Run:
        """Start a job on behalf of a run, in its place and for its requester. Raises `DecisionRefused`."""
        child = await self.desk.child_of(run_id, goal)
        return await self.start_job(child.ctx, parent=run_id, depth=child.depth)

    async def cancel_job(self, id: str, actor: Actor) -> Run:
        """End an open job and what it still asks. For its requester and for approvers; raises `DecisionRefused`.

        A call of it that already runs is stopped where it is.
        """
        return await self.desk.cancel(id, actor)

    async def jobs(self, *, every: bool = False) -> list[Run]:
        """Open jobs, oldest first; with `every`, also ended ones."""
        return await runs.of_kind(self.database.reader, RunKind.JOB, every=every)

    # -- decisions ------------------------------------------------------------------------------

    async def decide(
        self, press: Press, verdict: Verdict, *, reason: str | None = None, remember: Remember | None = None
    ) -> Approval:
        """Decide one call. What was approved starts at once, in the background. See `Decisions.decide`.

        `remember`: approve the very call from now on as well, see `Granting`.
        """
        return await self.decisions.decide(press, verdict, reason=reason, remember=remember)

    async def answer(self, press: Press, text: str) -> Approval:
        """Answer a question, as the person who was asked. Raises `DecisionRefused`."""
        return await self.decisions.answer(press, text)

    async def resolve(self, id: str, text: str, *, failed: bool = False, by: str = audit.SYSTEM) -> Approval:
        """Hand in the result that a call waits for, or why there is none. Raises `DecisionRefused`."""
        delivered = await deliver(
            self.database,
            id,
            text,
            failed=failed,
            at=self._clock.now(),
            mask=self._executor.mask,
            by=by,
            who=self._delivery.who,
        )
        self._after(delivered)
        return delivered

    async def decide_all(self, press: CardPress, verdict: Verdict) -> Together:
        """Decide every call of a card that still waits. See `Decisions.together`."""
        return await self.decisions.together(press, Act.APPROVE if verdict == "approve" else Act.DENY)

    async def details(self, press: Press) -> CardView:
        """The card of a call, for a private look at everything. Raises `DecisionRefused`."""
        approval = await self.decisions.on_its_card(press)
        if (card := await cards.get_card(self.database.reader, approval.card)) is None:
            raise UnknownApproval("unknown", say("stopping.unknown"))
        return await self._delivery.view(card)

    async def open_approvals(self, space: str) -> list[OpenCall]:
        """Calls that wait in a guild, or in the direct messages with one person, oldest first."""
        return await open_calls.of_space(self.database.reader, space)

    async def belong_to(self, application: str) -> None:
        """Learn which application this bot is. Under another one than before, nothing that waits counts any more."""
        await self.decisions.belong_to(application)

    def _after(self, moved: Approval) -> None:
        self._background.spawn(self._settled(moved), name=f"moved {moved.id}")

    async def _settled(self, approval: Approval) -> None:
        """After a decision: run what was approved, show what became of it, go on when it was the last."""
        if approval.state is ApprovalState.APPROVED:
            await self._execute(approval)
        self._show(approval)
        await self._deliver()

    async def _execute(self, approval: Approval) -> None:
        if self._stopping:
            return  # approved it stays, and runs after the next start
        claimed = await self._executor.claim(approval.id)
        if claimed is not None:
            self._show(claimed)
            await self._executor.run(claimed)

    def _show(self, approval: Approval) -> None:
        """Beside the tool and the run, never before them: a slow face must not hold up what was decided."""
        self._background.spawn(self._delivery.show_card(approval.card), name=f"show {approval.id}")

    # -- the net under every wake ---------------------------------------------------------------

    async def recover(self) -> None:
        """Make good what a dead process left: the first thing after the face can deliver.

        What ran is `interrupted`, what was approved runs, what a run was doing is begun again once, and
        whatever is owed goes out. Cards that are still open keep working: their state is in the rows.
        """
        now = self._clock.now()
        async with self.database.begin("recover") as tx:
            interrupted = await approvals.interrupt_orphans(tx, owner=self._boot, at=now, result="")
            orphans = await runs.requeue_orphans(tx, owner=self._boot)
            await outbox.release(tx, now=now)
            await self.inbox.try_again(tx)
            for run in orphans:
                if run.losses > MOST_LOSSES:
                    await self._turns.lose(tx, run)
        logger.info("recovered", extra={"action": "recovered", "interrupted": len(interrupted), "runs": len(orphans)})
        await self.sweep()

    async def sweep(self) -> None:
        """Do everything that is due. Safe to repeat, and to run beside everything else.

        What cannot be done keeps nothing else from being done; its error is raised at the end.
        """
        self._look_again()
        problems: list[Exception] = []
        for step in (
            self._executor.record_unrecorded,
            self._watch.flush,
            self._turns.agree_with_rows,
            self._holding.release,
            self.decisions.expire,
            self.schedules.occurrences.run_due,
            self._start_approved,
            *(() if self.commands is None else (self.commands.announce,)),
            self._deliver,
            self._tidy,
        ):
            try:
                await step()
            except Exception as error:  # noqa: BLE001 - raised below, when the other steps have had their turn
                problems.append(error)
        if problems:
            raise problems[0] if len(problems) == 1 else ExceptionGroup("sweep", problems)

    async def _start_approved(self) -> None:
        for id in await approvals.approved(self.database.reader):
            approval = await approvals.get(self.database.reader, id)
            if approval is not None:
                self._background.spawn(self._settled(approval), name=f"approved {id}")

    async def _take_up_queued(self) -> None:
        if self._stopping:
            return
        for id in await self._watch.startable():
            if not self._turns.is_going(id):
                self._background.spawn(self._go(id), name=f"resume {id}")

    def _ring(self) -> None:
        self._background.spawn(self.sweep(), name="sweep")

    def _look_again(self) -> None:
        """Sweep again before long, whatever becomes of the work at hand."""
        if not self._stopping:
            self._alarm.set(self._clock.now() + self._sweep_ms)

    async def _set_alarm(self) -> None:
        reader, now = self.database.reader, self._clock.now()
        for at in (
            await approvals.next_deadline(reader),
            await outbox.next_due(reader),
            self._holding.next_release(),
            await self._job_cards.next_due(),
            await self.schedules.occurrences.next_due(),
        ):
            if at is not None and not self._stopping:
                self._alarm.set(max(at, now + SHORTEST_ALARM_MS))

    async def stop(self, *, grace: float) -> None:
        """Start nothing new, give what runs `grace` seconds, then stop it and record that truthfully."""
        grace, self._stopping = 0.0 if self._stopping else grace, True
        self._alarm.clear()
        await self._background.stop(grace=grace)
        self._alarm.clear()

    async def farewell(self, *, grace: float, bring_out: float) -> None:
        """`stop` while the face is still connected: what that leaves is shown, within `bring_out` seconds more."""
        await self.stop(grace=grace)
        await farewell(self._turns, self._delivery, self._job_cards, self._clock, seconds=bring_out)
