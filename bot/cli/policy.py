"""`signoff policy test`: tries the examples that stand beside the rules, and says which rule decided each."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field, ValidationError, create_model

from bot.agent.searching import search_tools
from bot.clock import SystemClock, new_id
from bot.console import visible
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import DecisionRefused, NothingRan
from bot.jobs.tool import make_start_job
from bot.permits import Example
from bot.policing import build_policy
from bot.settings import Settings
from bot.toolbox import builtin_tools
from bot.toolbox.command_files import COMMANDS_FOLDER
from bot.toolbox.detached import Detached
from bot.toolbox.sandbox import Sandbox
from storage.runs import Run


def test(settings: Settings, chosen: Namespace) -> int:
    """Print what becomes of each example; 1 if one of them is not as expected. Raises `SettingsError`."""
    rules = settings.policy or ()
    tools = {tool.name: tool for tool in _tools(settings)}
    policy = build_policy(rules, list(tools.values()))
    found = []
    for example in (example for rule in rules for example in rule.examples):
        tool = tools.get(example.tool) or _stranger(example.tool, example.arguments)
        arguments, problem = _validated(tool, example)
        if problem:
            action, by, network = "nothing", problem, False
        else:
            verdict = policy.decide(tool, arguments, example.asking)
            action, by, network = verdict.action, verdict.rule, bool(verdict.network)
        good = action == example.expect and example.expect_rule in (None, by)
        good = good and example.expect_network in (None, network)
        found.append(
            {"id": example.name, "ok": good, "tool": tool.name, "expect": example.expect, "action": action, "rule": by}
            | ({"network": True} if network else {})
        )
    if chosen.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        _print(found, bare=[rule.name for rule in rules if not rule.examples], rules=len(rules))
    return 0 if all(one["ok"] for one in found) else 1


def _print(found: list[dict[str, Any]], *, bare: Iterable[str], rules: int) -> None:
    for one in found:
        network = " with network" if one.get("network") else ""
        expected = "" if one["ok"] else f" (expected: {one['expect']})"
        print(
            visible(
                f"{'ok' if one['ok'] else 'FAIL':<5} {one['id']}: {one['tool']} -> {one['action']}{network}{expected}"
            )
        )
        print(visible(f"      by: {one['rule']}"))
    for name in bare:
        print(visible(f"note  the rule {name!r} has no example"))
    failed = sum(not one["ok"] for one in found)
    if not rules:
        print("There are no rules: every tool does as it does by default. See docs/policy.md.")
    else:
        print(f"\n{rules} rules, {len(found)} examples, {failed} not as expected.")


def _tools(settings: Settings) -> list[Tool]:
    async def no_job(run_id: str, goal: str) -> Run:
        raise DecisionRefused("only_looking", "Nothing is started here.")

    sandbox = Sandbox(bare=settings.sandbox == "none")
    workspace = settings.workspace
    detached = Detached(
        folder=settings.database.parent / COMMANDS_FOLDER,
        workspace=workspace,
        sandbox=sandbox,
        clock=SystemClock(),
        new_id=new_id,
    )
    tools = builtin_tools(workspace=workspace, sandbox=sandbox, new_id=new_id, detached=detached)
    return [*tools, *search_tools(settings.search_key), make_start_job(no_job)]


def _validated(tool: Tool, example: Example) -> tuple[Mapping[str, Any], str]:
    """The arguments as the gate would hand them to the policy, and why there is no such call."""
    try:
        parsed = tool.arguments.model_validate_json(json.dumps(example.arguments))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        return {}, f"{tool.name} does not take these arguments: {where}: {first['msg']}"
    return parsed.model_dump(mode="json", by_alias=True), ""


def _stranger(name: str, arguments: Mapping[str, Any]) -> Tool:
    """A tool of somebody else's, which is not connected now: it takes what the example gives it."""

    async def never(arguments: Any, call: Call) -> ToolOutcome:
        raise NothingRan("this is only an example")

    fields: dict[str, Any] = {f"field_{n}": (type(arguments[key]), Field(alias=key)) for n, key in enumerate(arguments)}
    made = create_model("Given", __base__=Arguments, **fields)
    return Tool(name=name, description="", arguments=made, body=never)
