"""The SQLite driver: opening, migrating, and transactions that are whole or not there at all."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from storage import meta, sqlite
from storage.database import Database, DatabaseError, Transaction, open_database
from tests.storage.rows import open_at

ROOT = Path(__file__).parents[2]
KNOWN = sqlite.migrations()[-1][0]


async def _open_and_close(path: Path, *, read_only: bool = False) -> None:
    async with open_database(str(path), read_only=read_only):
        pass


def _version(path: Path) -> int:
    with sqlite3.connect(path) as raw:
        [(version,)] = raw.execute("PRAGMA user_version").fetchall()
    raw.close()
    return int(version)


def _raw(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as raw:
        for statement in statements:
            raw.execute(statement)
    raw.close()


# -- opening ------------------------------------------------------------------------------------


async def test_a_fresh_file_is_migrated_and_opening_it_again_keeps_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "house.sqlite3"
    async with open_database(str(path)) as database, database.begin("put") as tx:
        await meta.put(tx, "k", "v")
    assert _version(path) == KNOWN
    async with open_database(str(path)) as database:
        assert await meta.get(database.reader, "k") == "v"
    assert _version(path) == KNOWN


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [number for number, _ in sqlite.migrations()] == list(range(1, KNOWN + 1))


async def test_a_newer_schema_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite3"
    await _open_and_close(path)
    _raw(path, f"PRAGMA user_version = {KNOWN + 1}")
    with pytest.raises(DatabaseError, match=r"newer signoff.*update signoff"):
        await _open_and_close(path)
    with pytest.raises(DatabaseError, match="newer signoff"):
        await _open_and_close(path, read_only=True)
    assert _version(path) == KNOWN + 1


async def test_an_older_schema_is_refused_when_it_may_not_be_migrated(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite3"
    await _open_and_close(path)
    _raw(path, "PRAGMA user_version = 0")
    with pytest.raises(DatabaseError, match=r"older signoff.*migrate"):
        await _open_and_close(path, read_only=True)
    assert _version(path) == 0


async def test_reading_only_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="no database"):
        await _open_and_close(tmp_path / "none.sqlite3", read_only=True)
    assert list(tmp_path.iterdir()) == []


async def test_nothing_can_be_written_through_a_database_that_was_opened_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite3"
    await _open_and_close(path)

    async def write() -> None:
        async with open_database(str(path), read_only=True) as database, database.begin("put") as tx:
            await meta.put(tx, "k", "v")

    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await write()


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, " * 100)
    with pytest.raises(DatabaseError, match="cannot be opened"):
        await _open_and_close(path)
    assert path.read_text() == "dear diary, " * 100


async def test_another_programs_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite3"
    _raw(path, "CREATE TABLE theirs (x)")
    with pytest.raises(DatabaseError, match="another program"):
        await _open_and_close(path)
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    raw.close()


async def test_another_programs_database_is_refused_even_if_it_counts_its_schemas_alike(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite3"
    _raw(path, "CREATE TABLE theirs (x)", f"PRAGMA user_version = {KNOWN}")
    for read_only in (False, True):
        with pytest.raises(DatabaseError, match="another program"):
            await _open_and_close(path, read_only=read_only)


async def test_a_folder_in_the_way_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "house.sqlite3").mkdir()
    with pytest.raises(DatabaseError, match="cannot be opened"):
        await _open_and_close(tmp_path / "house.sqlite3")


@pytest.mark.parametrize("before", [None, 0o644])
async def test_every_file_of_the_database_is_for_its_owner_only(tmp_path: Path, before: int | None) -> None:
    path = tmp_path / "rows.sqlite3"
    if before is not None:
        path.touch(before)
        path.chmod(before)
    old = os.umask(0)
    try:
        async with open_database(str(path)) as database, database.begin("put") as tx:
            await meta.put(tx, "k", "v")
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    finally:
        os.umask(old)
    assert set(modes) == {"rows.sqlite3", "rows.sqlite3-wal", "rows.sqlite3-shm"}
    assert set(modes.values()) == {0o600}


async def test_every_commit_is_on_the_disk_before_it_counts(database: Database) -> None:
    async with database.begin("look") as tx:
        names = [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)]
        found = [(name, (await tx.all(f"PRAGMA {name}"))[0][0]) for name, _ in names]  # type: ignore[index]
    assert found == names


async def test_only_what_can_be_done_again_does_not_wait_for_the_disk(database: Database) -> None:
    async def synchronous(*, durable: bool) -> object:
        async with database.begin("look", durable=durable) as tx:
            return (await tx.all("PRAGMA synchronous"))[0][0]  # type: ignore[index]

    async def broken() -> None:
        async with database.begin("break", durable=False):
            raise RuntimeError("no")

    assert await synchronous(durable=False) == 1
    assert await synchronous(durable=True) == 2
    with pytest.raises(RuntimeError):
        await broken()
    assert await synchronous(durable=True) == 2


async def test_processes_that_open_a_fresh_file_at_once_all_get_it(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from storage.database import open_database\n"
        "from storage import meta\n"
        "async def main():\n"
        "    sys.stdin.readline()\n"
        "    async with open_database(sys.argv[1]) as database:\n"
        "        async with database.begin('put') as tx:\n"
        "            await meta.put(tx, sys.argv[2], 'here')\n"
        "asyncio.run(main())\n"
    )
    path = tmp_path / "house.sqlite3"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(path), f"p{n}"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(4)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=30)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0, 0], errors
    async with open_database(str(path)) as database:
        rows = await database.reader.all("SELECT key FROM meta ORDER BY key")
    assert [row["key"] for row in rows] == ["p0", "p1", "p2", "p3"]


# -- transactions -------------------------------------------------------------------------------


async def _usable(database: Database) -> None:
    """The next transaction works, and nothing is left of one before."""
    async with database.begin("next") as tx:
        await meta.put(tx, "next", "1")
    rows = await database.reader.all("SELECT key FROM meta")
    assert [row["key"] for row in rows] == ["next"]


async def test_what_is_not_committed_is_read_by_nobody_else(database: Database) -> None:
    async with database.begin("put") as tx:
        await meta.put(tx, "k", "v")
        assert await meta.get(tx, "k") == "v"
        assert await meta.get(database.reader, "k") is None
    assert await meta.get(database.reader, "k") == "v"


async def test_the_reader_cannot_write(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await database.reader.all("INSERT INTO meta (key, value) VALUES ('k', 'v') RETURNING key")


async def test_a_block_that_raises_leaves_nothing(database: Database) -> None:
    async def broken() -> None:
        async with database.begin("put") as tx:
            await meta.put(tx, "k", "v")
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        await broken()
    await _usable(database)


async def test_a_statement_that_fails_leaves_nothing(database: Database) -> None:
    async def broken() -> None:
        async with database.begin("put") as tx:
            await meta.put(tx, "k", "v")
            await tx.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(sqlite3.OperationalError):
        await broken()
    await _usable(database)


async def test_a_commit_that_fails_leaves_nothing_and_the_next_transaction_works(database: Database) -> None:
    async def broken() -> None:
        async with database.begin("put") as tx:
            await meta.put(tx, "k", "v")
            await tx.execute("PRAGMA defer_foreign_keys = ON")
            await tx.execute("INSERT INTO card (id, run, place) VALUES ('c', 'no such run', 'p')")

    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        await broken()
    await _usable(database)


Broken = Callable[[Transaction, asyncio.Event], Awaitable[None]]


async def _while_it_waits(tx: Transaction, reached: asyncio.Event) -> None:
    await meta.put(tx, "k", "v")
    reached.set()
    await asyncio.Event().wait()


async def _in_a_statement(tx: Transaction, reached: asyncio.Event) -> None:
    await meta.put(tx, "k", "v")
    reached.set()
    slow = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000) SELECT max(x) FROM n"
    await tx.all(slow)
    await asyncio.Event().wait()


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("body", [_while_it_waits, _in_a_statement])
async def test_cancelled_in_the_middle_nothing_is_left_and_the_next_transaction_works(
    database: Database, body: Broken, times: int
) -> None:
    reached = asyncio.Event()

    async def work() -> None:
        async with database.begin("put") as tx:
            await body(tx, reached)

    task = asyncio.ensure_future(work())
    await reached.wait()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    await _usable(database)


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("steps", range(8))
async def test_cancelled_at_any_step_of_a_transaction_it_is_whole_or_not_there(
    database: Database, steps: int, times: int
) -> None:
    async def work() -> None:
        async with database.begin("put") as tx:
            await tx.execute("INSERT INTO meta (key, value) VALUES ('a', '1')")
            await tx.execute("INSERT INTO meta (key, value) VALUES ('b', '2')")

    task = asyncio.ensure_future(work())
    for _ in range(steps):
        await asyncio.sleep(0)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    await asyncio.wait([task])
    async with database.begin("next") as tx:
        rows = await tx.all("SELECT key FROM meta")
    assert len(rows) in {0, 2}


async def test_cancelled_while_another_process_holds_the_lock_the_database_stays_usable(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as two:
        async with one.begin("hold") as tx:
            await meta.put(tx, "next", "0")

            async def work() -> None:
                async with two.begin("wait") as tx:
                    await meta.put(tx, "k", "v")

            task = asyncio.ensure_future(work())
            await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.sleep(0.02)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await _usable(two)


async def test_transactions_of_one_process_come_one_after_another(database: Database) -> None:
    async def add() -> None:
        async with database.begin("add") as tx:
            before = int(await meta.get(tx, "n") or 0)
            await asyncio.sleep(0)
            await meta.put(tx, "n", str(before + 1))

    await asyncio.gather(*(add() for _ in range(20)))
    assert await meta.get(database.reader, "n") == "20"


async def test_another_processes_write_is_noticed(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as two:
        before = await one.data_version()
        async with two.begin("put") as tx:
            await meta.put(tx, "k", "v")
        assert await one.data_version() != before


async def test_who_comes_while_the_database_closes_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    """SQLite may not be touched by one thread while another closes it: that would end the process, not the call."""

    async def come_and_come_again(database: Database) -> None:
        while True:
            async with database.begin("late") as tx:
                await tx.one("SELECT 1")
            await database.reader.one("SELECT 1")
            await asyncio.sleep(0)

    for _ in range(20):
        async with open_database(str(tmp_path / "x.sqlite3")) as database:
            guests = [asyncio.ensure_future(come_and_come_again(database)) for _ in range(4)]
            await asyncio.sleep(0)
        for guest in guests:
            with pytest.raises(DatabaseError, match="closed"):
                await guest
