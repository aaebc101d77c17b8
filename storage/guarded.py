"""A database into which no secret goes: every text that is to be stored passes a mask first.

The last net before the disk. What is stored is masked where it comes in, so that what is sealed or chained is what is
stored; this catches what came another way, by whatever path, also in a statement of next year.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from storage.database import Database, Reader, Row, Transaction

Mask = Callable[[str], str]


class GuardedDatabase:
    """`Database` in front of another one."""

    def __init__(self, behind: Database, mask: Mask) -> None:
        """`mask` must leave alone what holds no secret, and what it has masked already."""
        self._behind = behind
        self._mask = mask

    @property
    def reader(self) -> Reader:
        """See `Database.reader`."""
        return self._behind.reader

    @asynccontextmanager
    async def begin(self, step: str, *, durable: bool = True) -> AsyncIterator[Transaction]:
        """See `Database.begin`."""
        async with self._behind.begin(step, durable=durable) as tx:
            yield _Guarded(tx, self._mask)

    async def data_version(self) -> int:
        """See `Database.data_version`."""
        return await self._behind.data_version()


class _Guarded:
    """`Transaction` in front of another one."""

    def __init__(self, behind: Transaction, mask: Mask) -> None:
        self._behind = behind
        self._mask = mask

    def clean(self, text: str) -> str:
        """See `Transaction.clean`."""
        return self._mask(text)

    async def all(self, sql: str, *parameters: object) -> list[Row]:
        return await self._behind.all(sql, *map(self._cleaned, parameters))

    async def one(self, sql: str, *parameters: object) -> Row | None:
        return await self._behind.one(sql, *map(self._cleaned, parameters))

    async def execute(self, sql: str, *parameters: object) -> int:
        return await self._behind.execute(sql, *map(self._cleaned, parameters))

    def _cleaned(self, value: object) -> object:
        """Attached files are bytes, and texts among them read as such."""
        if isinstance(value, str):
            return self._mask(value)
        if isinstance(value, bytes):
            text = value.decode("utf-8", "surrogateescape")
            masked = self._mask(text)
            return value if masked == text else masked.encode("utf-8", "surrogateescape")
        return value
