"""What people are owed is promised once, attempted by one at a time, and delivered only with a receipt."""

from __future__ import annotations

from pathlib import Path

from storage import outbox
from storage.database import Database
from storage.outbox import Owed
from tests.storage.rows import AT, open_at


async def _owe(database: Database, key: str = "answer:run1", *, due_at: int | None = None) -> bool:
    async with database.begin("owe") as tx:
        return await outbox.owe(tx, key=key, run="run1", place="p", body={"text": key}, at=AT, due_at=due_at)


async def _due(database: Database, now: int = AT) -> list[Owed]:
    return await outbox.due(database.reader, now=now)


async def _attempt(database: Database, now: int = AT, next_due: int = AT + 60_000) -> Owed | None:
    async with database.begin("attempt") as tx:
        return await outbox.attempt(tx, 1, now=now, next_due=next_due)


async def test_one_key_is_promised_once(database: Database) -> None:
    assert await _owe(database)
    assert not await _owe(database)
    assert len(await _due(database)) == 1


async def test_what_is_for_later_is_not_due_before(database: Database) -> None:
    await _owe(database, due_at=AT + 5)
    assert await _due(database, AT + 4) == []
    assert len(await _due(database, AT + 5)) == 1
    assert await outbox.next_due(database.reader) == AT + 5


async def test_the_first_attempt_knows_that_it_is_the_first_and_the_second_that_it_is_not(database: Database) -> None:
    await _owe(database)
    first = await _attempt(database, next_due=AT + 10)
    second = await _attempt(database, now=AT + 10)
    assert first is not None
    assert second is not None
    assert [(owed.state, owed.tries) for owed in (first, second)] == [("pending", 0), ("attempting", 1)]


async def test_two_processes_do_not_attempt_one_message_at_once(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as two:
        await _owe(one)
        assert await _attempt(one) is not None
        assert await _attempt(two) is None
        assert await _due(two) == []


async def test_an_attempt_that_never_came_back_is_due_when_its_time_is_over(database: Database) -> None:
    await _owe(database)
    await _attempt(database, next_due=AT + 60_000)
    assert await _due(database, AT + 59_999) == []
    [owed] = await _due(database, AT + 60_000)
    assert owed.state == "attempting"


async def test_after_a_restart_what_was_in_flight_is_due_at_once_and_what_is_for_later_is_not(
    database: Database,
) -> None:
    await _owe(database)
    await _owe(database, "remind:card1", due_at=AT + 900_000)
    await _attempt(database)
    async with database.begin("recover") as tx:
        await outbox.release(tx, now=AT + 1)
    assert [owed.key for owed in await _due(database, AT + 1)] == ["answer:run1"]


async def test_delivered_is_final_and_carries_the_receipt(database: Database) -> None:
    await _owe(database)
    await _attempt(database)
    async with database.begin("delivered") as tx:
        await outbox.delivered(tx, 1, receipt="m7")
        await outbox.drop(tx, 1)
    [owed] = await outbox.of_run(database.reader, "run1")
    assert (owed.state, owed.receipt, owed.error) == ("delivered", "m7", None)
    assert await _attempt(database, now=AT + 10**9) is None
    assert await _due(database, AT + 10**9) == []
    assert await outbox.next_due(database.reader) is None
    assert not await _owe(database)


async def test_undeliverable_is_final_too_and_says_why(database: Database) -> None:
    await _owe(database)
    await _attempt(database)
    async with database.begin("give up") as tx:
        await outbox.undeliverable(tx, 1, error="closed")
    [owed] = await outbox.of_run(database.reader, "run1")
    assert (owed.state, owed.error) == ("undeliverable", "closed")
    assert await _attempt(database, now=AT + 10**9) is None


async def test_a_failed_attempt_is_tried_again_at_its_time_with_what_went_wrong(database: Database) -> None:
    await _owe(database)
    await _attempt(database)
    async with database.begin("failed") as tx:
        await outbox.failed(tx, 1, tries=1, due_at=AT + 2000, error="503")
    assert await _attempt(database, now=AT + 1999) is None
    owed = await _attempt(database, now=AT + 2000)
    assert owed is not None
    assert (owed.tries, owed.error) == (1, "503")


async def test_what_is_no_longer_true_is_dropped(database: Database) -> None:
    await _owe(database)
    async with database.begin("drop") as tx:
        await outbox.drop(tx, 1)
    assert await outbox.of_run(database.reader, "run1") == []


async def test_messages_are_due_in_the_order_in_which_they_were_promised(database: Database) -> None:
    for key in ("c", "a", "b"):
        await _owe(database, key)
    assert [owed.key for owed in await _due(database)] == ["c", "a", "b"]
