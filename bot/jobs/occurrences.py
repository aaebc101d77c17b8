"""When the time of a schedule has come: its job, or the reason why there is none, and the next time, in one commit.

Nobody is assumed to be there still: before each job it is looked up whether the person is, may see the place, and which
roles they hold, and whether I may write there. If not, the schedule pauses itself and says so. The job itself is like
any other: what it wants to do is asked about on a card, in the schedule's place.
"""

from __future__ import annotations

import logging

from bot.clock import Clock, NewId
from bot.errands import delivering
from bot.errors import AlreadySettled, DecisionRefused, DeliveryError
from bot.jobs import when
from bot.jobs.budget import budget
from bot.jobs.when import NotUnderstood
from bot.place import is_private, space_of
from bot.surface import Surface
from bot.texts.text import say, worded
from storage import audit, conversations, jobs, outbox, runs, schedules
from storage.database import Database, Transaction
from storage.jobs import Job
from storage.runs import Run, RunKind, RunState
from storage.schedules import Occurrence, Schedule, ScheduleState, Why

logger = logging.getLogger(__name__)

LATE_MS = 300_000
"""A job that starts this long after its time was missed. A restart takes less."""
AGAIN_MS = 60_000
"""How long until it is tried again when nobody can tell whether the person and the place are there still."""


class Occurrences:
    """Starts the jobs of schedules, for one process."""

    def __init__(self, *, database: Database, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._surface: Surface | None = None

    def connect(self, surface: Surface) -> None:
        """From now on people and places can be looked up."""
        self._surface = surface

    async def next_due(self) -> int | None:
        """When the next schedule is to be looked at, or None."""
        return None if self._surface is None else await schedules.next_due(self._database.reader)

    async def run_due(self) -> None:
        """Deal with every time that has come. Safe to repeat, and to run twice at once."""
        if self._surface is None:
            return
        for one in await schedules.due(self._database.reader, now=self._clock.now()):
            try:
                roles = await self._roles(one)
                if isinstance(roles, str):
                    await self._pause_itself(one, roles)
                else:
                    await self._deal_with(one, roles)
            except DeliveryError as error:
                logger.warning(
                    "schedule put off", extra={"action": "schedule_put_off", "schedule": one.id, "problem": str(error)}
                )
                async with self._database.begin("put off schedule") as tx:
                    await schedules.put_off(tx, one.id, due_at=self._clock.now() + AGAIN_MS)
            except NotUnderstood as error:  # time zones and libraries change
                await self._pause_itself(one, error.sentence)

    async def by_hand(self, one: Schedule, *, by: str) -> Run:
        """Start a job of it now, beside its times. Raises `DecisionRefused`, `DeliveryError`."""
        roles = await self._roles(one)
        if isinstance(roles, str):
            raise DecisionRefused("not_there", say("schedules.not_started", why=roles))
        async with self._database.begin("run schedule now") as tx:
            if (busy := await schedules.at_work(tx, one.id)) is not None:
                raise AlreadySettled("busy", say("schedules.busy_job", id=busy))
            last = await schedules.last(tx, one.id)
            at = self._clock.now() if last is None else max(self._clock.now(), last.at + 1)
            return await self._job(tx, one, roles, at, Why.BY_HAND, by=by)

    async def _deal_with(self, one: Schedule, roles: frozenset[str]) -> None:
        """The job for its latest time that has come, or the reason why there is none, and its next time: one commit."""
        now, past = self._clock.now(), one.next_at
        if past is None:
            return
        at = when.latest(one.cron, one.zone, since=past, now=now)
        [following] = when.upcoming(one.cron, one.zone, after=now, count=1)
        late = at != past or now - at > LATE_MS
        async with self._database.begin("claim occurrence") as tx:
            if not await schedules.go_on(tx, one.id, past=past, next_at=following):
                return  # somebody else was first
            if await schedules.has_happened(tx, one.id, at):
                return  # by hand, in this very moment
            if await schedules.at_work(tx, one.id) is not None:
                await self._skip(tx, one, at, Why.BUSY)
            elif one.missed == "skip" and now - at > LATE_MS:
                await self._skip(tx, one, at, Why.MISSED)
            else:
                await self._job(tx, one, roles, at, Why.LATE if late else Why.DUE, by=audit.SYSTEM)

    async def _job(self, tx: Transaction, one: Schedule, roles: frozenset[str], at: int, why: Why, *, by: str) -> Run:
        now, id = self._clock.now(), self._new_id()
        run = Run(
            id=id,
            conversation=f"job/{self._new_id()}",
            kind=RunKind.JOB,
            state=RunState.QUEUED,
            place=one.place,
            within=one.within,
            roles=roles,
            requester=one.person,
            request=f"job/{id}",
            prompt=one.goal,
            notify=one.notify,
            budget_ms=budget(clocked=False, wished_ms=None),
            created_at=now,
        )
        await conversations.ensure(tx, run.conversation, at=now)
        await runs.create(tx, run)
        await jobs.create(tx, Job(run=id, space=one.space, depth=1, above=one.above))
        await schedules.happened(tx, Occurrence(schedule=one.id, at=at, run=id, why=why))
        await audit.record(
            tx,
            at=now,
            actor=by,
            event="job_started",
            run=id,
            conversation=run.conversation,
            detail={"place": one.place, "schedule": one.id, "for": at, "why": why},
        )
        return run

    async def _skip(self, tx: Transaction, one: Schedule, at: int, why: Why) -> None:
        await schedules.happened(tx, Occurrence(schedule=one.id, at=at, run=None, why=why))
        await audit.record(
            tx,
            at=self._clock.now(),
            actor=audit.SYSTEM,
            event="schedule_skipped",
            detail={"schedule": one.id, "for": at, "why": why},
        )

    async def _roles(self, one: Schedule) -> frozenset[str] | str:
        """The roles that its person holds now; or why no job of it may start. Raises `DeliveryError`."""
        if self._surface is None:
            raise DeliveryError(say("schedules.not_connected"))
        with delivering():
            if (closed := await self._surface.closed(one.place)) is not None:
                return closed
            if (hidden := await self._surface.hidden_from(one.person, one.place)) is not None:
                return hidden
            if is_private(one.place):
                return frozenset()
            roles = await self._surface.roles_of(space_of(one.place), one.person)
        return say("faults.they_left") if roles is None else roles

    async def _pause_itself(self, one: Schedule, reason: str) -> None:
        now = self._clock.now()
        text = say("schedules.paused_itself_told", id=one.id, spoken=one.spoken, reason=reason)
        places = [{"place": place} for place in (one.place, one.above) if place is not None]
        async with self._database.begin("schedule pauses itself") as tx:
            if not await schedules.move(tx, one.id, ScheduleState.PAUSED, frm=ScheduleState.ACTIVE, note=reason):
                return
            await outbox.owe(
                tx,
                key=f"schedule:{one.id}:{one.next_at}",
                run=None,
                place=one.place,
                body={
                    **worded(text),
                    "ping": [one.person],
                    "ladder": places if is_private(one.place) else [*places, {"person": one.person}],
                },
                at=now,
                person=one.person,
            )
            await audit.record(
                tx,
                at=now,
                actor=audit.SYSTEM,
                event="schedule_paused",
                detail={"schedule": one.id, "reason": reason},
            )
