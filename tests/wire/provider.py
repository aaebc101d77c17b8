"""A model behind a real socket: it speaks `/v1/chat/completions`, follows scripts, and can be held in an answer.

What it is asked is the whole conversation, so the script is chosen and followed by what stands there: a bot that was
killed and started again is answered as the one before.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.playground.twin import Twin

if TYPE_CHECKING:
    from tests.wire.conftest import Signoff

Step = str | list[tuple[str, dict[str, Any]]]


@dataclass
class Provider:
    """The scripts by goal, and what was asked."""

    scripts: dict[str, list[Step]] = field(default_factory=dict)
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    """By `goal#step`: answers that wait for it."""
    asked: Counter[str] = field(default_factory=Counter)
    """How often each step was asked for, by `goal#step`."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    seen: dict[str, str] = field(default_factory=dict)
    """By step: the newest request for it, as JSON."""
    url: str = ""

    @property
    def env(self) -> dict[str, str]:
        """Settings under which the bot asks here."""
        key = {"OPENAI_API_KEY": "sk-proj-0123456789abcdef", "OPENAI_BASE_URL": self.url}
        return {**key, "SIGNOFF_MODEL": "openai-chat:harbour-1", "SIGNOFF_STREAMING": "false"}

    def hold(self, step: str) -> None:
        """Let this step's answer wait until `let_go`."""
        self.held[step] = asyncio.Event()

    def let_go(self, step: str) -> None:
        """Answer it from now on."""
        self.held.pop(step).set()

    async def until_asked(self, step: str, times: int = 1) -> None:
        """Wait until a step was asked for so often."""
        async with asyncio.timeout(30):
            while self.asked[step] < times:
                self.changed.clear()
                await self.changed.wait()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One request of the bot's."""
        asked = await request.json()
        goal, number = _where(asked["messages"])
        name = f"{goal}#{number}"
        self.asked[name] += 1
        self.seen[name] = json.dumps(asked["messages"])
        self.changed.set()
        if (event := self.held.get(name)) is not None:
            await event.wait()
        script = self.scripts.get(goal, [])
        return web.json_response(_completion(script[number] if number < len(script) else "nothing to add", name, asked))


def _where(messages: list[dict[str, Any]]) -> tuple[str, int]:
    """The goal, which the conversation's last words of a person begin with, and how many answers came since."""
    goal, number = "", 0
    for message in messages:
        if message["role"] == "user":
            text = message["content"]
            words = text if isinstance(text, str) else " ".join(part.get("text", "") for part in text)
            goal, number = re.split(r"\n", words)[0], 0
        elif message["role"] == "assistant":
            number += 1
    return goal, number


def _completion(step: Step, name: str, asked: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step if isinstance(step, str) else None}
    if not isinstance(step, str):
        message["tool_calls"] = [
            {
                "id": f"{name}-{number}",
                "type": "function",
                "function": {"name": tool, "arguments": json.dumps(arguments)},
            }
            for number, (tool, arguments) in enumerate(step)
        ]
    reason = "stop" if isinstance(step, str) else "tool_calls"
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


@asynccontextmanager
async def open_provider() -> AsyncIterator[Provider]:
    """Serve one until the block ends."""
    provider = Provider()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", provider.handle)
    async with TestServer(app) as server:
        provider.url = str(server.make_url("/v1"))
        yield provider
        for event in provider.held.values():
            event.set()


async def begin(signoff: Signoff, goal: str, place: str = "ops") -> None:
    """Ben starts a job."""
    await signoff.twin.people["ben"].slash(place, "job start", goal=goal)
    await signoff.until("SELECT count(*) FROM run WHERE prompt = ?", 1, goal)


def told(twin: Twin, words: str, place: str = "ops") -> list[str]:
    """New messages that notify Ben and say this."""
    ben = twin.people["ben"].id
    return [post.text for post in twin.posts(place) if post.pinged == [ben] and words in post.text]
