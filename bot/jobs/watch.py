"""What running jobs use and do, kept while it happens: their time, their steps, their tokens.

Nothing here runs by itself. The sweep writes down what is new, one commit for all jobs; the commit that ends a
stretch writes the rest. A process that dies loses no more than the last few seconds of a job's accounts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.accounts import Accounts
from bot.agent import transcript
from bot.clock import Clock
from bot.deferral.events import Event, EventKind, Reporter
from bot.jobs.budget import CHARGE_MS
from bot.limits import Crowding
from bot.texts.text import say
from storage import conversations, jobs, runs, steps
from storage.database import Database, Reader, Transaction
from storage.jobs import JobLimits, Step
from storage.runs import Run, RunKind

_LAST = 40
"""Messages among which a job's last words are looked for."""

CUT_SHORT = say("jobs.step_cut")


@dataclass
class _Live:
    """A stretch of a job that goes on in this process."""

    began_at: int
    spent_before: int
    """Compute time of the stretches before, in milliseconds. What is stored is always the sum, so that storing it
    again after a commit that failed, or did not seem to succeed, counts nothing twice."""
    steps_before: int
    written_at: int
    steps: list[Step] = field(default_factory=list)
    written: int = 0
    """How many of the steps are surely stored."""
    said: str = ""
    """What the model said last."""


class JobWatch:
    """The accounts of one process's running jobs."""

    def __init__(
        self, *, database: Database, clock: Clock, limits: JobLimits, accounts: Accounts, crowding: Crowding
    ) -> None:
        """`accounts` has what calls of the model took, those of turns too; `crowding` says which turns have room."""
        self._crowding = crowding
        self._database = database
        self.accounts = accounts
        self._clock = clock
        self.limits = limits
        self._live: dict[str, _Live] = {}

    async def may_start(self, tx: Transaction, run: Run) -> bool:
        """Whether there is room for the run now; for a job also, whether nobody is before it."""
        if run.kind is RunKind.TURN:
            return await self._crowding.may_start(tx, run)
        return run.id in await jobs.startable(tx, self.limits)

    async def startable(self) -> list[str]:
        """The queued turns and jobs that there is room for, in their order."""
        reader = self._database.reader
        return [*await self._crowding.startable(reader), *await jobs.startable(reader, self.limits)]

    async def started(self, tx: Transaction, run: Run) -> None:
        """A job has left the queue, in the commit that took it up."""
        if run.kind is RunKind.JOB:
            await jobs.touch(tx, run.id)
            await jobs.queue_moved(tx, run.id)

    async def begin(self, run: Run) -> Reporter:
        """A stretch begins; where its events go. Of a turn nothing is kept, unless it becomes a job."""
        await self.accounts.begin(run)
        if run.kind is RunKind.JOB:
            before = await jobs.count_steps(self._database.reader, run.id)
            now = self._clock.now()
            self._live[run.id] = _Live(began_at=now, spent_before=run.spent_ms, steps_before=before, written_at=now)

        def hear(event: Event) -> None:
            if (live := self._live.get(run.id)) is None:
                return
            started = say("jobs.step_started", tool=event.tool_name)
            if event.kind is EventKind.MODEL_END:
                live.said = event.text or live.said
            if event.kind is EventKind.TOOL_START:
                live.steps.append(Step(at=self._clock.now(), text=started))
            elif event.kind in {EventKind.TOOL_END, EventKind.DEFERRED}:
                ended = event.kind is EventKind.TOOL_END
                text = f"{event.tool_name}: {event.outcome}" if ended else say("jobs.step_asked", tool=event.tool_name)
                # Of a call that is over at once only the end is worth a line; one that waits has not started at all.
                begun = next((n for n, one in enumerate(live.steps) if n >= live.written and one.text == started), None)
                if begun is not None:
                    del live.steps[begun]
                live.steps.append(Step(at=self._clock.now(), text=text))

        return Reporter(run_id=run.id, conversation_id=run.conversation, on_event=hear)

    def adopt(self, run: Run) -> None:
        """The stretch that is at work on a turn is a job's from now on."""
        now = self._clock.now()
        self._live[run.id] = _Live(began_at=now, spent_before=run.spent_ms, steps_before=0, written_at=now)

    def step(self, run_id: str, text: str) -> None:
        """Something that the model loop does not report, such as what became of an approved call."""
        if (live := self._live.get(run_id)) is not None:
            live.steps.append(Step(at=self._clock.now(), text=text))

    async def grows(self, run_id: str, text: str) -> None:
        """What the model is saying, as far as it has come."""
        if (live := self._live.get(run_id)) is not None:
            live.said = text

    async def said(self, run: Run, reader: Reader | None = None) -> str:
        """What a job said last, whether it was its answer or not; '' if nothing, and for a turn."""
        if run.kind is not RunKind.JOB:
            return ""
        live = self._live.get(run.id)
        if live is not None and live.said.strip():
            return live.said.strip()
        return await last_said(reader or self._database.reader, run)

    def working(self, run_id: str) -> tuple[int, int] | None:
        """When the running stretch began, and the compute time before it, in milliseconds; None if there is none."""
        live = self._live.get(run_id)
        return (live.began_at, live.spent_before) if live is not None else None

    def forget(self, run_id: str) -> None:
        """The stretch is over, however it ended."""
        self._live.pop(run_id, None)
        self.accounts.forget(run_id)

    async def store(self, tx: Transaction, run: Run, *, cut_short: bool = False) -> None:
        """Write down all that the stretch has used and done so far, and that there is something new to see.

        `cut_short`: the program stops in the middle of it.
        """
        await self.accounts.write(tx, run.id)
        if run.kind is not RunKind.JOB:
            return
        if (live := self._live.get(run.id)) is not None:
            if cut_short:
                live.steps.append(Step(at=self._clock.now(), text=CUT_SHORT))
            await runs.set_spent(tx, run.id, live.spent_before + self._clock.now() - live.began_at)
            await jobs.put_steps(tx, run.id, live.steps[live.written :], after=live.steps_before + live.written)
        if (used := self.accounts.of_run(run.id)) is not None:
            await jobs.set_usage(
                tx,
                run.id,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cost_micros=None if used.unpriced else used.cost_micros,
            )
        await jobs.touch(tx, run.id)

    async def flush(self) -> None:
        """Write down what running jobs did and used since the last time. Part of the sweep."""
        await self.accounts.settle()
        now = self._clock.now()
        due = {
            id: (live, len(live.steps))
            for id, live in self._live.items()
            if len(live.steps) > live.written or now - live.written_at >= CHARGE_MS
        }
        if not due:
            return
        async with self._database.begin("job progress") as tx:
            for id in due:
                if (run := await runs.get(tx, id)) is not None:
                    await self.store(tx, run)
        for live, written in due.values():
            live.written, live.written_at = written, now


async def last_said(reader: Reader, run: Run) -> str:
    """What the model said last in a run, as far as it is stored, or ''.

    A stretch that goes on, or whose process died, may have recorded more than the conversation has: its steps.
    """
    recorded = await steps.of(reader, run.id)
    bodies = await conversations.of_run(reader, run.conversation, run=run.id, last=_LAST)
    return transcript.last_words([*bodies, *(recorded.bodies if recorded is not None else ())])
