"""How schedules are written for people. Moments are stamps, which every reader's Discord shows in their own time."""

from __future__ import annotations

from collections.abc import Iterator

from bot.jobs.schedules import Entry
from cogs import inert
from storage.schedules import Schedule, ScheduleState, Why

_NAMED, _GOAL = 60, 200

MISSED = {
    "once": "If I am not running at its time, one job makes up for all that was missed.",
    "skip": "If I am not running at its time, that time is skipped.",
}
_LAST = {
    Why.DUE: "its job `{run}` started",
    Why.LATE: "its job `{run}` started late, because it was missed",
    Why.BY_HAND: "its job `{run}` was started by hand",
    Why.MISSED: "missed, and skipped",
    Why.BUSY: "skipped, because the job before it had not ended",
}


def named(one: Schedule) -> str:
    """A schedule in a few words, on one line."""
    return f"schedule `{one.id}` ({inert.line(one.spoken, limit=_NAMED)})"


def draft(entry: Entry) -> str:
    """What a person looks at before they save it."""
    one = entry.schedule
    lines = [
        f"**Not saved yet.** {inert.line(one.spoken, limit=_NAMED)}, times of {one.zone}. The next ones:",
        *(f"- <t:{at // 1000}:F>, <t:{at // 1000}:R>" for at in entry.times),
        f"> {inert.line(one.goal, limit=_GOAL)}",
        f"Each time a background job starts here for you. {MISSED[one.missed]}",
    ]
    if not entry.told_zone:
        lines.append(
            f"-# You never told me your time zone, so I take {one.zone}. Give it once with `timezone`, and I keep it."
        )
    return "\n".join(lines)


def saved(entry: Entry) -> str:
    """What they are told then."""
    one = entry.schedule
    return (
        f"Saved as {named(one)}: next at {_stamps(entry.times)}.\n> {inert.line(one.goal, limit=_GOAL)}\n"
        "-# `/schedule list` shows it, `/schedule pause` and `/schedule remove` stop it."
    )


def entry(shown: Entry) -> str:
    """One schedule in a list."""
    return "\n  ".join(_lines(shown))


def _lines(shown: Entry) -> Iterator[str]:
    one = shown.schedule
    when = f"{inert.line(one.spoken, limit=_NAMED)} ({one.zone})"
    yield f"- `{one.id}` **{one.state}** · {when} · {inert.line(one.goal, limit=80)}"
    if one.state is ScheduleState.ACTIVE:
        yield f"for <@{one.person}> in {where(one)}, next at {_stamps(shown.times)}"
    else:
        yield f"for <@{one.person}> in {where(one)}" + (f", paused itself: {one.note}" if one.note else "")
    if shown.last is not None:
        yield f"-# <t:{shown.last.at // 1000}:R>: {_LAST[shown.last.why].format(run=shown.last.run)}"


def where(one: Schedule) -> str:
    """The place, as Discord links it."""
    return f"<#{one.place.rsplit('/', 1)[1]}>"


def _stamps(times: tuple[int, ...]) -> str:
    return ", ".join(f"<t:{at // 1000}:f>" for at in times)
