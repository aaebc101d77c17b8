"""One life of a house that dies on cue: `python -m tests.crash.driver FOLDER LABEL`.

A label names a moment: `before|after` one of the named commits of the code, or one of the points where the
house touches the world (`post card`, `say`, `effect`, `model`). At that moment the process is killed with
SIGKILL. With the label `-` nothing dies: the house recovers, people press, and what is left comes to its end.

What people see and what the tool does goes to files, synced line by line, because they outlive the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bot.app import open_app
from bot.clock import SystemClock, new_id
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import DecisionRefused
from bot.settings import Settings
from bot.surface import Announcement, CardView, Press, Reply, TurnContext
from storage.approvals import ApprovalState
from storage.database import Database, Reader, Transaction, open_database
from tests.house import ASKER, OWNER, PLACE, DoArguments


class Fate:
    """Knows the moment to die at."""

    def __init__(self, label: str) -> None:
        self._label = label

    def meet(self, moment: str) -> None:
        with (FOLDER / "moments").open("a") as file:
            file.write(moment + "\n")
        if moment == self._label:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalDatabase:
    """The real database, with a moment before and after every commit."""

    def __init__(self, inner: Database, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    @property
    def reader(self) -> Reader:
        return self._inner.reader

    @asynccontextmanager
    async def begin(self, step: str) -> AsyncIterator[Transaction]:
        async with self._inner.begin(step) as tx:
            yield tx
            self._fate.meet(f"before {step}")
        self._fate.meet(f"after {step}")

    async def data_version(self) -> int:
        return await self._inner.data_version()


class Wall:
    """What people see, on the disk. A message of a key it has seen is not put up twice, as Discord does by nonce."""

    def __init__(self, folder: Path, fate: Fate) -> None:
        self._path = folder / "wall"
        self._fate = fate

    def put(self, kind: str, key: str, text: str) -> str:
        lines = [json.loads(line) for line in self._path.read_text().splitlines()] if self._path.exists() else []
        if kind != "edit" and any(line["key"] == key and line["kind"] == kind for line in lines):
            return key
        self._fate.meet(f"before {kind}")
        with self._path.open("a") as file:
            file.write(json.dumps({"kind": kind, "key": key, "text": text}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._fate.meet(f"after {kind}")
        return key

    async def post_card(self, view: CardView) -> str:
        return self.put("card", view.card.id, view.approvals[0].state)

    async def edit_card(self, view: CardView) -> None:
        self.put("edit", view.card.id, view.approvals[0].state)

    async def announce(self, announcement: Announcement) -> str:
        return self.put("say", announcement.key, announcement.text)

    async def tell(self, person: str, announcement: Announcement) -> str:
        return self.put("dm", announcement.key, announcement.text)

    def reopen(self, place: str, message: str, *, key: str) -> Reply:
        return Sheet(self, message)

    async def mark_moved(self, place: str, message: str, to: str) -> None:
        self.put("edit", message, f"moved to {to}")

    def who(self, person: str) -> str:
        return person

    def link(self, place: str, message: str | None) -> str:
        return ""


class Sheet:
    """A reply on the wall: its last text is what people read."""

    def __init__(self, wall: Wall, message: str | None = None) -> None:
        self._wall = wall
        self.message = message

    async def show(self, text: str) -> None:
        self.message = "reply"
        self._wall.put("edit", "reply", text)

    async def rest(self, text: str) -> None:
        await self.show(text)

    async def finish(self, text: str) -> str:
        self.message = "reply"
        self._wall.put("edit", "reply", text)
        return "reply"


def model(fate: Fate) -> FunctionModel:
    """Calls the tool once, then says what came of it."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        fate.meet("model")
        called = any(
            isinstance(m, ModelResponse) and any(isinstance(p, ToolCallPart) for p in m.parts) for m in messages
        )
        last = messages[-1]
        if isinstance(last, ModelRequest) and isinstance(last.parts[-1], UserPromptPart) and not called:
            return ModelResponse(parts=[ToolCallPart("act", {"what": "x"}, "call1")])
        return ModelResponse(parts=[TextPart("The end.")])

    return FunctionModel(answer, model_name="mortal")


def tool(folder: Path, fate: Fate) -> Tool:
    """Has one effect: a line in a file."""

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        fate.meet("before effect")
        with (folder / "effects").open("a") as file:
            file.write(arguments.what + "\n")
        fate.meet("after effect")
        return ToolOutcome(text="out", exit_code=0)

    return Tool(name="act", description="Acts.", arguments=DoArguments, body=body)


async def live(folder: Path, label: str) -> None:
    """Ask once in the house's life, press Approve on what waits, and see everything through."""
    fate = Fate(label)

    def open_db(url: str) -> AbstractAsyncContextManager[Database]:
        return _mortal(url, fate)

    settings = Settings(approver_users=frozenset({OWNER.id})).model_copy(
        update={"database": folder / "house.sqlite3", "workspace": folder, "streaming": False}
    )
    async with open_app(
        settings,
        tools=[tool(folder, fate)],
        mask=lambda text: text,
        clock=SystemClock(),
        new_id=new_id,
        model=model(fate),
        sweep_ms=3_600_000,
        open_db=open_db,
    ) as app:
        wall: Any = Wall(folder, fate)
        app.engine.connect(wall)
        await app.engine.recover()
        await app.background.idle()
        if not await app.database.reader.all("SELECT 1 FROM run"):
            ctx = TurnContext(
                conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="go", notify="both"
            )
            await app.engine.take_turn(ctx, Sheet(wall))
        for approval in await app.engine.open_approvals("discord"):
            if approval.state is ApprovalState.PENDING:
                try:
                    await app.engine.decide(
                        Press(actor=OWNER, approval=approval.id, place=PLACE, message=approval.card), "approve"
                    )
                except DecisionRefused as refusal:
                    raise AssertionError(refusal.sentence) from refusal
        await app.background.idle()


@asynccontextmanager
async def _mortal(url: str, fate: Fate) -> AsyncIterator[Database]:
    async with open_database(url) as database:
        yield MortalDatabase(database, fate)


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    asyncio.run(live(FOLDER, sys.argv[2]))
