"""What people do about schedules: make one, look at it before it is saved, pause it, run it now, remove it.

For the person whose schedule it is and for approvers. What happens when its time has come is next door
(`bot/jobs/occurrences.py`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.clock import Clock, NewId
from bot.deferral.authority import Authority
from bot.errors import AlreadySettled, DecisionRefused, NotAllowed, UnknownApproval
from bot.jobs import when
from bot.jobs.occurrences import Occurrences
from bot.jobs.when import NotUnderstood
from bot.place import is_private, space_of
from bot.surface import Actor, TurnContext
from bot.texts.text import key, say
from storage import audit, schedules
from storage.database import Database, Transaction
from storage.runs import Run
from storage.schedules import Occurrence, Schedule, ScheduleLimits, ScheduleState

SHOWN = 3
"""Next times that people are shown."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A schedule as people are shown it."""

    schedule: Schedule
    times: tuple[int, ...]
    """The next ones, or those it would have, in milliseconds UTC."""
    last: Occurrence | None = None
    told_zone: bool = True
    """Whether the person ever told us their time zone."""


class Schedules:
    """The schedules of one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        authority: Authority,
        limits: ScheduleLimits,
        above: Callable[[str], str | None],
    ) -> None:
        """`above`: the channel that a place is a thread of."""
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._authority = authority
        self._limits = limits
        self._above = above
        self.occurrences = Occurrences(database=database, clock=clock, new_id=new_id)
        """What happens when their time has come."""
        self._changed: Callable[[], Awaitable[None]] | None = None

    def listen(self, changed: Callable[[], Awaitable[None]]) -> None:
        """`changed` is called after people's commits: it starts what is to start and sets the timer."""
        self._changed = changed

    # -- what people do -------------------------------------------------------------------------

    async def draft(self, ctx: TurnContext, spoken: str, *, zone: str | None, missed: str) -> Entry:
        """Make sense of a wish and keep it, not yet active, for its person to look at. Raises `DecisionRefused`."""
        now = self._clock.now()
        known = when.zone_name(zone) if zone else await schedules.zone_of(self._database.reader, ctx.requester)
        cron = when.to_cron(spoken)
        if (gap := when.shortest(cron, after=now)) is not None and gap < self._limits.shortest_ms:
            raise DecisionRefused(
                "too_often",
                say("schedules.too_often", time=_minutes(self._limits.shortest_ms)),
            )
        draft = Schedule(
            id=self._new_id(),
            person=ctx.requester,
            space=ctx.place if is_private(ctx.place) else space_of(ctx.place),
            place=ctx.place,
            within=ctx.within,
            above=self._above(ctx.place),
            goal=ctx.prompt,
            spoken=" ".join(spoken.split()),
            cron=cron,
            zone=known or when.UTC_NAME,
            missed=missed,
            notify=ctx.notify,
            state=ScheduleState.DRAFT,
            created_at=now,
        )
        async with self._database.begin("draft schedule") as tx:
            await self._check_limits(tx, draft)
            await schedules.drop_drafts(tx, person=draft.person)
            await schedules.create(tx, draft)
            if zone:
                await schedules.set_zone(tx, draft.person, draft.zone)
        return Entry(schedule=draft, times=self._times(draft), told_zone=known is not None)

    async def save(self, id: str, actor: Actor) -> Entry:
        """Make a draft active. Raises `DecisionRefused`."""
        async with self._database.begin("save schedule") as tx:
            draft = await schedules.get(tx, id)
            if draft is None or draft.state is not ScheduleState.DRAFT:
                raise AlreadySettled("too_late", say("schedules.draft_gone"))
            if draft.person != actor.id:
                raise NotAllowed("not_requester", say("schedules.not_your_draft"))
            await self._check_limits(tx, draft)
            saved = await self._move(tx, draft, ScheduleState.ACTIVE, by=actor.id, event="schedule_saved")
        await self._tell()
        return Entry(schedule=saved, times=self._times(saved))

    async def discard(self, id: str, actor: Actor) -> None:
        """Throw a draft away. What is saved stays."""
        async with self._database.begin("discard schedule") as tx:
            await schedules.drop_drafts(tx, person=actor.id)

    async def listed(self, space: str) -> list[Entry]:
        """The schedules of a guild, or of the direct messages with one person, oldest first."""
        found = await schedules.listed(self._database.reader, space=space)
        return [
            Entry(schedule=one, times=self._times(one), last=await schedules.last(self._database.reader, one.id))
            for one in found
        ]

    async def pause(self, id: str, actor: Actor) -> Schedule:
        """Start no more jobs until it is resumed. Raises `DecisionRefused`."""
        return await self._change(id, actor, ScheduleState.ACTIVE, ScheduleState.PAUSED, "schedule_paused")

    async def resume(self, id: str, actor: Actor) -> Schedule:
        """Go on with its next time; what came while it was paused is not made up for. Raises `DecisionRefused`."""
        return await self._change(id, actor, ScheduleState.PAUSED, ScheduleState.ACTIVE, "schedule_resumed")

    async def remove(self, id: str, actor: Actor) -> Schedule:
        """End it for good. A job of it that is at work goes on. Raises `DecisionRefused`."""
        return await self._change(id, actor, None, ScheduleState.REMOVED, "schedule_removed")

    async def run_now(self, id: str, actor: Actor) -> Run:
        """Start its job now, beside its times. Raises `DecisionRefused`, `DeliveryError`."""
        run = await self.occurrences.by_hand(await self._allowed(id, actor), by=actor.id)
        await self._tell()
        return run

    # -- what they have in common ---------------------------------------------------------------

    async def _change(
        self, id: str, actor: Actor, frm: ScheduleState | None, to: ScheduleState, event: str
    ) -> Schedule:
        await self._allowed(id, actor)
        async with self._database.begin("change schedule") as tx:
            one = await schedules.get(tx, id)
            if one is None or (one.state is not frm if frm is not None else one.state is ScheduleState.REMOVED):
                active = one is not None and one.state is ScheduleState.ACTIVE
                already = key("schedules.is_active") if active else key("schedules.is_paused")
                if one is None or one.state not in {ScheduleState.ACTIVE, ScheduleState.PAUSED}:
                    already = key("schedules.is_removed")
                raise AlreadySettled("too_late", say(already, id=id))
            moved = await self._move(tx, one, to, by=actor.id, event=event)
        await self._tell()
        return moved

    async def _move(self, tx: Transaction, one: Schedule, to: ScheduleState, *, by: str, event: str) -> Schedule:
        now, next_at = self._clock.now(), None
        if to is ScheduleState.ACTIVE:
            [next_at] = when.upcoming(one.cron, one.zone, after=now, count=1)
        await schedules.move(tx, one.id, to, frm=one.state, next_at=next_at)
        detail = {"schedule": one.id}
        if one.state is ScheduleState.DRAFT:
            detail |= {"goal": one.goal, "when": one.spoken, "cron": one.cron, "zone": one.zone, "place": one.place}
            detail |= {"missed": one.missed}
        await audit.record(tx, at=now, actor=by, event=event, detail=detail)
        return replace(one, state=to, next_at=next_at, due_at=next_at, note=None)

    async def _allowed(self, id: str, actor: Actor) -> Schedule:
        """The schedule, if the actor may do something about it. Raises `DecisionRefused`."""
        one = await schedules.get(self._database.reader, id)
        if one is None or one.state in {ScheduleState.DRAFT, ScheduleState.REMOVED}:
            raise UnknownApproval("unknown", say("schedules.no_schedule", id=id))
        if actor.id != one.person and not self._authority.is_approver(actor, one.place, within=one.within):
            raise NotAllowed("not_requester", say("schedules.not_yours"))
        return one

    async def _check_limits(self, tx: Transaction, new: Schedule) -> None:
        person, space = await schedules.count(tx, person=new.person, space=new.space)
        if person >= self._limits.person:
            raise DecisionRefused("too_many", say("schedules.most_of_person", n=person))
        if space >= self._limits.space:
            raise DecisionRefused("too_many", say("schedules.most_here", n=space))

    def _times(self, one: Schedule) -> tuple[int, ...]:
        try:
            return tuple(when.upcoming(one.cron, one.zone, after=self._clock.now(), count=SHOWN))
        except NotUnderstood:  # it will pause itself, or has
            return ()

    async def _tell(self) -> None:
        if self._changed is not None:
            await self._changed()


def _minutes(milliseconds: int) -> str:
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return say("schedules.minutes", n=minutes) if not seconds else say("schedules.seconds", n=milliseconds // 1000)
