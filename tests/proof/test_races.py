"""Eight whole houses race for the same calls: one of them wins each, and what was approved has happened once.

(tests/storage/test_races.py races the conditional updates alone; here gate, seals, executors and runs race with them.)
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.app import open_app
from bot.surface import TurnContext
from storage import approvals, audit
from storage.database import open_database
from tests.house import ASKER, PLACE, Face, ManualClock, Page, Script, counting_ids
from tests.proof import racers

ROOT = Path(__file__).parents[2]
RACES = [("approve", "approve"), ("approve", "deny"), ("approve", "expire"), ("approve", "cancel")]
ENDS = {"approve": "succeeded", "deny": "denied", "expire": "expired", "cancel": "cancelled"}
PER_REQUEST = 5


async def ask(folder: Path, calls: int) -> list[str]:
    """A house asks about so many calls, and stops. Their ids, in the order of asking."""
    requests = range(calls // PER_REQUEST)
    script = Script(*[[("act", {"what": f"{number}-{one}"}) for one in range(PER_REQUEST)] for number in requests])
    async with open_app(
        racers.settings(folder),
        tools=[racers.act(folder)],
        mask=lambda text: text,
        clock=ManualClock(racers.EARLY_MS),
        new_id=counting_ids(),
        model=script.model,
        sweep_ms=3_600_000,
    ) as app:
        app.engine.connect(Face())
        for number in requests:
            ctx = TurnContext(
                conversation=f"talk {number}", place=PLACE, requester=ASKER.id, request=f"r{number}", prompt="go"
            )
            await app.engine.take_turn(ctx, Page())
        return [call.id for call in await approvals.listed(app.database.reader, limit=calls)]


async def race(folder: Path, races: Sequence[tuple[str, str]], rounds: int) -> None:
    """So many rounds of all houses on one call each, half of them with either verb; then look at what is left."""
    ids = await ask(folder, rounds)
    assert len(ids) == rounds
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.proof.racers", str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdin is not None
    assert started.stdout is not None
    ends = {}
    for number, id in enumerate(ids):
        cast = list(races[number % len(races)]) * (racers.HOUSES // 2)
        started.stdin.write(f"{id} {' '.join(cast)}\n")
        started.stdin.flush()
        came = started.stdout.readline().split()
        [winner] = [verb for verb, one in zip(cast, came, strict=True) if one == "won"]
        ends[id] = ENDS[winner]
    started.communicate(timeout=60)
    assert started.returncode == 0

    effects = Counter(json.loads(line)["call"] for line in _lines(folder / "effects"))
    assert effects == Counter(id for id, end in ends.items() if end == "succeeded")
    async with open_database(str(folder / "house.sqlite3")) as database:
        calls = await approvals.listed(database.reader, every=True, limit=rounds)
        assert {call.id: str(call.state) for call in calls} == ends
        assert await audit.verify(database.reader) is None
        runs = await database.reader.all("SELECT state, count(*) AS runs FROM run GROUP BY state")
        assert {row["state"] for row in runs} <= {"done", "queued"}
        doubled = await database.reader.all("SELECT key FROM outbox GROUP BY key HAVING count(*) > 1")
        assert doubled == []


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


async def test_one_house_of_eight_wins_each_call(tmp_path: Path) -> None:
    """S-A12, in the small."""
    await race(tmp_path, RACES, 40)


@pytest.mark.slow
@pytest.mark.parametrize("verbs", RACES, ids="-".join)
async def test_one_house_of_eight_wins_each_of_two_thousand_calls(verbs: tuple[str, str], tmp_path: Path) -> None:
    """S-A12."""
    await race(tmp_path, [verbs], 2_000)
