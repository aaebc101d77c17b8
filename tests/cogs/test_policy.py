"""`/policy`: rules in plain sentences; a draft of others with a preview, tried on last week, saved for new calls."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.drafts import DraftPress
from bot.errors import NotAllowed
from bot.settings import Settings
from bot.surface import Actor
from storage.guilds import Draft
from tests.cogs.guild import Guild, open_guild
from tests.house import Script

ACT = [("act", {"what": "paint"})]
DRAW = [("act", {"what": "draw"})]
SHELL = [("shell", {"command": "ls"})]
MANAGES = discord.Permissions(manage_guild=True)


class List:
    """One person's private list of rules, pressed as Discord shows it."""

    def __init__(self, here: Guild, who: Any, result: Any) -> None:
        self.here, self.who, self.message = here, who, result.response

    @classmethod
    async def open(cls, here: Guild, who: Any) -> List:
        result = await who.slash(here.channel, "policy")
        assert result.ephemeral
        return cls(here, who, result)

    @property
    def text(self) -> str:
        return "\n".join(item["content"] for item in walk(self.message.components) if item.get("type") == 10)

    def id(self, verb: str) -> str:
        return next(
            item["custom_id"]
            for item in walk(self.message.components)
            if f":rules-{verb}:" in item.get("custom_id", "")
        )

    async def pick(self, verb: str, *values: Any) -> Any:
        return await self.who.select(self.message, values, custom_id=self.id(verb))

    async def press(self, verb: str) -> Any:
        return await self.who.click(self.message, custom_id=self.id(verb))

    def disabled(self, verb: str) -> bool:
        return bool(
            next(
                item.get("disabled")
                for item in walk(self.message.components)
                if f":rules-{verb}:" in item.get("custom_id", "")
            )
        )

    async def new_rule(self, tool: str, action: str) -> None:
        await self.pick("pick", "new")
        await self.pick("tool", tool)
        await self.pick("action", action)
        await self.press("home")


def walk(components: Any) -> Any:
    for component in components:
        yield component
        yield from walk(component.get("components", []))


def said(result: Any) -> str:
    """What was said privately, beside the list or in its place."""
    return "\n".join(message.content for message in (result.response, *result.followups))


def manager(here: Guild) -> Any:
    """Somebody who may manage the server, and is no approver."""
    role = here.guild.create_role("managers", permissions=MANAGES)
    return here.guild.add_member(here.env.create_user("max"), roles=[role])


async def test_the_rules_in_force_are_shown_with_where_each_comes_from(tmp_path: Path) -> None:
    settings = Settings(policy=[{"name": "no paint", "tool": "act", "action": "refuse"}])  # type: ignore[arg-type]
    async with open_guild(tmp_path, Script(), settings=settings) as here:
        shown = (await List.open(here, here.ana)).text
        assert "From the operator's file" in shown
        assert "`no paint`: `act` is refused." in shown
        assert "What acts asks first; what only looks runs." in shown
        assert f"<@{here.ana.id}> may approve" in shown


async def test_a_rule_is_previewed_and_counts_only_once_it_is_saved(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(DRAW, ACT, "Painted.")) as here:
        rules = await List.open(here, here.ana)
        await rules.new_rule("act", "allow")
        assert "**Added**: `act`: `act` runs without asking." in rules.text
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        assert here.bench.effects == []
        await rules.press("save")
        assert "Saved. It counts for every call from now on." in rules.text
        assert f"Set in this server (version 1, by <@{here.ana.id}>" in rules.text
        await here.ben.slash(here.channel, "ask", prompt="two")
        await here.settle()
        assert here.bench.effects == ["paint"]
        [row] = await here.rows("SELECT actor, detail FROM audit WHERE event = 'policy_changed'")
        assert row["actor"] == str(here.ana.id)
        assert '"before": ""' in row["detail"]
        assert '\\"action\\":\\"allow\\"' in row["detail"]


async def test_a_saved_rule_counts_after_a_restart(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        rules = await List.open(here, here.ana)
        await rules.new_rule("act", "refuse")
        await rules.press("save")
        guild = str(here.guild.id)
    async with open_guild(tmp_path, Script()) as again:
        desk = again.app.engine.policy_desk
        view = await desk.look(Actor(id="1", guild=guild, manages=True))
        assert [(rule.tool, rule.action) for rule in view.in_force.rules.policy] == [("act", "refuse")]


async def test_who_may_do_neither_is_told_privately_who_can_help_and_it_is_on_the_trail(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        result = await here.mallory.slash(here.channel, "policy")
        assert result.ephemeral
        assert "Manage Server" in said(result)
        assert f"<@{here.ana.id}>" in said(result)
        [row] = await here.rows("SELECT actor, detail FROM audit WHERE event = 'policy_refused'")
        assert (row["actor"], "not_manager" in row["detail"]) == (str(here.mallory.id), True)


async def test_who_manages_the_server_may_make_rules_stricter_and_not_laxer(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "No.")) as here:
        rules = await List.open(here, manager(here))
        await rules.new_rule("act", "allow")
        assert "You cannot save it." in rules.text
        assert f"<@{here.ana.id}>" in rules.text
        assert rules.disabled("save")
        await rules.pick("pick", "0")
        await rules.pick("action", "refuse")
        await rules.press("home")
        assert not rules.disabled("save")
        await rules.press("save")
        assert "Saved." in rules.text
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        assert (here.bench.effects, here.cards) == ([], [])
        [row] = await here.rows("SELECT detail FROM audit WHERE event = 'refused'")
        assert "act (set in this server's /policy)" in row["detail"]


async def test_who_manages_the_server_cannot_make_themselves_an_approver(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        rules = await List.open(here, manager(here))
        await rules.pick("pick-who", "new")
        await rules.pick("people", rules.who)
        await rules.press("home")
        assert "so only its owner may" in rules.text
        assert rules.disabled("save")


async def test_a_press_of_somebody_who_lost_the_permission_changes_nothing(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        rules = await List.open(here, manager(here))
        await rules.new_rule("act", "refuse")
        here.env.backend.get_guild(here.guild.id).members[rules.who.id].role_ids.clear()
        result = await rules.press("save")
        assert "Manage Server" in said(result)
        assert await here.rows("SELECT * FROM guild_config") == []


async def test_the_owner_names_who_decides_and_the_next_press_is_held_to_it(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.")) as here:
        rules = await List.open(here, here.ana)
        await rules.pick("pick-who", "new")
        await rules.pick("who-tools", "act")
        await rules.pick("people", here.ben)
        form = await rules.press("demands")
        await here.ana.submit_modal(form, {"quorum": "1", "eyes": ["no"], "lifetime": "10m"})
        assert f"For `act`: <@{here.ben.id}> may approve" in rules.text
        assert "it waits 10 minutes" in rules.text
        await rules.press("home")
        await rules.press("save")
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        refused = await here.ana.click(here.card, label="Approve")
        assert "Rule 1 of this server's /policy says who decides" in said(refused)
        await here.ben.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["paint"]
        [row] = await here.rows("SELECT requested_at, expires_at FROM approval")
        assert row["expires_at"] - row["requested_at"] == 600_000


async def test_two_have_to_approve_as_soon_as_the_rule_is_saved(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.")) as here:
        here.app.engine.set_owners(frozenset({str(here.ana.id), str(here.mallory.id)}))
        await here.ben.slash(here.channel, "ask", prompt="one")
        rules = await List.open(here, here.ana)
        await rules.pick("pick-who", "new")
        form = await rules.press("demands")
        await here.ana.submit_modal(form, {"quorum": "2", "eyes": ["yes"]})
        assert "2 different people have to approve; never whoever asked for it" in rules.text
        await rules.press("home")
        await rules.press("save")
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == []
        await here.mallory.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["paint"]


async def test_the_file_wins_over_the_chat_and_the_preview_says_so(tmp_path: Path) -> None:
    settings = Settings(policy=[{"name": "look at paint", "tool": "act", "action": "ask"}])  # type: ignore[arg-type]
    async with open_guild(tmp_path, Script(ACT, "Done."), settings=settings) as here:
        rules = await List.open(here, here.ana)
        await rules.new_rule("act", "allow")
        assert "The file asks for `act` here (its rule `look at paint`)" in rules.text
        assert "Your rule is kept, but the file wins" in rules.text
        await rules.press("save")
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        assert here.bench.effects == []
        assert len(here.cards) == 1


async def test_a_shell_cannot_be_allowed_and_the_draft_stays_as_it_was(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        rules = await List.open(here, here.ana)
        await rules.pick("pick", "new")
        await rules.pick("tool", "shell")
        result = await rules.pick("action", "allow")
        assert "may not allow shell" in said(result)
        assert "`shell` asks first." in rules.text


async def test_an_argument_is_narrowed_in_a_form_that_outlives_a_restart(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Painted.", DRAW)) as here:
        rules = await List.open(here, here.ana)
        await rules.pick("pick", "new")
        await rules.pick("tool", "act")
        await rules.pick("action", "allow")
        form = await rules.press("arguments")
        await here.restart()
        await here.ana.submit_modal(
            form, {"name": "just paint", "argument": ["what"], "kind": ["one_of"], "values": "paint\n3"}
        )
        assert '`just paint`: `act` runs without asking if its `what` is `"paint"` or `3`.' in rules.text
        await rules.press("home")
        await rules.press("save")
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.ben.slash(here.channel, "ask", prompt="two")
        await here.settle()
        assert here.bench.effects == ["paint"]
        assert len(here.cards) == 1


async def test_channels_and_roles_of_a_rule_are_picked_and_count(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Painted.", DRAW)) as here:
        painters = here.guild.create_role("painters")
        pia = here.guild.add_member(here.env.create_user("pia"), roles=[painters])
        rules = await List.open(here, here.ana)
        await rules.pick("pick", "new")
        await rules.pick("tool", "act")
        await rules.pick("action", "allow")
        await rules.pick("channels", here.channel)
        await rules.pick("roles", painters)
        assert f"in <#{here.channel.id}> when <@&{painters.id}> asks" in rules.text
        await rules.press("home")
        await rules.press("save")
        await pia.slash(here.channel, "ask", prompt="one")
        await here.mallory.slash(here.channel, "ask", prompt="two")
        await here.settle()
        assert here.bench.effects == ["paint"]
        assert len(here.cards) == 1


async def test_last_week_is_tried_with_the_draft_and_nothing_runs(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, DRAW, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.ben.slash(here.channel, "ask", prompt="two")
        await here.settle()
        here.clock.advance(seconds=3_600)
        rules = await List.open(here, here.ana)
        await rules.pick("pick", "new")
        await rules.pick("tool", "act")
        form = await rules.press("arguments")
        await here.ana.submit_modal(form, {"name": "n", "argument": ["what"], "kind": ["one_of"], "values": "paint"})
        await rules.pick("action", "refuse")
        await rules.press("home")
        await rules.press("try")
        assert "2 calls came to me" in rules.text
        assert "They went like this: 0 allowed, 2 asked, 0 refused." in rules.text
        assert "With these rules: **0 allowed, 1 asked, 1 refused**." in rules.text
        rows = await here.rows("SELECT id FROM approval WHERE arguments LIKE '%paint%'")
        assert f"- `{rows[0]['id']}` `act`: was asked, would be **refused** by `n" in rules.text
        assert here.bench.effects == []
        await rules.press("home")
        assert "Your draft. None of it counts yet." in rules.text


async def test_a_list_that_is_older_than_the_draft_changes_nothing(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        first = await List.open(here, here.ana)
        await first.new_rule("act", "refuse")
        second = await List.open(here, here.ana)
        await first.pick("pick", "0")
        await first.pick("action", "allow")
        await second.press("save")
        assert "older than your draft" in second.text
        assert await here.rows("SELECT * FROM guild_config") == []


async def test_who_was_overtaken_is_told_and_saves_nothing_over_the_other(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        max = manager(here)
        mine, theirs = await List.open(here, here.ana), await List.open(here, max)
        await mine.new_rule("act", "refuse")
        await theirs.new_rule("look", "ask")
        await theirs.press("save")
        await mine.press("save")
        assert "Somebody else saved other rules meanwhile" in mine.text
        [row] = await here.rows("SELECT changed_by, version FROM guild_config")
        assert (row["changed_by"], row["version"]) == (str(max.id), 1)
        await mine.press("drop")
        assert "`look` asks first." in mine.text


async def test_another_persons_list_is_not_theirs_to_press(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        max = manager(here)
        mine, theirs = await List.open(here, here.ana), await List.open(here, max)
        await mine.new_rule("act", "allow")
        draft = (await here.rows("SELECT * FROM guild_draft WHERE person = ?", str(here.ana.id)))[0]
        press = DraftPress(
            actor=Actor(id=str(max.id), guild=str(here.guild.id), manages=True),
            draft=draft["id"],
            mark=Draft(**draft).mark,
        )
        with pytest.raises(NotAllowed, match="not yours"):
            await here.app.engine.policy_desk.save(press)
        assert "`act`" not in theirs.text


async def test_a_rule_is_moved_up_and_taken_away(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        rules = await List.open(here, here.ana)
        await rules.new_rule("act", "refuse")
        await rules.new_rule("look", "ask")
        await rules.press("save")
        await rules.pick("pick", "1")
        await rules.press("up")
        assert "In another order from here" in rules.text
        await rules.press("save")
        [row] = await here.rows("SELECT body FROM guild_config")
        assert row["body"].index("look") < row["body"].index('act"')
        await rules.pick("pick", "0")
        await rules.press("remove")
        assert "**Removed**: `look`: `look` asks first." in rules.text


async def test_a_tool_that_is_not_in_the_list_is_typed(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        rules = await List.open(here, here.ana)
        await rules.pick("pick", "new")
        form = await rules.pick("tool", "other")
        await here.ana.submit_modal(form, {"tool": "github_*"})
        assert "Tools like `github_*` ask first." in rules.text
        form = await rules.pick("tool", "other")
        result = await here.ana.submit_modal(form, {"tool": "rm -rf"})
        assert "needs a tool" in said(result)


async def test_rules_that_somebody_wrote_into_the_database_refuse_everything_until_saved_anew(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        rules = await List.open(here, here.ana)
        await rules.new_rule("act", "refuse")
        await rules.press("save")
    with sqlite3.connect(tmp_path / "guild.sqlite3") as database:
        database.execute("UPDATE guild_config SET body = replace(body, 'refuse', 'allow')")
    database.close()
    async with open_guild(tmp_path, Script(ACT, "No.", ACT)) as here:
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        assert (here.bench.effects, here.cards) == ([], [])
        rules = await List.open(here, here.ana)
        assert "are not believed" in rules.text
        await rules.press("drop")
        await rules.press("save")
        assert "are not believed" not in rules.text
        await here.ben.slash(here.channel, "ask", prompt="two")
        await here.settle()
        assert len(here.cards) == 1
