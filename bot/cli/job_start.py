"""`signoff job start`: background work begun from outside, by a cron job or a pipeline.

It is a row, nothing more: the running bot takes it up at its next sweep (one that is not running, after its next
start), shows its card in the channel, and announces its ending there like any other. What it wants to do is asked
about like anybody's: whoever may type this may not decide by it.
"""

from __future__ import annotations

import re
from argparse import Namespace

from bot.clock import Clock, NewId
from bot.errors import SignoffError
from bot.jobs.budget import budget
from bot.place import is_private, space_of
from bot.settings import Settings
from storage import audit, conversations, jobs, people, runs
from storage.database import open_database
from storage.jobs import Job
from storage.runs import Run, RunKind, RunState

LONGEST_GOAL = 6_000
"""Characters, as in Discord's option."""

_PLACE = re.compile(r"(?:discord/|https://(?:\w+\.)?discord\.com/channels/)([0-9]{1,20})/([0-9]{1,20})/?")
_PERSON = re.compile(r"[0-9]{1,20}")


class WrongUse(SignoffError):
    """What was typed makes no sense; one sentence with the fix."""


async def start(settings: Settings, chosen: Namespace, clock: Clock, new_id: NewId) -> None:
    """Store the job and print its id. Raises `WrongUse`, `DatabaseError`."""
    goal, place, person = chosen.goal.strip(), _place(chosen.place), _person(chosen.person)
    if not goal or len(goal) > LONGEST_GOAL:
        raise WrongUse(f"The goal must have 1 to {LONGEST_GOAL:,} characters.")
    now, id = clock.now(), new_id()
    async with open_database(str(settings.database)) as database:
        run = Run(
            id=id,
            conversation=f"job/{new_id()}",
            kind=RunKind.JOB,
            state=RunState.QUEUED,
            place=place,
            requester=person,
            request=f"job/{id}",
            prompt=goal,
            notify=chosen.notify or await people.notify_of(database.reader, person),
            budget_ms=budget(clocked=False, wished_ms=None if chosen.budget is None else chosen.budget * 60_000),
            created_at=now,
        )
        space = place if is_private(place) else space_of(place)
        async with database.begin("start job at the command line") as tx:
            await conversations.ensure(tx, run.conversation, at=now)
            await runs.create(tx, run)
            await jobs.create(tx, Job(run=id, space=space, depth=1, origin=place))
            await audit.record(
                tx,
                at=now,
                actor=audit.SYSTEM,
                event="job_started",
                run=id,
                conversation=run.conversation,
                detail={"place": place, "for": person, "note": "at the command line"},
            )
    print(id)


def _place(text: str) -> str:
    match = _PLACE.fullmatch(text.strip())
    if match is None:
        raise WrongUse(
            "--in takes a server's channel: its link (right-click it in Discord, Copy Link), or discord/SERVER/CHANNEL"
            " with both ids."
        )
    return f"discord/{match[1]}/{match[2]}"


def _person(text: str) -> str:
    if _PERSON.fullmatch(text.strip()) is None:
        raise WrongUse("--for takes a person's numeric Discord id (right-click their name, Copy User ID).")
    return text.strip()
