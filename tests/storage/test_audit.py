"""The trail: insert only, and whatever is altered, missing or out of order is found and named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from storage import audit
from storage.database import Database, Row
from tests.storage.rows import AT, open_at


async def _five(database: Database) -> None:
    async with database.begin("record") as tx:
        for n in range(1, 6):
            await audit.record(tx, at=AT + n, actor=str(n), event="asked", approval=f"a{n}", detail={"n": n})


async def _tampered(folder: Path, *statements: str) -> int | None:
    """What `verify` says after somebody with the file in their hands did this."""
    async with open_at(folder) as database:
        await _five(database)
        assert await audit.verify(database.reader) is None
    with sqlite3.connect(folder / "rows.sqlite3") as raw:
        raw.execute("DROP TRIGGER audit_no_update")
        raw.execute("DROP TRIGGER audit_no_delete")
        for statement in statements:
            raw.execute(statement)
    raw.close()
    async with open_at(folder) as database:
        return await audit.verify(database.reader)


async def test_an_untouched_trail_holds_however_long_it_is(database: Database) -> None:
    assert await audit.verify(database.reader) is None
    async with database.begin("record") as tx:
        for n in range(1005):
            await audit.record(tx, at=AT + n, actor="1", event="asked")
    assert await audit.verify(database.reader) is None


@pytest.mark.parametrize(
    "change",
    [
        "at = at + 1",
        "actor = '7'",
        "event = 'approved'",
        "approval = NULL",
        "run = 'r'",
        "conversation = 'c'",
        "detail = '{}'",
        "hash = printf('%064d', 1)",
    ],
)
async def test_an_altered_row_is_named(tmp_path: Path, change: str) -> None:
    assert await _tampered(tmp_path, f"UPDATE audit SET {change} WHERE n = 3") == 3


async def test_the_row_behind_a_missing_one_is_named(tmp_path: Path) -> None:
    assert await _tampered(tmp_path, "DELETE FROM audit WHERE n = 3") == 4


async def test_a_missing_first_row_is_noticed(tmp_path: Path) -> None:
    assert await _tampered(tmp_path, "DELETE FROM audit WHERE n = 1") == 2


async def test_a_missing_last_row_is_noticed(tmp_path: Path) -> None:
    assert await _tampered(tmp_path, "DELETE FROM audit WHERE n = 5") == 5


async def test_an_emptied_trail_is_noticed(tmp_path: Path) -> None:
    assert await _tampered(tmp_path, "DELETE FROM audit") == 1


async def test_rows_that_changed_places_are_named(tmp_path: Path) -> None:
    swap = (
        "UPDATE audit SET n = 99 WHERE n = 2",
        "UPDATE audit SET n = 2 WHERE n = 4",
        "UPDATE audit SET n = 4 WHERE n = 99",
    )
    assert await _tampered(tmp_path, *swap) == 2


@pytest.mark.parametrize("row", [1, 3, 5])
async def test_a_row_with_another_number_is_named(tmp_path: Path, row: int) -> None:
    shifted = await _tampered(
        tmp_path, f"UPDATE audit SET n = -n WHERE n >= {row}", "UPDATE audit SET n = 1 - n WHERE n < 0"
    )
    assert shifted == row + 1


async def test_an_invented_row_is_named(tmp_path: Path) -> None:
    invented = (
        "INSERT INTO audit (at, actor, event, detail, hash) SELECT at, actor, 'approved', detail, hash FROM audit"
        " WHERE n = 5"
    )
    assert await _tampered(tmp_path, invented) == 6


async def test_going_on_behind_a_missing_last_row_does_not_heal_the_trail(tmp_path: Path) -> None:
    assert await _tampered(tmp_path, "DELETE FROM audit WHERE n = 5") == 5
    async with open_at(tmp_path) as database:
        async with database.begin("record") as tx:
            await audit.record(tx, at=AT, actor="1", event="asked")
        assert await audit.verify(database.reader) == 6


@pytest.mark.parametrize(
    "statement", ["UPDATE audit SET actor = '7'", "DELETE FROM audit", "DELETE FROM audit WHERE n = 5"]
)
async def test_the_database_itself_refuses_to_change_the_trail(database: Database, statement: str) -> None:
    await _five(database)

    async def change() -> None:
        async with database.begin("tamper") as tx:
            await tx.execute(statement)

    with pytest.raises(sqlite3.IntegrityError, match="insert only"):
        await change()
    assert await audit.verify(database.reader) is None


async def test_rows_written_during_the_check_are_not_taken_for_tampering(database: Database) -> None:
    class Busy:
        """Reads, and after each of the first reads somebody else writes."""

        writes = 3

        async def _write(self) -> None:
            if self.writes:
                self.writes -= 1
                async with database.begin("record") as tx:
                    await audit.record(tx, at=AT, actor="1", event="asked")

        async def all(self, sql: str, *parameters: object) -> list[Row]:
            rows = await database.reader.all(sql, *parameters)
            await self._write()
            return rows

        async def one(self, sql: str, *parameters: object) -> Row | None:
            row = await database.reader.one(sql, *parameters)
            await self._write()
            return row

    await _five(database)
    assert await audit.verify(Busy()) is None
    assert len(await audit.entries(database.reader)) == 8


async def test_entries_come_in_order_of_one_approval_or_of_all_and_page_on(database: Database) -> None:
    await _five(database)
    assert [entry.n for entry in await audit.entries(database.reader, limit=2)] == [1, 2]
    assert [entry.n for entry in await audit.entries(database.reader, after=2)] == [3, 4, 5]
    [one] = await audit.entries(database.reader, approval="a4")
    assert (one.n, one.actor, one.detail) == (4, "4", {"n": 4})


async def test_a_move_that_is_rolled_back_leaves_the_chain_whole(database: Database) -> None:
    async def broken() -> None:
        async with database.begin("record") as tx:
            await audit.record(tx, at=AT, actor="1", event="asked")
            raise RuntimeError("no")

    await _five(database)
    with pytest.raises(RuntimeError):
        await broken()
    await _five(database)
    assert await audit.verify(database.reader) is None
    assert len(await audit.entries(database.reader)) == 10
