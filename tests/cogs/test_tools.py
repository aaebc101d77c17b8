"""`/tools` and `/reload` as people see them (issue 4; issue 5, point 5)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.deferral.tool import Tool
from bot.errors import SettingsError
from bot.outside import ServerState
from bot.policy_file import policy_rules
from bot.settings import Settings
from bot.texts.text import say
from bot.toolbook import ToolEntry
from bot.toolbox.sandbox import Sandbox
from cogs import reload
from cogs.tools import page
from tests.cogs.guild import Guild, labels, open_guild, text_of
from tests.cogs.test_presses import private
from tests.house import Bench, Script


class OffBench(Bench):
    """A bench whose shell needs a sandbox that is not there."""

    sandbox = Sandbox(bwrap="no-such-bwrap")

    def tools(self) -> list[Tool]:
        async def look_again() -> None:
            await self.sandbox.look_again()

        off = {"missing": lambda: self.sandbox.missing(), "look_again": look_again}
        return [replace(tool, **(off if tool.name == "shell" else {})) for tool in super().tools()]


async def listed(here: Guild, who: Any) -> Any:
    result = await who.slash(here.channel, "tools")
    assert result.ephemeral
    return result.response.message


def entry(name: str = "shell", **more: Any) -> ToolEntry:
    fields: dict[str, Any] = {
        "description": "Runs.", "action": "ask", "why": "it acts", "depends": "", "profile": "in-process",
        "broken": "", "server": "", "changed": "",
    }  # fmt: skip
    return ToolEntry(name=name, **{**fields, **more})


async def test_every_tool_is_listed_with_what_it_does_here_and_why(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        first = await listed(here, here.ben)
        second = (await here.ben.click(first, label="Next")).response.message
        text = text_of(first) + text_of(second)
        for name in ("act", "ask_user", "careful", "look", "shell", "start_job"):
            assert f"`{name}` · **" in text
        assert "`shell` · **asks first**" in text
        assert "`ask_user` · **asks you a question**" in text
        assert "Why: `shell needs a person's sign-off`" in text
        assert "`look` · **runs without asking**" in text
        assert labels(first) == ["Look again", "Next"]
        assert labels(second) == ["Back", "Look again"]


async def test_a_role_of_whoever_looks_changes_what_it_says(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        role = here.guild.create_role("crew")
        olga = here.guild.add_member(here.env.create_user("olga"), roles=[role])
        rules = policy_rules([{"name": "crew may", "tool": "act", "action": "allow", "roles": [str(role.id)]}])
        here.app.upkeep.reloading._policy.replace(rules or ())
        assert "`act` · **asks first**" in text_of(await listed(here, here.ben))
        assert "`act` · **runs without asking**\nActs.\n-# Why: `crew may`" in text_of(await listed(here, olga))


async def test_what_is_wrong_with_the_machine_is_for_approvers(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(), bench=OffBench()) as here:
        told = []
        for who in (here.ana, here.ben):
            first = await listed(here, who)
            second = (await who.click(first, label="Next")).response.message
            told.append(text_of(first) + text_of(second))
        assert "Off at this moment: `there is no sandbox: " in told[0]
        assert "apt install bubblewrap" in told[0]
        assert "Off at this moment" in told[1]
        assert "bubblewrap (bwrap)" not in told[1]


async def test_help_names_what_is_off(tmp_path: Path) -> None:
    bench = OffBench()
    async with open_guild(tmp_path, Script(), bench=bench) as here:
        said = (await here.ben.slash(here.channel, "help")).response.content
        assert "Off at this moment: `shell`. An approver sees why" in said
        bench.sandbox = Sandbox(bare=True)  # mended
        await listed(here, here.ben)
        assert "Off at this moment" not in (await here.ben.slash(here.channel, "help")).response.content


async def test_a_servers_words_and_state_are_shown_as_its_own() -> None:
    hostile = entry(
        "files_read", server="files", description="[Tool of the MCP server files, described by it:] **Ok** @everyone",
        changed="its description changed",
    )  # fmt: skip
    lost = ServerState(name="mail", where="at mail.example", connected=False, problem="it ended", tools=())
    here = ServerState(name="files", where="a program", connected=True, problem="", tools=("files_read",))
    text = text_of_view(page([hostile], [here, lost], 0, knows=True))
    assert "says: `**Ok** @everyone`" in text
    assert "It is not what it was: `its description changed`" in text
    assert "MCP server `mail`: lost (`it ended`)" in text
    assert "MCP server `files`: connected; 1 of its tools changed" in text
    assert "it ended" not in text_of_view(page([hostile], [here, lost], 0, knows=False))


async def test_what_could_be_there_is_told_at_the_end_of_the_list(tmp_path: Path) -> None:
    hint = say("tools.search_off")
    first, last = (page([entry()] * 5, [], number, knows=True, hints=[hint]) for number in (0, 1))
    assert "SIGNOFF_TAVILY_KEY" not in text_of_view(first)
    assert "`web_search` is off: there is no key for it (`SIGNOFF_TAVILY_KEY`)." in text_of_view(last)


async def test_what_a_tool_is_for_is_said_in_one_whole_sentence() -> None:
    view = page(
        [entry(description="Runs a command. Returns what it printed.\nMore."), entry(description="x" * 500)],
        [],
        0,
        knows=True,
    )
    assert "\nRuns a command.\n" in text_of_view(view)
    assert "x" * 159 + "…" in text_of_view(view)


async def test_the_longest_page_fits() -> None:
    long = [
        entry(f"server_{n}" + "x" * 50, server="server", description="y" * 2_000, why="w" * 400, depends="d" * 200,
              profile="p" * 300, broken="b" * 500, changed="c" * 500)
        for n in range(20)
    ]  # fmt: skip
    servers = [ServerState(name=f"s{n}", where="", connected=False, problem="q" * 500, tools=()) for n in range(30)]
    for number in range(4):
        page(long, servers, number, knows=True, hints=["h" * 100])


def text_of_view(view: Any) -> str:
    return "\n".join(item.content for item in view.walk_children() if hasattr(item, "content"))


async def test_the_owner_has_the_settings_read_anew_and_is_told_what_changed(tmp_path: Path) -> None:
    fresh = Settings(policy=policy_rules([{"name": "trusted", "tool": "act", "action": "allow"}]), streaming=False)
    async with open_guild(tmp_path, Script(), house={"reread": lambda: fresh}) as here:
        result = await here.ana.slash(here.channel, "reload")
        [told] = private(result)
        assert "- `Rule trusted is new.`" in told
        assert "Takes a restart: `SIGNOFF_STREAMING`" in told
        assert "`act` · **runs without asking**" in text_of(await listed(here, here.ben))


async def test_a_bad_file_is_told_with_what_to_do(tmp_path: Path) -> None:
    def reread() -> Settings:
        raise SettingsError("SIGNOFF_POLICY", "has rule 1 that is not a table.")

    async with open_guild(tmp_path, Script(), house={"reread": reread}) as here:
        [told] = private(await here.ana.slash(here.channel, "reload"))
        assert told == f"{reload.KEPT}\n- `SIGNOFF_POLICY: has rule 1 that is not a table.`\n{reload.AGAIN}"


async def test_nobody_else_can_reload(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(), check_errors=False) as here:
        [told] = private(await here.mallory.slash(here.channel, "reload"))
        assert "Only the owner of this bot" in told
