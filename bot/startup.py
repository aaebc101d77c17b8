"""What the owner is told after a start: what waited, what is gone on with, what was ended and why.

Looked at before anything is made good, and stored as one message that is owed once, so that a second crash right after
the start costs nothing. A mark in the database tells a process that died from one that was stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from bot.clock import Clock
from bot.turns import MOST_LOSSES
from storage import audit, leftovers, meta, outbox
from storage.database import Database
from storage.leftovers import Leftovers

NOWHERE = "discord/@me/0"
"""The place of a message that is about no place."""
_MARK = "process"


class Startup:
    """Reports one process's beginning, and marks its end."""

    def __init__(self, *, database: Database, clock: Clock, boot: str, tell: bool) -> None:
        """`tell`: whether the owner is told at all; the trail is in any case."""
        self._database = database
        self._clock = clock
        self._boot = boot
        self._tell = tell
        self._began = False

    async def begin(self, owner: str, *, warnings: tuple[str, ...] = ()) -> None:
        """This process begins. To be called before anything that an earlier one left is made good.

        `warnings` are sentences about what will keep people from using the bot.
        """
        reader, now = self._database.reader, self._clock.now()
        before = json.loads(await meta.get(reader, _MARK) or "{}")
        if before.get("boot") == self._boot:
            return  # the connection began anew, not the process
        crashed = bool(before) and before.get("ended") is None
        found = await leftovers.look(reader, owner=self._boot, now=now, most_losses=MOST_LOSSES)
        text = report(found, since=before.get("since") if crashed else None, warnings=warnings)
        async with self._database.begin("startup") as tx:
            await meta.put(tx, _MARK, json.dumps({"boot": self._boot, "since": now}))
            detail = {name: value for name, value in vars(found).items() if isinstance(value, int) and value}
            await audit.record(
                tx, at=now, actor=audit.SYSTEM, event="started", detail={"after_a_crash": crashed, **detail}
            )
            if text and self._tell:
                await outbox.owe(
                    tx,
                    key=f"startup:{self._boot}",
                    run=None,
                    place=NOWHERE,
                    body={"text": text, "ladder": [{"person": owner}]},
                    at=now,
                    person=owner,
                )
        self._began = True

    async def end(self) -> None:
        """This process ends in order."""
        if not self._began:
            return
        async with self._database.begin("end process") as tx:
            mark = json.loads(await meta.get(tx, _MARK) or "{}")
            await meta.put(tx, _MARK, json.dumps({**mark, "ended": self._clock.now()}))


def report(found: Leftovers, *, since: int | None, warnings: tuple[str, ...] = ()) -> str:
    """The message, or '' when there is nothing to say. `since`: when the process began that died, if one did."""
    lines = [f"⚠ {warning}" for warning in warnings]
    lines += [f"- {line}" for line in _lines(found)]
    if since is not None:
        crashed = (
            f"I am back. The process before this one, which began <t:{since // 1000}:f>, died without being stopped."
        )
        return "\n".join([crashed, *(lines or ["Nothing was open, so nothing was lost."])])
    return "\n".join(["I have been restarted.", *lines]) if lines else ""


def _lines(found: Leftovers) -> Iterator[str]:
    if found.waiting:
        yield f"Waits for a decision: {_count(found.waiting, 'call')}. Cards go on working; see `/approvals`."
    resumed = [
        *([_count(found.turns, "request")] if found.turns else []),
        *([_count(found.jobs, "background job")] if found.jobs else []),
        *([f"{_count(found.approved, 'call')} that had been approved and not begun"] if found.approved else []),
    ]
    if resumed:
        yield f"Gone on with: {', '.join(resumed)}."
    if found.running:
        named = ", ".join(f"`{call.id}`" for call in found.interrupted)
        more = f" and {found.running - len(found.interrupted)} more" if found.running > len(found.interrupted) else ""
        yield (
            f"Interrupted: {_count(found.running, 'call')} ran when the process ended. Nobody knows how far, so nothing"
            f" of it is run again by itself: {named}{more}. `/why` tells the story of each."
        )
    if found.lost:
        yield (
            f"Given up: {_count(found.lost, 'request')}, because the process died over it twice. Whoever asked is told."
        )
    if found.overdue:
        yield f"Expired: {_count(found.overdue, 'call')} whose deadline passed while I was away. Nothing ran."
    if found.unsent:
        yield f"Told late: {_count(found.unsent, 'message')} that people were owed."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
