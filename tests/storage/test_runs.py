"""Runs: who works on one, when it may go on, and that it ends once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storage import approvals, runs
from storage.approvals import ApprovalState
from storage.database import Database
from storage.runs import RunKind, RunState, UnknownPause
from tests.storage.rows import AT, BOOT, a_call, a_run, add_run, bring, open_at, paused

OPEN = (RunState.QUEUED, RunState.RUNNING, RunState.WAITING)
ENDS = (RunState.DONE, RunState.FAILED, RunState.TIMED_OUT, RunState.CANCELLED, RunState.LOST)


async def _made(database: Database, state: RunState, id: str = "run1") -> None:
    """A run in a state, by the verbs."""
    async with database.begin("make") as tx:
        if state is RunState.WAITING:
            await paused(tx, a_call(f"call-{id}", run=id, card=f"card-{id}"), run=a_run(id))
            return
        await add_run(tx, a_run(id, state=RunState.QUEUED if state is RunState.QUEUED else RunState.RUNNING))
        if state in ENDS:
            assert await runs.end(tx, id, state, owner=BOOT, at=AT, result="over")


async def _state(database: Database, id: str = "run1") -> RunState:
    run = await runs.get(database.reader, id)
    assert run is not None
    return run.state


async def test_a_run_comes_back_as_it_was_stored(database: Database) -> None:
    """Each column its own value: two that changed places would show."""
    run = a_run(
        request="request",
        place="place",
        within="within",
        roles=frozenset({"5", "6"}),
        prompt="prompt",
        requester="requester",
        parent="parent",
        budget_ms=9,
    )
    async with database.begin("create") as tx:
        await add_run(tx, run)
    assert await runs.get(database.reader, "run1") == run


@pytest.mark.parametrize("state", RunState)
async def test_only_a_queued_run_is_taken_up(database: Database, state: RunState) -> None:
    await _made(database, state)
    async with database.begin("take up") as tx:
        run = await runs.take_up(tx, "run1", owner="boot2")
    if state is RunState.QUEUED:
        assert run is not None
        assert (run.state, run.owner) == (RunState.RUNNING, "boot2")
    else:
        assert run is None
        assert await _state(database) is state


@pytest.mark.parametrize("state", RunState)
async def test_only_a_running_run_waits_and_only_for_its_owner(database: Database, state: RunState) -> None:
    await _made(database, state)
    async with database.begin("wait") as tx:
        stranger = await runs.wait(tx, "run1", owner="boot2", length=3, call_ids=["c"], hold_until=None)
        owner = await runs.wait(tx, "run1", owner=BOOT, length=3, call_ids=["c"], hold_until=AT)
    assert stranger is False
    assert owner is (state is RunState.RUNNING)


@pytest.mark.parametrize("to", ENDS)
@pytest.mark.parametrize("state", RunState)
async def test_a_run_ends_once(database: Database, state: RunState, to: RunState) -> None:
    await _made(database, state)
    async with database.begin("end") as tx:
        assert await runs.end(tx, "run1", to, owner="boot2", at=AT + 5, result="forged") is False
        ended = await runs.end(tx, "run1", to, owner=None, at=AT + 5, result="the end")
    run = await runs.get(database.reader, "run1")
    assert run is not None
    assert ended is (state in OPEN)
    expected = (to, "the end", AT + 5) if state in OPEN else (state, "over", AT)
    assert (run.state, run.result, run.ended_at) == expected
    assert run.pause is None


async def test_a_run_is_queued_in_the_commit_that_settles_its_last_open_call(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, a_call("call1"), a_call("call2", position=1), a_call("call3", position=2))
        await bring(tx, "call1", ApprovalState.DENIED)
        await bring(tx, "call2", ApprovalState.RUNNING)
        await bring(tx, "call3", ApprovalState.EXPIRED)
    assert await _state(database) is RunState.WAITING
    async with database.begin("finish") as tx:
        await approvals.finish(tx, "call2", ApprovalState.FAILED, owner=BOOT, at=AT, result="")
    assert await _state(database) is RunState.QUEUED
    assert [id for id, _, _ in await runs.queued_turns(database.reader)] == ["run1"]


@pytest.mark.parametrize("last", sorted(set(ApprovalState) - approvals.OPEN))
async def test_every_ending_of_the_last_call_lets_the_run_go_on(database: Database, last: ApprovalState) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        await bring(tx, "call1", last)
    assert await _state(database) is RunState.QUEUED


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.RUNNING, *ENDS])
async def test_a_run_that_does_not_wait_is_not_queued_by_a_late_settlement(database: Database, state: RunState) -> None:
    await _made(database, state)
    async with database.begin("queue") as tx:
        await runs.queue_if_settled(tx, "run1")
    assert await _state(database) is state


async def test_two_processes_take_up_one_run_and_one_of_them_gets_it(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as two:
        await _made(one, RunState.QUEUED)
        async with one.begin("take up") as tx:
            assert await runs.take_up(tx, "run1", owner="boot1") is not None
        async with two.begin("take up") as tx:
            assert await runs.take_up(tx, "run1", owner="boot2") is None


async def test_two_processes_settle_the_two_last_calls_and_the_run_is_queued_once(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as two:
        async with one.begin("begin") as tx:
            await paused(tx, a_call("call1"), a_call("call2", position=1))
        async with one.begin("deny") as tx:
            await bring(tx, "call1", ApprovalState.DENIED)
        assert await _state(two) is RunState.WAITING
        async with two.begin("deny") as tx:
            await bring(tx, "call2", ApprovalState.DENIED)
        assert await _state(one) is RunState.QUEUED
        async with one.begin("take up") as tx:
            assert await runs.take_up(tx, "run1", owner="boot1") is not None
        # A repeated look at a run that goes on already changes nothing.
        async with two.begin("queue") as tx:
            await runs.queue_if_settled(tx, "run1")
            assert await runs.take_up(tx, "run1", owner="boot2") is None


async def test_what_a_dead_process_worked_on_is_queued_again_and_the_loss_is_counted(database: Database) -> None:
    for id in ("run1", "run2"):
        await _made(database, RunState.RUNNING, id)
    await _made(database, RunState.WAITING, "run3")
    async with database.begin("own") as tx:
        await tx.execute("UPDATE run SET owner = 'boot2' WHERE id = 'run2'")
        found = await runs.requeue_orphans(tx, owner="boot2")
    assert [(run.id, run.state, run.losses) for run in found] == [("run1", RunState.QUEUED, 1)]
    assert await _state(database, "run2") is RunState.RUNNING
    assert await _state(database, "run3") is RunState.WAITING


async def test_a_pause_is_stored_with_its_version_and_comes_back_whole(database: Database) -> None:
    await _made(database, RunState.RUNNING)
    async with database.begin("wait") as tx:
        await runs.wait(tx, "run1", owner=BOOT, length=7, call_ids=["b", "a"], hold_until=AT + 60)
    run = await runs.get(database.reader, "run1")
    assert run is not None
    assert run.pause is not None
    assert (run.pause.number, run.pause.length, run.pause.call_ids) == (1, 7, ("b", "a"))
    assert (run.pauses, run.hold_until) == (1, AT + 60)


@pytest.mark.parametrize("version", [0, 2, "1", None])
async def test_a_pause_of_an_unknown_version_is_refused_and_not_guessed(database: Database, version: object) -> None:
    await _made(database, RunState.WAITING)
    stored = json.dumps({"version": version, "number": 1, "length": 0, "call_ids": []})
    async with database.begin("alter") as tx:
        await tx.execute("UPDATE run SET pause = ?", stored)
    run = await runs.get(database.reader, "run1")
    assert run is not None
    with pytest.raises(UnknownPause):
        _ = run.pause


async def test_every_pause_of_a_run_has_the_next_number(database: Database) -> None:
    await _made(database, RunState.RUNNING)
    for number in (1, 2, 3):
        async with database.begin("wait") as tx:
            await runs.wait(tx, "run1", owner=BOOT, length=0, call_ids=[], hold_until=None)
            await runs.queue_if_settled(tx, "run1")
            run = await runs.take_up(tx, "run1", owner=BOOT)
        assert run is not None
        assert run.pauses == number


async def test_jobs_are_listed_apart_from_turns(database: Database) -> None:
    async with database.begin("make") as tx:
        await add_run(tx, a_run("turn"))
        await add_run(tx, a_run("job2", kind=RunKind.JOB, created_at=AT + 2))
        await add_run(tx, a_run("job1", kind=RunKind.JOB, created_at=AT + 1))
        await runs.end(tx, "job2", RunState.DONE, owner=None, at=AT, result="")
    assert [run.id for run in await runs.of_kind(database.reader, RunKind.JOB)] == ["job1"]
    assert [run.id for run in await runs.of_kind(database.reader, RunKind.JOB, every=True)] == ["job1", "job2"]


async def test_compute_time_adds_up(database: Database) -> None:
    await _made(database, RunState.RUNNING)
    async with database.begin("charge") as tx:
        await runs.add_spent(tx, "run1", 1500)
        await runs.add_spent(tx, "run1", 500)
    run = await runs.get(database.reader, "run1")
    assert run is not None
    assert run.spent_ms == 2000
