"""One process of a race: `python -m tests.storage.racer FILE VERB NAME`.

For every call id that comes in, a line each, it tries its verb and answers `won` or `lost`.
"""

from __future__ import annotations

import asyncio
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


async def race(file: str, verb: str, me: str) -> None:
    """Try what comes in until nothing does any more."""
    async with open_database(file) as database:
        say("ready")
        for line in sys.stdin:
            async with database.begin("race") as tx:
                moved = await attempt(tx, line.strip(), verb, me)
            say("lost" if moved is None else "won")


if __name__ == "__main__":
    asyncio.run(race(*sys.argv[1:]))
