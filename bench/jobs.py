"""Two hundred background jobs at once: what they cost, what Discord gets to see of them, and who has to wait.

    python -m bench.jobs [--jobs 200] [--steps 10] [--seconds 0.5] [--json]

The ordinary program against a twin over real sockets, with a scripted model whose every answer takes its time. Twice:

- all at once: limits out of the way, so that all of them work at the same time, each answer ten times as long;
- in lanes: the limits as they are at first, twenty people with ten jobs each, in one server.

Says the memory per job, how many messages and edits went to one channel in any five seconds, how long `/ask` waited for
its acknowledgement meanwhile (as `bench.acknowledge` measures it), how late the event loop was, and, in lanes, the
longest wait for a start against the fair share: that of the last job if no lane were ever empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.outside import AT_ONCE, Program, machine, percentile, program

WINDOW_SECONDS = 5.0
_DEADLINE_SECONDS = 400


async def one_way(running: Program, jobs: int, people: int, steps: int, seconds: float, lanes: int) -> dict[str, Any]:
    """Start them, ask for something twice a second meanwhile, and look until the last one has ended."""
    places = [running.place("ops"), running.place("general")]
    noise = machine()
    await running.do("reset")
    began = await running.do("jobs", count=jobs, people=people, places=places, steps=steps, seconds=seconds)
    most, until, number = 0, time.monotonic() + _DEADLINE_SECONDS, 0
    while True:
        await running.twin.people["ben"].slash(None, "ask", prompt=f"hello {number}")
        number += 1
        await asyncio.sleep(0.5)
        seen = await running.do("report")
        most = max(most, seen["memory_kilobytes"])
        if len(seen["last"]) == jobs:
            break
        if time.monotonic() > until:
            raise AssertionError(f"{len(seen['last'])} of {jobs} jobs have ended")
    own = [(left - seen["arrived"][id]) * 1000 for id, left in seen["left"].items()]
    waits = [at - seen["started"] for at in seen["first"].values()]
    took = max(seen["last"].values()) - seen["started"]
    share = (steps + 1) * seconds * max(0, -(-jobs // lanes) - 1)
    return {
        "jobs": jobs,
        "took_seconds": round(took, 1),
        "memory_kilobytes_per_job": round((most - began["memory_kilobytes"]) / jobs),
        "most_in_a_channel_in_5_s": _busiest(seen["sent"]),
        "asks": len(own),
        "ask_acknowledged_ms": {"median": round(percentile(own, 0.5), 1), "most": round(max(own), 1)},
        "loop_late_ms": {
            "p99": round(percentile(seen["lags"], 0.99) * 1000, 1),
            "most": round(max(seen["lags"]) * 1000, 1),
        },
        "longest_wait_seconds": round(max(waits), 1),
        "fair_share_seconds": round(share, 1),
        "machine": noise,
    }


def _busiest(sent: list[tuple[float, str, str]]) -> dict[str, int]:
    """By method: the most requests about one channel's messages in any five seconds."""
    by: dict[tuple[str, str], list[float]] = defaultdict(list)
    for at, method, channel in sent:
        by[method, channel].append(at)
    most: dict[str, int] = {}
    for (method, _), times in by.items():
        first = 0
        for last, at in enumerate(times):
            while at - times[first] > WINDOW_SECONDS:
                first += 1
            most[method] = max(most.get(method, 0), last - first + 1)
    return most


async def measure(jobs: int, steps: int, seconds: float) -> dict[str, Any]:
    """Both ways, each in a program of its own."""
    found = {}
    for name, limits, people, lanes, slower in (("all_at_once", AT_ONCE, jobs, jobs, 10), ("in_lanes", {}, 20, 6, 1)):
        with tempfile.TemporaryDirectory() as folder:
            async with program(Path(folder), **limits) as running:
                found[name] = await one_way(running, jobs, people, steps, seconds * slower, lanes)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--steps", type=int, default=10, help="tool calls of each job")
    parser.add_argument("--seconds", type=float, default=0.5, help="that each answer of the model takes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    result = asyncio.run(measure(options.jobs, options.steps, options.seconds))
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print(*(f"{name} {value}" for name, value in result.items()), sep="\n")
