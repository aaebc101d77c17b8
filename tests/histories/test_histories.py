"""Five hundred histories of background jobs, with faults of Discord's and real kills: issue 6's two invariants in each.

A history is made up from a seed; each of its lives is a process of its own, killed at a commit, a delivery, a model
call or an effect, or stopped in order. See `tests.histories.truths` for what must be true of it.
"""

from __future__ import annotations

import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.crash.lives import Rows, Server, rows
from tests.histories.plot import plot
from tests.histories.street import happen
from tests.histories.truths import untrue

MOST_LIVES = 12
WORKERS = 2
QUICK, ALL = 12, 500


def told(server: Server, folder: Path, seed: int) -> tuple[Counter[str], list[str]]:
    """One history, to its end: what there was in it, and what is wrong with it."""
    folder.mkdir()
    story, deaths, count = plot(seed), list[Rows](), Counter[str](histories=1)
    ahead = list(story.deaths)
    try:
        for _ in range(MOST_LIVES):
            death = ahead.pop(0) if ahead else None
            if server.life(folder, f"history {seed}", moment=death and death.moment) == -signal.SIGKILL:
                deaths.append(rows(folder))
                assert death is not None
                happen(folder, death.meanwhile)
            elif (folder / "ended").exists():
                break
        else:
            return count, [f"seed {seed}: it had {MOST_LIVES} lives, and no end"]
        wrong = untrue(folder, story, deaths)
    except AssertionError as error:
        return count, [f"seed {seed}: {error}"]
    end = rows(folder)
    count["kills"] += len(deaths)
    count["jobs"] += sum(run["kind"] == "job" for run in end.runs)
    count["effects"] += len((folder / "effects").read_text().splitlines()) if (folder / "effects").exists() else 0
    count.update(f"endings {row['state']}" for row in end.outbox if row["person"])
    count.update(f"jobs {run['state']}" for run in end.runs if run["kind"] == "job")
    count.update(f"calls {call['state']}" for call in end.approvals)
    return count, [f"seed {seed}: {problem}" for problem in wrong]


def tell(folder: Path, seeds: range) -> tuple[Counter[str], list[str]]:
    """Several histories, one after the other, beside a second worker's."""

    def half(mine: range) -> tuple[Counter[str], list[str]]:
        count, wrong = Counter[str](), list[str]()
        with Server() as server:
            for seed in mine:
                counted, problems = told(server, folder / str(seed), seed)
                count += counted
                wrong += problems
        return count, wrong

    with ThreadPoolExecutor(WORKERS) as workers:
        halves = list(workers.map(half, (seeds[number::WORKERS] for number in range(WORKERS))))
    return sum((count for count, _ in halves), Counter[str]()), [problem for _, wrong in halves for problem in wrong]


def test_each_ending_comes_once_and_no_gated_effect_twice_in_random_histories(tmp_path: Path) -> None:
    count, wrong = tell(tmp_path, range(QUICK))
    assert wrong == []
    assert count["kills"] >= QUICK // 2


@pytest.mark.slow
def test_each_ending_comes_once_and_no_gated_effect_twice_in_five_hundred_histories(tmp_path: Path) -> None:
    count, wrong = tell(tmp_path, range(QUICK, QUICK + ALL))
    assert wrong == []
    assert count["histories"] == ALL
    assert count["kills"] >= ALL // 2
    assert count["endings inbox"]
    assert {"done", "failed", "timed_out", "lost", "cancelled"} <= {
        name.removeprefix("jobs ") for name in count if name.startswith("jobs ")
    }
