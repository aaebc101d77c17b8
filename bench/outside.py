"""A twin, the probed program beside it, a process that keeps the database busy, and how noisy the machine is."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from bench.inside import MARK
from bot.playground.twin import Twin

ROOT = Path(__file__).parents[1]


AT_ONCE = {f"SIGNOFF_JOBS_{which}": "1000" for which in ("PER_PERSON", "PER_GUILD", "AT_ONCE")}
"""Settings under which no job waits for another."""


class Program:
    """The probed program."""

    def __init__(self, twin: Twin, folder: Path, process: asyncio.subprocess.Process, log: Path) -> None:
        self.twin = twin
        self.folder = folder
        self.process = process
        self.log = log

    async def do(self, what: str, **how: Any) -> dict[str, Any]:
        """Give it a command, and wait for its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write((json.dumps({"do": what, **how}) + "\n").encode())
        while True:
            line = (await self.process.stdout.readline()).decode()
            if line.startswith(MARK):
                answer: dict[str, Any] = json.loads(line.removeprefix(MARK))
                return answer
            if not line:
                raise AssertionError(f"the program has ended:\n{self.log.read_text()[-2000:]}")

    def place(self, name: str) -> str:
        """A channel of the guild, as the program writes it."""
        return f"discord/{self.twin.world.guild.id}/{self.twin.channel_id(name)}"


@asynccontextmanager
async def program(folder: Path, **settings: str) -> AsyncIterator[Program]:
    """Run it in `folder` until the block ends."""
    log = folder / "log"
    async with Twin.open(state_dir=None) as twin:
        clean = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        with log.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "bench.inside",
                cwd=folder,
                env={**twin.bot_env(clean), "SIGNOFF_STREAMING": "false", **settings},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                limit=1 << 26,
            )
            try:
                await twin.wait_until_connected()
                await twin.wait_for(lambda: twin.world.backend.commands, what="synced commands")
                yield Program(twin, folder, process, log)
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
                else:
                    print(log.read_text()[-2000:], file=sys.stderr)


@asynccontextmanager
async def busy(database: Path, *, hold: float, rest: float) -> AsyncIterator[None]:
    """Another process that holds the database's write lock again and again, seconds each, with a commit at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.outside", str(database), str(hold), str(rest), cwd=ROOT
    )
    try:
        yield
    finally:
        process.kill()
        await process.wait()


def keep_busy(database: str, hold: float, rest: float) -> None:
    """What that process does."""
    with closing(sqlite3.connect(database, isolation_level=None, timeout=10)) as connection:
        while True:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT INTO meta VALUES ('bench', '1') ON CONFLICT (key) DO UPDATE SET value = value + 1"
            )
            time.sleep(hold)
            connection.execute("COMMIT")
            time.sleep(rest)


def percentile(values: Sequence[float], part: float) -> float:
    """The value that `part` of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def machine() -> dict[str, float]:
    """How many milliseconds a fixed piece of computing takes now, and the load."""
    took = []
    for _ in range(9):
        began = time.perf_counter()
        sum(number * number for number in range(100_000))
        took.append((time.perf_counter() - began) * 1000)
    return {
        "computing_ms": round(statistics.median(took), 1),
        "computing_slowest_ms": round(max(took), 1),
        "load": round(os.getloadavg()[0], 1),
    }


if __name__ == "__main__":
    keep_busy(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
