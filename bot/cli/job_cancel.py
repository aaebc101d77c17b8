"""`signoff jobs cancel`: ends a job from outside, and what it still asks.

Like `signoff job start` it writes rows and nothing else: a running bot finds them at its next sweep, stops what still
works on the job, shows its cards as they are now and tells the person it worked for.
"""

from __future__ import annotations

from argparse import Namespace

from bot.cli.listings import NotFound, find_job, reading
from bot.clock import Clock
from bot.ending import stop
from bot.jobs import words
from bot.jobs.watch import last_said
from bot.settings import Settings
from storage import audit, runs
from storage.database import open_database

TEXT = "It was stopped by whoever runs this bot, at its command line; what it still asked about was cancelled."


async def cancel(settings: Settings, chosen: Namespace, clock: Clock) -> None:
    """End the job that `chosen.id` names, in one commit. Raises `NotFound`, `DatabaseError`."""
    async with reading(settings) as reader:
        job = await find_job(reader, chosen.id)
    async with open_database(str(settings.database)) as database:
        async with database.begin("cancel job at the command line") as tx:
            text = words.unfinished(TEXT, await last_said(tx, job))
            done = await stop(
                tx, job.id, by=audit.SYSTEM, at=clock.now(), note="at the command line", text=text, via=None
            )
        now = await runs.get(database.reader, job.id)
    if done is None:
        raise NotFound(f"Job {job.id} has ended already ({now.state if now else 'gone'}); nothing was changed.")
    print(f"Job {job.id} is stopped.")
    if done.cancelled:
        print(f"Cancelled with it: {', '.join(call.id for call in done.cancelled)}.")
    if done.running:
        begun = ", ".join(f"{call.id} ({call.tool})" for call in done.running)
        print(f"Not stopped, because it runs already: {begun}. Its card goes on telling what becomes of it.")
