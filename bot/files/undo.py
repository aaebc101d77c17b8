"""Takes a write back on behalf of people: once, and only while the file still holds what the write left.

The same claim as for every effect: it commits before the file is touched. What a process leaves claimed when it dies is
`unknown`; it is not tried again by itself, and everybody is told so, also the model.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio.to_thread

from bot.background import to_the_end
from bot.clock import Clock
from bot.decisions import Decisions
from bot.deferral.authority import Act
from bot.errors import AlreadySettled, DecisionRefused
from bot.files.kept import Kept
from bot.surface import Press
from bot.texts.text import Text, key, say
from bot.toolbox.undoing import is_before, other_than, put_back
from storage import approvals, audit, cards, jobs, runs, undo
from storage.approvals import Approval
from storage.database import Database, Reader
from storage.runs import RunKind
from storage.undo import Undo, UndoState

logger = logging.getLogger(__name__)


class Undoing:
    """Takes writes back, for one process."""

    def __init__(
        self, *, database: Database, clock: Clock, boot: str, kept: Kept, root: Path, decisions: Decisions
    ) -> None:
        self._database = database
        self._clock = clock
        self._boot = boot
        self._kept = kept
        self._root = root
        self._decisions = decisions
        self._busy: set[str] = set()
        """Claimed by this process, which is at it."""
        self._unrecorded: dict[str, Callable[[], Awaitable[None]]] = {}
        """How to store the endings that could not be stored so far."""

    async def undo(self, press: Press) -> Approval:
        """Take back what a call wrote. For everybody who may decide that call; raises `DecisionRefused`.

        What was pressed is on the trail; so is what came of it.
        """
        call = await self._decisions.permitted(press, Act.UNDO)
        try:
            one = await self._look(call)
            await self._claim(call, one, by=press.actor.id)
            await to_the_end(self._carry_out(call, one, by=press.actor.id))
        except DecisionRefused as refusal:
            await self._decisions.refused(press.approval, press.actor, refusal)
            raise
        return call

    async def tidy(self) -> None:
        """Own up to what was claimed and nobody is at any more. Part of the sweep."""
        for record in tuple(self._unrecorded.values()):
            await record()
        for one in await undo.claimed(self._database.reader):
            if one.owner != self._boot or one.id not in self._busy:
                await self._lose(one)

    # -- before anything is touched -------------------------------------------------------------

    async def _look(self, call: Approval) -> Undo:
        """What is to be taken back. Raises `DecisionRefused` if that cannot be done."""
        one = (await undo.of_calls(self._database.reader, [call.id])).get(call.id)
        if one is None:
            raise DecisionRefused("nothing_kept", say("files.nothing_kept"))
        if one.state is not UndoState.KEPT:
            raise AlreadySettled("undone", say(_SETTLED[one.state]))
        if not one.holds:
            raise DecisionRefused("copy_gone", say("files.copy_gone"))
        if one.call != call.id or not self._kept.is_genuine(one):
            raise DecisionRefused("not_genuine", say("files.not_genuine"))
        if not await anyio.to_thread.run_sync(self._kept.is_there, one):
            raise DecisionRefused("not_genuine", say("files.not_genuine"))
        if (other := await anyio.to_thread.run_sync(self._found, one)) is not None:
            raise DecisionRefused("file_changed", other)
        return one

    def _found(self, one: Undo) -> Text | None:
        """What there is in place of what the write left."""
        return other_than(self._root, one.path, one.before, after=one.after)

    async def _claim(self, call: Approval, one: Undo, *, by: str) -> None:
        """Committed before the file is touched. Raises `DecisionRefused` if somebody was first."""
        if one.id in self._busy:
            raise AlreadySettled("undone", say("files.being_undone"))
        # Before the commit: whoever finds it claimed must also find that somebody is at it.
        self._busy.add(one.id)
        claimed = False
        try:
            async with self._database.begin("undo") as tx:
                now = self._clock.now()
                won = await undo.claim(tx, one.id, by=by, at=now, owner=self._boot)
                if won:
                    await approvals.trail(tx, call, "undo_began", by, now, {})
            claimed = won
        finally:
            if not claimed:
                self._busy.discard(one.id)
        if not claimed:
            raise AlreadySettled("undone", say("files.being_undone"))

    # -- the effect -----------------------------------------------------------------------------

    async def _carry_out(self, call: Approval, one: Undo, *, by: str) -> None:
        """Put it back and record what came of it. Raises `DecisionRefused` if nothing was changed."""
        refusal: DecisionRefused | None = None
        ending = UndoState.UNDONE
        try:
            if (other := await anyio.to_thread.run_sync(self._put_back, one)) is not None:
                refusal = DecisionRefused("file_changed", other)
        except OSError as error:
            logger.exception("not undone", extra={"action": "undo_failed", "approval": call.id})
            # How far it came, only the file can tell.
            if await anyio.to_thread.run_sync(self._found, one) is None:
                refusal = DecisionRefused("not_written", say("files.not_written", problem=error.strerror or str(error)))
            elif not await anyio.to_thread.run_sync(is_before, self._root, one.path, one.before):
                ending = UndoState.UNKNOWN
        except Exception:
            self._busy.discard(one.id)  # nobody is at it any more: the next sweep says so
            raise
        await self._record(call, one, UndoState.KEPT if refusal is not None else ending, by=by)
        if refusal is not None:
            raise refusal
        if ending is UndoState.UNDONE:
            await self._kept.remove([one.id])

    def _put_back(self, one: Undo) -> Text | None:
        return put_back(self._root, one.path, self._kept.content(one), after=one.after, unique=one.id)

    async def _record(self, call: Approval, one: Undo, to: UndoState, *, by: str) -> None:
        async def record() -> None:
            async with self._database.begin("undo ended") as tx:
                at = self._clock.now()
                tell = None if to is UndoState.KEPT else await _conversation(tx, call)
                if await undo.end(tx, one.id, to, owner=self._boot, at=at, tell=tell):
                    await approvals.trail(tx, call, _EVENTS[to], by, at, {})
                    await cards.touch(tx, call.card)
            self._unrecorded.pop(one.id, None)
            self._busy.discard(one.id)
            self._decisions.moved(call)

        # What has been done must not be forgotten because the database is busy at this moment.
        self._unrecorded[one.id] = record
        await record()

    async def _lose(self, one: Undo) -> None:
        """The process that was at it is dead: nobody knows how far it came."""
        call = await approvals.get(self._database.reader, one.approval or "")
        async with self._database.begin("undo lost") as tx:
            at = self._clock.now()
            tell = await _conversation(tx, call) if call is not None else None
            if await undo.end(tx, one.id, UndoState.UNKNOWN, owner=one.owner or "", at=at, tell=tell) and call:
                await approvals.trail(tx, call, _EVENTS[UndoState.UNKNOWN], audit.SYSTEM, at, {})
                await cards.touch(tx, call.card)
        if call is not None:
            self._decisions.moved(call)


_EVENTS = {
    UndoState.KEPT: "undo_failed",
    UndoState.UNDONE: "undone",
    UndoState.UNKNOWN: "undo_unknown",
}
_SETTLED = {
    UndoState.UNDOING: key("files.being_undone"),
    UndoState.UNDONE: key("files.undone_already"),
    UndoState.UNKNOWN: key("files.undo_unknown"),
}


async def _conversation(reader: Reader, call: Approval) -> str | None:
    """Whose model has to hear of it: that of the call, or of the conversation that its ended job came from."""
    run = await runs.get(reader, call.run)
    if run is not None and run.kind is RunKind.JOB and run.ended_at is not None:
        job = await jobs.get(reader, run.id)
        return (job.origin if job is not None else "") or None
    return call.conversation if run is None else run.conversation


def event(undone: Sequence[Undo]) -> str:
    """What the model is told of writes that were taken back, in the user position; '' for none."""
    if not undone:
        return ""
    lines = [f"- {one.path}: {_told(one)}" for one in undone]
    return (
        "[event: the person did not write this]\nPeople have taken back writes of yours. Do not write them again unless"
        " you are asked to.\n" + "\n".join(lines)
    )


def _told(one: Undo) -> str:
    if one.state is not UndoState.UNDONE:
        return "it is not known whether that took effect. Read it before you rely on it."
    if one.before is None:
        return "it was removed again; it did not exist before your write."
    return "it has the content again that it had before your write."
