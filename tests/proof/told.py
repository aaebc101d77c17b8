"""The reference: what a call must come to, in a few lines; and a tool and a face that a story can hold back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import NothingRan
from bot.surface import CardView
from tests.house import Bench, DoArguments, Face

TTL_SECONDS = 86_400

ENDS = {"ok": "succeeded", "fails": "failed", "breaks": "failed", "cannot": "nothing_ran", "hangs": "running"}
"""By what a tool is told to do: the state that its call is in afterwards."""

NO_EFFECT = {"cannot"}
OPEN = {"pending", "approved", "running"}


@dataclass
class Told:
    """One call as the reference knows it."""

    what: str
    prompt: str
    position: int
    expires_at: int
    trail: list[str] = field(default_factory=lambda: ["asked"])
    state: str = "pending"
    refused: int = 0
    decided_by: str | None = None
    reason: str | None = None

    def move(self, *states: str) -> None:
        self.trail += states
        self.state = states[-1]

    def approved(self, by: str) -> None:
        """Approved, so it runs as far as it can."""
        self.decided_by = by
        end = ENDS[self.what.split("-")[0]]
        self.move("approved", "running", *([end] if end != "running" else []))

    @property
    def effects(self) -> int:
        ran = {"running", "succeeded", "failed", "interrupted"}
        return int(self.state in ran and self.what.split("-")[0] not in NO_EFFECT)


class Hands(Bench):
    """The tool: does what it is told, counts what it did."""

    def __init__(self) -> None:
        super().__init__()
        self.hanging: set[asyncio.Task[Any] | None] = set()
        self.changed = asyncio.Event()

    async def act(self, arguments: DoArguments, call: Call) -> ToolOutcome:
        kind = arguments.what.split("-")[0]
        if kind == "cannot":
            raise NothingRan("there is no such thing")
        self.effects.append(arguments.what)
        if kind == "breaks":
            raise OSError("it broke")
        if kind == "hangs":
            self.hanging.add(asyncio.current_task())
            self.changed.set()
            await asyncio.Event().wait()
        return ToolOutcome(text=f"result of {arguments.what}", ok=kind != "fails", exit_code=int(kind == "fails"))

    def tools(self) -> list[Tool]:
        return [Tool(name="act", description="Acts.", arguments=DoArguments, body=self.act)]


class SlowFace(Face):
    """A face whose edits wait while there is a gate."""

    gate: asyncio.Event | None = None

    async def edit_card(self, view: CardView) -> None:
        if self.gate is not None:
            await self.gate.wait()
        await super().edit_card(view)
