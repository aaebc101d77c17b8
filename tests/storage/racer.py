"""One process of a race: `python -m tests.storage.racer FILE VERB ROUNDS`.

When a line comes in, it tries its verb on every call in order, and prints the ids of those it moved, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys

from storage import approvals
from storage.approvals import Approval, ApprovalState
from storage.database import Transaction, open_database
from tests.storage.rows import DEADLINE, DIGEST

EARLY, LATE = DEADLINE - 1, DEADLINE


async def attempt(tx: Transaction, id: str, verb: str, me: str) -> Approval | None:
    """Try one move, each verb at its own moment."""
    if verb == "claim":
        return await approvals.claim(tx, id, owner=me, digest=DIGEST, at=EARLY)
    to, at = {
        "approve": (ApprovalState.APPROVED, EARLY),
        "deny": (ApprovalState.DENIED, EARLY),
        "cancel": (ApprovalState.CANCELLED, EARLY),
        "expire": (ApprovalState.EXPIRED, LATE),
    }[verb]
    return await approvals.settle(tx, id, to, by=me, at=at)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def race(file: str, verb: str, rounds: int, me: str) -> list[str]:
    """The ids of the calls that this process moved."""
    won = []
    async with open_database(file) as database:
        say("ready")
        sys.stdin.readline()
        for n in range(rounds):
            async with database.begin("race") as tx:
                if await attempt(tx, f"call{n}", verb, me) is not None:
                    won.append(f"call{n}")
    return won


if __name__ == "__main__":
    say(json.dumps(asyncio.run(race(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))))
