"""What people set for themselves."""

from __future__ import annotations

from dataclasses import dataclass

from storage.database import Reader, Transaction


@dataclass(frozen=True, kw_only=True)
class Wish:
    """How a person wants to be told what is theirs."""

    unpinged: bool = False
    """Answers and results name and notify them in no channel."""
    quiet_hours: str | None = None
    """Like `22:00-07:00`: what notifies them in these hours makes no sound."""


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


async def wish(tx: Transaction, person: str, wish: Wish) -> None:
    """Store it in the place of the one from before."""
    await tx.execute(
        "INSERT INTO wish (person, unpinged, quiet_hours) VALUES (?, ?, ?) ON CONFLICT (person) DO UPDATE"
        " SET unpinged = excluded.unpinged, quiet_hours = excluded.quiet_hours",
        person,
        int(wish.unpinged),
        wish.quiet_hours,
    )


async def wish_of(reader: Reader, person: str) -> Wish:
    """What the person wishes; the default if nothing."""
    row = await reader.one("SELECT unpinged, quiet_hours FROM wish WHERE person = ?", person)
    return Wish(unpinged=bool(row["unpinged"]), quiet_hours=row["quiet_hours"]) if row else Wish()
