"""What nothing is said about asks; what only looks is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.deferral.grants import inexact
from bot.deferral.policy import Asking, DefaultPolicy, RulePolicy, rule_problems
from bot.deferral.tool import Tool, look_again
from bot.permits import Action, Condition, PolicyRule
from tests.house import Bench

NOBODY = Asking(requester="", place="", now=0)


def test_a_tool_that_acts_asks_and_one_that_looks_is_allowed() -> None:
    verdicts = {tool.name: DefaultPolicy().decide(tool, {}, NOBODY).action for tool in Bench().tools()}
    assert verdicts["act"] == verdicts["shell"] == "ask"
    assert verdicts["look"] == "allow"


def test_a_tool_asks_unless_it_says_otherwise() -> None:
    bench = Bench().tools()[-1]
    assert Tool(name="new", description="", arguments=bench.arguments, body=bench.body).gated


def rule(tool: str, action: Action, **more: Any) -> PolicyRule:
    return PolicyRule(name=f"{action} {tool}", tool=tool, action=action, **more)


def test_rules_that_are_replaced_hold_from_the_next_call() -> None:
    act = next(tool for tool in Bench().tools() if tool.name == "act")
    policy = RulePolicy([rule("act", "refuse")])
    assert policy.decide(act, {"what": "x"}, NOBODY).action == "refuse"
    policy.replace([rule("act", "allow")])
    assert policy.rules == (rule("act", "allow"),)
    assert policy.decide(act, {"what": "x"}, NOBODY).action == "allow"


def test_a_rule_for_many_tools_may_name_an_argument_that_some_of_them_do_not_have() -> None:
    """It is not about those calls; a rule for one tool that names such an argument is a slip of the pen."""
    where = (Condition(argument="path", kind="equals", value="x"),)
    tools = [tool for tool in Bench().tools() if tool.name in {"act", "look"}]
    assert list(rule_problems([rule("*", "ask", where=where)], tools)) == []
    [problem] = rule_problems([rule("act", "ask", where=where)], tools)
    assert "'ask act'" in problem
    assert "no argument 'path'" in problem


def test_no_rule_and_no_grant_lets_through_what_its_tool_says_must_be_asked() -> None:
    def must_ask(arguments: Mapping[str, Any]) -> str:
        return "it sends something" if arguments["what"] == "send" else ""

    act = next(tool for tool in Bench().tools() if tool.name == "act")
    act = replace(act, must_ask=must_ask)
    policy = RulePolicy([rule("act", "allow")])
    assert policy.decide(act, {"what": "x"}, NOBODY).action == "allow"
    found = policy.decide(act, {"what": "send"}, NOBODY)
    assert (found.action, "allow act" in found.rule, "it sends something" in found.rule) == ("ask", True, True)
    assert RulePolicy([rule("act", "refuse")]).decide(act, {"what": "send"}, NOBODY).action == "refuse"
    assert inexact(act, {"what": "send"}) == "it sends something"
    assert inexact(act, {"what": "x"}) is None


def test_a_program_may_be_allowed_only_where_it_touches_nothing() -> None:
    shell = next(tool for tool in Bench().tools() if tool.name == "shell")
    policy = RulePolicy([rule("shell", "allow")])
    assert policy.decide(shell, {"command": "ls"}, NOBODY).action == "ask"
    assert policy.decide(replace(shell, touches_nothing=True), {"command": "ls"}, NOBODY).action == "allow"
    [problem] = rule_problems(policy.rules, [shell])
    assert "may not allow shell" in problem
    assert list(rule_problems(policy.rules, [replace(shell, touches_nothing=True)])) == []


async def test_what_several_tools_lack_in_common_is_looked_for_once() -> None:
    looks: list[str] = []

    async def sandbox() -> None:
        looks.append("sandbox")

    async def browser() -> None:
        looks.append("browser")

    one, two, three, *_ = Bench().tools()
    await look_again([replace(one, look_again=sandbox), replace(two, look_again=sandbox), three])
    assert looks == ["sandbox"]
    await look_again([replace(one, look_again=sandbox), replace(two, look_again=browser)])
    assert looks == ["sandbox", "sandbox", "browser"]
