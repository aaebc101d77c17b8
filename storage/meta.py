"""Small facts that must outlive the process, by name."""

from __future__ import annotations

from storage.database import Reader, Transaction


async def get(reader: Reader, key: str) -> str | None:
    """The value stored under `key`, or None."""
    row = await reader.one("SELECT value FROM meta WHERE key = ?", key)
    return str(row["value"]) if row else None


async def put(tx: Transaction, key: str, value: str) -> None:
    """Store `value` under `key`, replacing what was there."""
    await tx.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        key,
        value,
    )
