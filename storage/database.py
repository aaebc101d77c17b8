"""What the tables need of a database, and how one is opened.

A write is a transaction that commits before anything it describes is done; `Database.begin` is the only
door to one. Never hold a transaction across an await that is not SQL: no Discord, no model, no tool.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

Row = Mapping[str, Any]


class Reader(Protocol):
    """Reads rows. Parameters are written `?` in every statement; values never go into the text."""

    async def all(self, sql: str, *parameters: object) -> list[Row]:
        """Every row of a SELECT, or of a statement with RETURNING."""
        ...

    async def one(self, sql: str, *parameters: object) -> Row | None:
        """The first row, or None."""
        ...


class Transaction(Reader, Protocol):
    """Reads and writes that become durable together, or not at all."""

    async def execute(self, sql: str, *parameters: object) -> int:
        """Run one statement; the number of rows it changed. A conditional update decides races by it."""
        ...

    def clean(self, text: str) -> str:
        """The text as it would be stored: for what is computed over a text that is to be stored as well."""
        ...


class Database(Protocol):
    """One open database."""

    def begin(self, step: str, *, durable: bool = True) -> AbstractAsyncContextManager[Transaction]:
        """A write transaction: commits when the block ends, rolls back when it raises or is cancelled.

        `step` names the move, for logs, and for tests that kill the process right before or after it. With
        `durable=False` it does not wait for the disk: no crash of this program loses it, but a power cut within the
        next moments may, until the next durable commit. Only for what is then found out and done once more, unnoticed.
        """
        ...

    @property
    def reader(self) -> Reader:
        """Reads what is committed, without waiting for writers."""
        ...

    async def data_version(self) -> int:
        """A number that changes when another process has written."""
        ...


class DatabaseError(Exception):
    """The database cannot be used; `str()` is one sentence that says what to do."""


@asynccontextmanager
async def open_database(url: str, *, read_only: bool = False) -> AsyncIterator[Database]:
    """Open the database that `url` names (a file's path), migrating it first unless `read_only`.

    Raises `DatabaseError` when the file is not ours, is newer than this program, or cannot be opened.
    """
    from storage.sqlite import open_sqlite

    async with open_sqlite(Path(url), read_only=read_only) as database:
        yield database
