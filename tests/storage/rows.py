"""Rows to begin from: a run, a card and calls, made with the storage's own functions and as little else as it takes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from storage import approvals, cards, conversations, runs
from storage.approvals import Approval, ApprovalState
from storage.database import Database, Transaction, open_database
from storage.runs import Run, RunKind, RunState

AT = 1_700_000_000_000
DEADLINE = AT + 60_000
BOOT = "boot1"
DIGEST = "digest"


def a_run(id: str = "run1", **changes: Any) -> Run:
    """A turn that runs for `BOOT`."""
    run = Run(
        id=id,
        conversation="talk",
        kind=RunKind.TURN,
        state=RunState.RUNNING,
        place="discord/9/90",
        requester="2",
        request=f"request of {id}",
        prompt="please",
        notify="channel",
        owner=BOOT,
        created_at=AT,
    )
    return replace(run, **changes)


def a_call(id: str = "call1", **changes: Any) -> Approval:
    """A pending call of `run1`, on `card1`."""
    call = Approval(
        id=id,
        run="run1",
        conversation="talk",
        card="card1",
        pause=1,
        position=0,
        call_id=f"c-{id}",
        kind="approval",
        tool="act",
        arguments={"what": "x"},
        reason="act needs a person's sign-off",
        digest=DIGEST,
        seal="asked",
        intent=f"intent-{id}",
        action=f"action-{id}",
        requester="2",
        place="discord/9/90",
        state=ApprovalState.PENDING,
        requested_at=AT,
        expires_at=DEADLINE,
    )
    return replace(call, **changes)


async def add_run(tx: Transaction, run: Run) -> None:
    """Store a run, and its conversation."""
    await conversations.ensure(tx, run.conversation, at=AT)
    await runs.create(tx, run)


async def paused(tx: Transaction, *calls: Approval, run: Run | None = None) -> None:
    """`run` waits for `calls` (by default `run1` for one call), all on one card."""
    run, calls = run or a_run(), calls or (a_call(),)
    await add_run(tx, run)
    await runs.wait(
        tx, run.id, owner=run.owner or BOOT, length=0, call_ids=[call.call_id for call in calls], hold_until=None
    )
    await cards.open_card(tx, id=calls[0].card, run=run.id, place=run.place)
    for call in calls:
        assert await approvals.open_approval(tx, call)


async def bring(tx: Transaction, id: str, to: ApprovalState) -> None:
    """Move a pending call to a state along the shortest way that the diagram allows."""
    state, settle = ApprovalState, approvals.settle
    if to is state.PENDING:
        return
    if to is state.EXPIRED:
        await settle(tx, id, to, by="system", at=DEADLINE)
    elif to in {state.DENIED, state.CANCELLED, state.UNDELIVERABLE, state.VOID, state.APPROVED}:
        await settle(tx, id, to, by="1", at=AT + 1)
    else:
        await settle(tx, id, state.APPROVED, by="1", at=AT + 1)
        await approvals.claim(tx, id, owner=BOOT, digest=DIGEST, at=AT + 2)
        if to is not state.RUNNING:
            await approvals.finish(tx, id, to, owner=BOOT, at=AT + 3, result="out")
    call = await approvals.get(tx, id)
    assert call is not None
    assert call.state is to


@asynccontextmanager
async def open_at(folder: Path) -> AsyncIterator[Database]:
    """The database of a test."""
    async with open_database(str(folder / "rows.sqlite3")) as database:
        yield database


async def events(database: Database) -> list[str]:
    """The trail's events, in order."""
    return [str(row["event"]) for row in await database.reader.all("SELECT event FROM audit ORDER BY n")]
