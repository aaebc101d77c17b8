"""`signoff schedules list`: what starts by itself, when next, and what became of the last time."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict

from bot.cli.listings import reading
from bot.clock import Clock
from bot.console import local_time, one_line, table
from bot.jobs import when
from bot.jobs.when import NotUnderstood
from bot.settings import Settings
from storage import schedules
from storage.schedules import Schedule, ScheduleState

_WIDE = 40
_NEXT = 3


async def list_schedules(settings: Settings, chosen: Namespace, clock: Clock) -> None:
    """Print them, oldest first; with `--all` also removed ones."""
    async with reading(settings) as reader:
        found = await schedules.listed(reader, every=chosen.all) if reader else []
        lasts = {one.id: await schedules.last(reader, one.id) for one in found} if reader else {}
    if chosen.json:
        objects = [
            {**asdict(one), "next": _next(one, clock), "last": asdict(last) if (last := lasts[one.id]) else None}
            for one in found
        ]
        print(json.dumps(objects, indent=2))
    elif not found:
        print("Nothing is scheduled.")
    else:
        rows = [
            (
                one.id,
                one.state,
                f"{one_line(one.spoken, _WIDE)} ({one.zone})",
                one_line(one.goal, _WIDE),
                one.person,
                local_time(one.next_at) if one.next_at is not None else one_line(one.note or "-", _WIDE),
            )
            for one in found
        ]
        print(table(("ID", "STATE", "WHEN", "GOAL", "FOR", "NEXT"), rows))


def _next(one: Schedule, clock: Clock) -> list[int]:
    if one.state is not ScheduleState.ACTIVE:
        return []
    try:
        return when.upcoming(one.cron, one.zone, after=clock.now(), count=_NEXT)
    except NotUnderstood:  # the running bot pauses it when its time comes
        return []
