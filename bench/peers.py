"""Side by side, in one run: our cycle, LangGraph with its SQLite saver, the OpenAI Agents SDK with a RunState in a row.

    python -m bench.peers --peers-python PATH [--rounds 9] [--json]

Same scripted model, same durability (SQLite in WAL with synchronous=FULL, one file each), one process per way, one
round of each in turn. PATH is the interpreter of an environment with the peers in it: bench/README.md says how to
make one. Says what the machine itself did meanwhile, because that is what differences have to be seen against.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SIZES = {10: 40, 1000: 12}
"""By messages of history: the cycles of one round."""

WAYS = {
    "signoff": ("bench.way_signoff", "window"),
    "signoff, whole history": ("bench.way_signoff", "whole"),
    "langgraph, plain graph": ("bench.way_langgraph", "graph"),
    "langgraph, its agent": ("bench.way_langgraph", "agent"),
    "openai agents": ("bench.way_agents", ""),
}


@dataclass
class Worker:
    """The process of one way."""

    process: subprocess.Popen[str]

    def round(self, name: str, messages: int, cycles: int) -> dict[str, float]:
        """One round there."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"name": name, "messages": messages, "cycles": cycles}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"a way ended with code {self.process.wait()}: see above")
        measured: dict[str, float] = json.loads(answer)
        return measured


@contextmanager
def worker(way: str, peers_python: str, folder: Path) -> Iterator[Worker]:
    """Start a way; stop it in the end."""
    module, shape = WAYS[way]
    python = sys.executable if way.startswith("signoff") else peers_python
    command = [python, "-m", module, str(folder), shape]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Worker(process)
    finally:
        process.communicate(timeout=60)


def machine(folder: Path) -> dict[str, float]:
    """What the machine does at this moment: a fixed piece of computing, and a write that is on the disk."""
    began = time.perf_counter()
    total = 0
    for number in range(300_000):
        total += number * number
    computing = (time.perf_counter() - began) * 1000
    syncs = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(30):
            began = time.perf_counter()
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
            syncs.append((time.perf_counter() - began) * 1000)
    return {"computing_ms": computing, "fsync_ms": statistics.median(syncs)}


def spread(values: list[float]) -> str:
    """Median, and from where to where."""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def compare(peers_python: str, rounds: int) -> list[dict[str, Any]]:
    """Every way at every size, interleaved. One object per way and size, and one for the machine per size."""
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        workers = {}
        for number, way in enumerate(WAYS):
            (folder := Path(place) / str(number)).mkdir()
            workers[way] = stack.enter_context(worker(way, peers_python, folder))
        for messages, cycles in SIZES.items():
            noise: list[dict[str, float]] = []
            measured: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
            for number in range(rounds + 1):
                noise.append(machine(Path(place)))
                for way, process in workers.items():
                    result = process.round(f"{messages}/{number}", messages, cycles)
                    if number:  # the first round warms up
                        measured[way].append(result)
            found.append({"way": "(the machine)", "messages": messages, "rounds": noise})
            found += [{"way": way, "messages": messages, "rounds": results} for way, results in measured.items()]
    return found


def show(found: list[dict[str, Any]]) -> None:
    """A table for people."""
    for row in found:
        columns = {name: spread([one[name] for one in row["rounds"]]) for name in row["rounds"][0]}
        print(f"{row['messages']:>5} messages  {row['way']:<24}", *(f"{n} {v}" for n, v in columns.items()), sep="  ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers-python", required=True, help="the interpreter that has the peers")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print one JSON array, every round in it")
    options = parser.parse_args()
    rows = compare(options.peers_python, options.rounds)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows)
