"""Shows people how jobs go: one card per job, edited at a bounded pace, and only ever its newest state.

What a card says is in the rows (`storage/jobs.py`); whatever is interrupted here, the next sweep finds what is owed.
Discord takes about five edits in five seconds in a channel, and keeps the right to refuse many edits of an old
message (30046), so a card of an open job is replaced before it is that old.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.clock import Clock
from bot.errands import MOST_TRIES, back_off, delivering
from bot.errors import DeliveryError, Unreachable
from bot.jobs.watch import JobWatch
from bot.lanes import Lanes
from bot.surface import JobView, Surface
from storage import approvals, audit, cards, jobs, runs, schedules
from storage.approvals import ApprovalState
from storage.database import Database
from storage.jobs import Job
from storage.runs import Run, RunState

logger = logging.getLogger(__name__)

FRESH_AFTER_MS = 55 * 60_000
"""A card older than this is not edited any more while its job goes on: a new one is posted."""
LONG_BACK_OFF_MS = 600_000
"""Before a card that is gone is tried again."""
STEPS = 4

OPEN = frozenset({RunState.QUEUED, RunState.RUNNING, RunState.WAITING})


class JobCards:
    """Keeps the cards of all jobs up to date, for one process."""

    def __init__(
        self, *, database: Database, clock: Clock, watch: JobWatch, has_files: Callable[[Run], Awaitable[bool]]
    ) -> None:
        self._has_files = has_files
        self._pace_ms = watch.limits.edit_ms
        self._database = database
        self._clock = clock
        self._watch = watch
        self._lanes = Lanes()
        self._surface: Surface | None = None
        self._free_at: dict[str, int] = {}

    def connect(self, surface: Surface) -> None:
        """From now on there is a face to show cards on."""
        self._surface = surface

    async def deliver(self) -> None:
        """Show the newest state of every card that is due, of each place one at a time."""
        if self._surface is None:
            return
        now = self._clock.now()
        self._free_at = {place: at for place, at in self._free_at.items() if at > now}
        chosen: list[str] = []
        for run, place in await jobs.owed(self._database.reader, now=now):
            if place not in self._free_at and not self._lanes.waiting(run):
                self._free_at[place] = now + self._pace_ms // 5
                chosen.append(run)
        if chosen:
            await asyncio.gather(*(self.show(run) for run in chosen))

    async def next_due(self) -> int | None:
        """When the next card is to be shown, or None."""
        if self._surface is None:
            return None
        due = await jobs.next_due(self._database.reader)
        return min((max(at, self._free_at.get(place, 0)) for place, at in due.items()), default=None)

    async def show(self, run_id: str) -> None:
        """Make people see how the job stands now. One at a time per job."""
        if self._surface is None:
            return
        async with self._lanes.enter(run_id):
            view = await self.view(run_id)
            if view is None or view.job.shown >= view.job.version:
                return
            run, job = view.run, view.job
            if job.message is None and run.state not in OPEN:
                # It ended before anybody could see it; its ending is a message of its own.
                async with self._database.begin("drop job card") as tx:
                    await jobs.give_up(tx, run.id, version=job.version, due_at=0, error="ended before it was shown")
                return
            try:
                with delivering():
                    await self._put(view, self._surface)
            except DeliveryError as error:
                await self._failed(view, error)
                return
            async with self._database.begin("job card shown") as tx:
                await jobs.shown(tx, run.id, version=job.version, due_at=self._clock.now() + self._pace_ms)

    async def _put(self, view: JobView, surface: Surface) -> None:
        run, job, now = view.run, view.job, self._clock.now()
        old = job.posted_at is not None and now - job.posted_at > FRESH_AFTER_MS and run.state in OPEN
        if job.message is not None and not old:
            await surface.edit_job(view)
            return
        message = await surface.post_job(view)
        async with self._database.begin("job card posted") as tx:
            await jobs.posted(tx, run.id, message=message, at=now)
            await audit.record(
                tx,
                at=now,
                actor=audit.SYSTEM,
                event="job_card_posted",
                run=run.id,
                detail={"place": run.place, "message": message, "instead_of": job.message},
            )
        if job.message is not None:
            await surface.retire_job(run.place, job.message, message)

    async def _failed(self, view: JobView, error: DeliveryError) -> None:
        run, job, now = view.run, view.job, self._clock.now()
        final = isinstance(error, Unreachable) or job.tries + 1 >= MOST_TRIES
        logger.warning(
            "job card not shown",
            extra={"action": "job_card_failed", "run": run.id, "final": final, "problem": str(error)},
        )
        async with self._database.begin("job card failed") as tx:
            if final:
                await jobs.give_up(tx, run.id, version=job.version, due_at=now + LONG_BACK_OFF_MS, error=str(error))
            else:
                await jobs.failed(tx, run.id, due_at=now + back_off(job.tries), error=str(error))

    async def view(self, run_id: str) -> JobView | None:
        """What the job's card shows now; None if there is no such job."""
        reader = self._database.reader
        run, job = await runs.get(reader, run_id), await jobs.get(reader, run_id)
        if run is None or job is None:
            return None
        since, before = self._watch.working(run_id) or (None, run.spent_ms)
        return JobView(
            run=run,
            job=job,
            steps=tuple(await jobs.steps_of(reader, run_id, last=STEPS)),
            place_in_queue=await jobs.place_in_queue(reader, run_id),
            working_since=since if run.state is RunState.RUNNING else None,
            spent_before_ms=before,
            asks=await self._asks(run),
            notes=len(await jobs.notes_of(reader, run_id)),
            has_files=run.state not in OPEN and await self._has_files(run),
            before=self._before(run, job),
            schedule=await schedules.behind(reader, run_id),
        )

    def _before(self, run: Run, job: Job) -> str:
        if self._surface is None or job.message is None or job.posted_at is None:
            return ""
        old = self._clock.now() - job.posted_at > FRESH_AFTER_MS and run.state in OPEN
        return self._surface.link(run.place, job.message) if old else ""

    async def _asks(self, run: Run) -> tuple[str, ...]:
        if self._surface is None or run.state is not RunState.WAITING:
            return ()
        found: dict[str, None] = {}
        for call in await approvals.of_pause(self._database.reader, run.id, run.pauses):
            card = cards.visible(await cards.copies(self._database.reader, call.card))
            if call.state is ApprovalState.PENDING and card is not None:
                found[self._surface.link(card.place, card.message)] = None
        return tuple(link for link in found if link)
