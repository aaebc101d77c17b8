"""Votes: who has spoken on a call that waits. One row per person, counted inside the deciding transaction.

A vote bears a seal like every decision: who can write to the database can still not vote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from storage import audit, cards, stored
from storage.approvals import Approval
from storage.database import Reader, Row, Transaction

Verdict = Literal["approve", "deny"]


@dataclass(frozen=True, kw_only=True)
class Vote:
    """One person's word on one call. Times are milliseconds UTC."""

    approval: str
    person: str
    verdict: Verdict
    roles: frozenset[str]
    """Those that counted, as the person held them then."""
    at: int
    seal: str
    remember: str = ""
    """For how long they would allow the very call again (`bot.deferral.grants.Remember`); '': not at all."""


async def cast(tx: Transaction, vote: Vote, approval: Approval, *, complete: bool) -> None:
    """Store a vote; a person's newer one takes the place of the older.

    One that decides nothing yet (not `complete`) is on the trail and puts the card out of date by itself.
    """
    await tx.execute(
        "INSERT INTO vote (approval, person, verdict, roles, at, seal, remember) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (approval, person) DO UPDATE SET verdict = excluded.verdict, roles = excluded.roles,"
        " at = excluded.at, seal = excluded.seal, remember = excluded.remember",
        vote.approval,
        vote.person,
        vote.verdict,
        json.dumps(sorted(vote.roles)),
        vote.at,
        vote.seal,
        vote.remember,
    )
    if complete:
        return
    await audit.record(
        tx,
        at=vote.at,
        actor=vote.person,
        event="voted",
        approval=approval.id,
        run=approval.run,
        conversation=approval.conversation,
        detail={"verdict": vote.verdict} | ({"remember": vote.remember} if vote.remember else {}),
    )
    await cards.touch(tx, approval.card)


async def reseal(tx: Transaction, votes: Iterable[Vote]) -> None:
    """Store new seals for votes whose call goes on under another deadline."""
    for vote in votes:
        await tx.execute(
            "UPDATE vote SET seal = ? WHERE approval = ? AND person = ?", vote.seal, vote.approval, vote.person
        )


async def of(reader: Reader, approval: str) -> list[Vote]:
    """The votes on one call, oldest first."""
    rows = await reader.all("SELECT * FROM vote WHERE approval = ? ORDER BY at, person", approval)
    return [_vote(row) for row in rows]


def _vote(row: Row) -> Vote:
    return Vote(**{**dict(row), "roles": frozenset(stored.texts(row["roles"]))})
