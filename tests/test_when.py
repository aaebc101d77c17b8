"""When a schedule comes due: what words mean, and what summer time does (issue 6, point 7)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.jobs.when import NotUnderstood, latest, shortest, to_cron, upcoming, zone_name

BERLIN = "Europe/Berlin"


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).astimezone(UTC).timestamp() * 1000)


def times(cron: str, after: str, count: int = 3, zone: str = BERLIN) -> list[str]:
    found = upcoming(cron, zone, after=at(after), count=count)
    return [datetime.fromtimestamp(one / 1000, UTC).strftime("%m-%d %H:%M") for one in found]


@pytest.mark.parametrize(
    ("words", "cron"),
    [
        ("every weekday at 9", "0 9 * * 1-5"),
        ("Every Monday at 8:30", "30 8 * * 1"),
        ("every 2 hours", "0 */2 * * *"),
        ("daily at 18:00", "0 18 * * *"),
        ("every day at 6pm", "0 18 * * *"),
        ("at 6 pm every day", "0 18 * * *"),
        ("every day at 12am", "0 0 * * *"),
        ("mondays at 9am", "0 9 * * 1"),
        ("every Monday, Wednesday and Fri at 7.15", "15 7 * * 1,3,5"),
        ("weekends at noon", "0 12 * * 0,6"),
        ("every weekday at 9 and 17", "0 9,17 * * 1-5"),
        ("every hour", "0 * * * *"),
        ("hourly", "0 * * * *"),
        ("every 30 minutes", "*/30 * * * *"),
        ("every 60 minutes", "0 * * * *"),
        ("every 24 hours", "0 0 * * *"),
        ("monthly on the 1st at 9", "0 9 1 * *"),
        ("on the 15th of every month at 9:05", "5 9 15 * *"),
        ("  30   8 * * 1-5 ", "30 8 * * 1-5"),
    ],
)
def test_words_become_five_fields_of_cron(words: str, cron: str) -> None:
    assert to_cron(words) == cron
    assert upcoming(cron, BERLIN, after=0, count=1)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("tomorrow at 9", "I cannot read that time."),
        ("every fooday at 9", "I cannot read that time."),
        ("every day", "I cannot read that time."),
        ("* * * * * *", "I cannot read that time."),
        ("@daily", "I cannot read that time."),
        ("", "I cannot read that time."),
        ("daily at 25", "25 is not between 0 and 23."),
        ("daily at 13pm", "13 is not between 1 and 12."),
        ("daily at 9:61", "61 is not between 0 and 59."),
        ("every 5 hours", "Every 5 hours does not come out even in a day."),
        ("every 0 minutes", "Every 0 minutes does not come out even in an hour."),
        ("daily at 9:00 and 17:30", "Several times of one schedule must be at the same minute"),
    ],
)
def test_what_cannot_be_read_is_refused_and_never_guessed(words: str, problem: str) -> None:
    with pytest.raises(NotUnderstood) as refusal:
        to_cron(words)
    assert refusal.value.sentence.startswith(problem)


@pytest.mark.parametrize("cron", ["61 * * * *", "0 0 31 2 *", "0 9 * * mon-", "a b c d e"])
def test_fields_that_make_no_sense_or_never_come_are_refused(cron: str) -> None:
    with pytest.raises(NotUnderstood):
        upcoming(cron, BERLIN, after=0, count=1)


def test_a_time_stays_at_its_hour_when_summer_time_begins() -> None:
    assert times("0 9 * * *", "2026-03-27T12:00+01:00") == ["03-28 08:00", "03-29 07:00", "03-30 07:00"]


def test_a_time_in_the_hour_that_is_skipped_comes_right_after_it_once() -> None:
    assert times("30 2 * * *", "2026-03-28T12:00+01:00") == ["03-29 01:00", "03-30 00:30", "03-31 00:30"]


def test_a_time_in_the_hour_that_comes_twice_comes_once() -> None:
    assert times("30 2 * * *", "2026-10-24T12:00+02:00") == ["10-25 00:30", "10-26 01:30", "10-27 01:30"]


def test_every_hour_stays_every_hour_when_the_clock_is_put_back() -> None:
    assert times("0 * * * *", "2026-10-25T01:30+02:00", 4) == [
        "10-25 00:00",
        "10-25 01:00",
        "10-25 02:00",
        "10-25 03:00",
    ]


def test_times_come_strictly_after_the_moment_that_is_asked_about() -> None:
    assert times("0 9 * * *", "2026-07-01T09:00+02:00", 1) == ["07-02 07:00"]
    assert times("0 9 * * *", "2026-07-01T08:59:59.999+02:00", 1) == ["07-01 07:00"]


@pytest.mark.parametrize(
    ("now", "found"),
    [
        ("2026-07-03T09:00+02:00", "2026-07-03T09:00+02:00"),
        ("2026-07-05T08:59:59.999+02:00", "2026-07-04T09:00+02:00"),
        ("2026-07-01T09:00+02:00", "2026-07-01T09:00+02:00"),
        ("2026-06-01T09:00+02:00", "2026-07-01T09:00+02:00"),
    ],
)
def test_the_latest_of_many_missed_times_is_found(now: str, found: str) -> None:
    assert latest("0 9 * * *", BERLIN, since=at("2026-07-01T09:00+02:00"), now=at(now)) == at(found)


def test_the_shortest_distance_is_found_wherever_it_hides() -> None:
    assert shortest("*/20 * * * *", after=0) == 1_200_000
    assert shortest("0,1 0 29 2 *", after=0) == 60_000
    assert shortest("0,59 0,23 * * *", after=0) == 60_000
    assert shortest("0 9 * * 1", after=0) == 7 * 86_400_000


def test_time_zones_are_found_in_any_case_and_others_refused() -> None:
    assert zone_name(" europe/berlin ") == BERLIN
    assert zone_name("america/new york") == "America/New_York"
    for wrong in ("Berlin", "../etc/passwd", "Europe", "", "\0"):
        with pytest.raises(NotUnderstood, match="do not know that time zone"):
            zone_name(wrong)
