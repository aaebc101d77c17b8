"""Real processes race for the same rows of one file: one winner each, always, and a trail that says the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from storage import approvals, audit, runs
from storage.approvals import ApprovalState
from storage.database import Database
from tests.storage.rows import a_call, a_run, bring, open_at, paused

ROOT = Path(__file__).parents[2]
Entrant = subprocess.Popen[str]

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


@contextmanager
def _entrants(file: Path, verbs: tuple[str, str], processes: int) -> Iterator[list[tuple[str, Entrant]]]:
    """That many processes at the start, with the verbs in turn."""
    command = [sys.executable, "-m", "tests.storage.racer", str(file)]
    entrants = [
        (verb, subprocess.Popen([*command, verb, f"p{n}"], cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True))
        for n, verb in enumerate(verbs[n % 2] for n in range(processes))
    ]
    try:
        assert {_hear(entrant) for _, entrant in entrants} == {"ready"}
        yield entrants
    finally:
        for _, entrant in entrants:
            entrant.communicate(timeout=60)
    assert [entrant.returncode for _, entrant in entrants] == [0] * processes


def _hear(entrant: Entrant) -> str:
    assert entrant.stdout is not None
    return entrant.stdout.readline().strip()


def _go(entrants: Sequence[tuple[str, Entrant]], id: str) -> list[str]:
    """One round: everybody tries the same call at once. The verbs that say they won."""
    for _, entrant in entrants:
        assert entrant.stdin is not None
        entrant.stdin.write(f"{id}\n")
        entrant.stdin.flush()
    return [verb for verb, entrant in entrants if _hear(entrant) == "won"]


async def _one_winner_each(folder: Path, verbs: tuple[str, str], processes: int, rounds: int) -> None:
    claims = "claim" in verbs
    async with open_at(folder) as database:
        await _prepare(database, rounds, ApprovalState.APPROVED if claims else ApprovalState.PENDING)
    word = {}
    with _entrants(folder / "rows.sqlite3", verbs, processes) as entrants:
        for n in range(rounds):
            [verb] = _go(entrants, f"call{n}")
            word[f"call{n}"] = WORDS[verb]
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
