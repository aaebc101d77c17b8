"""A thousand deaths at any time at all, up to three in one story: the same must be true of each."""

from __future__ import annotations

import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.crash.invariants import broken
from tests.crash.lives import Rows, Server, rows
from tests.crash.scenarios import SCENARIOS

KILLS = 1_000
WORKERS = 2


def durations(server: Server, folder: Path) -> dict[str, float]:
    """How long each story takes when nothing dies, in seconds."""
    took = {}
    for name in SCENARIOS:
        (folder / name).mkdir(parents=True)
        began = time.monotonic()
        assert server.life(folder / name, name) == 0
        took[name] = time.monotonic() - began
    return took


def tell_stories(folder: Path, seed: int, kills: int) -> tuple[int, list[str]]:
    """Stories with random deaths until `kills` processes were killed. How many those were, and what is wrong."""
    chance = random.Random(seed)
    killed, wrong = 0, []
    with Server() as server:
        took = durations(server, folder / "whole")
        story = 0
        while killed < kills:
            story += 1
            name = chance.choice(list(SCENARIOS))
            place = folder / str(story)
            place.mkdir()
            deaths: list[Rows] = []
            try:
                for _ in range(chance.randint(1, 3)):
                    if server.life(place, name, kill_after=chance.uniform(0, took[name])) != -signal.SIGKILL:
                        break
                    deaths.append(rows(place))
                server.life(place, name)
            except AssertionError as error:
                wrong.append(f"{name}, {place}: {error}")
                continue
            killed += len(deaths)
            wrong += [
                f"{name}, {len(deaths)} deaths, {place}: {problem}"
                for problem in broken(place, SCENARIOS[name], deaths)
            ]
    return killed, wrong


@pytest.mark.slow
def test_killed_at_any_time_nothing_is_lost_doubled_or_invented(tmp_path: Path) -> None:
    with ThreadPoolExecutor(WORKERS) as workers:
        told = list(
            workers.map(lambda seed: tell_stories(tmp_path / str(seed), seed, KILLS // WORKERS), range(WORKERS))
        )
    assert [problem for _, wrong in told for problem in wrong] == []
    assert sum(killed for killed, _ in told) >= KILLS
