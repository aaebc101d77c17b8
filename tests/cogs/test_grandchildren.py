"""What must not leak from a request into its job, the job's job, and that one's: one by one (issue 6, point 1)."""

from __future__ import annotations

import contextvars
import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.jobs.budget import CLOCKED_JOB_BUDGET_MS, JOB_BUDGET_MS
from bot.surface import TurnClock, TurnContext
from tests.cogs.guild import Guild, open_guild
from tests.house import Bench, DoArguments, Page, Script

EPHEMERAL = 64
"""Discord's message flag."""
GENERATIONS = ("child", "grandchild", "great-grandchild")

parents: contextvars.ContextVar[str] = contextvars.ContextVar("parents", default="nothing")


def script() -> Script:
    """A request that starts a job, that starts a job, that starts a job; each looks around and asks for something."""
    steps: dict[str, list[Any]] = {}
    for name, child in zip(("please", *GENERATIONS), (*GENERATIONS, None), strict=True):
        calls: list[tuple[str, dict[str, Any]]] = [("look", {"what": name})]
        calls += [("start_job", {"goal": child})] if child else []
        steps[name] = [calls, f"{name} is through."]
    return Script(by_prompt=steps)


class Witness(Bench):
    """`look` notes everything that is in the context it runs in."""

    def __init__(self) -> None:
        super().__init__()
        self.saw: dict[str, dict[str, object]] = {}

    def tools(self) -> list[Tool]:
        async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
            context = {var.name: value for var, value in contextvars.copy_context().items()}
            # The simulated guild has a mark of its own on what the bot does.
            self.saw[arguments.what] = {name: context[name] for name in context if not name.startswith("simcord")}
            return ToolOutcome(text="seen")

        others = [tool for tool in super().tools() if tool.name != "look"]
        return [*others, Tool(name="look", description="Looks.", arguments=DoArguments, body=look, gated=False)]


async def jobs(here: Guild) -> dict[str, dict[str, Any]]:
    """The run of each generation, by its goal."""
    rows = await here.rows("SELECT * FROM run WHERE kind = 'job'")
    assert {row["prompt"] for row in rows} == set(GENERATIONS)
    return {row["prompt"]: row for row in rows}


def sent_of(here: Guild, runs: dict[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """What the bot sent about the jobs, with its path. The answer to `/job start` is the command's own."""
    ids = [run["id"] for run in runs.values()]
    return [
        (entry.path, entry.json)
        for entry in here.env.http_requests
        if entry.method in {"POST", "PATCH"}
        and any(id in json.dumps(entry.json) for id in ids)
        and "its result will be announced" not in json.dumps(entry.json)
    ]


@pytest.mark.parametrize("way", ["/ask", "/job start", "a message"])
async def test_no_token_no_flag_and_no_reply_target_reaches_a_job_of_any_generation(tmp_path: Path, way: str) -> None:
    witness = Witness()
    async with open_guild(tmp_path, script(), bench=witness) as here:
        if way == "a message":
            await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> please")
        elif way == "/ask":
            await here.ben.slash(here.channel, "ask", prompt="please")
        else:
            await here.ben.slash(here.channel, "job start", goal="child")
        await here.settle()
        for _ in GENERATIONS:
            await here.later()
        runs = await jobs(here)
        sent = sent_of(here, runs)
        tokens = {
            found[1] for one in here.env.http_requests if (found := re.search(r"/interactions/\d+/([^/]+)/", one.path))
        }
        assert bool(tokens) == (way != "a message")
        # The ending of each, and the first one's card: those of the others would have come after their ends.
        assert len([path for path, _ in sent if path.endswith("/messages")]) > len(GENERATIONS)
        told = {
            "interaction token": [path for path, _ in sent if any(token in path for token in tokens)],
            "ephemeral flag": [body for _, body in sent if (body.get("flags") or 0) & EPHEMERAL],
            "reply target": [body for _, body in sent if body.get("message_reference")]
            + [run["reply"] for run in runs.values() if run["reply"]],
            "webhook": [path for path, _ in sent if "/webhooks/" in path],
        }
        assert told == {name: [] for name in told}
        for goal in GENERATIONS:
            # Such as the language of who asked, or the way to answer an interaction.
            assert witness.saw[goal] == {}, f"{goal} runs in a context with something in it"
        stored = json.dumps([list(map(str, run.values())) for run in runs.values()])
        assert not any(token in stored for token in tokens)


async def test_no_clock_and_no_request_anchor_reaches_a_job_of_any_generation(tmp_path: Path) -> None:
    """The first generation's budget alone remembers that somebody held a clock: that is captured once, at its birth."""
    witness = Witness()
    async with open_guild(tmp_path, script(), bench=witness) as here:
        place = f"discord/{here.guild.id}/{here.channel.id}"
        parents.set("the request's own context")
        ctx = TurnContext(
            conversation=place,
            place=place,
            requester=str(here.ben.id),
            request="the request's anchor",
            prompt="please",
            clock=TurnClock(refires=True, deadline=here.clock.now() + 20_000),
        )
        await here.app.engine.take_turn(ctx, Page())
        await here.app.background.idle()
        runs = await jobs(here)
        [turn] = await here.rows("SELECT * FROM run WHERE prompt = 'please'")
        assert (turn["clocked"], turn["request"]) == (1, "the request's anchor")
        leaked = {
            "clock": [goal for goal, run in runs.items() if run["clocked"]],
            "request anchor": [goal for goal, run in runs.items() if run["request"] != f"job/{run['id']}"],
            "conversation": [goal for goal, run in runs.items() if run["conversation"] == place],
            "context": [goal for goal in GENERATIONS if witness.saw[goal]],
        }
        assert leaked == {name: [] for name in leaked}
        budgets = [runs[goal]["budget_ms"] for goal in GENERATIONS]
        assert budgets == [CLOCKED_JOB_BUDGET_MS, JOB_BUDGET_MS, JOB_BUDGET_MS]
