"""Would the proof notice? Each seeded bug must be caught by its story, and some by the state machine alone."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.proof.bugs import BUGS
from tests.proof.life import Life
from tests.proof.stories import STORIES
from tests.proof.test_life import QUICK, Machine

NOTICED = (AssertionError, sqlite3.IntegrityError)
"""House and reference differ, or the database itself refuses."""

HUNT = settings(QUICK, max_examples=100, phases=[Phase.generate], report_multiple_bugs=False)


async def tell(folder: Path, story: str) -> None:
    """Tell a story to its end. Raises `AssertionError` where house and reference differ."""
    life = Life(folder)
    await life.open()
    try:
        async with asyncio.timeout(60):  # a bug may well be that something never comes
            await STORIES[story](life)
    finally:
        await life.close()


@pytest.mark.parametrize("story", STORIES)
async def test_without_a_bug_each_story_goes_as_the_reference_says(story: str, tmp_path: Path) -> None:
    await tell(tmp_path, story)


@pytest.mark.parametrize("bug", BUGS)
async def test_a_seeded_bug_is_noticed(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[bug].seed(monkeypatch)
    with pytest.raises(NOTICED):
        await tell(tmp_path, BUGS[bug].story)


@pytest.mark.parametrize(
    "bug",
    [
        "the last press counts, not the first",
        "a press counts after the deadline",
        "the run goes on while a call still runs",
        "what broke is said not to have run",
        "a card is given up at its first failure",
    ],
)
def test_the_machine_finds_a_seeded_bug_by_itself(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[bug].seed(monkeypatch)
    with pytest.raises(NOTICED):
        run_state_machine_as_test(Machine, settings=HUNT)


def test_there_are_bugs_enough() -> None:
    assert len(BUGS) >= 25
    assert {bug.story for bug in BUGS.values()} <= set(STORIES)
