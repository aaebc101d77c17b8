"""The life of calls and their runs as a state machine: every step is made on real rows and on a simple reference.

The reference is a dictionary and one table of arrows, written without a look at the SQL. After each step rows, runs,
cards and trail must tell the same story as it does.
"""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from storage import approvals, audit, cards, conversations, runs
from storage.database import Transaction
from tests.storage.rows import AT, DEADLINE, a_call, a_run, open_at

ARROWS = {
    "pending": {"approved", "denied", "expired", "cancelled", "undeliverable", "void", "succeeded", "failed"},
    "approved": {"running", "cancelled", "void"},
    "running": {"succeeded", "failed", "nothing_ran", "interrupted"},
}
BY_PEOPLE = {"approved", "denied", "succeeded", "failed"}
OPEN = {"pending", "approved", "running"}
FIELDS = ["owner", "settled_by", "settled_at", "note", "result", "started_at", "finished_at", "exit_code"]
STATES = sorted(approvals.ApprovalState)
BOOTS = ["boot1", "boot1", "boot2"]
"""Mostly the process that does the work, so that it gets somewhere."""


RUNS = st.sampled_from(["run1", "run2"])
MOMENTS = st.sampled_from([AT, DEADLINE - 1, DEADLINE])
ENDS = st.sampled_from(sorted(ARROWS["pending"] - {"approved"}))


@dataclass(frozen=True)
class Subject:
    """The code under test; a seeded bug puts altered modules here."""

    approvals: ModuleType = approvals
    runs: ModuleType = runs


@dataclass
class Call:
    """A call as the reference knows it."""

    id: str
    run: str
    intent: str
    state: str = "pending"
    fields: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(FIELDS))
    events: list[str] = field(default_factory=lambda: ["asked"])


@cache
def _fresh_file() -> Path:
    """A migrated file to copy: migrating takes longer than a whole life here."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)

    async def make() -> None:
        async with open_at(folder):
            pass

    asyncio.run(make())
    return folder / "rows.sqlite3"


def _some(state: str) -> Callable[[Any], bool]:
    """Whether a call is in that state: a step that could do nothing is a step wasted."""
    return lambda life: bool(life.in_state(state))


def _run_in(state: str) -> Callable[[Any], bool]:
    return lambda life: any(run["state"] == state for run in life.runs.values())


def machine(subject: Subject) -> type[RuleBasedStateMachine]:
    """The state machine over `subject`."""

    class Life(RuleBasedStateMachine):
        """Two runs, two processes, and everything that may happen to their calls."""

        def __init__(self) -> None:
            super().__init__()
            self.folder = Path(tempfile.mkdtemp())
            shutil.copy(_fresh_file(), self.folder / "rows.sqlite3")
            self.runner = asyncio.Runner()
            self.stack = AsyncExitStack()
            self.database: Any = self.runner.run(self.stack.enter_async_context(open_at(self.folder)))
            self.database._writer.raw.execute("PRAGMA synchronous = OFF")  # no process dies here
            self.calls: dict[str, Call] = {}
            self.runs: dict[str, dict[str, Any]] = {}

        def teardown(self) -> None:
            assert self.runner.run(audit.verify(self.database.reader)) is None
            self.runner.run(self.stack.aclose())
            self.runner.close()
            shutil.rmtree(self.folder)

        def commit(self, work: Callable[[Transaction], Awaitable[Any]]) -> Any:
            """One transaction."""

            async def go() -> Any:
                async with self.database.begin("step") as tx:
                    return await work(tx)

            return self.runner.run(go())

        @initialize()
        def begin(self) -> None:
            async def work(tx: Transaction) -> None:
                await conversations.ensure(tx, "talk", at=AT)
                for id in ("run1", "run2"):
                    await runs.create(tx, a_run(id))

            self.commit(work)
            self.runs = {id: {"state": "running", "owner": "boot1", "pauses": 0} for id in ("run1", "run2")}

        # -- what may happen --------------------------------------------------------------------

        @rule(
            run=st.sampled_from(["run1", "run2"]), boot=st.sampled_from(BOOTS), many=st.integers(1, 3), data=st.data()
        )
        def pause(self, run: str, boot: str, many: int, data: st.DataObject) -> None:
            known = self.runs[run]
            may = known["state"] == "running" and known["owner"] == boot
            number = known["pauses"] + 1
            ids = [f"{run}-{number}-{n}" for n in range(many)]
            taken = sorted(self.intents())
            intents = [data.draw(st.sampled_from([id, id, *taken[:1]])) for id in ids]
            free = [n for n, i in enumerate(intents) if i not in intents[:n] and i not in self.intents()]

            async def work(tx: Transaction) -> bool:
                waits = await subject.runs.wait(tx, run, owner=boot, length=0, call_ids=ids, hold_until=None)
                if not waits:
                    return False
                await cards.open_card(tx, id=ids[0], run=run, place="discord/9/90")
                opened = []
                for n, id in enumerate(ids):
                    call = a_call(
                        id, run=run, card=ids[0], pause=number, position=n, intent=intents[n], call_id=f"c{n}"
                    )
                    opened.append(await subject.approvals.open_approval(tx, call))
                assert opened == [n in free for n in range(many)], "one intent, one row"
                return True

            if not free:
                return  # the program would end the run; nothing to compare
            assert self.commit(work) is may
            if may:
                known.update(state="waiting", pauses=number)
                for n in free:
                    self.calls[ids[n]] = Call(ids[n], run, intents[n])

        def intents(self) -> set[str]:
            return {call.intent for call in self.calls.values()}

        @precondition(_run_in("queued"))
        @rule(run=RUNS, boot=st.sampled_from(BOOTS))
        def take_up(self, run: str, boot: str) -> None:
            known = self.runs[run]
            may = known["state"] == "queued"
            taken = self.commit(lambda tx: subject.runs.take_up(tx, run, owner=boot))
            assert (taken is not None) is may
            if may:
                known.update(state="running", owner=boot)

        @precondition(_some("pending"))
        @rule(data=st.data(), by=st.sampled_from(["1", "2"]))
        def approve(self, data: st.DataObject, by: str) -> None:
            self.settle_one(data, "pending", "approved", AT, by=by)

        @precondition(_some("pending"))
        @rule(data=st.data(), to=ENDS, at=MOMENTS, note=st.sampled_from([None, "why"]))
        def settle(self, data: st.DataObject, to: str, at: int, note: str | None) -> None:
            self.settle_one(data, "pending", to, at, note=note)

        @precondition(lambda life: bool(life.calls))
        @rule(data=st.data(), frm=st.sampled_from(["approved", *STATES]), to=st.sampled_from(STATES), at=MOMENTS)
        def settle_from_anywhere(self, data: st.DataObject, frm: str, to: str, at: int) -> None:
            self.settle_one(data, frm, to, at)

        @precondition(lambda life: bool(life.calls))
        @rule(data=st.data(), boot=st.sampled_from(BOOTS), to=st.sampled_from(STATES))
        def claim_or_finish_anything(self, data: st.DataObject, boot: str, to: str) -> None:
            call = self.calls[data.draw(st.sampled_from(sorted(self.calls)))]
            self.claim_one(call, boot, "digest") if to == "running" else self.finish_one(call, boot, to, None)

        def settle_one(
            self, data: st.DataObject, frm: str, to: str, at: int, *, by: str = "1", note: str | None = None
        ) -> None:
            call = self.some_call(data, frm)
            state = subject.approvals.ApprovalState
            legal = to in ARROWS.get(frm, set()) and "running" not in {frm, to}
            in_time = at < DEADLINE if frm == "pending" and to in BY_PEOPLE else True
            in_time = at >= DEADLINE if to == "expired" else in_time
            try:
                moved = self.commit(
                    lambda tx: subject.approvals.settle(
                        tx, call.id, state(to), by=by, at=at, note=note, result="r", frm=state(frm)
                    )
                )
            except ValueError:
                assert not legal, "an arrow of the diagram was refused"
                return
            assert legal, "a move that is no arrow was tried"
            assert (moved is not None) is (call.state == frm and in_time)
            if moved is not None:
                ended = {"finished_at": at} if to in {"succeeded", "failed"} else {}
                self.move(call, to, settled_by=by, settled_at=at, note=note, result="r", **ended)

        @precondition(_some("approved"))
        @rule(data=st.data(), boot=st.sampled_from(BOOTS), digest=st.sampled_from(["digest", "digest", "other"]))
        def claim(self, data: st.DataObject, boot: str, digest: str) -> None:
            self.claim_one(self.some_call(data, "approved"), boot, digest)

        def claim_one(self, call: Call, boot: str, digest: str) -> None:
            moved = self.commit(lambda tx: subject.approvals.claim(tx, call.id, owner=boot, digest=digest, at=AT + 1))
            assert (moved is not None) is (call.state == "approved" and digest == "digest")
            if moved is not None:
                self.move(call, "running", owner=boot, started_at=AT + 1)

        @precondition(_some("running"))
        @rule(
            data=st.data(),
            boot=st.sampled_from(BOOTS),
            to=st.sampled_from([*STATES, *sorted(ARROWS["running"])]),
            exit_code=st.sampled_from([None, 0, 1]),
        )
        def finish(self, data: st.DataObject, boot: str, to: str, exit_code: int | None) -> None:
            self.finish_one(self.some_call(data, "running"), boot, to, exit_code)

        def finish_one(self, call: Call, boot: str, to: str, exit_code: int | None) -> None:
            async def work(tx: Transaction) -> Any:
                end = subject.approvals.ApprovalState(to)
                return await subject.approvals.finish(
                    tx, call.id, end, owner=boot, at=AT + 1, result="out", exit_code=exit_code
                )

            try:
                moved = self.commit(work) is not None
            except ValueError:
                assert to not in ARROWS["running"], "an arrow of the diagram was refused"
                return
            assert moved is (call.state == "running" and call.fields["owner"] == boot and to in ARROWS["running"])
            if moved:
                self.move(call, to, finished_at=AT + 1, result="out", exit_code=exit_code, note=None)

        @rule(boot=st.sampled_from(BOOTS))
        def others_are_dead(self, boot: str) -> None:
            orphans = [c for c in self.calls.values() if c.state == "running" and c.fields["owner"] != boot]
            found = self.commit(lambda tx: subject.approvals.interrupt_orphans(tx, owner=boot, at=AT + 1, result=""))
            assert {call.id for call in found} == {call.id for call in orphans}
            for call in orphans:
                self.move(call, "interrupted", finished_at=AT + 1, result="")
            lost = [id for id, run in self.runs.items() if run["state"] == "running" and run["owner"] != boot]
            requeued = self.commit(lambda tx: subject.runs.requeue_orphans(tx, owner=boot))
            assert {run.id for run in requeued} == set(lost)
            for id in lost:
                self.runs[id]["state"] = "queued"

        # -- what must hold ---------------------------------------------------------------------

        def some_call(self, data: st.DataObject, state: str) -> Call:
            """A call, mostly one in that state if there is one."""
            fitting = self.in_state(state)
            if fitting and data.draw(st.integers(0, 9)):
                return self.calls[data.draw(st.sampled_from(fitting))]
            return self.calls[data.draw(st.sampled_from(sorted(self.calls)))]

        def move(self, call: Call, to: str, **fields: Any) -> None:
            call.state = to
            call.fields.update(fields)
            call.events.append(to)
            siblings = [one for one in self.calls.values() if one.run == call.run]
            if to not in OPEN and not any(one.state in OPEN for one in siblings):
                known = self.runs[call.run]
                known["state"] = "queued" if known["state"] == "waiting" else known["state"]

        @invariant()
        def rows_runs_cards_and_trail_tell_the_same_story(self) -> None:
            self.runner.run(self.compare())

        async def compare(self) -> None:
            reader = self.database.reader
            rows = {row.id: row for row in await approvals.listed(reader, every=True)}
            assert rows.keys() == self.calls.keys()
            trail: dict[str | None, list[str]] = {}
            for entry in await audit.entries(reader):
                trail.setdefault(entry.approval, []).append(entry.event)
            versions: dict[str, int] = {}
            for id, call in self.calls.items():
                row = rows[id]
                assert row.state == call.state
                assert row.is_open is (call.state in OPEN)
                assert {name: getattr(row, name) for name in FIELDS} == call.fields
                assert trail[id] == call.events
                versions[row.card] = versions.get(row.card, 1) + len(call.events) - 1
            for id, version in versions.items():
                card = await cards.get_card(reader, id)
                assert card is not None
                assert card.version == version
            for id, known in self.runs.items():
                run = await runs.get(reader, id)
                assert run is not None
                assert (run.state, run.owner, run.pauses) == (known["state"], known["owner"], known["pauses"])
                waits = any(call.run == id and call.state in OPEN for call in self.calls.values())
                assert waits is (known["state"] == "waiting"), "a run waits for its calls, and only for them"
            assert sorted(await approvals.approved(reader)) == self.in_state("approved")
            assert await approvals.overdue(reader, now=DEADLINE - 1) == []
            assert sorted(await approvals.overdue(reader, now=DEADLINE)) == self.in_state("pending")

        def in_state(self, state: str) -> list[str]:
            return sorted(call.id for call in self.calls.values() if call.state == state)

    return Life
