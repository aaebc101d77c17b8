"""How a run ends: what people are owed then, and what a run that is stopped takes with it. Always inside a commit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.jobs import endings, news
from bot.place import is_private
from bot.texts.text import say, worded
from storage import approvals, audit, outbox, runs
from storage.approvals import Approval, ApprovalState
from storage.database import Transaction
from storage.runs import Run, RunKind, RunState


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A run that was ended on request."""

    run: Run
    cancelled: list[Approval]
    """What it still asked, as it is now."""
    running: list[Approval]
    """What of it runs already. Its rows are moved by who runs it."""


async def stop(tx: Transaction, id: str, *, by: str, at: int, note: str, text: str, via: str | None) -> Stopped | None:
    """End an open run on request of `by`, and what it still asks, with this `note`. None if it has ended already.

    `text` is the run's answer, owed as an edit of the message `via` if there is one.
    """
    run = await runs.get(tx, id)  # it may have paused since it was looked up
    if run is None or not await runs.end(tx, id, RunState.CANCELLED, owner=None, at=at, result=text):
        return None
    calls = await approvals.of_pause(tx, id, run.pauses)
    cancelled = []
    for call in calls:
        if call.state in {ApprovalState.PENDING, ApprovalState.APPROVED}:
            settled = await approvals.settle(
                tx, call.id, ApprovalState.CANCELLED, by=by, at=at, note=note, frm=call.state
            )
            cancelled += [settled] if settled is not None else []
    # Who ends their own request need not be told by a ping.
    await owe_answer(tx, run, text, RunState.CANCELLED, at=at, via=via, ping=by != run.requester)
    running = [call for call in calls if call.state is ApprovalState.RUNNING]
    return Stopped(run=run, cancelled=cancelled, running=running)


async def owe_answer(
    tx: Transaction, run: Run, text: str, ending: RunState, *, at: int, via: str | None, ping: bool = True
) -> None:
    """The run's one announcement in the place where it was asked, and the direct message if wished."""
    if run.kind is RunKind.JOB:
        await endings.owe(tx, run, ending, text, at=at)
    elif run.announces is not None and not run.pauses:
        # Nobody asked for this turn, so it owes nothing but the words that it adds to what is owed already.
        await news.release(tx, run, text if ending is RunState.DONE else "", at=at)
    elif not (run.announces is not None and news.is_nothing(text)):
        await _owe_reply(tx, run, text, at=at, via=via, ping=ping)
    await audit.record(
        tx,
        at=at,
        actor=audit.SYSTEM,
        event=f"{run.kind}_{ending}",
        run=run.id,
        conversation=run.conversation,
    )


async def _owe_reply(tx: Transaction, run: Run, text: str, *, at: int, via: str | None, ping: bool) -> None:
    await outbox.owe(
        tx,
        key=f"answer:{run.id}",
        run=run.id,
        place=run.place,
        body={
            **worded(text),
            "ping": [run.requester] if ping else [],
            "answer": True,
            # Where nothing can be said any more, the person is told directly; the last way is their inbox.
            "ladder": endings.ladder(replace(run, notify="both" if run.notify == "dm" else run.notify), None),
        },
        at=at,
        person=run.requester,
        via=via,
    )
    if run.notify in {"dm", "both"} and not is_private(run.place):  # there the answer is a direct message
        await outbox.owe(
            tx,
            key=f"dm:{run.id}",
            run=run.id,
            place=run.place,
            body={
                **worded(text),
                "person": run.requester,
                "instead": say("delivery.answer_here").data,
            },
            at=at,
        )
