"""One approval's whole way: asked, durable, pressed, claimed, run once, resumed, finished, durable.

    python -m bench.cycle [--rounds 200] [--json]

Real SQLite (WAL, synchronous=FULL), the real gate and engine, a scripted model, a face that costs nothing.
Says cycles per second, the time from the press to the tool's first line, and the bytes handed to write() per
cycle, with 10 and with 1,000 messages of history. The bytes must not grow with the history.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from bot.agent import history
from bot.app import App, open_app
from bot.clock import SystemClock, new_id
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.settings import Settings
from bot.surface import TurnContext
from storage import conversations
from tests.house import OWNER, PLACE, DoArguments, Face, Page, Press

HISTORIES = (10, 1000)


def model() -> FunctionModel:
    """Calls the tool for every prompt, then says that it is done."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        last = messages[-1]
        if isinstance(last, ModelRequest) and any(isinstance(part, UserPromptPart) for part in last.parts):
            call = f"call{len(messages)}"
            yield {0: DeltaToolCall(name="act", json_args='{"what": "x"}', tool_call_id=call)}
        else:
            yield "It is done."

    return FunctionModel(stream_function=stream, model_name="bench")


async def seed(app: App, conversation: str, messages: int) -> None:
    """Give a conversation a past of ordinary talk."""
    talk: list[ModelMessage] = []
    for number in range(messages // 2):
        talk.append(ModelRequest(parts=[UserPromptPart(f"Question {number}: " + "what about it? " * 20)]))
        talk.append(ModelResponse(parts=[TextPart(f"Answer {number}: " + "it is like this. " * 20)]))
    async with app.database.begin("seed") as tx:
        await conversations.ensure(tx, conversation, at=0)
        await conversations.append(tx, conversation, run="seed", at_length=0, bodies=history.dump(talk))


def written() -> int:
    """Bytes that this process has handed to write() so far."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


async def measure(folder: Path, messages: int, rounds: int) -> dict[str, float]:
    """Run `rounds` cycles one after the other, each in a conversation with its own past."""
    started: dict[str, float] = {}
    effects = 0

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        nonlocal effects
        effects += 1
        started[call.id] = time.perf_counter()
        return ToolOutcome(text="out", exit_code=0)

    settings = Settings(approver_users=frozenset({OWNER.id})).model_copy(
        update={"database": folder / f"bench{messages}.sqlite3", "workspace": folder}
    )
    async with open_app(
        settings,
        tools=[Tool(name="act", description="Acts.", arguments=DoArguments, body=body)],
        mask=lambda text: text,
        clock=SystemClock(),
        new_id=new_id,
        model=model(),
        sweep_ms=3_600_000,
    ) as app:
        face = Face()
        app.engine.connect(face)
        for number in range(rounds + 5):
            await seed(app, f"bench/{number}", messages)
        latencies, began, bytes_before = [], 0.0, 0
        for number in range(rounds + 5):
            if number == 5:  # the first few warm up
                began, bytes_before = time.perf_counter(), written()
                latencies.clear()
            ctx = TurnContext(
                conversation=f"bench/{number}", place=PLACE, requester="2", request=f"r{number}", prompt="go"
            )
            page = Page()
            await app.engine.take_turn(ctx, page)
            message, view = next(reversed(face.cards.items()))
            press = Press(actor=OWNER, approval=view.approvals[0].id, place=PLACE, message=message)
            pressed = time.perf_counter()
            await app.engine.decide(press, "approve")
            await app.background.idle()
            if page.finished != "It is done.":
                raise AssertionError(f"cycle {number} ended with {page.finished!r}")
            latencies.append((started[press.approval] - pressed) * 1000)
            face.cards.clear()
        took, bytes_written = time.perf_counter() - began, written() - bytes_before
    if effects != rounds + 5:
        raise AssertionError(f"{effects} effects in {rounds + 5} cycles")
    quantiles = statistics.quantiles(latencies, n=100)
    return {
        "history_messages": messages,
        "cycles": rounds,
        "cycles_per_second": round(rounds / took, 1),
        "press_to_tool_ms_p50": round(statistics.median(latencies), 2),
        "press_to_tool_ms_p99": round(quantiles[98], 2),
        "kilobytes_written_per_cycle": round(bytes_written / rounds / 1000, 1),
    }


async def main(rounds: int) -> list[dict[str, float]]:
    """Every history length in turn."""
    with tempfile.TemporaryDirectory() as folder:
        return [await measure(Path(folder), messages, rounds) for messages in HISTORIES]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    options = parser.parse_args()
    rows = asyncio.run(main(options.rounds))
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print("  ".join(f"{name} {value}" for name, value in row.items()))
