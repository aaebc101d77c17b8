"""`Continue in background`: a turn that takes long goes on as a job, and its conversation is free for others.

One commit makes a job of the run: it keeps its id, and with it its calls, their cards and what it has done so far; it
gets a conversation with a copy of what its model has seen, a budget, and the job's row. Nothing is begun again by this:
a model call or a tool that is at work goes on, and what comes of it belongs to the job.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.agent import history
from bot.clock import NewId
from bot.deferral import sentences
from bot.errors import AlreadySettled, DecisionRefused
from bot.jobs import words
from bot.jobs.budget import budget
from bot.jobs.watch import JobWatch
from bot.place import is_private, space_of
from bot.stopping import Stopping
from bot.stretches import HISTORY
from bot.surface import CardPress
from bot.texts.text import key, say, worded
from storage import approvals, audit, conversations, jobs, moved, outbox, runs
from storage.database import Transaction
from storage.jobs import Job
from storage.runs import Run, RunKind, RunState

_FULL = {"person": key("turns.full_person"), "space": key("turns.full_space"), "bot": key("turns.full_bot")}
"""By the limit that `storage.moved.lacks_room` names."""
_DEPTH = 1
"""As of a job that a person or a turn starts."""


class Backgrounding:
    """Makes jobs of turns, for one process."""

    def __init__(
        self, stopping: Stopping, *, new_id: NewId, watch: JobWatch, above: Callable[[str], str | None]
    ) -> None:
        """It works with what `stopping` works with. `above`: the channel that a place is a thread of."""
        self._stopping = stopping
        self._new_id = new_id
        self._watch = watch
        self._above = above

    async def send(self, press: CardPress) -> str:
        """Let the turn `press.card` go on as a job; what to tell who pressed.

        For who asked and for approvers. Raises `DecisionRefused`, and then the turn goes on untouched: it has ended or
        is a job already, or there is no room for one more job at work.
        """
        run = await self._stopping.permitted(press, say("turns.not_yours_to_send"))
        now, conversation = self._stopping.clock.now(), f"job/{self._new_id()}"
        async with self._stopping.database.begin("background") as tx:
            fresh = await runs.get(tx, run.id)
            refusal = await self._refusal(tx, fresh)
            if fresh is not None and refusal is None:
                await self._move(tx, fresh, press, conversation, now)
            await audit.record(
                tx,
                at=now,
                actor=press.actor.id,
                event="turn_backgrounded" if refusal is None else "background_refused",
                run=run.id,
                conversation=run.asked_in,
                detail={"job": conversation} if refusal is None else {"why": refusal.code},
            )
            job = await runs.get(tx, run.id)
        if refusal is not None:
            raise refusal
        if job is not None:
            self._stopping.turns.became_job(job)
        await self._stopping.deliver()
        return say("turns.sent", id=run.id)

    async def _refusal(self, tx: Transaction, run: Run | None) -> DecisionRefused | None:
        if run is not None and run.kind is RunKind.JOB and run.ended_at is None:
            return AlreadySettled("job", say("turns.in_background", id=run.id))
        if run is None or run.ended_at is not None:
            return AlreadySettled("too_late", say("turns.over"))
        if self._watch.limits.depth < _DEPTH:
            return DecisionRefused("too_deep", words.too_deep(self._watch.limits.depth))
        limits, full = self._watch.limits, None
        if run.state is RunState.RUNNING:
            full = await moved.lacks_room(tx, limits, person=run.requester, space=_space(run.place))
        if full is None:
            return None
        reached = say(_FULL[full], n=getattr(limits, full))
        return DecisionRefused("no_room", say("turns.no_room", reached=reached))

    async def _move(self, tx: Transaction, run: Run, press: CardPress, conversation: str, now: int) -> None:
        length = await conversations.length(tx, run.conversation)
        bodies = await conversations.load(tx, run.conversation, last=HISTORY, whole=run.id)
        await conversations.ensure(tx, conversation, at=now)
        ceiling = budget(clocked=run.clocked, wished_ms=None)
        first = length - len(bodies)
        if not await moved.to_job(tx, run, conversation=conversation, first=first, budget_ms=ceiling):
            raise RuntimeError(f"run {run.id} moved within a transaction")
        job = Job(
            run=run.id,
            space=_space(run.place),
            depth=_DEPTH,
            above=self._above(run.place),
            origin=run.conversation,
            anchor=run.request,
        )
        await jobs.create(tx, job)
        await self._leave_word(tx, run, bodies, length)
        await outbox.owe(
            tx,
            key=f"moved:{run.id}",
            run=run.id,
            place=run.place,
            body={**worded(say("turns.in_background", id=run.id)), "answer": True},
            at=now,
            via=press.message,
        )

    async def _leave_word(self, tx: Transaction, run: Run, bodies: list[str], length: int) -> None:
        """The conversation that it leaves knows what was asked, and that it goes on elsewhere.

        Not while another turn is at work there: that one alone may add to it. Then the job's ending tells of it.
        """
        if await moved.others_work(tx, run):
            return
        calls = await approvals.newest_in(tx, run.conversation, limit=HISTORY)
        told = {call.call_id: sentences.outcome(call) for call in calls}
        asked = await conversations.has_spoken(tx, run.conversation, run=run.id)
        prompt, event = None if asked else run.prompt, words.BACKGROUND_EVENT.format(id=run.id)
        left = history.stopped(bodies, told, prompt=prompt, said="", event=event)
        await conversations.append(tx, run.conversation, run=run.id, at_length=length, bodies=left)


def _space(place: str) -> str:
    return place if is_private(place) else space_of(place)
