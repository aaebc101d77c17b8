"""How schedules are written for people. Moments are stamps, which every reader's Discord shows in their own time."""

from __future__ import annotations

from collections.abc import Iterator

from bot.jobs.schedules import Entry
from bot.texts.recall import recall
from bot.texts.text import key, say
from cogs import arguments, inert
from cogs.speech import shown, tell
from storage.schedules import Schedule, ScheduleState, Why

_NAMED, _GOAL = 60, 200

MISSED = {
    "once": say("schedules.missed_once"),
    "skip": say("schedules.missed_skip"),
}
_LAST = {
    Why.DUE: key("schedules.started"),
    Why.LATE: key("schedules.started_late"),
    Why.BY_HAND: key("schedules.by_hand"),
    Why.MISSED: key("schedules.missed"),
    Why.BUSY: key("schedules.busy"),
}
_STATES = {
    ScheduleState.DRAFT: key("schedules.state_draft"),
    ScheduleState.ACTIVE: key("schedules.state_active"),
    ScheduleState.PAUSED: key("schedules.state_paused"),
    ScheduleState.REMOVED: key("schedules.state_removed"),
}


def named(one: Schedule) -> str:
    """A schedule in a few words, on one line."""
    return tell("schedules.named", id=one.id, spoken=inert.line(one.spoken, limit=_NAMED))


def draft(entry: Entry) -> str:
    """What a person looks at before they save it."""
    one = entry.schedule
    lines = [
        tell("schedules.not_saved", spoken=inert.line(one.spoken, limit=_NAMED), zone=one.zone),
        *(f"- <t:{at // 1000}:F>, <t:{at // 1000}:R>" for at in entry.times),
        arguments.passage(one.goal, limit=_GOAL),
        tell("schedules.each_time", missed=MISSED[one.missed]),
    ]
    if not entry.told_zone:
        lines.append(tell("schedules.zone_taken", zone=one.zone))
    return "\n".join(lines)


def saved(entry: Entry) -> str:
    """What they are told then."""
    one = entry.schedule
    return tell(
        "schedules.saved",
        schedule=named(one),
        times=_stamps(entry.times),
        goal=arguments.passage(one.goal, limit=_GOAL),
    )


def entry(listed: Entry) -> str:
    """One schedule in a list."""
    return "\n  ".join(_lines(listed))


def _lines(listed: Entry) -> Iterator[str]:
    one = listed.schedule
    when = f"{inert.line(one.spoken, limit=_NAMED)} ({one.zone})"
    yield f"- `{one.id}` **{tell(_STATES[one.state])}** · {when} · {inert.line(one.goal, limit=80)}"
    if one.state is ScheduleState.ACTIVE:
        yield tell("schedules.line_next", person=one.person, place=where(one), times=_stamps(listed.times))
    else:
        yield tell("schedules.line", person=one.person, place=where(one)) + (
            tell("schedules.paused_itself", why=shown(recall(one.note))) if one.note else ""
        )
    if listed.last is not None:
        yield f"-# <t:{listed.last.at // 1000}:R>: {tell(_LAST[listed.last.why], run=listed.last.run)}"


def where(one: Schedule) -> str:
    """The place, as Discord links it."""
    return f"<#{one.place.rsplit('/', 1)[1]}>"


def _stamps(times: tuple[int, ...]) -> str:
    return ", ".join(f"<t:{at // 1000}:f>" for at in times)
