"""LangGraph's way: `interrupt` before the tool, the SQLite saver behind it. In two shapes:

`graph`: two plain functions as nodes, as lean as it gets; no model class, no tool schema, nothing is validated.
`agent`: its own prebuilt agent over a chat model, which offers tools and validates their arguments, as ours does.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiosqlite
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command, interrupt

from bench.worker import ANSWER, ARGUMENTS, PROMPT, RESULT, Way, answer, question, serve

began = 0.0
"""When the tool last began."""


def says(messages: list[BaseMessage]) -> AIMessage:
    """Calls the tool for a prompt, then says that it is done."""
    if isinstance(messages[-1], HumanMessage):
        return AIMessage("", tool_calls=[{"name": "act", "args": ARGUMENTS, "id": f"call{len(messages)}"}])
    return AIMessage(ANSWER)


def act(what: str) -> str:
    """Acts, when somebody has approved it."""
    global began
    if interrupt({"tool": "act", "arguments": {"what": what}}) != "approve":
        return "denied"
    began = time.perf_counter()
    return RESULT


class Scripted(BaseChatModel):
    """`says` as a chat model."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """See `BaseChatModel.bind_tools`."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=says(messages))])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


def graph(saver: AsyncSqliteSaver) -> Any:
    """The lean shape."""

    async def model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [says(list(state["messages"]))]}

    async def tools(state: MessagesState) -> dict[str, Any]:
        last: Any = state["messages"][-1]
        [call] = last.tool_calls
        return {"messages": [ToolMessage(act(**call["args"]), tool_call_id=call["id"])]}

    built = StateGraph(MessagesState)
    built.add_node("agent", model)
    built.add_node("tools", tools)
    built.add_edge(START, "agent")
    built.add_conditional_edges("agent", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    built.add_edge("tools", "agent")
    return built.compile(checkpointer=saver)


def agent(saver: AsyncSqliteSaver) -> Any:
    """The shape that its documentation begins with."""

    async def act_(what: str) -> str:
        """Acts."""
        return act(what)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is moving to another package of theirs
        return create_react_agent(Scripted(), [tool("act")(act_)], checkpointer=saver)


class LangGraphWay:
    """See `Way`."""

    def __init__(self, compiled: Any) -> None:
        self._graph = compiled

    async def seed(self, conversation: str, messages: int) -> None:
        """See `Way.seed`."""
        past: list[BaseMessage] = []
        for number in range(messages // 2):
            past += [HumanMessage(question(number)), AIMessage(answer(number))]
        await self._graph.aupdate_state(_thread(conversation), {"messages": past}, as_node="agent")

    async def ask(self, conversation: str) -> None:
        """See `Way.ask`."""
        prompt = {"messages": [HumanMessage(PROMPT)]}
        done = await self._graph.ainvoke(prompt, _thread(conversation), durability="sync")
        if not done.get("__interrupt__"):
            raise AssertionError("it did not ask")

    async def press(self, conversation: str) -> float:
        """See `Way.press`."""
        done = await self._graph.ainvoke(Command(resume="approve"), _thread(conversation), durability="sync")
        if done["messages"][-1].content != ANSWER:
            raise AssertionError(f"it ended with {done['messages'][-1]!r}")
        return began


def _thread(conversation: str) -> Any:
    return {"configurable": {"thread_id": conversation}}


async def run(folder: Path, work: Callable[[Way], Awaitable[None]]) -> None:
    """Open the saver on a file of its own."""
    async with aiosqlite.connect(folder / "langgraph.sqlite3") as connection:
        saver = AsyncSqliteSaver(connection)
        await saver.setup()  # sets WAL
        await connection.execute("PRAGMA synchronous = FULL")
        await work(LangGraphWay({"graph": graph, "agent": agent}[sys.argv[2]](saver)))


if __name__ == "__main__":
    serve(run)
