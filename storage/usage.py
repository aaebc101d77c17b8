"""What calls of the model took: a row for each, and the same added up by day, person, place and model.

Both are written in one commit, by an id that is known before: the same call a second time changes nothing. The rows
of single calls go after `CALLS_KEPT_DAYS`, the sums after `SUMS_KEPT_DAYS`; what is kept does not grow for ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from storage.database import Reader, Row, Transaction

DAY_MS = 86_400_000
CALLS_KEPT_DAYS = 35
SUMS_KEPT_DAYS = 400

Grouping = Literal["person", "place", "guild", "model", "day"]
GROUPINGS: tuple[Grouping, ...] = ("person", "place", "guild", "model", "day")

_COLUMNS: dict[Grouping, str] = {
    "person": "person",
    "place": "channel",
    "guild": "space",
    "model": "model",
    "day": "day",
}


def day_of(at: int) -> int:
    """The day of a time in milliseconds, counted from 1970-01-01 in UTC."""
    return at // DAY_MS


@dataclass(frozen=True, kw_only=True)
class ModelUse:
    """One call of the model."""

    id: str
    at: int
    run: str
    conversation: str
    person: str
    place: str
    channel: str
    """The place, or the channel that it is a thread of."""
    space: str
    model: str
    input_tokens: int
    """Those from and for the provider's cache included."""
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    tool_calls: int = 0
    """Calls of tools in the answer."""
    measured: bool = True
    """Whether the provider said how many tokens it took."""
    cost_micros: int | None = None
    """Millionths of a US dollar; None if the price is not known."""
    took_ms: int = 0


@dataclass(frozen=True, kw_only=True)
class Sum:
    """What several calls took together."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    tool_calls: int = 0
    unmeasured: int = 0
    """Calls of which the provider did not say how many tokens they took."""
    cost_micros: int = 0
    """Of the calls whose price is known."""
    unpriced: int = 0
    """Calls whose price is not known."""
    took_ms: int = 0

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Sum) -> Sum:
        return Sum(**{name: getattr(self, name) + getattr(other, name) for name in _SUMS})


_OF_CALL = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "tool_calls",
    "cost_micros",
    "took_ms",
)
"""Columns that a call and a sum have in common."""
_SUMS = tuple(field.name for field in fields(Sum))
_ADDED = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in _SUMS)


def sum_of(use: ModelUse) -> Sum:
    """One call as a sum."""
    return Sum(
        calls=1,
        input_tokens=use.input_tokens,
        output_tokens=use.output_tokens,
        cache_read_tokens=use.cache_read_tokens,
        cache_write_tokens=use.cache_write_tokens,
        tool_calls=use.tool_calls,
        unmeasured=0 if use.measured else 1,
        cost_micros=use.cost_micros or 0,
        unpriced=1 if use.cost_micros is None else 0,
        took_ms=use.took_ms,
    )


async def put(tx: Transaction, uses: Iterable[ModelUse]) -> None:
    """Store calls and add them up. One that is stored already changes nothing."""
    for use in uses:
        values = [int(value) if isinstance(value, bool) else value for value in _values(use)]
        done = await tx.execute(
            f"INSERT INTO usage ({', '.join(_USE)}) VALUES ({', '.join('?' * len(_USE))}) ON CONFLICT (id) DO NOTHING",
            *values,
        )
        if done != 1:
            continue
        added = sum_of(use)
        more = ", ".join(f"{name} = usage_day.{name} + excluded.{name}" for name in _SUMS)
        await tx.execute(
            f"INSERT INTO usage_day (person, day, space, channel, model, {', '.join(_SUMS)})"
            f" VALUES (?, ?, ?, ?, ?, {', '.join('?' * len(_SUMS))})"
            f" ON CONFLICT (person, day, space, channel, model) DO UPDATE SET {more}",
            use.person,
            day_of(use.at),
            use.space,
            use.channel,
            use.model,
            *(getattr(added, name) for name in _SUMS),
        )


_USE = tuple(field.name for field in fields(ModelUse))


def _values(use: ModelUse) -> list[object]:
    return [getattr(use, name) for name in _USE]


async def is_stored(reader: Reader, id: str) -> bool:
    """Whether this call is counted."""
    return await reader.one("SELECT 1 AS one FROM usage WHERE id = ?", id) is not None


async def of_run(reader: Reader, run: str) -> Sum:
    """What one run has used so far, as long as its single calls are kept."""
    row = await reader.one(
        "SELECT count(*) AS calls, coalesce(sum(1 - measured), 0) AS unmeasured,"
        " coalesce(sum(cost_micros IS NULL), 0) AS unpriced,"
        f" {', '.join(f'coalesce(sum({name}), 0) AS {name}' for name in _OF_CALL)} FROM usage WHERE run = ?",
        run,
    )
    return Sum() if row is None else _sum(row)


async def of_day(reader: Reader, day: int) -> list[tuple[str, str, Sum]]:
    """Person, space and sum of everything that was used on a day."""
    rows = await reader.all(f"SELECT person, space, {_ADDED} FROM usage_day WHERE day = ? GROUP BY person, space", day)
    return [(row["person"], row["space"], _sum(row)) for row in rows]


async def of_person(
    reader: Reader, person: str, *, by: Grouping, since: int, space: str | None = None
) -> list[tuple[str, Sum]]:
    """One person's usage from the day `since` on, the most tokens first; with `space`, of that alone."""
    here = "" if space is None else " AND space = ?"
    return await _grouped(
        reader, by, f"person = ? AND day >= ?{here}", person, since, *(() if space is None else (space,))
    )


async def of_space(reader: Reader, space: str, *, by: Grouping, since: int) -> list[tuple[str, Sum]]:
    """A guild's usage from the day `since` on, the most tokens first."""
    return await _grouped(reader, by, "space = ? AND day >= ?", space, since)


async def of_all(reader: Reader, *, by: Grouping, since: int) -> list[tuple[str, Sum]]:
    """Everybody's usage from the day `since` on, the most tokens first."""
    return await _grouped(reader, by, "day >= ?", since)


async def has_old(reader: Reader, *, today: int) -> bool:
    """Whether there is anything that is kept no longer."""
    calls = await reader.one("SELECT 1 AS one FROM usage WHERE at < ? LIMIT 1", (today - CALLS_KEPT_DAYS) * DAY_MS)
    sums = await reader.one("SELECT 1 AS one FROM usage_day WHERE day < ? LIMIT 1", today - SUMS_KEPT_DAYS)
    return calls is not None or sums is not None


async def forget(tx: Transaction, *, today: int) -> None:
    """Drop what is kept no longer: single calls first, sums much later."""
    await tx.execute("DELETE FROM usage WHERE at < ?", (today - CALLS_KEPT_DAYS) * DAY_MS)
    await tx.execute("DELETE FROM usage_day WHERE day < ?", today - SUMS_KEPT_DAYS)


async def _grouped(reader: Reader, by: Grouping, where: str, *parameters: object) -> list[tuple[str, Sum]]:
    column = _COLUMNS[by]
    rows = await reader.all(
        f"SELECT {column} AS key, {_ADDED} FROM usage_day WHERE {where} GROUP BY {column}", *parameters
    )
    found = [(str(row["key"]), _sum(row)) for row in rows]
    return sorted(found, key=lambda one: (-one[1].tokens, one[0]))


def _sum(row: Row) -> Sum:
    return Sum(**{name: row[name] for name in _SUMS})
