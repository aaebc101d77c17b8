"""What calls took is counted once, adds up the same however it is grouped, and is not kept for ever."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from storage import usage
from storage.database import Database, open_database
from storage.usage import CALLS_KEPT_DAYS, DAY_MS, GROUPINGS, SUMS_KEPT_DAYS, ModelUse, Sum

DAY = 20_000
NOW = DAY * DAY_MS + 5

USE = ModelUse(
    id="u1",
    at=NOW,
    run="r",
    conversation="c",
    person="2",
    place="discord/9/90",
    channel="discord/9/90",
    space="9",
    model="m",
    input_tokens=10,
    output_tokens=3,
    cost_micros=7,
)


async def put(database: Database, *uses: ModelUse) -> None:
    async with database.begin("put") as tx:
        await usage.put(tx, uses)


def total(found: Sequence[tuple[str, Sum]]) -> Sum:
    return reduce(Sum.__add__, (one for _, one in found), Sum())


uses = st.builds(
    ModelUse,
    id=st.text("abcdef", min_size=1, max_size=3),  # some are the same call once more
    at=st.integers(NOW - 3 * DAY_MS, NOW),
    run=st.just("r"),
    conversation=st.just("c"),
    person=st.sampled_from("123"),
    place=st.just("p"),
    channel=st.sampled_from(["discord/9/90", "discord/9/91", "discord/8/80"]),
    space=st.sampled_from("98"),
    model=st.sampled_from(["a", "b"]),
    input_tokens=st.integers(0, 10**9),
    output_tokens=st.integers(0, 10**6),
    cache_read_tokens=st.integers(0, 10**6),
    cache_write_tokens=st.integers(0, 10**6),
    tool_calls=st.integers(0, 9),
    measured=st.booleans(),
    cost_micros=st.none() | st.integers(0, 10**9),
    took_ms=st.integers(0, 10**6),
)


@settings(max_examples=8, deadline=None)
@given(st.lists(uses, max_size=40))
def test_sums_are_the_same_by_every_grouping_and_those_of_the_calls(given: list[ModelUse]) -> None:
    first = {use.id: use for use in reversed(given)}
    whole = reduce(Sum.__add__, map(usage.sum_of, first.values()), Sum())

    async def story() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with open_database(str(Path(folder, "u.sqlite3"))) as database:
                await put(database, *given)
                reader = database.reader
                for by in GROUPINGS:
                    assert total(await usage.of_all(reader, by=by, since=0)) == whole
                    people = [await usage.of_person(reader, one, by=by, since=0) for one in "123"]
                    assert total([one for found in people for one in found]) == whole
                    spaces = [await usage.of_space(reader, one, by=by, since=0) for one in "98"]
                    assert total([one for found in spaces for one in found]) == whole
                days = [await usage.of_day(reader, day) for day in range(DAY - 3, DAY + 1)]
                assert total([(person, one) for found in days for person, _, one in found]) == whole

    asyncio.run(story())


async def test_a_call_that_is_stored_a_second_time_counts_once(tmp_path: Path) -> None:
    async with open_database(str(tmp_path / "u.sqlite3")) as database:
        await put(database, USE)
        await put(database, USE, replace(USE, id="u2"))
        [(_, both)] = await usage.of_person(database.reader, "2", by="model", since=DAY)
        assert (both.calls, both.tokens, both.cost_micros) == (2, 26, 14)


async def test_an_unknown_price_is_counted_beside_the_known_ones_and_is_not_nothing(tmp_path: Path) -> None:
    async with open_database(str(tmp_path / "u.sqlite3")) as database:
        await put(database, USE, replace(USE, id="u2", cost_micros=None), replace(USE, id="u3", measured=False))
        [(_, found)] = await usage.of_space(database.reader, "9", by="guild", since=DAY)
        assert (found.cost_micros, found.unpriced, found.unmeasured) == (14, 1, 1)


async def test_what_a_person_used_elsewhere_is_not_among_what_they_used_here(tmp_path: Path) -> None:
    async with open_database(str(tmp_path / "u.sqlite3")) as database:
        await put(database, USE, replace(USE, id="u2", space="8", channel="discord/8/80", input_tokens=500))
        here = await usage.of_person(database.reader, "2", by="place", since=DAY, space="9")
        assert [(place, one.tokens) for place, one in here] == [("discord/9/90", 13)]


async def test_single_calls_are_kept_for_weeks_and_their_sums_for_a_year(tmp_path: Path) -> None:
    async with open_database(str(tmp_path / "u.sqlite3")) as database:
        ages = {"new": 0, "kept": CALLS_KEPT_DAYS, "summed": CALLS_KEPT_DAYS + 1, "old": SUMS_KEPT_DAYS + 1}
        await put(database, *(replace(USE, id=id, at=NOW - days * DAY_MS) for id, days in ages.items()))
        assert await usage.has_old(database.reader, today=DAY)
        async with database.begin("forget") as tx:
            await usage.forget(tx, today=DAY)
        assert not await usage.has_old(database.reader, today=DAY)
        left = {id for id in ages if await usage.is_stored(database.reader, id)}
        assert left == {"new", "kept"}
        assert total(await usage.of_all(database.reader, by="model", since=0)).calls == 3
