"""What nothing is said about asks; what only looks is allowed."""

from __future__ import annotations

from bot.deferral.policy import Asking, DefaultPolicy
from bot.deferral.tool import Tool
from tests.house import Bench

NOBODY = Asking(requester="", place="", now=0)


def test_a_tool_that_acts_asks_and_one_that_looks_is_allowed() -> None:
    verdicts = {tool.name: DefaultPolicy().decide(tool, {}, NOBODY).action for tool in Bench().tools()}
    assert verdicts["act"] == verdicts["shell"] == "ask"
    assert verdicts["look"] == "allow"


def test_a_tool_asks_unless_it_says_otherwise() -> None:
    bench = Bench().tools()[-1]
    assert Tool(name="new", description="", arguments=bench.arguments, body=bench.body).gated
