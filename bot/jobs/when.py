"""When a schedule comes due: words or cron fields in, moments out.

cronsim does the arithmetic, the way Debian's cron does it: a fixed time in the hour that summer time skips comes right
after the gap; one in the hour that is there twice comes once, the first time; `*` in the hours or minutes follows the
real time. Words are turned into five cron fields, so that there is one arithmetic only.
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import islice, pairwise
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from bot.errors import DecisionRefused
from bot.texts.text import key, say

UTC_NAME = "UTC"
_LOOK_AHEAD = 100
"""So many times hold the shortest distance of any cron pattern: it shows within an hour, or across a day's end."""

HELP = say("when.help")

_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_GROUPS = {"day": "*", "weekday": "1-5", "workday": "1-5", "weekend": "0,6"}
_ATOM = r"(?:\*|\d{1,2}|[A-Za-z]{3}|[Ll])"
_PART = rf"{_ATOM}(?:-{_ATOM})?(?:/\d{{1,2}}|#\d|[Ll])?"
_FIELD = rf"{_PART}(?:,{_PART})*"
_CRON = re.compile(rf"{_FIELD}(?:\s+{_FIELD}){{4}}")
_TIME = r"(?:\d{1,2}(?:[:.]\d{2})?\s*(?:am|pm|h|o'clock)?|noon|midnight)"
_AT = rf"(?:at\s+|@\s*)?(?P<times>{_TIME}(?:(?:\s*,\s*|\s+and\s+){_TIME})*)"
_DAYS_SAID = r"(?:(?:every|each|on)\s+)?(?P<days>[a-z]+(?:(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+)[a-z]+)*)"
_ON_DAYS = re.compile(rf"{_DAYS_SAID}\s+{_AT}")
_AT_FIRST = re.compile(rf"{_AT}\s+{_DAYS_SAID}")
_STEP = re.compile(r"(?:every|each)\s+(?:(?P<count>\d{1,4})\s*)?(?P<unit>minute|min|hour|h)s?")
_MONTHLY = re.compile(
    r"(?:monthly|every\s+month|each\s+month)\s+on\s+(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+" + _AT
    + r"|(?:every|on\s+the)\s+(?P<day2>\d{1,2})(?:st|nd|rd|th)(?:\s+of\s+(?:every|each|the)\s+month)?\s+"
    + _AT.replace("times", "times2")
)  # fmt: skip
_ONE_TIME = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s*(?P<half>am|pm|h|o'clock)?")


class NotUnderstood(DecisionRefused):
    """Words about time that mean nothing here, or something that never comes."""

    def __init__(self, sentence: str) -> None:
        super().__init__("when", sentence)


def to_cron(text: str) -> str:
    """Five cron fields for what a person wrote. Raises `NotUnderstood`."""
    words = " ".join(text.split())
    if _CRON.fullmatch(words):
        return words
    words = words.casefold().replace("’", "'")
    if words in {"hourly", "every hour"}:
        return "0 * * * *"
    if found := _STEP.fullmatch(words):
        return _step(int(found["count"] or 1), "minute" if found["unit"].startswith("m") else "hour")
    if found := _MONTHLY.fullmatch(words):
        minute, hours = _times(found["times"] or found["times2"])
        return f"{minute} {hours} {_within(int(found['day'] or found['day2']), 1, 31)} * *"
    if found := _ON_DAYS.fullmatch(words) or _AT_FIRST.fullmatch(words):
        minute, hours = _times(found["times"])
        return f"{minute} {hours} * * {_days(found['days'])}"
    raise NotUnderstood(say("when.unreadable", help=HELP))


def zone(name: str) -> ZoneInfo:
    """The time zone of that name. Raises `NotUnderstood`."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:  # unknown; a folder of zones; no name at all
        raise NotUnderstood(say("when.no_zone")) from error


def zone_name(text: str) -> str:
    """The name of a time zone as it is written, whatever the case it was typed in. Raises `NotUnderstood`."""
    typed = text.strip().replace(" ", "_")
    try:
        return zone(typed).key
    except NotUnderstood:
        for name in zones():
            if name.casefold() == typed.casefold():
                return name
        raise


def zones() -> list[str]:
    """Every time zone that is known here. Looks through some hundred files."""
    return sorted(available_timezones())


def upcoming(cron: str, zone_key: str, *, after: int, count: int) -> list[int]:
    """The next `count` times strictly after a moment, all in milliseconds UTC. Raises `NotUnderstood`."""
    start = datetime.fromtimestamp(after / 1000, zone(zone_key))
    try:
        found = [int(at.timestamp() * 1000) for at in islice(CronSim(cron, start), count)]
    except CronSimError as error:
        raise NotUnderstood(say("when.bad_cron", problem=error, help=HELP)) from error
    if not found:
        raise NotUnderstood(say("when.never"))
    return found


def latest(cron: str, zone_key: str, *, since: int, now: int) -> int:
    """The latest of its times up to `now`; `since`, which is one of them, at least."""
    before = datetime.fromtimestamp(now / 1000 + 1, zone(zone_key))
    for at in islice(CronSim(cron, before, reverse=True), 3):
        if (found := int(at.timestamp() * 1000)) <= now:
            return max(since, found)
    return since


def shortest(cron: str, *, after: int) -> int | None:
    """Milliseconds between the two of its times that are nearest, summer time left aside; None if there is but one."""
    times = upcoming(cron, UTC_NAME, after=after, count=_LOOK_AHEAD)
    return min((later - earlier for earlier, later in pairwise(times)), default=None)


def _step(count: int, unit: str) -> str:
    whole, field = (60, "*/{} * * * *") if unit == "minute" else (24, "0 */{} * * *")
    if count == 0 or whole % count:
        fits = ", ".join(str(one) for one in range(2, whole + 1) if whole % one == 0)
        uneven = key("when.uneven_minutes") if unit == "minute" else key("when.uneven_hours")
        raise NotUnderstood(say(uneven, n=count, fits=fits))
    if count == whole:
        return "0 * * * *" if unit == "minute" else "0 0 * * *"
    return field.format(count).replace("*/1 ", "* ")


def _days(words: str) -> str:
    if words in {"daily", "day", "weekday", "workday", "weekend", "weekdays", "workdays", "weekends"}:
        return _GROUPS["day" if words == "daily" else words.removesuffix("s")]
    found = [_day(word) for word in re.split(r"\s*,\s*and\s+|\s*,\s*|\s+and\s+", words)]
    return ",".join(str(number) for number in sorted(set(found)))


def _day(word: str) -> int:
    word = word.removesuffix("s") if word not in _DAYS else word
    for number, name in enumerate(_DAYS):
        if word == name or (len(word) >= 3 and name.startswith(word)):
            return number
    raise NotUnderstood(say("when.unreadable", help=HELP))


def _times(words: str) -> tuple[int, str]:
    """Minute and hours. One pattern has one minute, so several times must share it."""
    found = [_time(word.strip()) for word in re.split(r"\s*,\s*|\s+and\s+", words)]
    minutes = {minute for _, minute in found}
    if len(minutes) > 1:
        raise NotUnderstood(say("when.same_minute"))
    return minutes.pop(), ",".join(str(hour) for hour in sorted({hour for hour, _ in found}))


def _time(word: str) -> tuple[int, int]:
    if word in {"noon", "midnight"}:
        return (12 if word == "noon" else 0), 0
    found = _ONE_TIME.fullmatch(word)
    if found is None:
        raise NotUnderstood(say("when.unreadable", help=HELP))
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"] in {"am", "pm"}:
        hour = _within(hour, 1, 12) % 12 + (12 if found["half"] == "pm" else 0)
    return _within(hour, 0, 23), _within(minute, 0, 59)


def _within(number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise NotUnderstood(say("when.not_between", number=number, least=least, most=most, help=HELP))
    return number
