"""Real processes race for the same rows of one file: one winner each, always, and a trail that says the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from storage import approvals, audit, runs
from storage.approvals import ApprovalState
from storage.database import Database
from tests.storage.rows import a_call, a_run, bring, open_at, paused

ROOT = Path(__file__).parents[2]

RACES = [
    ("approve", "approve"),
    ("approve", "deny"),
    ("approve", "expire"),
    ("approve", "cancel"),
    ("claim", "claim"),
]
WORDS = {"approve": "approved", "deny": "denied", "expire": "expired", "cancel": "cancelled", "claim": "running"}


async def _prepare(database: Database, rounds: int, state: ApprovalState) -> None:
    async with database.begin("begin") as tx:
        for n in range(rounds):
            run = a_run(f"run{n}", conversation=f"talk{n}")
            await paused(tx, a_call(f"call{n}", run=run.id, card=f"card{n}", conversation=run.conversation), run=run)
            await bring(tx, f"call{n}", state)


def _race(file: Path, verbs: tuple[str, str], processes: int, rounds: int) -> list[tuple[str, list[str]]]:
    """Every process with its verb and the calls it won."""
    entrants = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.storage.racer", str(file), verbs[n % 2], str(rounds), f"p{n}"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(processes)
    ]
    for entrant in entrants:
        assert entrant.stdout is not None
        assert entrant.stdout.readline() == "ready\n", entrant.stderr
    for entrant in entrants:
        assert entrant.stdin is not None
        entrant.stdin.write("go\n")
        entrant.stdin.flush()
    ends = [entrant.communicate(timeout=600) for entrant in entrants]
    assert [entrant.returncode for entrant in entrants] == [0] * processes, ends
    return [(verbs[n % 2], json.loads(out)) for n, (out, _) in enumerate(ends)]


async def _one_winner_each(folder: Path, verbs: tuple[str, str], processes: int, rounds: int) -> None:
    claims = "claim" in verbs
    async with open_at(folder) as database:
        await _prepare(database, rounds, ApprovalState.APPROVED if claims else ApprovalState.PENDING)
    entrants = _race(folder / "rows.sqlite3", verbs, processes, rounds)

    wins = Counter(id for _, won in entrants for id in won)
    assert wins == {f"call{n}": 1 for n in range(rounds)}
    word = {id: WORDS[verb] for verb, won in entrants for id in won}
    async with open_at(folder) as database:
        for call in await approvals.listed(database.reader, every=True, limit=rounds):
            assert call.state == word[call.id]
            assert (call.owner is not None) is claims
            events = [entry.event for entry in await audit.entries(database.reader, approval=call.id)]
            assert events == ["asked", *(["approved"] if claims else []), word[call.id]]
            run = await runs.get(database.reader, call.run)
            assert run is not None
            assert run.state == ("waiting" if call.is_open else "queued")
        assert await audit.verify(database.reader) is None


@pytest.mark.parametrize("verbs", RACES, ids="-".join)
async def test_of_four_processes_one_wins_every_call(tmp_path: Path, verbs: tuple[str, str]) -> None:
    await _one_winner_each(tmp_path, verbs, processes=4, rounds=40)


@pytest.mark.slow
@pytest.mark.parametrize("verbs", RACES, ids="-".join)
async def test_of_eight_processes_one_wins_every_call_two_thousand_times(
    tmp_path: Path, verbs: tuple[str, str]
) -> None:
    await _one_winner_each(tmp_path, verbs, processes=8, rounds=2000)
