"""The ordinary program with probes in it: `signoff run` against a twin, with a scripted model and tools without a cost.

    python -m bench.inside      one JSON line per command on stdin, one per answer on stdout, marked as such

It notes when each interaction reaches the client and when the bytes of its acknowledgement have been handed to the
socket, counts what goes to Discord, and samples how late the event loop is. Nothing of the program is replaced but the
model and the tools.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import discord.http
import discord.state
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import Model

from bot import app
from bot.cli import run
from bot.clock import new_id
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.redact import Redactor
from bot.settings import load_settings
from bot.surface import TurnContext
from tests.house import DoArguments

MARK = "BENCH "
_CALLBACK = re.compile(r"/interactions/(\d+)/[^/]+/callback$")
_MESSAGES = re.compile(r"/channels/(\d+)/messages(/\d+)?$")
LAG_SECONDS = 0.01


class Paced(Model):
    """`do ...` asks for the gated tool and ends; `job ...` looks so many times, each answer taking its time."""

    def __init__(self) -> None:
        super().__init__()
        self.steps, self.seconds = 10, 0.5
        self.first: dict[str, float] = {}
        """When each job was first worked on, by its goal."""
        self.last: dict[str, float] = {}

    @property
    def model_name(self) -> str:
        """See `Model.model_name`."""
        return "paced"

    @property
    def system(self) -> str:
        """See `Model.system`."""
        return "bench"

    async def request(self, messages: list[ModelMessage], *args: Any, **kwargs: Any) -> ModelResponse:
        """See `Model.request`."""
        prompts = [part.content for one in messages for part in one.parts if isinstance(part, UserPromptPart)]
        goal, answered = str(prompts[-1]).split("\n")[0], 0
        for one in messages:
            fresh = isinstance(one, ModelRequest) and any(isinstance(part, UserPromptPart) for part in one.parts)
            answered = 0 if fresh else answered + isinstance(one, ModelResponse)
        if goal.startswith("job"):
            self.first.setdefault(goal, time.perf_counter())
            await asyncio.sleep(self.seconds)
            if answered < self.steps:
                return ModelResponse(parts=[ToolCallPart("look", {"what": goal}, f"{goal}-{answered}")])
            self.last[goal] = time.perf_counter()
        elif goal.startswith("do") and not answered:
            return ModelResponse(parts=[ToolCallPart("act", {"what": goal}, f"{goal}-0")])
        return ModelResponse(parts=[TextPart(f"Done: {goal}.")])


class Probes:
    """What was seen, in seconds of the monotonic clock (the same for all processes of the machine)."""

    def __init__(self) -> None:
        self.arrived: dict[str, float] = {}
        self.left: dict[str, float] = {}
        self.sent: list[tuple[float, str, str]] = []
        self.lags: list[float] = []
        discord.state.ConnectionState.parse_interaction_create = _noting(  # type: ignore[method-assign]
            discord.state.ConnectionState.parse_interaction_create, self.arrived
        )
        trace = aiohttp.TraceConfig()
        trace.on_request_headers_sent.append(self._headers_sent)
        make = discord.http.HTTPClient.__init__

        def traced(client: Any, *args: Any, **kwargs: Any) -> None:
            make(client, *args, **{**kwargs, "http_trace": trace})

        discord.http.HTTPClient.__init__ = traced  # type: ignore[method-assign]

    async def _headers_sent(self, session: Any, context: Any, params: Any) -> None:
        now, path = time.perf_counter(), params.url.path
        if found := _CALLBACK.search(path):
            self.left.setdefault(found[1], now)
        elif found := _MESSAGES.search(path):
            self.sent.append((now, params.method, found[1]))

    async def watch_the_loop(self) -> None:
        """Sample how much later than it should the loop comes round."""
        while True:
            due = time.perf_counter() + LAG_SECONDS
            await asyncio.sleep(LAG_SECONDS)
            self.lags.append(time.perf_counter() - due)


def _noting(parse: Any, arrived: dict[str, float]) -> Any:
    def noting(state: Any, data: Any) -> None:
        arrived[str(data["id"])] = time.perf_counter()
        parse(state, data)

    return noting


def memory() -> int:
    """Kilobytes that this process holds for itself."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("RssAnon")))


async def _act(arguments: DoArguments, call: Call) -> ToolOutcome:
    return ToolOutcome(text="out")


TOOLS = [
    Tool(name="act", description="Acts.", arguments=DoArguments, body=_act),
    Tool(name="look", description="Looks.", arguments=DoArguments, body=_act, gated=False),
]


class Inside:
    """Answers commands while the program runs."""

    def __init__(self) -> None:
        self.probes, self.model = Probes(), Paced()
        self.started = 0.0

    @asynccontextmanager
    async def open_app(self, settings: Any, **options: Any) -> AsyncIterator[app.App]:
        """Stands in for `bot.app.open_app`."""
        async with app.open_app(settings, **{**options, "tools": TOOLS, "model": self.model}) as opened:
            tasks = [asyncio.ensure_future(self._serve(opened)), asyncio.ensure_future(self.probes.watch_the_loop())]
            try:
                yield opened
            finally:
                for task in tasks:
                    task.cancel()

    async def _serve(self, opened: app.App) -> None:
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            asked = json.loads(line)
            answer = await getattr(self, asked.pop("do"))(opened, **asked)
            sys.stdout.write(f"{MARK}{json.dumps(answer)}\n")
            sys.stdout.flush()

    async def jobs(
        self, opened: app.App, *, count: int, people: int, places: list[str], steps: int, seconds: float
    ) -> dict[str, Any]:
        """Start jobs, as `/job start` does: the people take turns, and so do the places."""
        self.model.steps, self.model.seconds = steps, seconds
        self.model.first.clear()
        self.model.last.clear()
        before = memory()
        self.started = time.perf_counter()
        for number in range(count):
            place = places[number % len(places)]
            await opened.engine.start_job(
                TurnContext(
                    conversation=place,
                    place=place,
                    requester=str(1_000 + number % people),
                    request=f"bench-{new_id()}",
                    prompt=f"job {number}",
                )
            )
        return {"memory_kilobytes": before, "took": time.perf_counter() - self.started}

    async def work(self, opened: app.App, *, goals: list[str], place: str, person: str) -> dict[str, Any]:
        """Start jobs of one person with these goals."""
        for goal in goals:
            await opened.engine.start_job(
                TurnContext(conversation=place, place=place, requester=person, request=f"bench-{new_id()}", prompt=goal)
            )
        return {}

    async def reset(self, opened: app.App) -> dict[str, Any]:
        """Forget what was seen."""
        self.probes.arrived.clear()
        self.probes.left.clear()
        self.probes.sent.clear()
        self.probes.lags.clear()
        return {}

    async def report(self, opened: app.App) -> dict[str, Any]:
        """Everything seen since."""
        rows = await opened.database.reader.all("SELECT state, count(*) AS n FROM run GROUP BY state")
        return {
            "memory_kilobytes": memory(),
            "runs": {row["state"]: row["n"] for row in rows},
            "arrived": self.probes.arrived,
            "left": self.probes.left,
            "sent": self.probes.sent,
            "lags": self.probes.lags,
            "started": self.started,
            "first": self.model.first,
            "last": self.model.last,
        }


if __name__ == "__main__":
    inside = Inside()
    run.open_app = inside.open_app  # type: ignore[attr-defined]
    settings = load_settings()
    sys.exit(run.run_bot(settings, Redactor({})))
