"""`/doctor`: each fault is found, named, and comes with what to do; for those whom it concerns (issue 4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import discord

from cogs import doctor_checks
from cogs.doctor import NOT_FOR_YOU
from tests.cogs.guild import Guild, open_guild
from tests.cogs.test_lists import SHELL, hidden
from tests.cogs.test_presses import private
from tests.house import Script


async def examined(here: Guild, who: Any = None, **options: Any) -> str:
    """What the doctor says, all of it private."""
    return "\n".join(private(await (who or here.ana).slash(here.channel, "doctor", **options)))


async def test_a_server_in_order_is_told_so_line_by_line(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        told = await examined(here)
        assert f"ok · <#{here.channel.id}>: I can work there" in told
        assert f"ok · <@{here.ana.id}>: decides, sees this channel" in told
        assert "are known to Discord" in told
        assert "ok · intents:" in told
        assert "database: " in told
        assert "sandbox: " in told
        assert "model: " in told


async def test_a_missing_permission_is_named_with_the_channel_and_comes_first(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        closed = here.guild.create_text_channel(
            "closed", overwrites={here.guild.me: discord.PermissionOverwrite(send_messages=False, attach_files=False)}
        )
        told = await examined(here, channel=closed)
        first = told.splitlines()[1]
        assert first == f"**problem** · <#{closed.id}>: I lack Send Messages, Embed Links, Attach Files"


async def test_channels_where_something_was_asked_are_looked_at_without_being_named(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.", "Hello.")) as here:
        other = here.guild.create_text_channel("other")
        await here.ben.slash(other, "ask", prompt="hello")
        await here.settle()
        assert f"<#{other.id}>: I can work there" in await examined(here)


async def test_a_channel_that_one_cannot_open_is_only_counted(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        secret = hidden(here, here.ben)
        await here.ben.slash(secret, "ask", prompt="hello")
        await here.settle()
        here.approve_by(users=[here.mallory.id])
        told = await examined(here, here.mallory)
        assert str(secret.id) not in told
        assert "1 more in which I was asked lately were not looked at" in told


async def test_an_approver_who_left_or_cannot_see_the_channel_is_a_problem(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.approve_by(users=[here.ana.id, here.mallory.id, 4711])
        secret = hidden(here, here.ana)
        told = await examined(here, channel=secret)
        assert "**problem** · <@4711>: decides, and cannot see the cards here: They have left that server." in told
        assert f"**problem** · <@{here.mallory.id}>: decides, and cannot see the cards here" in told
        assert f"ok · <@{here.ana.id}>" in told


async def test_a_role_that_is_gone_is_found(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(), check_errors=False) as here:
        role = here.guild.create_role("crew")
        here.approve_by(users=[here.ana.id], roles=[role.id, 4712])
        here.env.inject_error("GET", "/guilds/*/roles/member-counts", status=404, code=0)
        told = await examined(here)
        assert "role 4712: decides, and is no role of this server" in told
        assert f"<@&{role.id}>: decides; how many hold it Discord did not say" in told
        guild: Any = here.env.bot.get_guild(here.guild.id)
        assert doctor_checks._role(guild, str(role.id), {}).text == "decides, and nobody holds it"
        assert doctor_checks._role(guild, str(role.id), {role.id: 2}).text == "decides; 2 members hold it"


async def test_a_direct_message_that_failed_is_remembered(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        here.env.inject_error("POST", "/users/@me/channels", status=403, code=50007)
        await here.ana.slash(here.channel, "ask", prompt="hello", notify="dm")
        await here.settle()
        told = await examined(here)
        assert f"<@{here.ana.id}>: decides and sees this channel, but a direct message failed" in told
        assert "Your direct messages are closed to me." in told


async def test_an_endpoint_set_by_mistake_and_lacking_commands_are_found(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        client = here.env.bot
        real = await client.application_info()
        real.interactions_endpoint_url = "https://example.org/i"

        async def info() -> discord.AppInfo:
            return real

        client.application_info = info
        command = next(one for one in client.tree.get_commands() if one.name == "why")
        client.tree.remove_command("why")
        told = await examined(here)
        client.tree.add_command(command)
        assert "an Interactions Endpoint URL is set" in told
        assert "it still has why" in told


async def test_an_intent_that_is_asked_for_and_not_allowed_is_found(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(), face={"message_content": "on"}) as here:
        client = here.env.bot
        real = await client.application_info()
        real._flags = 0

        async def info() -> discord.AppInfo:
            return real

        client.application_info = info
        assert "**problem** · message-content: I ask for Message Content" in await examined(here)


async def test_the_machine_is_the_owners_business(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.approve_by(users=[here.mallory.id])
        assert str(tmp_path) in await examined(here)
        told = await examined(here, here.mallory)
        assert str(tmp_path) not in told
        assert "database: in order" in told


async def test_it_is_not_for_everybody_and_who_tried_is_on_the_trail(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL), check_errors=False) as here:
        assert await examined(here, here.ben) == NOT_FOR_YOU
        [entry] = await here.rows("SELECT actor, detail FROM audit WHERE event = 'press_refused'")
        assert (entry["actor"], json.loads(entry["detail"])) == (str(here.ben.id), {"code": "not_for_everybody"})
        keeper = here.guild.create_role("keeper", permissions=discord.Permissions(manage_guild=True))
        kim = here.guild.add_member(here.env.create_user("kim"), roles=[keeper])
        assert "I can work there" in await examined(here, kim)
        [entry] = await here.rows("SELECT actor FROM audit WHERE event = 'examined'")
        assert entry["actor"] == str(kim.id)
