"""The SQLite driver: one writer, one reader, write-ahead log, every commit on the disk.

synchronous=FULL because a lost commit would be a lost claim, and a lost claim a second execution.

What may wait (for the disk, for another process's lock, for many rows) waits on a thread of aiosqlite's. A
statement inside a transaction waits for neither: it takes microseconds, a hop to a thread and back takes many times
that, and one approval's whole way is some 150 statements. So statements run where they are called.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any, cast

import aiosqlite

from storage.database import Database, DatabaseError, Reader, Row, Transaction

BUSY_TIMEOUT_MS = 10_000
"""How long a statement waits for another process's lock before it gives up."""

CHECKPOINT_PAGES = 4_000
"""Pages (of 4 KiB) in the log before they are copied into the file."""


FEW_ROWS = 256
"""So many rows are read at once; what is more comes from the thread."""


class _Connection:
    """`Transaction` (and so `Reader`) over one connection, and the thread on which it may wait."""

    def __init__(self, raw: sqlite3.Connection, thread: aiosqlite.Connection) -> None:
        self._raw: sqlite3.Connection | None = raw
        self.thread = thread

    @property
    def raw(self) -> sqlite3.Connection:
        """The connection itself. Raises `DatabaseError` once it is being closed: touching it then is no mere error,
        it ends the process.
        """
        if self._raw is None:
            raise DatabaseError("The database is closed.")
        return self._raw

    @property
    def is_closed(self) -> bool:
        """Whether it is being closed, or has been."""
        return self._raw is None

    def let_go(self) -> None:
        """From now on only the thread touches the connection, to close it."""
        self._raw = None

    async def all(self, sql: str, *parameters: object) -> list[Row]:
        cursor = self.raw.execute(sql, cast(Any, parameters))
        rows = cursor.fetchmany(FEW_ROWS)
        if len(rows) == FEW_ROWS:
            rest = aiosqlite.Cursor(self.thread, cursor)
            rows += await rest.fetchall()
        return rows

    async def one(self, sql: str, *parameters: object) -> Row | None:
        cursor = self.raw.execute(sql, cast(Any, parameters))
        row = cast(Row | None, cursor.fetchone())
        cursor.close()
        return row

    async def execute(self, sql: str, *parameters: object) -> int:
        return self.raw.execute(sql, cast(Any, parameters)).rowcount

    def clean(self, text: str) -> str:
        return text


class SqliteDatabase:
    """`Database` over one file."""

    def __init__(self, writer: _Connection, reader: _Connection) -> None:
        self._writer = writer
        self._reader = reader
        self._lock = asyncio.Lock()

    @property
    def reader(self) -> Reader:
        """See `Database.reader`."""
        return self._reader

    @asynccontextmanager
    async def begin(self, step: str, *, durable: bool = True) -> AsyncIterator[Transaction]:
        """See `Database.begin`. IMMEDIATE, because a read that turns into a write fails under contention."""
        async with self._lock:
            writer = self._writer
            try:
                if not durable:
                    # In WAL mode: nothing is torn, and the next commit that is synced syncs this one before itself.
                    writer.raw.execute("PRAGMA synchronous = NORMAL")
                await _take_lock(writer)
                yield writer
                await _completed(writer.thread.commit())
            except BaseException:
                if not writer.is_closed and writer.raw.in_transaction:
                    await _completed(writer.thread.rollback())
                raise
            finally:
                if not durable and not writer.is_closed:
                    writer.raw.execute("PRAGMA synchronous = FULL")

    async def data_version(self) -> int:
        """See `Database.data_version`."""
        row = await self._reader.one("PRAGMA data_version")
        return int(row["data_version"]) if row is not None else 0


async def _take_lock(writer: _Connection) -> None:
    """Begin, at once or, when another process is writing, as soon as it has done so."""
    try:
        writer.raw.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        await _completed(_wait_for_lock(writer.thread))


async def _wait_for_lock(thread: aiosqlite.Connection) -> None:
    await thread.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    try:
        await thread.execute("BEGIN IMMEDIATE")
    finally:
        await thread.execute("PRAGMA busy_timeout = 0")


async def _completed(step: Awaitable[object]) -> None:
    """Await a step that must not be left half done: cancelled, however often, finish it first."""
    task = asyncio.ensure_future(step)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    problem = task.exception()
    if cancelled is not None:
        raise cancelled
    if problem is not None:
        raise problem


@asynccontextmanager
async def open_sqlite(path: Path, *, read_only: bool = False) -> AsyncIterator[Database]:
    """Open (and create, and migrate) the database file at `path`; it is readable by its owner only."""
    if read_only and not path.exists():
        raise DatabaseError(f"There is no database at {path} yet; start signoff once, or set SIGNOFF_DATABASE.")
    writer = reader = None
    try:
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            path.chmod(0o600)
        writer = await _connect(path)
        await _check_owner(writer.thread, path)
        if read_only:
            await writer.thread.execute("PRAGMA query_only = ON")
        else:
            await writer.thread.execute("PRAGMA journal_mode = WAL")
            await writer.thread.execute("PRAGMA synchronous = FULL")
            # A page that changes in many commits is copied into the file once per checkpoint: fewer, larger ones.
            await writer.thread.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            await writer.thread.execute("PRAGMA foreign_keys = ON")
            await _migrate(writer.thread)
        # From here on nothing waits for a lock but `_take_lock`, which does so on the thread.
        await writer.thread.execute("PRAGMA busy_timeout = 0")
        reader = await _connect(path)
        await reader.thread.execute("PRAGMA query_only = ON")
        await _check_version(reader.thread)
    except (sqlite3.Error, OSError) as error:
        await _close(writer, reader)
        raise DatabaseError(f"The database {path} cannot be opened ({error}).") from error
    except BaseException:
        await _close(writer, reader)
        raise
    try:
        yield SqliteDatabase(writer, reader)
    finally:
        await _close(reader, writer)


async def _connect(path: Path) -> _Connection:
    # Shared with its thread. SQLite serialises what two threads do with one connection, and these two take turns.
    raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    raw.row_factory = sqlite3.Row
    thread = await aiosqlite.Connection(lambda: raw, iter_chunk_size=64)
    await thread.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    return _Connection(raw, thread)


async def _close(*connections: _Connection | None) -> None:
    opened = [connection for connection in connections if connection is not None]
    for connection in opened:
        connection.let_go()
    for connection in opened:
        await _completed(connection.thread.close())


def migrations() -> list[tuple[int, str]]:
    """The numbered migrations, in order: forward only."""
    files = sorted(
        (entry for entry in resources.files("storage").joinpath("migrations").iterdir() if entry.name.endswith(".sql")),
        key=lambda entry: entry.name,
    )
    return [(int(entry.name.split("_")[0]), entry.read_text(encoding="utf-8")) for entry in files]


async def _version(connection: aiosqlite.Connection) -> int:
    rows = list(await connection.execute_fetchall("PRAGMA user_version"))
    return int(rows[0][0])


async def _check_owner(connection: aiosqlite.Connection, path: Path) -> None:
    """Leave another program's database alone."""
    rows = await connection.execute_fetchall("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = {row["name"] for row in rows}
    if names and "approval" not in names:
        raise DatabaseError(f"{path} is the database of another program: set SIGNOFF_DATABASE to a file of its own.")


async def _check_version(connection: aiosqlite.Connection) -> None:
    known = migrations()[-1][0]
    found = await _version(connection)
    if found > known:
        raise DatabaseError(
            f"The database is of a newer signoff (schema {found}, this program knows {known}): update signoff."
        )
    if found < known:
        raise DatabaseError(
            f"The database is of an older signoff (schema {found} of {known}): run `signoff migrate`, or start the bot."
        )


async def _migrate(connection: aiosqlite.Connection) -> None:
    """Apply what is missing, each migration and its number in one exclusive transaction."""
    for number, script in migrations():
        if await _version(connection) >= number:
            continue
        await connection.execute("BEGIN EXCLUSIVE")
        try:
            if await _version(connection) < number:  # another process may have been first
                for statement in _statements(script):
                    await connection.execute(statement)
                await connection.execute(f"PRAGMA user_version = {number}")
            await connection.commit()
        except BaseException:
            await connection.rollback()
            raise


def _statements(script: str) -> list[str]:
    """Cut a script into statements. Not `executescript`: that commits by itself."""
    statements, rest = [], ""
    for line in script.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            statements.append(rest)
            rest = ""
    return statements
