"""A hundred thousand calls that wait for people: what they cost a program that starts, runs, and is pressed.

    python -m bench.scale [--waiting 100000] [--rounds 5] [--presses 200] [--json]

Each start is a process of its own, in turn on a file without and on a file with the waiting calls, which were written
by the storage functions themselves: conversation, messages, run, card, call, reminder and trail of each. Says the
time from opening the file to the end of recovery, what the process then holds in memory, and the median from a press
to the tool's first line, which the claim's commit precedes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, UserPromptPart

from bench.way_signoff import Scripted
from bot.agent import history
from bot.app import App, open_app
from bot.clock import SystemClock, new_id
from bot.deferral.calls import PendingToolCall
from bot.deferral.intent import action_key, intent_key
from bot.deferral.tool import Call, Tool, ToolKind, ToolOutcome
from bot.settings import Settings
from bot.surface import Press
from storage import approvals, cards, conversations, runs
from storage.runs import Run, RunKind, RunState
from tests.house import OWNER, PLACE, DoArguments, Face

ROOT = Path(__file__).parents[1]
BATCH = 1_000
"""Waiting calls that are written in one commit."""


class House:
    """The real house on a file, with a tool that notes when it began."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.began = 0.0

    def open(self) -> AbstractAsyncContextManager[App]:
        """Open everything below the faces."""

        async def act(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.began = time.perf_counter()
            return ToolOutcome(text="out")

        settings = Settings(approver_users=frozenset({OWNER.id})).model_copy(
            update={"database": self._file, "workspace": self._file.parent, "streaming": False}
        )
        return open_app(
            settings,
            tools=[Tool(name="act", description="Acts.", arguments=DoArguments, body=act)],
            mask=lambda text: text,
            clock=SystemClock(),
            new_id=new_id,
            model=Scripted(),
            sweep_ms=3_600_000,
        )


async def fill(file: Path, waiting: int) -> None:
    """Write `waiting` calls that wait, each as a turn of its own leaves it."""
    async with House(file).open() as app:
        asking: Any = app.engine._turns._asking
        for start in range(0, waiting, BATCH):
            async with app.database.begin("fill") as tx:
                for number in range(start, min(start + BATCH, waiting)):
                    await _wait(tx, asking, f"talk/{number}", number)


async def _wait(tx: Any, asking: Any, conversation: str, number: int) -> None:
    now, arguments = SystemClock().now(), {"what": f"thing {number}"}
    run = Run(
        id=new_id(),
        conversation=conversation,
        kind=RunKind.TURN,
        state=RunState.RUNNING,
        place=PLACE,
        requester="2",
        request=f"r{number}",
        prompt=f"Do thing {number}.",
        notify="channel",
        owner="filled",
        created_at=now,
    )
    talk = [
        ModelRequest(parts=[UserPromptPart(run.prompt)]),
        ModelResponse(parts=[ToolCallPart("act", arguments, "call1")]),
    ]
    await conversations.ensure(tx, conversation, at=now)
    await runs.create(tx, run)
    length = await conversations.append(tx, conversation, run=run.id, at_length=0, bodies=history.dump(talk))
    await runs.wait(tx, run.id, owner="filled", length=length or 0, call_ids=["call1"], hold_until=None)
    call = PendingToolCall(
        call_id="call1",
        tool_name="act",
        args=arguments,
        reason="act needs a person's sign-off",
        kind=ToolKind.APPROVAL,
        intent=intent_key(conversation, run.request, "act", arguments),
        action=action_key("act", arguments),
    )
    await asking.open(tx, run, [call], await asking.look([call]), pause=1)
    [stored] = await approvals.of_pause(tx, run.id, 1)
    await cards.shown(tx, stored.card, version=1, message=f"m{number}")


def memory() -> int:
    """Kilobytes that this process holds for itself."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("RssAnon")))


async def start(file: Path, presses: int) -> dict[str, float]:
    """One start on a file, and some presses."""
    house = House(file)
    began = time.perf_counter()
    async with house.open() as app:
        face: Any = Face()
        app.engine.connect(face)
        await app.engine.recover()
        await app.background.idle()
        found = {"start_seconds": time.perf_counter() - began, "memory_kilobytes": float(memory())}
        if presses:
            found["press_to_claimed_ms"] = await _press(app, house, presses)
    return found


async def _press(app: App, house: House, presses: int) -> float:
    waits = []
    for _ in range(presses):
        # Ids are random: the next one behind a new id is any of them.
        row = await app.database.reader.one(
            "SELECT id FROM approval WHERE id > ? AND state = 'pending' ORDER BY id LIMIT 1", new_id()
        )
        if row is None:
            continue
        press = Press(actor=OWNER, approval=row["id"], place=PLACE, message=None)
        pressed = time.perf_counter()
        await app.engine.decide(press, "approve")
        await app.background.idle()
        if house.began < pressed:
            raise AssertionError("it did not run")
        waits.append((house.began - pressed) * 1000)
    return statistics.median(waits)


def in_a_process(*arguments: str) -> dict[str, float]:
    """One start in a process of its own."""
    command = [sys.executable, "-m", "bench.scale", *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(waiting: int, rounds: int, presses: int) -> dict[str, float]:
    """Both files, start by start in turn."""
    with tempfile.TemporaryDirectory() as place:
        files = {name: Path(place) / name / "house.sqlite3" for name in ("none", "many")}
        for file in files.values():
            file.parent.mkdir()
        asyncio.run(fill(files["none"], 0))
        began = time.perf_counter()
        asyncio.run(fill(files["many"], waiting))
        filled = time.perf_counter() - began
        starts: dict[str, list[dict[str, float]]] = {"none": [], "many": []}
        for _ in range(rounds):
            for name, file in files.items():
                starts[name].append(in_a_process("--start", str(file)))
        pressed = in_a_process("--start", str(files["many"]), "--presses", str(presses))
        size = files["many"].stat().st_size

    def median(name: str, what: str) -> float:
        return statistics.median(one[what] for one in starts[name])

    return {
        "waiting": waiting,
        "filled_in_seconds": round(filled, 1),
        "kilobytes_on_disk_each": round(size / waiting / 1000, 2),
        "start_seconds_without": round(median("none", "start_seconds"), 3),
        "start_seconds_with": round(median("many", "start_seconds"), 3),
        "start_seconds_more": round(median("many", "start_seconds") - median("none", "start_seconds"), 3),
        "memory_kilobytes_without": median("none", "memory_kilobytes"),
        "memory_kilobytes_with": median("many", "memory_kilobytes"),
        "memory_kilobytes_more": median("many", "memory_kilobytes") - median("none", "memory_kilobytes"),
        "press_to_claimed_ms": round(pressed["press_to_claimed_ms"], 2),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--presses", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--start", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start is not None:
        counted = options.presses if "--presses" in sys.argv else 0
        print(json.dumps(asyncio.run(start(options.start, counted))))
    else:
        result = measure(options.waiting, options.rounds, options.presses)
        if options.json:
            print(json.dumps(result, indent=2))
        else:
            print(*(f"{name} {value}" for name, value in result.items()), sep="\n")
