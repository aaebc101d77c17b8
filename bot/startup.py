"""What the owner is told after a start: what waited, what is gone on with, what was ended and why.

Looked at before anything is made good, and stored as one message that is owed once, so that a second crash right after
the start costs nothing. A mark in the database tells a process that died from one that was stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from bot.clock import Clock
from bot.texts.text import Text, joined, say, worded
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
                    body={**worded(text), "ladder": [{"person": owner}]},
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
    lines = [joined(["⚠ ", warning], by="") for warning in warnings]
    lines += [joined(["- ", line], by="") for line in _lines(found)]
    if since is not None:
        crashed = say("startup.back", at=since // 1000)
        return joined([crashed, *(lines or [say("startup.nothing_lost")])], by="\n")
    return joined([say("startup.restarted"), *lines], by="\n") if lines else ""


def _lines(found: Leftovers) -> Iterator[Text]:
    if found.waiting:
        yield say("startup.waits", n=found.waiting)
    resumed = [
        *([say("startup.requests", n=found.turns)] if found.turns else []),
        *([say("startup.jobs", n=found.jobs)] if found.jobs else []),
        *([say("startup.approved", n=found.approved)] if found.approved else []),
    ]
    if resumed:
        yield say("startup.gone_on", what=joined(resumed))
    if found.running:
        named, rest = joined(f"`{call.id}`" for call in found.interrupted), found.running - len(found.interrupted)
        more = say("startup.and_more", n=rest) if rest > 0 else ""
        yield say("startup.interrupted", n=found.running, named=named, more=more)
    if found.lost:
        yield say("startup.given_up", n=found.lost)
    if found.overdue:
        yield say("startup.expired", n=found.overdue)
    if found.unsent:
        yield say("startup.told_late", n=found.unsent)
