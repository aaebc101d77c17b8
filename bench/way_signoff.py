"""Our way: the real gate, engine, cards, outbox and trail, with a face that costs nothing. In two shapes:

`window`: as the program is, which hands the model the newest 200 messages.
`whole`: with a window that is never full, so that the model sees as much as the others' does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import Model

from bench.worker import ANSWER, ARGUMENTS, PROMPT, RESULT, Way, answer, question, serve
from bot import stretches
from bot.agent import history
from bot.app import App, open_app
from bot.clock import SystemClock, new_id
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.settings import Settings
from bot.surface import Press, TurnContext
from storage import conversations
from tests.house import OWNER, PLACE, DoArguments, Face, Page


class Scripted(Model):
    """Calls the tool for a prompt, then says that it is done. (A `FunctionModel` would also count words as tokens.)"""

    @property
    def model_name(self) -> str:
        """See `Model.model_name`."""
        return "scripted"

    @property
    def system(self) -> str:
        """See `Model.system`."""
        return "bench"

    async def request(self, messages: list[ModelMessage], *args: Any, **kwargs: Any) -> ModelResponse:
        """See `Model.request`."""
        last = messages[-1]
        if isinstance(last, ModelRequest) and isinstance(last.parts[-1], UserPromptPart):
            return ModelResponse(parts=[ToolCallPart("act", ARGUMENTS, f"call{len(messages)}")])
        return ModelResponse(parts=[TextPart(ANSWER)])


class SignoffWay:
    """See `Way`."""

    def __init__(self) -> None:
        self.app: App
        self._face = Face()
        self._began = 0.0
        self._page = Page()

    def tool(self) -> Tool:
        """Notes when it began."""

        async def act(arguments: DoArguments, call: Call) -> ToolOutcome:
            self._began = time.perf_counter()
            return ToolOutcome(text=RESULT)

        return Tool(name="act", description="Acts.", arguments=DoArguments, body=act)

    async def seed(self, conversation: str, messages: int) -> None:
        """See `Way.seed`."""
        talk: list[ModelMessage] = []
        for number in range(messages // 2):
            talk.append(ModelRequest(parts=[UserPromptPart(question(number))]))
            talk.append(ModelResponse(parts=[TextPart(answer(number))]))
        async with self.app.database.begin("seed") as tx:
            await conversations.ensure(tx, conversation, at=0)
            await conversations.append(tx, conversation, run="seed", at_length=0, bodies=history.dump(talk))

    async def ask(self, conversation: str) -> None:
        """See `Way.ask`."""
        self.app.engine.connect(self._face)
        self._face.cards.clear()
        self._page = Page()
        ctx = TurnContext(conversation=conversation, place=PLACE, requester="2", request=conversation, prompt=PROMPT)
        await self.app.engine.take_turn(ctx, self._page)
        await self.app.background.idle()

    async def press(self, conversation: str) -> float:
        """See `Way.press`."""
        [(message, view)] = self._face.cards.items()
        press = Press(actor=OWNER, approval=view.approvals[0].id, place=PLACE, message=message)
        await self.app.engine.decide(press, "approve")
        await self.app.background.idle()
        if self._page.finished != ANSWER:
            raise AssertionError(f"it ended with {self._page.finished!r}")
        return self._began


async def run(folder: Path, work: Callable[[Way], Awaitable[None]]) -> None:
    """Open the house on a file of its own."""
    if sys.argv[2] == "whole":
        stretches.HISTORY = 1_000_000
    way = SignoffWay()
    settings = Settings(approver_users=frozenset({OWNER.id})).model_copy(
        update={"database": folder / "signoff.sqlite3", "workspace": folder, "streaming": False}
    )
    async with open_app(
        settings,
        tools=[way.tool()],
        mask=lambda text: text,
        clock=SystemClock(),
        new_id=new_id,
        model=Scripted(),
        sweep_ms=3_600_000,
    ) as way.app:
        await work(way)


if __name__ == "__main__":
    serve(run)
