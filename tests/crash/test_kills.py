"""Killed at any moment, started again: nothing approved is lost, nothing runs twice, everything is said once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MOMENTS = [
    "before start run",
    "after start run",
    "before take up",
    "after take up",
    "model",
    "before pause",
    "after pause",
    "before card",
    "after card",
    "before card shown",
    "after card shown",
    "before edit",
    "after edit",
    "before remember reply",
    "after remember reply",
    "before decide",
    "after decide",
    "before claim",
    "after claim",
    "before effect",
    "after effect",
    "before record outcome",
    "after record outcome",
    "before finish",
    "after finish",
    "before attempt",
    "after attempt",
    "before answer in place",
    "after answer in place",
    "before dm",
    "after dm",
    "before delivered",
    "after delivered",
]

NOBODY_KNOWS = {"after claim", "before effect", "after effect", "before record outcome"}
"""Between the claim and the outcome nobody can know how far the tool got."""


def life(folder: Path, label: str) -> int:
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-W",
            "ignore::DeprecationWarning",
            "-m",
            "tests.crash.driver",
            str(folder),
            label,
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        timeout=60,
        check=False,
    )
    if done.returncode not in {0, -signal.SIGKILL}:
        raise AssertionError(done.stderr.decode())
    return done.returncode


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_a_moment_and_started_again(moment: str, tmp_path: Path) -> None:
    assert life(tmp_path, moment) == -signal.SIGKILL, "the moment never came"
    assert life(tmp_path, "-") == 0

    effects = (tmp_path / "effects").read_text().splitlines() if (tmp_path / "effects").exists() else []
    wall = [json.loads(line) for line in (tmp_path / "wall").read_text().splitlines()]
    with sqlite3.connect(tmp_path / "house.sqlite3") as database:
        [(state,)] = database.execute("SELECT state FROM approval").fetchall()
        [(run_state,)] = database.execute("SELECT state FROM run").fetchall()
        undelivered = database.execute(
            "SELECT key FROM outbox WHERE state <> 'delivered' AND key NOT LIKE 'remind:%'"
        ).fetchall()
    database.close()

    assert len(effects) <= 1, "it ran twice"
    if moment in NOBODY_KNOWS:
        assert state == "interrupted"
    else:
        assert (state, effects) == ("succeeded", ["x"])
    assert run_state == "done"
    assert undelivered == []
    answers = [line for line in wall if line["text"] == "The end." and line["kind"] in {"say", "edit"}]
    assert len({line["key"] for line in answers}) == 1, "the answer was said twice, or never"
    assert len([line for line in wall if line["kind"] == "dm"]) == 1
    assert len([line for line in wall if line["kind"] == "card"]) == 1, "a second card"
    last = [line["text"] for line in wall if line["kind"] in {"card", "edit"} and line["key"] != "reply"][-1]
    assert last == state, "the card does not tell how it ended"
