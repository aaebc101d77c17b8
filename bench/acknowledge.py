"""How long a press waits for its acknowledgement, when fifty come at once and the database is busy.

    python -m bench.acknowledge [--presses 50] [--rounds 5] [--json]

The ordinary program against a twin over real sockets. It is stopped (SIGSTOP) while fifty people's presses are put
into its connection, and let go: all of them are there at once. Meanwhile another process holds the write lock of the
database for 30 of every 40 ms. Own time is from the moment it is let go, and from the moment discord.py has read the
press, to the moment the acknowledgement's bytes have been handed to the socket. What was pressed has to run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from bench.outside import AT_ONCE, Program, busy, machine, percentile, program

GOAL_MS = 100.0


async def cards(program: Program, presses: int, number: int) -> list[Any]:
    """So many cards that wait, each of a job of its own, because a conversation's line is bounded."""
    twin, goals = program.twin, [f"do round {number} number {one} end" for one in range(presses)]
    await program.do("work", goals=goals, place=program.place("ops"), person=str(twin.people["ben"].id))
    found = []
    for goal in goals:
        look = partial(twin.last, "ops", text=goal, label="Approve")
        found.append(await twin.wait_for(look, timeout=60, what=goal))
    return found


async def one_round(program: Program, presses: int, number: int) -> dict[str, list[float]]:
    """Fifty at once; milliseconds of each."""
    waiting = await cards(program, presses, number)
    await asyncio.sleep(1)  # what the questions set off has been shown
    await program.do("reset")
    ana = program.twin.people["ana"]
    async with busy(program.folder / "data" / "signoff.sqlite3", hold=0.03, rest=0.01):
        await asyncio.sleep(0.5)
        program.process.send_signal(signal.SIGSTOP)
        clicks = [asyncio.ensure_future(ana.click(card, "Approve")) for card in waiting]
        await asyncio.sleep(0.5)  # they are in its socket
        let_go = time.perf_counter()
        program.process.send_signal(signal.SIGCONT)
        await asyncio.gather(*clicks)
        await program.twin.wait_for(
            lambda: all("done" in card.text for card in waiting), timeout=120, what="fifty endings"
        )
        ended = time.perf_counter()
        seen = await program.do("report")
    if len(seen["left"]) != presses:
        raise AssertionError(f"{len(seen['left'])} of {presses} presses were acknowledged")
    return {
        "let_go": [(left - let_go) * 1000 for left in seen["left"].values()],
        "read": [(left - seen["arrived"][id]) * 1000 for id, left in seen["left"].items()],
        "all_done": [(ended - let_go) * 1000],
    }


async def measure(presses: int, rounds: int) -> dict[str, Any]:
    """Some rounds in one program."""
    found: dict[str, list[float]] = {"let_go": [], "read": [], "all_done": []}
    noise = []
    with tempfile.TemporaryDirectory() as folder:
        async with program(Path(folder), **AT_ONCE) as running:
            for number in range(rounds + 1):
                noise.append(machine())
                result = await one_round(running, presses, number)
                if number:  # the first one warms up
                    for name, values in result.items():
                        found[name] += values
    return {
        "presses": len(found["read"]),
        "at_once": presses,
        "own_ms": {name: _figures(found[name]) for name in ("let_go", "read")},
        "all_run_and_shown_ms": round(statistics.median(found["all_done"])),
        "goal_p99_ms": GOAL_MS,
        "met": percentile(found["let_go"], 0.99) < GOAL_MS,
        "machine": noise[1:],
    }


def _figures(values: list[float]) -> dict[str, float]:
    parts = {"median": 0.5, "p90": 0.9, "p99": 0.99, "most": 1.0}
    return {name: round(percentile(values, part), 1) for name, part in parts.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presses", type=int, default=50, help="at once")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    result = asyncio.run(measure(options.presses, options.rounds))
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print(*(f"{name} {value}" for name, value in result.items()), sep="\n")
