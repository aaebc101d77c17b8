"""One run's way through the model: from the rows to the next pause or its one ending, in its lane.

Every stretch ends in one transaction: either the conversation grows, the calls are stored and the run waits
(T0), or the conversation grows, the run ends and its answer is owed (T5).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from bot.agent.loop import AgentLoop
from bot.asking import Asking, Seen
from bot.background import to_the_end
from bot.clock import Clock
from bot.deferral import sentences
from bot.deferral.calls import LoopResult
from bot.delivery import Delivery, show_progress
from bot.ending import owe_answer, stop
from bot.errors import EmptyAnswer, ModelError
from bot.holding import Holding
from bot.jobs import news, words
from bot.jobs.watch import JobWatch
from bot.lanes import Lanes
from bot.progress import Progress
from bot.recording import Told
from bot.stretches import HISTORY, Stretches
from bot.texts.text import say
from storage import approvals, attachments, conversations, jobs, runs
from storage.approvals import ApprovalState
from storage.database import Database, Transaction
from storage.runs import Run, RunKind, RunState, UnknownPause

logger = logging.getLogger(__name__)

MOST_LOSSES = 1
"""A run whose process died, or could not store what came of it, is begun again so many times."""

LOST_TEXT = say("turns.lost")
UNKNOWN_PAUSE_TEXT = say("turns.other_version")
CANCELLED_TEXT = say("turns.stopped_on_request")
BROKEN_TEXT = say("turns.broken")


class Turns:
    """Works on runs for one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        boot: str,
        loop: AgentLoop,
        asking: Asking,
        delivery: Delivery,
        holding: Holding,
        watch: JobWatch,
        progress: Progress,
    ) -> None:
        self._database = database
        self._clock = clock
        self._boot = boot
        self._loop = loop
        self._asking = asking
        self._delivery = delivery
        self._holding = holding
        self._watch = watch
        self._stretches = Stretches(
            database=database,
            clock=clock,
            boot=boot,
            loop=loop,
            delivery=delivery,
            watch=watch,
            progress=progress,
        )
        self._lanes = Lanes()
        self._going: set[str] = set()
        self._became: dict[str, Run] = {}
        """Turns that have become jobs while this process worked on them, as they are now."""
        self.progress = progress
        self._limits: dict[str, asyncio.Timeout] = {}

    def is_going(self, run_id: str) -> bool:
        """Whether this process works on the run, or is about to."""
        return run_id in self._going

    async def go(self, run_id: str) -> None:
        """Take a run up and bring it to its next pause or its ending. Nothing happens if it cannot go on."""
        if run_id in self._going:
            return
        self._going.add(run_id)
        try:
            run = await runs.get(self._database.reader, run_id)
            if run is None:
                return
            async with self._lanes.enter(run.conversation, run_id, moved=self.progress.moved):
                # Lost in a power cut, the run is queued still, and taken up again.
                async with self._database.begin("take up", durable=False) as tx:
                    free = await self._watch.may_start(tx, await _as_stored(tx, run))
                    run = await runs.take_up(tx, run_id, owner=self._boot) if free else None
                    if run is not None:
                        await self._watch.started(tx, run)
                if not free:
                    await self.progress.no_room(run_id)
                if run is not None:
                    try:
                        await self._stretch(run)
                    except asyncio.CancelledError:
                        await to_the_end(self._put_back(run))
                        raise
        finally:
            self._going.discard(run_id)
            self._became.pop(run_id, None)
            self._watch.forget(run_id)
            self.progress.forget(run_id)

    async def _put_back(self, run: Run) -> None:
        """The program stops: a stretch that is cut short is begun again after the next start, and counts as no loss."""
        async with self._database.begin("put back") as tx:
            await self._watch.store(tx, await _as_stored(tx, run), cut_short=True)
            await runs.put_back(tx, run.id, owner=self._boot)

    async def part(self, run_ids: Iterable[str]) -> None:
        """Tell those who wait for an answer in a reply that it comes after the restart, as a message of its own."""
        for run_id in run_ids:
            run = await runs.get(self._database.reader, run_id)
            reply = self._delivery.replies.get(run_id)
            if run is not None and reply is not None and run.state is RunState.QUEUED:
                await show_progress(reply, words.RESTARTING, resting=True)

    async def lose(self, tx: Transaction, run: Run) -> None:
        """Give a run up whose process died twice."""
        text = words.unfinished(LOST_TEXT, await self._watch.said(run, tx))
        if await runs.end(tx, run.id, RunState.LOST, owner=None, at=self._clock.now(), result=text):
            await self._owe_answer(tx, run, text, RunState.LOST)

    async def agree_with_rows(self) -> None:
        """Where the rows and this process differ about what is being worked on, make them agree. Part of the sweep."""
        await self._notice_stopped()
        await self._requeue_stranded()

    async def _notice_stopped(self) -> None:
        """Stop working on runs that another process has ended (`signoff jobs cancel`)."""
        for id in tuple(self._limits):
            run = await runs.get(self._database.reader, id)
            if run is not None and run.ended_at is not None:
                self.stop_working(id)

    async def _requeue_stranded(self) -> None:
        """Queue again what is running in the rows and nowhere else: its ending could not be stored."""
        rows = await runs.running_of(self._database.reader, owner=self._boot)
        if all(id in self._going for id in rows):
            return
        async with self._database.begin("requeue") as tx:
            # Read once more: nobody can take a run up while this transaction is open.
            for id in await runs.running_of(tx, owner=self._boot):
                if id not in self._going:
                    logger.error("stranded run", extra={"action": "stranded", "run": id})
                    run = await runs.requeue(tx, id)
                    if run is not None and run.losses > MOST_LOSSES:
                        await self.lose(tx, run)

    async def cancel(self, run: Run, *, by: str) -> bool:
        """End a run on request, and what it still asks. False if it has ended already."""
        now, via = self._clock.now(), self.reply_of(run)
        text = words.unfinished(CANCELLED_TEXT, await self._watch.said(run))
        async with self._database.begin("cancel") as tx:
            done = await stop(tx, run.id, by=by, at=now, note=say("turns.job_stopped"), text=text, via=via)
        if done is not None:
            self.stop_working(run.id)
        return done is not None

    @property
    def takes_images(self) -> bool:
        """Whether the model can be shown images."""
        return self._loop.takes_images

    def stop_working(self, run_id: str) -> None:
        """The run has ended: what still works on it stops at its next await."""
        if (limit := self._limits.get(run_id)) is not None and not limit.expired():
            limit.reschedule(0)  # long past

    def reply_of(self, run: Run) -> str | None:
        """The message in which the run's answer grows or grew, if it is known."""
        reply = self._delivery.replies.get(run.id)
        return reply.message if reply is not None else run.reply

    def extended(self, run_id: str, milliseconds: int) -> None:
        """A run has more compute time, from this moment on."""
        if (limit := self._limits.get(run_id)) is not None and (at := limit.when()) is not None and not limit.expired():
            limit.reschedule(at + milliseconds / 1000)

    def became_job(self, run: Run) -> None:
        """A turn is a job by now (`bot.backgrounding`). What works on it goes on: under the job's name, within its
        budget, and without standing in the way of its old conversation."""
        if run.id in self._going:
            self._became[run.id] = run
        self._holding.forget(run.id)
        if (limit := self._limits.get(run.id)) is not None and not limit.expired():
            self._watch.adopt(run)
            seconds = self._seconds_left(run)
            limit.reschedule(None if seconds is None else asyncio.get_running_loop().time() + seconds)
        self.progress.forget(run.id)
        self._lanes.leave(run.asked_in, run.id, moved=self.progress.moved)

    async def _stretch(self, run: Run) -> None:
        """One stretch of the loop and its transaction. Whatever goes wrong, the run gets an ending."""
        await self._holding.release()
        self._holding.forget(run.id)
        try:
            began = self._clock.now()
            self.progress.begin(run.id)
            length, result, told = await self._within_budget(run)
            await self._store(run, length, result, told, spent_ms=self._clock.now() - began)
        except TimeoutError:
            await self._fail(run, words.OUT_OF_TIME, RunState.TIMED_OUT)
        except EmptyAnswer as error:
            if run.kind is RunKind.JOB or run.announces is not None or run.id in self._became:
                await self._fail(run, "", RunState.DONE)
            else:
                await self._fail(run, error.advice)
        except UnknownPause as error:
            logger.warning("unknown pause", extra={"action": "unknown_pause", "run": run.id, "problem": str(error)})
            await self._fail(run, UNKNOWN_PAUSE_TEXT)
        except ModelError as error:
            logger.warning("model failed", extra={"action": "model_failed", "run": run.id, "problem": error.detail})
            await self._fail(run, error.advice)
        except Exception:
            # The edge of a run: an error of ours must end it with a word, not leave it hanging.
            logger.exception("run failed", extra={"action": "run_failed", "run": run.id})
            await self._fail(run, BROKEN_TEXT)
        else:
            if result.pending:
                await self._show_waiting(run, result.text)

    async def _store(self, run: Run, length: int, result: LoopResult, told: Told, *, spent_ms: int) -> None:
        """The one transaction that ends a stretch (T0 or T5)."""
        seen = await self._asking.look(run, result.pending)
        async with self._database.begin("pause" if result.pending else "finish") as tx:
            await self._watch.accounts.write(tx, run.id)
            run = await _as_stored(tx, run)
            if run.kind is RunKind.TURN:
                if run.state is not RunState.RUNNING:
                    return  # ended on request meanwhile: nothing of it belongs to the conversation any more
                await runs.add_spent(tx, run.id, spent_ms)
            await self._watch.store(tx, run)
            await told.store(tx, at=self._clock.now())
            if result.turned_away:
                await runs.add_turned_away(tx, run.id, result.turned_away)
            new_length = await conversations.append(
                tx, run.conversation, run=run.id, at_length=length, bodies=result.messages
            )
            await attachments.forget(tx, run.id)
            if new_length is None:
                raise RuntimeError(f"conversation {run.conversation} grew outside its lane")
            if result.pending:
                await self._pause(tx, run, result, seen, new_length)
            elif await jobs.notes_of(tx, run.id):
                await runs.again(tx, run.id, owner=self._boot)  # somebody has told it something meanwhile
            elif await runs.end(tx, run.id, RunState.DONE, owner=self._boot, at=self._clock.now(), result=result.text):
                await self._owe_answer(tx, run, result.text, RunState.DONE)

    def _seconds_left(self, run: Run) -> float | None:
        return None if run.budget_ms is None else max(0, run.budget_ms - run.spent_ms) / 1000

    async def _within_budget(self, run: Run) -> tuple[int, LoopResult, Told]:
        """The stretch itself, for as long as the run may take. Raises `TimeoutError`, also when it is cancelled."""
        run = self._became.get(run.id, run)
        try:
            async with asyncio.timeout(self._seconds_left(run)) as self._limits[run.id]:
                return await self._stretches.once(run)
        finally:
            del self._limits[run.id]

    # -- T0: the run waits ----------------------------------------------------------------------

    async def _pause(self, tx: Transaction, run: Run, result: LoopResult, seen: Sequence[Seen], length: int) -> None:
        hold_until = self._holding.until(run.id) if run.kind is RunKind.TURN else None
        waits = await runs.wait(
            tx,
            run.id,
            owner=self._boot,
            length=length,
            call_ids=[call.call_id for call in result.pending],
            hold_until=hold_until,
        )
        if not waits:
            return  # cancelled meanwhile: nothing is asked any more
        if hold_until is not None:
            self._holding.keep(run.id, hold_until)
        pause = run.pauses + 1
        await self._asking.open(tx, run, result.pending, seen, pause=pause, left_out=result.left_out)
        if run.announces is not None and not run.pauses:
            await news.release(tx, run, result.text, at=self._clock.now())

    async def _show_waiting(self, run: Run, said: str) -> None:
        """Progress in a reply that is held; not owed, so its failure costs nothing."""
        reply = self._delivery.replies.get(run.id)
        if reply is not None and self._holding.holds(run.id):
            calls = await approvals.of_pause(self._database.reader, run.id, run.pauses + 1)
            kinds = {call.kind for call in calls if call.state is ApprovalState.PENDING}
            waiting = sentences.waiting(kinds, await self._delivery.showing.elsewhere(run, pause=run.pauses + 1))
            # Which message this is gets stored with the card, which is posted next.
            await show_progress(reply, f"{said}\n\n{waiting}" if said.strip() else waiting, resting=True)

    # -- T5: the run ends -----------------------------------------------------------------------

    async def _fail(self, run: Run, text: str, state: RunState = RunState.FAILED) -> None:
        if state is not RunState.DONE:
            text = words.unfinished(text, await self._watch.said(self._became.get(run.id, run)))
        async with self._database.begin("fail") as tx:
            run = await _as_stored(tx, run)
            await self._watch.store(tx, run)
            if run.announces is not None:
                await self._keep_event(tx, run)
            if await runs.end(tx, run.id, state, owner=self._boot, at=self._clock.now(), result=text):
                await self._owe_answer(tx, run, text, state)

    async def _keep_event(self, tx: Transaction, run: Run) -> None:
        """The conversation is told of what happened, though its model had no word about it."""
        reader, conversation = self._database.reader, run.conversation
        if not await conversations.has_spoken(reader, conversation, run=run.id):
            length = await conversations.length(reader, conversation)
            bodies = await conversations.load(reader, conversation, last=HISTORY)
            told = self._loop.event(bodies, await news.prompt(reader, run), await self._stretches.waiting(conversation))
            await conversations.append(tx, conversation, run=run.id, at_length=length, bodies=told)

    async def _owe_answer(self, tx: Transaction, run: Run, text: str, ending: RunState) -> None:
        reply = self._delivery.replies.get(run.id)
        via = reply.message if reply is not None else None
        await owe_answer(tx, run, text, ending, at=self._clock.now(), via=via)


async def _as_stored(tx: Transaction, run: Run) -> Run:
    """The run as it is by now: it may have become a job while it was worked on."""
    return await runs.get(tx, run.id) or run
