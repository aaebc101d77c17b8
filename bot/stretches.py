"""One stretch of the model loop for a run as it is stored: what the model is told, and what it has done before.

Where a stretch begins depends on the rows alone: a prompt, the outcomes of a pause, an event because somebody spoke
meanwhile, or the steps that a process recorded before it died.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot.agent.loop import AgentLoop, OnText
from bot.clock import Clock
from bot.deferral import sentences
from bot.deferral.calls import FirstCall, LoopResult, ToolResult
from bot.delivery import Delivery
from bot.files import undo as undoing
from bot.jobs import news, words
from bot.jobs.watch import JobWatch
from bot.progress import Progress
from bot.recording import Recording, Told
from storage import approvals, attachments, conversations, jobs, requests, undo
from storage.approvals import Approval, ApprovalState
from storage.database import Database
from storage.jobs import Note
from storage.runs import Run, RunKind

HISTORY = 200
"""Messages of a conversation that the model sees: the cost of a turn does not grow with its length."""


class Stretches:
    """Takes runs through the loop, for one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        boot: str,
        loop: AgentLoop,
        delivery: Delivery,
        watch: JobWatch,
        progress: Progress,
    ) -> None:
        self._database = database
        self._clock = clock
        self._boot = boot
        self._loop = loop
        self._delivery = delivery
        self._watch = watch
        self._progress = progress

    async def once(self, run: Run) -> tuple[int, LoopResult, Told]:
        """What the loop gave; also the conversation's length that it started from, and what it was told beside.

        Raises what the loop raises, and `UnknownPause`.
        """
        reader = self._database.reader
        report = await self._watch.begin(run)
        # What people refused counts like what was answered without them: who keeps asking is stopped.
        run = replace(run, turned_away=run.turned_away + await requests.refusals(reader, run.id))
        notes = await jobs.notes_of(reader, run.id)
        length = await conversations.length(reader, run.conversation)
        bodies = await conversations.load(reader, run.conversation, last=HISTORY, whole=run.id)
        on_text = self._on_text(run)
        recording = Recording(
            database=self._database,
            clock=self._clock,
            run=run.id,
            owner=self._boot,
            length=length,
            count=self._watch.accounts.write,
        )
        keep = recording.keep
        if (done := await recording.found()) is not None:
            return length, await self._loop.go_on(run, bodies, done, on_text=on_text, report=report, keep=keep), Told()
        told = Told(notes, await undo.untold(reader, run.conversation))
        event = undoing.event(told.undone)
        recording.tells(told)
        if run.pause is None:
            waiting, first = await self.waiting(run.conversation), await self._first(run)
            prompt = await self._prompt(run, notes)
            is_event = run.announces is not None
            given = await self._loop.start(
                run,
                bodies,
                prompt,
                waiting=waiting,
                on_text=on_text,
                report=report,
                first=first,
                keep=keep,
                is_event=is_event,
                attached=await attachments.of(reader, run.id),
                before=event,
            )
            return length, given, told
        settled = await approvals.of_pause(reader, run.id, run.pause.number)
        if length == run.pause.length:
            for approval in settled:
                self._watch.step(run.id, f"{approval.tool}: {sentences.word(approval)}")
            results = [_result(approval) for approval in settled]
            note = "\n\n".join(filter(None, (event, words.told(notes, self._delivery.who)))) or None
            given = await self._loop.resume(run, bodies, results, note=note, on_text=on_text, report=report, keep=keep)
            return length, given, told
        # Somebody spoke meanwhile and those calls were given a placeholder: the outcome comes as an event.
        ended = sentences.event(settled)
        waiting = await self.waiting(run.conversation)
        told = Told((), told.undone)
        recording.tells(told)
        given = await self._loop.start(
            run, bodies, ended, waiting=waiting, on_text=on_text, report=report, keep=keep, is_event=True, before=event
        )
        return length, given, told

    async def _prompt(self, run: Run, notes: Sequence[Note]) -> str:
        """What a stretch begins with that has no pause behind it: a goal, or what a job has been told since."""
        if run.announces is not None:
            return await news.prompt(self._database.reader, run)
        job = await jobs.get(self._database.reader, run.id)
        if job is None:
            return run.prompt
        if notes and await conversations.has_spoken(self._database.reader, run.conversation, run=run.id):
            return words.told(notes, self._delivery.who)
        return words.first_message(run.prompt, job.background, notes, self._delivery.who)

    async def _first(self, run: Run) -> FirstCall | None:
        """The call that the run begins with, if somebody wants one asked about once more."""
        again = await approvals.get(self._database.reader, run.again) if run.again is not None else None
        return FirstCall(tool_name=again.tool, args=again.arguments) if again is not None else None

    async def waiting(self, conversation: str) -> dict[str, str]:
        """What the model is told, by call id, about the newest calls of a conversation that have no result in it."""
        calls = await approvals.newest_in(self._database.reader, conversation, limit=HISTORY)
        return {call.call_id: sentences.outcome(call) for call in calls}

    def _on_text(self, run: Run) -> OnText | None:
        if run.kind is RunKind.JOB:
            return partial(self._watch.grows, run.id)
        show = self._progress.on_text(run)
        if show is None:
            return None

        async def grow(text: str) -> None:
            if self._watch.working(run.id) is not None:  # it has become a job meanwhile
                await self._watch.grows(run.id, text)
            else:
                await show(text)

        return grow


def _result(approval: Approval) -> ToolResult:
    succeeded, denied = approval.state is ApprovalState.SUCCEEDED, approval.state is ApprovalState.DENIED
    return ToolResult(
        call_id=approval.call_id,
        text=sentences.outcome(approval),
        outcome="success" if succeeded else "denied" if denied else "failed",
    )
