"""Conversations: model messages, appended and never rewritten, so that a turn costs what it adds."""

from __future__ import annotations

from collections.abc import Sequence

from storage.database import Reader, Transaction


async def ensure(tx: Transaction, id: str, *, at: int) -> None:
    """Make sure that the conversation exists."""
    await tx.execute("INSERT INTO conversation (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING", id, at)


async def length(reader: Reader, id: str) -> int:
    """How many messages it holds."""
    row = await reader.one("SELECT length FROM conversation WHERE id = ?", id)
    return int(row["length"]) if row else 0


async def begin_anew(tx: Transaction, id: str) -> None:
    """From here on nothing of what was said before is loaded. Nothing is deleted."""
    await tx.execute("UPDATE conversation SET start = length WHERE id = ?", id)


async def load(reader: Reader, id: str, *, last: int, whole: str | None = None) -> list[str]:
    """The newest `last` messages since its beginning in order, each as the JSON that was appended.

    More, where that would begin amid the messages of the run `whole`: a run must see its own beginning.
    """
    while True:
        rows = await reader.all(
            "SELECT run, body FROM message WHERE conversation = ?"
            " AND seq >= (SELECT start FROM conversation WHERE id = message.conversation) ORDER BY seq DESC LIMIT ?",
            id,
            last,
        )
        if len(rows) < last or rows[-1]["run"] != whole:
            return [row["body"] for row in reversed(rows)]
        last *= 2


async def of_run(reader: Reader, id: str, *, run: str, last: int) -> list[str]:
    """The newest `last` messages of one run in it, in order."""
    rows = await reader.all(
        "SELECT body FROM message WHERE conversation = ? AND run = ? ORDER BY seq DESC LIMIT ?", id, run, last
    )
    return [row["body"] for row in reversed(rows)]


async def has_spoken(reader: Reader, id: str, *, run: str) -> bool:
    """Whether the conversation holds anything of the run."""
    row = await reader.one("SELECT 1 AS one FROM message WHERE conversation = ? AND run = ? LIMIT 1", id, run)
    return row is not None


async def append(tx: Transaction, id: str, *, run: str, at_length: int, bodies: Sequence[str]) -> int | None:
    """Append messages behind the first `at_length`; the new length.

    None, and nothing is appended, if the conversation has grown meanwhile.
    """
    new = at_length + len(bodies)
    if not await tx.execute("UPDATE conversation SET length = ? WHERE id = ? AND length = ?", new, id, at_length):
        return None
    for offset, body in enumerate(bodies):
        await tx.execute(
            "INSERT INTO message (conversation, seq, run, body) VALUES (?, ?, ?, ?)",
            id,
            at_length + offset,
            run,
            body,
        )
    return new
