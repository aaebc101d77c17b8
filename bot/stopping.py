"""`Stop`: a turn ends where it stands, with what it had. Rows decide, so the button works after a restart as well."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from bot.agent import history
from bot.clock import Clock
from bot.deferral import sentences
from bot.deferral.authority import WRONG_GUILD, Authority
from bot.deferral.sentences import Who
from bot.ending import Stopped, stop
from bot.errors import AlreadySettled, DecisionRefused, NotAllowed, UnknownApproval
from bot.place import space_of
from bot.stretches import HISTORY
from bot.surface import CardPress
from bot.texts.text import Text, joined, say
from bot.turns import Turns
from storage import approvals, audit, conversations, runs, steps
from storage.approvals import Approval, ApprovalState
from storage.database import Database, Transaction
from storage.runs import Run, RunKind, RunState

NOT_YOURS = say("stopping.not_yours")
NOTE = say("stopping.note")
CUT_SHORT = say("stopping.cut_short")
CutShort = Callable[[Iterable[str], str], None]
"""Takes calls that run, and the note for their rows."""
_TOLD_MODEL = "[event: a person stopped this turn here. What it did before that stands; nothing follows by itself.]"


class Stopping:
    """Stops turns, for one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        authority: Authority,
        turns: Turns,
        deliver: Callable[[], Awaitable[None]],
        who: Who,
        cut_short: CutShort,
    ) -> None:
        self.database = database
        self.clock = clock
        self._authority = authority
        self.turns = turns
        self.deliver = deliver
        self._who = who
        self._cut_short = cut_short

    async def stop(self, press: CardPress) -> str:
        """End the turn `press.card` now; what to tell who pressed. Raises `DecisionRefused`.

        For who asked and for approvers. What it had said stays as its answer, and in the conversation. A call that a
        person approved and that runs already is stopped; its card says that nobody knows how far it got.
        """
        async with self._recorded(press):
            return await self._stop(press)

    async def _stop(self, press: CardPress) -> str:
        run = await self._permitted(press, NOT_YOURS)
        if run.kind is RunKind.JOB:
            raise AlreadySettled("job", say("turns.in_background", id=run.id))
        now, said = self.clock.now(), self.turns.progress.said(run.id)
        async with self.database.begin("stop turn") as tx:
            fresh = await runs.get(tx, run.id)
            if fresh is None or fresh.ended_at is not None:
                raise AlreadySettled("too_late", say("turns.over"))
            running = [
                call
                for call in await approvals.of_pause(tx, run.id, fresh.pauses)
                if call.state is ApprovalState.RUNNING
            ]
            text = self._text(said, press.actor.id, running)
            if fresh.state is RunState.RUNNING:
                await self._keep(tx, fresh, said)
            via = self.turns.reply_of(fresh) or press.message
            done = await stop(tx, run.id, by=press.actor.id, at=now, note=NOTE, text=text, via=via)
            await audit.record(
                tx,
                at=now,
                actor=press.actor.id,
                event="turn_stopped",
                run=run.id,
                conversation=run.conversation,
                detail={"running": [call.id for call in running]},
            )
        self._cut_short([call.id for call in running], CUT_SHORT)
        self.turns.stop_working(run.id)
        await self.deliver()
        return _told(done)

    async def permitted(self, press: CardPress, refusal: str) -> Run:
        """The run of a press beside a turn, if that person may do this about it. Raises `DecisionRefused`.

        `refusal` is for people who may not. The turn may have become a job meanwhile.
        """
        async with self._recorded(press):
            return await self._permitted(press, refusal)

    @asynccontextmanager
    async def _recorded(self, press: CardPress) -> AsyncIterator[None]:
        """Whatever is refused within is on the trail."""
        try:
            yield
        except DecisionRefused as refusal:
            run = await runs.get(self.database.reader, press.card)
            async with self.database.begin("refused press") as tx:
                await audit.record(
                    tx,
                    at=self.clock.now(),
                    actor=press.actor.id,
                    event="press_refused",
                    run=run.id if run is not None else None,
                    conversation=run.conversation if run is not None else None,
                    detail={"code": refusal.code},
                )
            raise

    async def _permitted(self, press: CardPress, refusal: str) -> Run:
        run = await runs.get(self.database.reader, press.card)
        if run is None or (run.kind is RunKind.JOB and run.moved_from is None):
            raise UnknownApproval("unknown", say("stopping.unknown"))
        if press.actor.guild is not None and press.actor.guild != space_of(run.place):
            raise NotAllowed("wrong_guild", WRONG_GUILD)
        if run.place != press.place or self.turns.reply_of(run) not in {None, press.message}:
            raise UnknownApproval("wrong_message", say("authority.other_message"))
        mine = press.actor.id == run.requester
        if not mine and not self._authority.is_approver(press.actor, run.place, within=run.within):
            raise NotAllowed("not_requester", refusal)
        return run

    def _text(self, said: str, by: str, running: Sequence[Approval]) -> str:
        """The turn's answer: what it had, and how it ended."""
        ended = (
            say("stopping.answer_running", who=self._who(by), calls=_names(running))
            if running
            else say("stopping.answer", who=self._who(by))
        )
        return joined([said.rstrip(), ended], by="\n") if said.strip() else ended

    async def _keep(self, tx: Transaction, run: Run, said: str) -> None:
        """Let the conversation know of the turn, so that people can go on from there."""
        bodies = await conversations.load(tx, run.conversation, last=HISTORY, whole=run.id)
        length = await conversations.length(tx, run.conversation)
        recorded = await steps.of(tx, run.id)
        # What the stretch has done so far stands nowhere else; it goes with the commit that ends the run.
        done = recorded.bodies if recorded is not None and recorded.length == length else []
        calls = await approvals.newest_in(tx, run.conversation, limit=HISTORY)
        told = {call.call_id: sentences.outcome(call) for call in calls}
        asked = done or await conversations.has_spoken(tx, run.conversation, run=run.id)
        prompt = None if asked else run.prompt
        said = "" if said.strip() == history.last_said(done).strip() else said
        kept = history.stopped([*bodies, *done], told, prompt=prompt, said=said, event=_TOLD_MODEL)
        await conversations.append(tx, run.conversation, run=run.id, at_length=length, bodies=[*done, *kept])


def _told(done: Stopped | None) -> Text:
    lines = [say("stopping.stopped")]
    if done is not None and done.cancelled:
        lines.append(say("stopping.cancelled", calls=_names(done.cancelled)))
    if done is not None and done.running:
        lines.append(say("stopping.stopped_too", calls=_names(done.running)))
    return joined(lines, by=" ")


def _names(calls: Sequence[Approval]) -> str:
    return ", ".join(f"{call.tool} ({call.id})" for call in calls)
