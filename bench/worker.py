"""What every way of the comparison shares: the task, the clock around it, and the line protocol of its process.

Imports nothing but the standard library, because each way runs in an interpreter that has only its own packages.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

PROMPT = "go"
ARGUMENTS = {"what": "x"}
ANSWER = "It is done."
RESULT = "out"

WARM_UP = 3
"""Cycles before the clock starts, in every round."""


def question(number: int) -> str:
    """What the person said in the past."""
    return f"Question {number}: " + "what about it? " * 20


def answer(number: int) -> str:
    """What the model said in the past."""
    return f"Answer {number}: " + "it is like this. " * 20


class Way(Protocol):
    """One way to ask a person, survive the wait and run what was approved, on one SQLite file."""

    async def seed(self, conversation: str, messages: int) -> None:
        """Give a conversation a past of `messages` messages. Not measured."""
        ...

    async def ask(self, conversation: str) -> None:
        """The person says `PROMPT`; the model calls the tool; return when the pause is durable."""
        ...

    async def press(self, conversation: str) -> float:
        """Approve; the tool runs; the model answers; return when all is durable, with the moment the tool began."""
        ...


def written() -> int:
    """Bytes that this process has handed to write() so far."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


def cpu() -> float:
    """Seconds of processor that this process has used, in all its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def one_round(way: Way, name: str, messages: int, cycles: int) -> dict[str, float]:
    """`cycles` whole ways one after the other, each in a conversation of its own."""
    conversations = [f"{name}/{number}" for number in range(WARM_UP + cycles)]
    for conversation in conversations:
        await way.seed(conversation, messages)
    for conversation in conversations[:WARM_UP]:
        await way.ask(conversation)
        await way.press(conversation)
    waits: list[float] = []
    began, cpu_before, bytes_before = time.perf_counter(), cpu(), written()
    for conversation in conversations[WARM_UP:]:
        await way.ask(conversation)
        pressed = time.perf_counter()
        waits.append(await way.press(conversation) - pressed)
    took = time.perf_counter() - began
    return {
        "cycles_per_second": cycles / took,
        "press_to_tool_ms": statistics.median(waits) * 1000,
        "cpu_ms": (cpu() - cpu_before) / cycles * 1000,
        "kilobytes_written": (written() - bytes_before) / cycles / 1000,
    }


def serve(run: Callable[[Path, Callable[[Way], Awaitable[None]]], Awaitable[None]]) -> None:
    """Answer one JSON line (`name`, `messages`, `cycles`) per round until the input ends.

    `run(folder, work)` opens the way in `folder`, awaits `work(way)` and closes it.
    """
    folder = Path(sys.argv[1])

    async def work(way: Way) -> None:
        for line in sys.stdin:
            asked = json.loads(line)
            print(json.dumps(await one_round(way, asked["name"], asked["messages"], asked["cycles"])), flush=True)

    async def main() -> None:
        await run(folder, work)

    asyncio.run(main())
