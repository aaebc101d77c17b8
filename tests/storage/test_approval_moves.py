"""The diagram of the approval row: every arrow moves, everything else does not, and each race has one winner."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from storage import approvals, audit, requests
from storage.approvals import MOVES, OPEN, ApprovalState
from storage.database import Database
from tests.storage.rows import AT, BOOT, DEADLINE, DIGEST, a_call, bring, events, open_at, paused

S = ApprovalState

ARROWS = {
    (S.PENDING, S.APPROVED),
    (S.PENDING, S.DENIED),
    (S.PENDING, S.EXPIRED),
    (S.PENDING, S.CANCELLED),
    (S.PENDING, S.UNDELIVERABLE),
    (S.PENDING, S.VOID),
    (S.PENDING, S.SUCCEEDED),  # an answer
    (S.PENDING, S.FAILED),  # an external result that failed
    (S.APPROVED, S.RUNNING),
    (S.APPROVED, S.CANCELLED),
    (S.APPROVED, S.VOID),
    (S.RUNNING, S.SUCCEEDED),
    (S.RUNNING, S.FAILED),
    (S.RUNNING, S.NOTHING_RAN),
    (S.RUNNING, S.INTERRUPTED),
}
"""The design's diagram, written down a second time: a change of one alone is noticed."""

EVERY_PAIR = sorted(itertools.product(S, S))


async def _try(database: Database, id: str, frm: ApprovalState, to: ApprovalState) -> bool:
    """Ask for the move by the verb that makes it; whether it was made."""
    at = DEADLINE if to is S.EXPIRED else AT + 10
    try:
        async with database.begin("try") as tx:
            if to is S.RUNNING:
                return await approvals.claim(tx, id, owner=BOOT, digest=DIGEST, at=at) is not None
            if frm is S.RUNNING:
                return await approvals.finish(tx, id, to, owner=BOOT, at=at, result="late") is not None
            return await approvals.settle(tx, id, to, by="1", at=at, frm=frm) is not None
    except ValueError:
        return False


def test_the_table_of_moves_is_the_diagram() -> None:
    assert {(frm, to) for frm, tos in MOVES.items() for to in tos} == ARROWS
    assert {S.PENDING, S.APPROVED, S.RUNNING} == OPEN


@pytest.mark.parametrize(("frm", "to"), EVERY_PAIR, ids=lambda state: str(state))
async def test_a_move_is_made_if_and_only_if_it_is_an_arrow(
    database: Database, frm: ApprovalState, to: ApprovalState
) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        await bring(tx, "call1", frm)
    before = await events(database)

    assert await _try(database, "call1", frm, to) is ((frm, to) in ARROWS)

    call = await approvals.get(database.reader, "call1")
    assert call is not None
    assert call.state is (to if (frm, to) in ARROWS else frm)
    assert await events(database) == ([*before, str(to)] if (frm, to) in ARROWS else before)


@pytest.mark.parametrize("first", sorted(set(S) - {S.PENDING}))
@pytest.mark.parametrize("second", [S.APPROVED, S.DENIED, S.EXPIRED, S.CANCELLED, S.UNDELIVERABLE, S.SUCCEEDED])
async def test_what_is_settled_is_not_settled_again(
    database: Database, first: ApprovalState, second: ApprovalState
) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        await bring(tx, "call1", first)
        before = await approvals.get(tx, "call1")
        at = DEADLINE if second is S.EXPIRED else AT + 20
        assert await approvals.settle(tx, "call1", second, by="3", at=at) is None
        assert await approvals.get(tx, "call1") == before


@pytest.mark.parametrize("to", [S.APPROVED, S.DENIED, S.SUCCEEDED, S.FAILED])
async def test_a_person_counts_until_a_millisecond_before_the_deadline_and_no_longer(
    database: Database, to: ApprovalState
) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, a_call("call1"), a_call("call2", position=1))
        assert await approvals.settle(tx, "call1", to, by="1", at=DEADLINE) is None
        assert await approvals.settle(tx, "call1", to, by="1", at=DEADLINE + 1) is None
        assert await approvals.settle(tx, "call1", to, by="1", at=DEADLINE - 1) is not None
        assert await approvals.settle(tx, "call2", to, by="1", at=DEADLINE) is None


async def test_nothing_expires_a_millisecond_before_the_deadline(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        assert await approvals.settle(tx, "call1", S.EXPIRED, by="system", at=DEADLINE - 1) is None
        assert await approvals.overdue(tx, now=DEADLINE - 1) == []
        assert await approvals.overdue(tx, now=DEADLINE) == ["call1"]
        assert await approvals.next_deadline(tx) == DEADLINE
        assert await approvals.settle(tx, "call1", S.EXPIRED, by="system", at=DEADLINE) is not None
        assert await approvals.next_deadline(tx) is None


async def test_a_cancellation_counts_after_the_deadline_as_well(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        assert await approvals.settle(tx, "call1", S.CANCELLED, by="1", at=DEADLINE + 1) is not None


async def test_settling_keeps_who_when_and_why(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        call = await approvals.settle(tx, "call1", S.DENIED, by="1", at=AT + 5, note="not today")
    assert call is not None
    assert (call.settled_by, call.settled_at, call.note, call.finished_at) == ("1", AT + 5, "not today", None)
    [*_, entry] = await audit.entries(database.reader, approval="call1")
    assert (entry.actor, entry.event, entry.at, entry.detail) == ("1", "denied", AT + 5, {"note": "not today"})


async def test_an_answer_is_the_result_and_ends_the_call_at_once(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, a_call(kind="question"))
        call = await approvals.settle(tx, "call1", S.SUCCEEDED, by="2", at=AT + 5, result="blue")
    assert call is not None
    assert (call.result, call.finished_at, call.is_open) == ("blue", AT + 5, False)


async def test_a_claim_needs_the_digest_that_was_shown(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        await bring(tx, "call1", S.APPROVED)
        assert await approvals.claim(tx, "call1", owner=BOOT, digest="other", at=AT) is None
        assert await approvals.claim(tx, "call1", owner=BOOT, digest=DIGEST, at=AT + 7) is not None
        call = await approvals.get(tx, "call1")
    assert call is not None
    assert (call.state, call.owner, call.started_at) == (S.RUNNING, BOOT, AT + 7)


async def test_a_second_claim_gets_nothing_even_with_the_right_digest(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        await bring(tx, "call1", S.RUNNING)
        assert await approvals.claim(tx, "call1", owner="boot2", digest=DIGEST, at=AT) is None
        call = await approvals.get(tx, "call1")
    assert call is not None
    assert call.owner == BOOT


async def test_only_the_process_that_claimed_a_call_finishes_it(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        await bring(tx, "call1", S.RUNNING)
        assert await approvals.finish(tx, "call1", S.SUCCEEDED, owner="boot2", at=AT, result="forged") is None
        done = await approvals.finish(tx, "call1", S.SUCCEEDED, owner=BOOT, at=AT + 9, result="out", exit_code=0)
        assert done is not None
        assert (done.result, done.exit_code, done.finished_at) == ("out", 0, AT + 9)
        assert await approvals.finish(tx, "call1", S.FAILED, owner=BOOT, at=AT, result="again") is None


async def test_a_dead_processes_calls_are_interrupted_and_our_own_go_on(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, *(a_call(f"call{n}", position=n) for n in range(3)))
        for n in range(2):
            await bring(tx, f"call{n}", S.APPROVED)
        await approvals.claim(tx, "call0", owner="dead", digest=DIGEST, at=AT)
        await approvals.claim(tx, "call1", owner=BOOT, digest=DIGEST, at=AT)
        moved = await approvals.interrupt_orphans(tx, owner=BOOT, at=AT + 9, result="")
        assert [call.id for call in moved] == ["call0"]
        states = [call.state for call in await approvals.of_card(tx, "card1")]
        assert await approvals.interrupt_orphans(tx, owner=BOOT, at=AT + 9, result="") == []
    assert states == [S.INTERRUPTED, S.RUNNING, S.PENDING]
    assert (await events(database))[-1] == "interrupted"


async def test_an_interrupted_call_is_final_even_for_its_late_owner(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        await bring(tx, "call1", S.RUNNING)
        await approvals.interrupt_orphans(tx, owner="boot2", at=AT, result="")
        assert await approvals.finish(tx, "call1", S.SUCCEEDED, owner=BOOT, at=AT, result="late") is None


async def test_one_intent_has_one_row_and_no_intent_is_never_a_conflict(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, a_call(intent="same"))
        assert not await approvals.open_approval(tx, a_call("call2", intent="same", position=1))
        assert await approvals.open_approval(tx, a_call("call3", intent=None, position=2))
        assert await approvals.open_approval(tx, a_call("call4", intent=None, position=3))
        kept = await requests.of_request(tx, "same")
    assert kept is not None
    assert kept.id == "call1"
    assert (await events(database)).count("asked") == 3


async def test_the_intent_is_taken_for_good_whatever_became_of_it(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, a_call(intent="same"))
        await bring(tx, "call1", S.DENIED)
        assert not await approvals.open_approval(tx, a_call("call2", intent="same", position=1))


async def test_one_call_of_a_pause_is_asked_about_once(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, a_call(call_id="c"))
        assert not await approvals.open_approval(tx, a_call("call2", call_id="c", position=1))
        # The model's ids may come again in a later pause: ours are the run, the pause and its id together.
        assert await approvals.open_approval(tx, a_call("call3", call_id="c", pause=2))


async def test_an_identical_ask_is_found_only_for_the_same_person_and_place_and_only_while_it_waits(
    database: Database,
) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, a_call(action="same"))
        found = await requests.open_action(tx, conversation="talk", requester="2", action="same")
        assert found is not None
        assert await requests.open_action(tx, conversation="talk", requester="3", action="same") is None
        assert await requests.open_action(tx, conversation="elsewhere", requester="2", action="same") is None
        assert await requests.open_action(tx, conversation="talk", requester="2", action="other") is None
        await bring(tx, "call1", S.APPROVED)
        assert await requests.open_action(tx, conversation="talk", requester="2", action="same") is None


async def test_two_processes_settle_one_call_and_one_of_them_wins(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as two:
        async with one.begin("begin") as tx:
            await paused(tx)
        async with one.begin("approve") as tx:
            assert await approvals.settle(tx, "call1", S.APPROVED, by="1", at=AT + 1) is not None
        async with two.begin("deny") as tx:
            assert await approvals.settle(tx, "call1", S.DENIED, by="3", at=AT + 1) is None
        call = await approvals.get(two.reader, "call1")
        assert call is not None
        assert (call.state, call.settled_by) == (S.APPROVED, "1")


async def test_a_refused_press_is_on_the_trail_and_moves_nothing(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
        before = await approvals.get(tx, "call1")
        await approvals.refused_press(tx, "call1", actor="3", at=AT, code="not_approver")
        await approvals.refused_press(tx, "nothing", actor="3", at=AT, code="unknown")
        assert await approvals.get(tx, "call1") == before
    [known, unknown] = (await audit.entries(database.reader))[-2:]
    assert (known.event, known.approval, known.run, known.detail) == (
        "press_refused",
        "call1",
        "run1",
        {"code": "not_approver"},
    )
    assert (unknown.approval, unknown.run) == (None, None)


async def test_a_move_that_is_rolled_back_leaves_neither_a_state_nor_a_trail(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx)
    before = await events(database)

    async def half_a_move() -> None:
        async with database.begin("settle") as tx:
            await approvals.settle(tx, "call1", S.APPROVED, by="1", at=AT)
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        await half_a_move()
    call = await approvals.get(database.reader, "call1")
    assert call is not None
    assert (call.state, await events(database)) == (S.PENDING, before)


async def test_listings_show_what_is_open_and_on_request_what_ended(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, *(a_call(f"call{n}", position=n) for n in range(4)))
        await bring(tx, "call1", S.DENIED)
        await bring(tx, "call2", S.APPROVED)
        await bring(tx, "call3", S.RUNNING)
    reader = database.reader
    assert [call.id for call in await approvals.listed(reader)] == ["call0", "call2", "call3"]
    assert [call.id for call in await approvals.listed(reader, every=True)] == ["call0", "call1", "call2", "call3"]
    assert await approvals.approved(reader) == ["call2"]
    assert [call.id for call in await approvals.newest_in(reader, "talk", limit=2)] == ["call2", "call3"]


async def test_a_prefix_finds_one_call_or_shows_that_it_is_ambiguous(database: Database) -> None:
    async with database.begin("begin") as tx:
        await paused(tx, a_call("abcd"), a_call("abce", position=1), a_call("b234", position=2))
    assert [call.id for call in await approvals.find(database.reader, "ABCD")] == ["abcd"]
    assert [call.id for call in await approvals.find(database.reader, "abc")] == ["abcd", "abce"]
    assert await approvals.find(database.reader, "c") == []


async def test_arguments_come_back_as_they_were_stored(database: Database) -> None:
    arguments = {"text": "a\nb\0c \u202e \U0001f600", "number": 10**30, "nested": {"list": [1, None, True, -0.5]}}
    async with database.begin("begin") as tx:
        await paused(tx, a_call(arguments=arguments))
    call = await approvals.get(database.reader, "call1")
    assert call is not None
    assert call.arguments == arguments


@pytest.mark.parametrize(("frm", "to"), [(S.APPROVED, S.RUNNING), (S.RUNNING, S.SUCCEEDED)])
async def test_what_runs_is_claimed_and_finished_and_never_settled(
    database: Database, frm: ApprovalState, to: ApprovalState
) -> None:
    async with database.begin("ask") as tx:
        await paused(tx)
        await bring(tx, "call1", frm)
    with pytest.raises(ValueError, match="claimed and finished"):
        async with database.begin("settle") as tx:
            await approvals.settle(tx, "call1", to, by="1", at=AT, frm=frm)


async def test_a_move_of_a_call_that_is_not_there_leaves_no_trail(database: Database) -> None:
    async with database.begin("move") as tx:
        assert await approvals.moved(tx, "unheard of", S.DENIED, "1", AT, {}) is None
    assert await events(database) == []
