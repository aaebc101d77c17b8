"""What people set for themselves."""

from __future__ import annotations

from storage.database import Reader, Transaction


async def set_notify(tx: Transaction, person: str, notify: str) -> None:
    """Where a person's answers and results go when they do not say: `channel`, `dm` or `both`."""
    await tx.execute(
        "INSERT INTO preference (person, notify) VALUES (?, ?)"
        " ON CONFLICT (person) DO UPDATE SET notify = excluded.notify",
        person,
        notify,
    )


async def notify_of(reader: Reader, person: str, *, otherwise: str = "channel") -> str:
    """What the person set; `otherwise` if nothing."""
    row = await reader.one("SELECT notify FROM preference WHERE person = ?", person)
    return str(row["notify"]) if row else otherwise
