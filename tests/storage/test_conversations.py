"""Conversations only grow, and two that write at once do not both succeed."""

from __future__ import annotations

from pathlib import Path

from storage import conversations
from storage.database import Database
from tests.storage.rows import AT, open_at


async def test_messages_come_back_in_order_and_byte_for_byte(database: Database) -> None:
    bodies = ['{"a": 1}', '{"b":  "\\u00e9\U0001f600"}', '"\0"']
    async with database.begin("append") as tx:
        await conversations.ensure(tx, "talk", at=AT)
        assert await conversations.append(tx, "talk", run="run1", at_length=0, bodies=bodies[:2]) == 2
        assert await conversations.append(tx, "talk", run="run2", at_length=2, bodies=bodies[2:]) == 3
    assert await conversations.load(database.reader, "talk", last=10) == bodies
    assert await conversations.load(database.reader, "talk", last=2) == bodies[1:]
    assert await conversations.length(database.reader, "talk") == 3


async def test_an_append_behind_a_length_that_has_passed_changes_nothing(database: Database) -> None:
    async with database.begin("append") as tx:
        await conversations.ensure(tx, "talk", at=AT)
        await conversations.append(tx, "talk", run="run1", at_length=0, bodies=["1"])
        assert await conversations.append(tx, "talk", run="run2", at_length=0, bodies=["2", "3"]) is None
        assert await conversations.append(tx, "talk", run="run2", at_length=2, bodies=["2"]) is None
    assert await conversations.load(database.reader, "talk", last=10) == ["1"]


async def test_two_processes_that_read_the_same_length_do_not_both_append(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as two:
        async with one.begin("ensure") as tx:
            await conversations.ensure(tx, "talk", at=AT)
        seen = [await conversations.length(database.reader, "talk") for database in (one, two)]
        grown = []
        for database, length in zip((one, two), seen, strict=True):
            async with database.begin("append") as tx:
                grown.append(await conversations.append(tx, "talk", run="r", at_length=length, bodies=["x"]))
        assert grown == [1, None]
        assert await conversations.length(one.reader, "talk") == 1


async def test_nothing_is_appended_to_a_conversation_that_does_not_exist(database: Database) -> None:
    async with database.begin("append") as tx:
        assert await conversations.append(tx, "nowhere", run="r", at_length=0, bodies=["x"]) is None
    assert await conversations.length(database.reader, "nowhere") == 0
    assert await conversations.load(database.reader, "nowhere", last=5) == []


async def test_making_sure_of_a_conversation_twice_keeps_what_it_holds(database: Database) -> None:
    async with database.begin("append") as tx:
        await conversations.ensure(tx, "talk", at=AT)
        await conversations.append(tx, "talk", run="r", at_length=0, bodies=["x"])
        await conversations.ensure(tx, "talk", at=AT + 1)
    assert await conversations.length(database.reader, "talk") == 1


async def test_an_append_of_nothing_still_checks_the_length(database: Database) -> None:
    async with database.begin("append") as tx:
        await conversations.ensure(tx, "talk", at=AT)
        assert await conversations.append(tx, "talk", run="r", at_length=0, bodies=[]) == 0
        assert await conversations.append(tx, "talk", run="r", at_length=1, bodies=[]) is None
