"""What can be done here and what policy says of it, in policy's own words (issue 5, point 5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.permits import Asking
from bot.policy_file import policy_rules
from bot.settings import Settings
from bot.toolbook import ToolEntry
from tests.house import PLACE, House, Script, open_house
from tests.mcp.kit import Heard, Probe, house_with, tool


def entries(house: House, *, requester: str = "2", place: str = PLACE) -> dict[str, ToolEntry]:
    asking = Asking(requester=requester, place=place, now=house.clock.now())
    return {entry.name: entry for entry in house.app.upkeep.toolbook.entries(asking)}


def ruled(*rules: dict[str, Any]) -> Settings:
    return Settings(approver_users=frozenset({"1"}), policy=policy_rules(list(rules)))


async def test_without_rules_what_acts_asks_and_what_looks_is_allowed(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script()) as house:
        found = entries(house)
        assert (found["shell"].action, found["shell"].why) == ("ask", "shell needs a person's sign-off")
        assert (found["look"].action, found["look"].why) == ("allow", "look only looks")
        assert {"act", "careful", "ask_user", "start_job"} <= set(found)


async def test_a_rule_is_named_and_holds_only_where_and_for_whom_it_does(tmp_path: Path) -> None:
    rules = {"name": "quiet", "tool": "act", "action": "refuse", "channels": ["90"], "users": ["2"]}
    async with open_house(tmp_path, Script(), settings=ruled(rules)) as house:
        assert (entries(house)["act"].action, entries(house)["act"].why) == ("refuse", "quiet")
        assert entries(house, requester="1")["act"].action == "ask"
        assert entries(house, place="discord/9/91")["act"].action == "ask"


async def test_a_rule_about_arguments_is_told_apart_from_what_holds_otherwise(tmp_path: Path) -> None:
    first = {"name": "small things", "tool": "act", "action": "allow", "where": {"what": {"equals": "small"}}}
    async with open_house(tmp_path, Script(), settings=ruled(first)) as house:
        act = entries(house)["act"]
        assert (act.action, act.why, act.depends) == ("ask", "act needs a person's sign-off", "small things")
        assert entries(house)["shell"].depends == ""


async def test_a_server_stands_with_its_tools_and_a_lost_one_says_why(
    tmp_path: Path, probe: Probe, heard: Heard
) -> None:
    script = Script([("probe_do", {"what": "x"})], "Done.")
    async with house_with(tmp_path, script, probe.server()) as house:
        await heard.wait("mcp_connected")
        found = entries(house)["probe_do"]
        assert (found.action, found.server, found.broken, found.changed) == ("ask", "probe", "", "")
        [state] = house.app.upkeep.toolbook.servers()
        assert (state.connected, state.tools) == (True, ("probe_do",))
        probe.plan(tool("do"), calls={"do": {"die": True}})
        await house.ask()
        await house.decide("approve")
        await heard.wait("mcp_gone")
        assert entries(house)["probe_do"].broken.startswith("the MCP server probe is not there: ")


async def test_a_tool_that_changed_since_it_was_pinned_says_what_changed(
    tmp_path: Path, probe: Probe, heard: Heard
) -> None:
    async with house_with(tmp_path, Script(), probe.server()):
        await heard.wait("mcp_connected")
    probe.plan(tool("do", "Does something else."))
    rules = [{"name": "trusted", "tool": "probe_do", "action": "allow"}]
    async with house_with(tmp_path, Script(), probe.server(), rules=rules) as house:
        await heard.wait("mcp_connected", 2)
        found = entries(house)["probe_do"]
        assert found.changed == "its description changed"
        assert found.action == "ask"
        assert "not what it was" in found.why
