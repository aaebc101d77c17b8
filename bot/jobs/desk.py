"""What people can do about a job while it runs: stop it, give it more time, tell it something, read its log.

For the person it works for and for approvers. A press counts only on the job's own, newest card; everything that is
refused is refused with a sentence, and everything that counts is on the trail.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from bot.agent import transcript
from bot.clock import Clock
from bot.deferral.authority import Authority
from bot.errors import AlreadySettled, DecisionRefused, NotAllowed, UnknownApproval
from bot.jobs import words
from bot.jobs.budget import EXTENSION_MS, MOST_BUDGET_MS
from bot.jobs.cards import OPEN
from bot.jobs.watch import JobWatch
from bot.jobs.words import state_word
from bot.place import is_private, space_of
from bot.surface import Actor, CardPress, Offered, TurnClock, TurnContext
from bot.texts.text import say
from storage import approvals, audit, conversations, jobs, people, runs
from storage.approvals import ApprovalState
from storage.database import Database, Transaction
from storage.jobs import Job
from storage.runs import Run, RunKind

CONFIRM_MS = 60_000
"""How long a first press on Stop waits for its second one."""
MOST_NOTES = 10
"""Notes that a job has not taken up yet."""
_GIST = 40
"""Messages of its parent's conversation that the gist at a job's beginning is made of."""
_EVERYTHING = 1_000_000


class Worker(Protocol):
    """Who works on runs: see `bot.turns.Turns`."""

    async def cancel(self, run: Run, *, by: str) -> bool:
        """End a run on request. False if it has ended already."""
        ...

    def extended(self, run_id: str, milliseconds: int) -> None:
        """A run has more compute time, from this moment on."""
        ...


@dataclass(frozen=True, kw_only=True)
class Child:
    """A job that is about to be started by a run."""

    ctx: TurnContext
    depth: int


class JobDesk:
    """Receives what people want of jobs, for one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        authority: Authority,
        link: Callable[[str, str | None], str],
        above: Callable[[str], str | None],
        turns: Worker,
        deliver: Callable[[], Awaitable[None]],
        watch: JobWatch,
        made: Callable[[Run], Awaitable[tuple[Offered, ...]]],
        cut_short: Callable[[Iterable[str], str], None],
        notify_in: Callable[[str], str | None] = lambda place: None,
    ) -> None:
        """`above`: the channel that a place is a thread of; `deliver` brings out what is owed; `made`: a job's files.

        `cut_short` stops calls that run, and takes the note for their rows.
        `notify_in`: where answers go in a place, of people who set nothing for themselves.
        """
        self._made, self._cut_short = made, cut_short
        self._database = database
        self._clock = clock
        self._authority = authority
        self._link = link
        self._above = above
        self._turns = turns
        self._deliver = deliver
        self._watch = watch
        self._notify_in = notify_in

    async def open(self, tx: Transaction, run: Run, ctx: TurnContext, *, depth: int, background: str) -> None:
        """Give a new run what a job has beside it, in the commit that stores the run; `ctx` is where it comes from."""
        space = run.place if is_private(run.place) else space_of(run.place)
        above = self._above(run.place)
        job = Job(
            run=run.id,
            space=space,
            depth=depth,
            above=above,
            background=background,
            origin=ctx.conversation,
            anchor=ctx.request,
        )
        await jobs.create(tx, job)

    async def gist(self, conversation: str) -> str:
        """What was said last in a conversation, for a job that comes from it."""
        return transcript.gist(await conversations.load(self._database.reader, conversation, last=_GIST))

    async def child_of(self, run_id: str, goal: str) -> Child:
        """The job that a run may start, in its place and for its requester. Raises `DecisionRefused`."""
        parent, job = await runs.get(self._database.reader, run_id), await jobs.get(self._database.reader, run_id)
        depth = 1 if job is None else job.depth + 1
        if parent is None:
            raise UnknownApproval("unknown", say("desk.starter_unknown"))
        if parent.announces is not None or await self._is_event(parent):
            raise DecisionRefused("announcing", words.ANNOUNCING)
        if depth > self._watch.limits.depth:
            sentence = words.too_deep(self._watch.limits.depth)
            self._watch.step(run_id, sentence)  # for people: it stands on the card of the job that tried
            raise DecisionRefused("too_deep", sentence)
        ctx = TurnContext(
            conversation=parent.conversation,
            place=parent.place,
            requester=parent.requester,
            request=parent.request,
            prompt=goal,
            notify=parent.notify,
            within=parent.within,
            roles=parent.roles,
            clock=TurnClock(refires=parent.clocked),
        )
        return Child(ctx=ctx, depth=depth)

    async def _is_event(self, run: Run) -> bool:
        """Whether the run is told of outcomes as an event, because somebody spoke while it waited."""
        pause = run.pause
        return pause is not None and pause.length != await conversations.length(self._database.reader, run.conversation)

    async def cancel(self, id: str, actor: Actor) -> Run:
        """See `Engine.cancel_job`."""
        run = await runs.get(self._database.reader, id)
        if run is None or run.kind is not RunKind.JOB:
            raise UnknownApproval("unknown", say("desk.no_job", id=id))
        self._allow(actor, run)
        if not await self._turns.cancel(run, by=actor.id):
            raise AlreadySettled("too_late", say("desk.has_ended", id=id))
        fresh = await runs.get(self._database.reader, id) or run
        calls = await approvals.of_pause(self._database.reader, id, fresh.pauses)
        running = [call.id for call in calls if call.state is ApprovalState.RUNNING]
        self._cut_short(running, say("stopping.cut_short"))
        await self._deliver()
        return run

    async def stop(self, press: CardPress) -> str:
        """Stop, at the second press of the same person within a minute; what to tell them. Raises `DecisionRefused`."""
        run, job = await self._open(press)
        now = self._clock.now()
        if job.stop_by == press.actor.id and job.stop_at is not None and now - job.stop_at <= CONFIRM_MS:
            await self.cancel(run.id, press.actor)
            return say("desk.stopped", id=run.id)
        async with self._database.begin("ask stop") as tx:
            await jobs.ask_stop(tx, run.id, person=press.actor.id, at=now)
        return say("desk.press_again", id=run.id)

    async def extend(self, press: CardPress) -> str:
        """Give the job a quarter of an hour more compute time. Raises `DecisionRefused`."""
        run, _job = await self._open(press)
        now = self._clock.now()
        async with self._database.begin("extend") as tx:
            longer = await runs.extend(tx, run.id, by=EXTENSION_MS, most=MOST_BUDGET_MS)
            if longer is None or longer.budget_ms is None:
                raise DecisionRefused("no_more_time", say("desk.longest", id=run.id))
            await jobs.touch(tx, run.id)
            await audit.record(
                tx,
                at=now,
                actor=press.actor.id,
                event="job_extended",
                run=run.id,
                detail={"budget_ms": longer.budget_ms},
            )
        self._turns.extended(run.id, longer.budget_ms - (run.budget_ms or 0))
        await self._deliver()
        return say("desk.longer", id=run.id, minutes=longer.budget_ms // 60_000)

    async def note(self, press: CardPress, text: str) -> str:
        """Tell the job something: the model reads it at the job's next stretch. Raises `DecisionRefused`."""
        run, _job = await self._open(press)
        if not text.strip():
            raise DecisionRefused("blank", say("desk.blank_note"))
        now = self._clock.now()
        async with self._database.begin("note") as tx:
            fresh = await runs.get(tx, run.id)
            if fresh is None or fresh.state not in OPEN:
                raise AlreadySettled("too_late", say("desk.ended_meanwhile", id=run.id))
            if len(await jobs.notes_of(tx, run.id)) >= MOST_NOTES:
                raise DecisionRefused("too_many", say("desk.notes_full", id=run.id, most=MOST_NOTES))
            await jobs.add_note(tx, run.id, person=press.actor.id, text=text, at=now)
            await jobs.touch(tx, run.id)
            await audit.record(tx, at=now, actor=press.actor.id, event="job_note", run=run.id, detail={"text": text})
        await self._deliver()
        return say("desk.note_taken", id=run.id)

    async def log(self, press: CardPress) -> str:
        """Everything about the job, as text. Raises `DecisionRefused`."""
        run, job = await self._on_its_card(press)
        self._allow(press.actor, run)
        return await self.written(run, job)

    async def files(self, press: CardPress) -> tuple[Offered, ...]:
        """The files that the job made, with what they hold as far as it fits. Raises `DecisionRefused`."""
        run, _job = await self._on_its_card(press)
        self._allow(press.actor, run)
        found = await self._made(run)
        async with self._database.begin("files fetched") as tx:
            await audit.record(
                tx,
                at=self._clock.now(),
                actor=press.actor.id,
                event="job_files",
                run=run.id,
                detail={"paths": [one.path for one in found if one.body is not None]},
            )
        return found

    async def written(self, run: Run, job: Job) -> str:
        """The whole of a job as text: how it stands, what it did, what it was told, its conversation."""
        reader = self._database.reader
        budget = "-" if run.budget_ms is None else f"{run.budget_ms / 1000:g} s"
        head = [
            f"# Job {run.id}: {state_word(run)}",
            f"Started {_time(run.created_at)} by {run.requester}",
            *([f"Ended {_time(run.ended_at)}"] if run.ended_at else []),
            f"Computed {run.spent_ms / 1000:g} s of {budget}",
            f"Tokens: {job.input_tokens} in, {job.output_tokens} out",
        ]
        steps = [f"- {_time(step.at)} {step.text}" for step in await jobs.steps_of(reader, run.id, last=_EVERYTHING)]
        notes = [
            f"- {_time(note.at)} {note.person or 'event'}{'' if note.taken_at else ' (not read yet)'}: {note.text}"
            for note in await jobs.notes_of(reader, run.id, every=True)
        ]
        said = transcript.whole(await conversations.load(reader, run.conversation, last=_EVERYTHING))
        parts = ["\n".join(head), f"## Goal\n{run.prompt}"]
        parts += [f"## Steps\n{chr(10).join(steps)}"] if steps else []
        parts += [f"## Notes\n{chr(10).join(notes)}"] if notes else []
        parts += [f"# Conversation\n\n{said}"] if said else []
        parts += [f"## Result\n{run.result}"] if run.result else []
        return "\n\n".join(parts) + "\n"

    async def notify_of(self, person: str, place: str) -> str:
        """What the person set for what they ask in `place`, else its server; `channel` where they are alone."""
        if is_private(place):
            return "channel"
        return await people.notify_of(self._database.reader, person, otherwise=self._notify_in(place) or "channel")

    async def _open(self, press: CardPress) -> tuple[Run, Job]:
        """The job of the press, if it is open and the person may do something about it."""
        run, job = await self._on_its_card(press)
        self._allow(press.actor, run)
        if run.state not in OPEN:
            raise AlreadySettled("too_late", say("desk.ended_already", id=run.id, state=state_word(run)))
        return run, job

    def _allow(self, actor: Actor, run: Run) -> None:
        if actor.id != run.requester and not self._authority.is_approver(actor, run.place, within=run.within):
            raise NotAllowed("not_requester", say("desk.not_yours"))

    async def _on_its_card(self, press: CardPress) -> tuple[Run, Job]:
        reader = self._database.reader
        run, job = await runs.get(reader, press.card), await jobs.get(reader, press.card)
        if run is None or job is None or run.place != press.place:
            raise UnknownApproval("unknown", say("desk.unknown"))
        if job.message is None:
            # It is there, even if its posting never came back to us.
            async with self._database.begin("job card seen") as tx:
                await jobs.posted(tx, run.id, message=press.message, at=self._clock.now())
        elif job.message != press.message:
            link = self._link(run.place, job.message)
            raise UnknownApproval("not_this_message", say("desk.newer_card", link=f" {link}" if link else ""))
        return run, job


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
