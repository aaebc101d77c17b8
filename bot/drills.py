"""`/drill`: a harmless request to everybody who decides in a guild, to find out who could press it, and who did.

Rows are the truth here as well: after a restart an open drill goes on, its card is made good, and it ends by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.background import Alarm, Background
from bot.clock import Clock, NewId
from bot.deferral.authority import Act, Authority
from bot.errands import MOST_TRIES, back_off, delivering
from bot.errors import AlreadySettled, DecisionRefused, DeliveryError, NotAllowed, UnknownApproval, Unreachable
from bot.lanes import Lanes
from bot.place import space_of
from bot.rules import Subject
from bot.surface import Actor
from bot.texts.recall import recall
from bot.texts.text import joined, say, worded
from storage import approvals, audit, drills, outbox
from storage.database import Database, Transaction
from storage.drills import Asked, Drill

logger = logging.getLogger(__name__)

NOT_FOR_YOU = say("drills.for_whom")


@dataclass(frozen=True, kw_only=True)
class DrillView:
    """Everything that a drill's card shows."""

    drill: Drill
    people: tuple[Asked, ...]


class DrillFace(Protocol):
    """What a drill needs of a face. All of it raises `DeliveryError`, `Unreachable`."""

    async def post_drill(self, view: DrillView) -> str:
        """Post a drill's card where it was asked for, and notify whom it is for. Returns its message id."""
        ...

    async def edit_drill(self, view: DrillView) -> None:
        """Make the posted card show `view`."""
        ...

    async def tell_drill(self, person: str, view: DrillView) -> None:
        """Send the card to one person directly."""
        ...

    async def hidden_from(self, person: str, place: str) -> str | None:
        """Why a person may not see a place, or None."""
        ...


class Drills:
    """Runs drills, for one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        authority: Authority,
        background: Background,
        tools: Callable[[], Sequence[str]],
        deliver: Callable[[], Awaitable[None]],
    ) -> None:
        """`tools` names every tool there is; `deliver` brings out what people are owed."""
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._authority = authority
        self._background = background
        self._tools = tools
        self._deliver = deliver
        self._lanes = Lanes()
        self._face: DrillFace | None = None
        self._alarm = Alarm(clock, self._ring)
        self._stopped = False

    def _ring(self) -> None:
        self._background.spawn(self.sweep(), name="drills")

    def connect(self, face: DrillFace) -> None:
        """There is a face now: drills that are open go on."""
        self._face = face

    def stop(self) -> None:
        """Do nothing by itself any more."""
        self._stopped = True
        self._alarm.clear()

    async def start(self, actor: Actor, *, place: str, within: str, minutes: int, manages: bool) -> Drill:
        """Ask everybody who decides in `place`'s guild. Raises `DecisionRefused`.

        For approvers, the owner, and who `manages` the guild.
        """
        now = self._clock.now()
        if not manages and actor.id not in self._authority.owners and not self._decides(actor, place, within):
            raise await self._refused(actor, NotAllowed("not_for_everybody", NOT_FOR_YOU))
        asked = [Subject(tool=tool, place=place, within=within, requester="") for tool in self._tools()]
        users, roles = self._authority.approvers(asked)
        if not users and not roles:
            raise await self._refused(actor, DecisionRefused("nobody", say("drills.nobody_can")))
        drill = Drill(
            id=self._new_id(), space=space_of(place), place=place, within=within, started_by=actor.id,
            started_at=now, ends_at=now + minutes * 60_000, roles=tuple(sorted(roles)),
        )  # fmt: skip
        async with self._database.begin("start drill") as tx:
            made = await drills.create(tx, drill, sorted(users))
            if made:
                detail = {"drill": drill.id, "place": place, "people": sorted(users), "roles": sorted(roles)}
                await audit.record(tx, at=now, actor=actor.id, event="drill_started", detail=detail)
        if not made:
            open_one = DecisionRefused("drill_open", say("drills.under_way"))
            raise await self._refused(actor, open_one)
        self._background.spawn(self.sweep(), name=f"drill {drill.id}")
        return drill

    async def press(self, id: str, actor: Actor) -> int:
        """Somebody pressed Approve. Nothing runs. Returns how long they took, in milliseconds.

        Raises `DecisionRefused`: for who does not decide there, who has pressed before, and when it is over.
        """
        drill, now = await drills.get(self._database.reader, id), self._clock.now()
        if drill is None:
            raise await self._refused(actor, UnknownApproval("unknown", say("drills.unknown")))
        asked = Subject(tool="", place=drill.place, within=drill.within, requester="")
        try:
            known = await self._authority.meet(Act.APPROVE, asked, actor)
            if not self._decides(known, drill.place, drill.within):
                raise NotAllowed(
                    "not_approver", say("drills.not_approver", help=self._authority.who_can(asked)),
                )  # fmt: skip
            async with self._database.begin("drill press") as tx:
                roles = tuple(role for role in drill.roles if role in known.roles)
                counted = await drills.press(tx, id, actor.id, at=now, roles=roles)
                if counted:
                    detail = {"drill": id, "milliseconds": now - drill.started_at}
                    await audit.record(tx, at=now, actor=actor.id, event="drill_pressed", detail=detail)
            if not counted:
                raise AlreadySettled("too_late", say("drills.pressed_already"))
        except DecisionRefused as refusal:
            raise await self._refused(actor, refusal) from None
        self._background.spawn(self.sweep(), name=f"drill {id}")
        return now - drill.started_at

    async def sweep(self) -> None:
        """Do everything that is due: end what is over, reach who was not, show the newest state. Safe to repeat."""
        if self._face is None or self._stopped:
            return
        for drill in await drills.unfinished(self._database.reader):
            async with self._lanes.enter(drill.id):
                await self._go_on(drill.id, self._face)
        times = [
            drill.due_at if drill.shown < drill.version else drill.ends_at
            for drill in await drills.unfinished(self._database.reader)
        ]
        if times and not self._stopped:
            self._alarm.set(max(min(times), self._clock.now() + 1_000))

    async def view(self, id: str) -> DrillView | None:
        """A drill as it stands, or None if there is no such."""
        drill = await drills.get(self._database.reader, id)
        if drill is None:
            return None
        return DrillView(drill=drill, people=tuple(await drills.people_of(self._database.reader, id)))

    async def _go_on(self, id: str, face: DrillFace) -> None:
        view = await self.view(id)
        if view is not None and view.drill.message is None and view.drill.ended_at is None:
            view = await self._show(view, face)
        if view is not None and view.drill.message is not None and view.drill.ended_at is None:
            for asked in view.people:
                if asked.named and asked.way is None and asked.problem is None and asked.pressed_at is None:
                    await self._reach(view, asked, face)
        view = await self.view(id)
        if view is not None and view.drill.ended_at is None and self._is_over(view):
            await self._end(view)
            view = await self.view(id)
        if view is not None and view.drill.shown < view.drill.version:
            await self._show(view, face)

    def _is_over(self, view: DrillView) -> bool:
        """At its end; or before, when nobody is missing, and no role may hold somebody who is."""
        if view.drill.ends_at <= self._clock.now():
            return True
        return not view.drill.roles and all(one.pressed_at or one.problem for one in view.people)

    async def _show(self, view: DrillView, face: DrillFace) -> DrillView | None:
        drill, now = view.drill, self._clock.now()
        if drill.due_at > now:
            return view
        try:
            with delivering():
                message = drill.message
                if message is None:
                    message = await face.post_drill(view)
                else:
                    await face.edit_drill(view)
        except DeliveryError as error:
            logger.warning("drill not shown", extra={"action": "drill_failed", "problem": str(error)})
            async with self._database.begin("drill failed") as tx:
                if isinstance(error, Unreachable) or drill.tries + 1 >= MOST_TRIES:
                    await drills.give_up(tx, drill.id, version=drill.version, error=str(error))
                    if drill.message is None:
                        await self._finish(tx, view, say("drills.not_posted", problem=error.problem))
                else:
                    await drills.failed(tx, drill.id, due_at=now + back_off(drill.tries), error=str(error))
            self._bring_out()
            return await self.view(drill.id)
        async with self._database.begin("drill shown") as tx:
            await drills.shown(tx, drill.id, version=drill.version, message=message)
        return await self.view(drill.id)

    async def _reach(self, view: DrillView, asked: Asked, face: DrillFace) -> None:
        """Where the card cannot be seen, it is sent directly; what fails then is the person's line in the report."""
        way, problem = "channel", None
        try:
            with delivering():
                hidden = await face.hidden_from(asked.person, view.drill.place)
                if hidden is not None:
                    way, problem = "dm", hidden
                    await face.tell_drill(asked.person, view)
                    problem = None
        except Unreachable as error:
            problem = joined([*([problem] if problem else []), error.problem], by=" ")
        except DeliveryError as error:
            problem = say("faults.not_told", before=f"{problem} " if problem else "", problem=error.problem)
        async with self._database.begin("drill reached") as tx:
            await drills.reached(tx, view.drill.id, asked.person, way=way if problem is None else None, problem=problem)

    async def _end(self, view: DrillView) -> None:
        async with self._database.begin("end drill") as tx:
            await self._finish(tx, view, "")
        self._bring_out()

    def _bring_out(self) -> None:
        self._background.spawn(self._report(), name="drill report")

    async def _report(self) -> None:
        await self._deliver()

    async def _finish(self, tx: Transaction, view: DrillView, failure: str) -> None:
        now, drill = self._clock.now(), view.drill
        if not await drills.end(tx, drill.id, at=now):
            return
        text = failure or joined(report(view), by="\n")
        await audit.record(
            tx, at=now, actor=audit.SYSTEM, event="drill_ended",
            detail={"drill": drill.id, "pressed": [one.person for one in view.people if one.pressed_at]},
        )  # fmt: skip
        await outbox.owe(
            tx,
            key=f"drill:{drill.id}",
            run=None,
            place=drill.place,
            body={
                **worded(text),
                "ping": [drill.started_by],
                "ladder": [{"place": drill.place}, {"person": drill.started_by}],
            },
            at=now,
            person=drill.started_by,
        )

    def _decides(self, actor: Actor, place: str, within: str) -> bool:
        return any(self._authority.is_approver(actor, place, within=within, tool=tool) for tool in self._tools())

    async def _refused(self, actor: Actor, refusal: DecisionRefused) -> DecisionRefused:
        async with self._database.begin("refused drill") as tx:
            await approvals.refused_press(tx, None, actor=actor.id, at=self._clock.now(), code=refusal.code)
        return refusal


def report(view: DrillView) -> Iterator[str]:
    """What came of it, a line for everybody: who pressed and how fast, who did not, who could not be reached."""
    drill = view.drill
    pressed = [one for one in view.people if one.pressed_at is not None]
    yield say("drills.over_head", n=len(pressed))
    for one in pressed[:20]:
        roles = joined(f"<@&{role}>" for role in one.roles)
        held = "" if one.named else say("drills.as_member", roles=roles)
        yield say("drills.report_pressed", person=one.person, held=held, took=took(drill, one))
    silent = [one for one in view.people if one.pressed_at is None and one.problem is None]
    for one in silent[:20]:
        where = say("drills.direct") if one.way == "dm" else say("drills.this_channel")
        yield say("drills.report_not_pressed", person=one.person, where=where)
    for one in [one for one in view.people if one.pressed_at is None and one.problem is not None][:20]:
        yield say("drills.report_unreached", person=one.person, problem=recall(one.problem or ""))
    for role in drill.roles[:20]:
        if not any(role in one.roles for one in pressed):
            yield say("drills.report_role", role=role)


def took(drill: Drill, asked: Asked) -> str:
    """How long somebody took, in words."""
    seconds = max(0, (asked.pressed_at or 0) - drill.started_at) / 1000
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
