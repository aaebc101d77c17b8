"""What people are owed, said once: a row per logical message, delivered only with a receipt.

    pending ──> attempting ──┬──> delivered        with the message id that the face gave back
                             ├──> inbox            an ending for which every way failed: `/inbox` shows it
                             └──> undeliverable    anything else: trying again will not help, or was tried too often

`attempting` commits before the face is asked. A row found there after a restart may have been said: it is
sent again under the same nonce, and marked as a possible repeat. A row with `via` skips it: it is said by editing that
message, which can be done again without anybody noticing.

A job's ending has a ladder, `body["ladder"]`: where it was asked, that thread's channel, the person directly. When one
way has failed for good, its failure is kept and the next one is tried.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from storage.database import Reader, Row, Transaction

_IS_OWED = "(state = 'pending' OR state = 'attempting')"
"""As the index of what is due has it."""


@dataclass(frozen=True, kw_only=True)
class Owed:
    """One message that somebody is owed."""

    id: int
    key: str
    run: str | None
    place: str
    body: dict[str, Any]
    state: str
    tries: int
    due_at: int
    via: str | None
    receipt: str | None
    error: str | None
    created_at: int
    person: str | None = None
    rung: int = 0
    failures: tuple[dict[str, Any], ...] = ()
    returns: int = 0


async def owe(
    tx: Transaction,
    *,
    key: str,
    run: str | None,
    place: str,
    body: dict[str, Any],
    at: int,
    due_at: int | None = None,
    person: str | None = None,
    via: str | None = None,
) -> bool:
    """Promise a message, for `due_at` or for now, as an edit of the message `via` if there is one.

    False if one of that key is promised already. With `person` it is an ending: what cannot be delivered waits in
    that person's inbox.
    """
    done = await tx.execute(
        "INSERT INTO outbox (key, run, place, body, state, due_at, created_at, person, via)"
        " VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        key,
        run,
        place,
        json.dumps(body, ensure_ascii=False),
        at if due_at is None else due_at,
        at,
        person,
        via,
    )
    return bool(done)


async def due(reader: Reader, *, now: int) -> list[Owed]:
    """What should be sent now, oldest first. Rows in `attempting` are due again when their back-off is over."""
    # `+ 0`: by the index of what is due, not by the order of all that was ever said.
    rows = await reader.all(f"SELECT * FROM outbox WHERE {_IS_OWED} AND due_at <= ? ORDER BY id + 0", now)
    return [_owed(row) for row in rows]


async def get_due(reader: Reader, id: int, *, now: int) -> Owed | None:
    """One row, if it should be sent now."""
    row = await reader.one(f"SELECT * FROM outbox WHERE id = ? AND {_IS_OWED} AND due_at <= ?", id, now)
    return _owed(row) if row else None


async def attempt(tx: Transaction, id: int, *, now: int, next_due: int) -> Owed | None:
    """Take one row up for an attempt; the row as it was before. None if it is not due (any more).

    Until `next_due` nobody else takes it up.
    """
    owed = await get_due(tx, id, now=now)
    if owed is not None:
        await tx.execute(
            "UPDATE outbox SET state = 'attempting', tries = tries + 1, due_at = ? WHERE id = ?", next_due, id
        )
    return owed


async def release(tx: Transaction, *, now: int) -> None:
    """Nobody is attempting anything (the process that did is dead): what was in flight is due now."""
    await tx.execute("UPDATE outbox SET due_at = ? WHERE state = 'attempting'", now)


async def delivered(tx: Transaction, id: int, *, receipt: str) -> None:
    """It is there: `receipt` is the message id that the face gave back."""
    await tx.execute("UPDATE outbox SET state = 'delivered', receipt = ?, error = NULL WHERE id = ?", receipt, id)


async def failed(tx: Transaction, id: int, *, tries: int, due_at: int, error: str) -> None:
    """The `tries`-th attempt may or may not have got through; try again at `due_at` under the same nonce."""
    await tx.execute("UPDATE outbox SET tries = ?, due_at = ?, error = ? WHERE id = ?", tries, due_at, error, id)


async def postpone(tx: Transaction, owed: Owed, *, due_at: int) -> None:
    """It was taken up too early: as if it had not been. `owed` as `attempt` gave it."""
    await tx.execute(
        "UPDATE outbox SET state = ?, tries = ?, due_at = ? WHERE id = ?", owed.state, owed.tries, due_at, owed.id
    )


async def undeliverable(tx: Transaction, id: int, *, error: str) -> None:
    """Trying again will not help."""
    await tx.execute("UPDATE outbox SET state = 'undeliverable', error = ? WHERE id = ?", error, id)


async def climb(tx: Transaction, owed: Owed, *, at: int, error: str, unsure: bool) -> bool:
    """This way has failed for good: try the next one, or leave it in the inbox. Whether there was a next one.

    `unsure`: the failed way may have got through after all, so what follows is said to be a possible repeat, whichever
    way it comes and however late.
    """
    failed = {"way": owed.body["ladder"][owed.rung], "error": error, "at": at, **({"unsure": True} if unsure else {})}
    failures = [*owed.failures, failed]
    more = owed.rung + 1 < len(owed.body["ladder"])
    await tx.execute(
        "UPDATE outbox SET state = ?, rung = ?, tries = 0, due_at = ?, via = NULL, error = ?, failures = ?"
        " WHERE id = ?",
        _fresh(failures) if more else "inbox",
        owed.rung + 1 if more else owed.rung,
        at,
        error,
        json.dumps(failures, ensure_ascii=False),
        owed.id,
    )
    return more


async def inbox_of(reader: Reader, person: str) -> list[Owed]:
    """What a person could not be told, oldest first."""
    rows = await reader.all("SELECT * FROM outbox WHERE state = 'inbox' AND person = ? ORDER BY id", person)
    return [_owed(row) for row in rows]


async def handed_over(tx: Transaction, id: int, *, receipt: str) -> bool:
    """The person has it from the inbox, in the message `receipt`. False if it is not there (any more)."""
    done = await tx.execute(
        "UPDATE outbox SET state = 'delivered', receipt = ?, error = NULL WHERE id = ? AND state = 'inbox'", receipt, id
    )
    return bool(done)


async def return_to_sender(tx: Transaction, *, now: int, not_before: int, most: int) -> int:
    """Try the whole ladder again for what lies in an inbox since `not_before` and was not tried anew `most` times."""
    rows = await tx.all(
        "SELECT * FROM outbox WHERE state = 'inbox' AND created_at >= ? AND returns < ?", not_before, most
    )
    for owed in map(_owed, rows):
        await tx.execute(
            "UPDATE outbox SET state = ?, rung = 0, tries = 0, due_at = ?, returns = returns + 1 WHERE id = ?",
            _fresh(owed.failures),
            now,
            owed.id,
        )
    return len(rows)


def is_possible_repeat(owed: Owed) -> bool:
    """Whether a way that failed may have got through after all."""
    return any(failure.get("unsure") for failure in owed.failures)


def _fresh(failures: Sequence[dict[str, Any]]) -> str:
    """The state in which a way begins: after one that may have got through, as if it had been tried already."""
    return "attempting" if any(failure.get("unsure") for failure in failures) else "pending"


async def release_held(tx: Transaction, *, run: str, more: str, at: int) -> bool:
    """Let the messages about a run's ending go out that were held back, with `more` behind their text.

    False if there is none that is still held: then nothing is changed.
    """
    rows = await tx.all(
        "SELECT * FROM outbox WHERE run = ? AND state = 'pending' AND tries = 0 AND returns = 0 AND due_at > created_at"
        " AND (key = ? OR key = ?)",
        run,
        f"answer:{run}",
        f"dm:{run}",
    )
    for owed in map(_owed, rows):
        body = {**owed.body, "text": f"{owed.body['text']}{more}"}
        await tx.execute(
            "UPDATE outbox SET body = ?, due_at = min(due_at, ?) WHERE id = ?",
            json.dumps(body, ensure_ascii=False),
            at,
            owed.id,
        )
    return bool(rows)


async def drop(tx: Transaction, id: int) -> None:
    """It is not owed any more: what it would have said is no longer true."""
    await tx.execute("DELETE FROM outbox WHERE id = ? AND state <> 'delivered'", id)


async def drop_key(tx: Transaction, key: str) -> None:
    """The same for a message that is known by its key, unless it has been tried."""
    await tx.execute("DELETE FROM outbox WHERE key = ? AND state = 'pending'", key)


async def next_due(reader: Reader) -> int | None:
    """When something is due next, or None."""
    row = await reader.one(
        f"SELECT min(at) AS at FROM (SELECT min(due_at) AS at FROM outbox WHERE {_IS_OWED}"
        " UNION ALL SELECT min(due_at) AS at FROM card WHERE shown < version) AS owed"
    )
    return row["at"] if row else None


async def receipt_of(reader: Reader, key: str) -> str | None:
    """The message in which something was said, or None if it was not (yet)."""
    row = await reader.one("SELECT receipt FROM outbox WHERE key = ? AND state = 'delivered'", key)
    return row["receipt"] if row else None


async def of_run(reader: Reader, run: str) -> list[Owed]:
    """Everything owed for one run, in order."""
    return [_owed(row) for row in await reader.all("SELECT * FROM outbox WHERE run = ? ORDER BY id", run)]


def _owed(row: Row) -> Owed:
    fields = dict(row)
    parsed = {"body": json.loads(fields["body"]), "failures": tuple(json.loads(fields["failures"]))}
    return Owed(**{**fields, **parsed})
