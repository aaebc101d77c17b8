"""Cards: one message with buttons for the calls of one pause.

A card is owed to people like an announcement: `version` counts the moves of its calls, `shown` is the
version that the posted message shows. Whatever crashes in between, a card with shown < version is still
found, and its edit made, after the next start.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from storage.database import Reader, Row, Transaction


@dataclass(frozen=True, kw_only=True)
class Card:
    """One card as stored."""

    id: str
    run: str
    place: str
    message: str | None
    version: int
    shown: int
    tries: int
    due_at: int
    error: str | None
    edition: int = 0
    """How often one of its calls was edited: a button for all of them counts for the edition that it was shown on."""
    extended: int = 0
    """How often its deadline was put off."""


async def open_card(tx: Transaction, *, id: str, run: str, place: str) -> None:
    """A card that is to be posted."""
    await tx.execute("INSERT INTO card (id, run, place) VALUES (?, ?, ?)", id, run, place)


async def get_card(reader: Reader, id: str) -> Card | None:
    """One card, or None."""
    row = await reader.one("SELECT * FROM card WHERE id = ?", id)
    return _card(row) if row else None


async def messages(reader: Reader, ids: Collection[str]) -> dict[str, str | None]:
    """The messages of these cards, by card."""
    marks = ", ".join("?" * len(ids))
    rows = await reader.all(f"SELECT id, message FROM card WHERE id IN ({marks})", *ids) if ids else []
    return {row["id"]: row["message"] for row in rows}


async def owed(reader: Reader, *, now: int) -> list[Card]:
    """Cards whose message lags behind their calls and whose next try is due."""
    rows = await reader.all("SELECT * FROM card WHERE shown < version AND due_at <= ? ORDER BY due_at, id", now)
    return [_card(row) for row in rows]


async def touch(tx: Transaction, id: str) -> None:
    """One of the card's calls moved: what people see is out of date from now on."""
    await tx.execute("UPDATE card SET version = version + 1, tries = 0, due_at = 0 WHERE id = ?", id)


async def edited(tx: Transaction, id: str) -> None:
    """One of the card's calls is another one now."""
    await tx.execute("UPDATE card SET edition = edition + 1 WHERE id = ?", id)


async def extended(tx: Transaction, id: str) -> None:
    """The card's deadline was put off; people are to see that."""
    await tx.execute("UPDATE card SET extended = extended + 1 WHERE id = ?", id)
    await touch(tx, id)


async def shown(tx: Transaction, id: str, *, version: int, message: str) -> None:
    """The message shows `version`. A newer version stays owed."""
    await tx.execute(
        "UPDATE card SET message = ?, shown = max(shown, ?), tries = 0, error = NULL WHERE id = ?",
        message,
        version,
        id,
    )


async def seen(tx: Transaction, id: str, *, message: str) -> None:
    """Somebody pressed a button on the message `message`: the card is there, even if its posting never came back."""
    await tx.execute("UPDATE card SET message = ? WHERE id = ? AND message IS NULL", message, id)


async def failed(tx: Transaction, id: str, *, due_at: int, error: str) -> None:
    """An attempt to show the card failed; the next one is due at `due_at`."""
    await tx.execute("UPDATE card SET tries = tries + 1, due_at = ?, error = ? WHERE id = ?", due_at, error, id)


async def give_up(tx: Transaction, id: str, *, version: int, error: str) -> None:
    """The message cannot be shown at all any more (deleted, locked): nothing is owed until the next move."""
    await tx.execute("UPDATE card SET shown = max(shown, ?), error = ? WHERE id = ?", version, error, id)


def _card(row: Row) -> Card:
    return Card(**dict(row))
