"""Lives and deaths of a house, told from outside: what was killed, what the rows said then, what was left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[2]
DATABASE = "house.sqlite3"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
PYTHON = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning"]


class Server:
    """A warm process that forks lives: see `tests.crash.server`."""

    def __enter__(self) -> Server:
        self._process = subprocess.Popen(
            [*PYTHON, "-m", "tests.crash.server"],
            cwd=ROOT,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()

    def life(self, folder: Path, scenario: str, *, moment: str | None = None, kill_after: float | None = None) -> int:
        """One life; how it ended. Raises `AssertionError` if it ended by an error of its own."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"folder": str(folder), "scenario": scenario, "moment": moment, "kill_after": kill_after}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        ended = int(self._process.stdout.readline())
        if ended not in {0, -signal.SIGKILL}:
            raise AssertionError((folder / "error").read_text())
        return ended


def fresh_life(folder: Path, scenario: str, *, moment: str | None = None) -> int:
    """One life in an interpreter of its own."""
    command = [*PYTHON, "-m", "tests.crash.driver", str(folder), scenario, *([moment] if moment else [])]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, timeout=60, check=False)
    if done.returncode not in {0, -signal.SIGKILL}:
        raise AssertionError(done.stderr.decode())
    return done.returncode


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What the database held at one moment."""

    approvals: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    cards: list[dict[str, Any]] = field(default_factory=list)
    outbox: list[dict[str, Any]] = field(default_factory=list)
    audit: list[dict[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    usage: list[dict[str, Any]] = field(default_factory=list)
    usage_days: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    grants: list[dict[str, Any]] = field(default_factory=list)
    undos: list[dict[str, Any]] = field(default_factory=list)

    def state(self, approval: str) -> str | None:
        return next((row["state"] for row in self.approvals if row["id"] == approval), None)


def rows(folder: Path) -> Rows:
    """The rows as a next life would find them. Read from a copy: looking must not mend what a death left behind."""
    copy = folder / "copy"
    copy.mkdir()
    for suffix in ("", "-wal"):
        if (file := folder / f"{DATABASE}{suffix}").exists():
            shutil.copyfile(file, copy / file.name)
    try:
        with closing(sqlite3.connect(copy / DATABASE)) as database:
            database.row_factory = sqlite3.Row
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not {"approval", "step", "usage_day", "call_grant", "undo"} <= tables:
                return Rows()  # it died between its migrations: nothing was asked yet
            assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            return Rows(
                approvals=_all(database, "SELECT * FROM approval ORDER BY requested_at, position"),
                runs=_all(database, "SELECT * FROM run ORDER BY created_at, id"),
                cards=_all(database, "SELECT * FROM card"),
                outbox=_all(database, "SELECT * FROM outbox ORDER BY id"),
                audit=_all(database, "SELECT * FROM audit ORDER BY n"),
                messages=_all(database, "SELECT * FROM message ORDER BY conversation, seq"),
                steps=_all(database, "SELECT * FROM step ORDER BY run, n"),
                usage=_all(database, "SELECT * FROM usage"),
                usage_days=_all(database, "SELECT * FROM usage_day"),
                notes=_all(database, "SELECT * FROM job_note ORDER BY id"),
                grants=_all(database, "SELECT * FROM call_grant"),
                undos=_all(database, "SELECT * FROM undo ORDER BY kept_at, id"),
            )
    finally:
        shutil.rmtree(copy)


def _all(database: sqlite3.Connection, sql: str) -> list[dict[str, Any]]:
    return [dict(row) for row in database.execute(sql)]
