"""The OpenAI Agents SDK's way: `needs_approval`, its RunState as JSON in a row, the history as JSON beside it.

The SDK leaves storing to its user; this is the leanest that is durable at the same moments as ours: one commit
at the pause, one for the decision before the tool starts, one at the end.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agents import Agent, ModelResponse, Runner, RunState, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from bench.worker import ANSWER, ARGUMENTS, PROMPT, RESULT, Way, answer, question, serve


class Scripted(Model):
    """Calls the tool for a prompt, then says that it is done."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        """See `Model.get_response`."""
        if input[-1].get("role") == "user":
            call = ResponseFunctionToolCall(
                type="function_call", name="act", arguments=json.dumps(ARGUMENTS), call_id=f"call{len(input)}"
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        said = ResponseOutputMessage(
            id="said",
            type="message",
            role="assistant",
            status="completed",
            content=[ResponseOutputText(type="output_text", text=ANSWER, annotations=[])],
        )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        """Not used here."""
        raise NotImplementedError


class AgentsWay:
    """See `Way`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._began = 0.0

        @function_tool(needs_approval=True)
        def act(what: str) -> str:
            """Acts."""
            self._began = time.perf_counter()
            return RESULT

        self._agent = Agent(name="bench", model=Scripted(), tools=[act])

    async def seed(self, conversation: str, messages: int) -> None:
        """See `Way.seed`."""
        past = []
        for number in range(messages // 2):
            past += [
                {"role": "user", "content": question(number)},
                {
                    "id": f"old{number}",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": answer(number), "annotations": []}],
                },
            ]
        self._database.execute("INSERT INTO conversation (id, history) VALUES (?, ?)", (conversation, json.dumps(past)))

    async def ask(self, conversation: str) -> None:
        """See `Way.ask`."""
        [history] = self._database.execute("SELECT history FROM conversation WHERE id = ?", (conversation,)).fetchone()
        result = await Runner.run(self._agent, [*json.loads(history), {"role": "user", "content": PROMPT}])
        if not result.interruptions:
            raise AssertionError("it did not ask")
        state = result.to_state().to_string()
        self._database.execute("UPDATE conversation SET state = ? WHERE id = ?", (state, conversation))

    async def press(self, conversation: str) -> float:
        """See `Way.press`."""
        self._database.execute("UPDATE conversation SET decision = 'approve' WHERE id = ?", (conversation,))
        [stored] = self._database.execute("SELECT state FROM conversation WHERE id = ?", (conversation,)).fetchone()
        state = await RunState.from_string(self._agent, stored)
        for item in state.get_interruptions():
            state.approve(item)
        result = await Runner.run(self._agent, state)
        if result.final_output != ANSWER:
            raise AssertionError(f"it ended with {result.final_output!r}")
        self._database.execute(
            "UPDATE conversation SET history = ?, state = NULL, decision = NULL WHERE id = ?",
            (json.dumps(result.to_input_list()), conversation),
        )
        return self._began


async def run(folder: Path, work: Callable[[Way], Awaitable[None]]) -> None:
    """Open a file of its own; each statement is its own commit."""
    set_tracing_disabled(True)
    database = sqlite3.connect(folder / "agents.sqlite3", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE conversation (id TEXT PRIMARY KEY, history TEXT, state TEXT, decision TEXT)")
    try:
        await work(AgentsWay(database))
    finally:
        database.close()


if __name__ == "__main__":
    serve(run)
