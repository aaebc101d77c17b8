"""`/fork`: the new thread says what it knows and what stays where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord

from tests.cogs.guild import Guild, open_guild
from tests.cogs.test_lists import SHELL
from tests.cogs.test_presses import private
from tests.cogs.test_threads import READS, said, threads
from tests.house import Script
from tests.test_talking import prompts


async def test_a_channel_goes_on_in_a_thread_that_knows_what_was_said(tmp_path: Path) -> None:
    script = Script("Hello Ben.", "You are Ben.")
    async with open_guild(tmp_path, script, face=READS) as here:
        await here.ben.slash(here.channel, "ask", prompt="my name is Ben")
        told = await here.ben.slash(here.channel, "fork", name="Who am I")
        await here.settle()
        [thread] = threads(here)
        assert thread.name == "Who am I"
        assert told.ephemeral
        assert f"<#{thread.id}>" in told.response.content
        assert said(thread)[-1].startswith(f"I know what was said in <#{here.channel.id}> until now")
        await here.ben.send(thread, "who am I?")
        await here.settle()
        assert said(thread)[-1] == "You are Ben."
        assert prompts(script) == ["my name is Ben", "who am I?"]
        assert {row["conversation"] for row in await here.rows("SELECT conversation FROM run")} == {
            f"discord/{here.guild.id}/{here.channel.id}",
            f"discord/{here.guild.id}/{thread.id}",
        }


async def test_what_is_pending_stays_and_is_named_in_the_thread(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "It ran.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.ben.slash(here.channel, "fork")
        await here.settle()
        [thread] = threads(here)
        [row] = await here.rows("SELECT id FROM approval")
        assert f"- stays there: `shell` `echo hello…` · `{row['id']}`, asked by <@{here.ben.id}>" in said(thread)[-1]
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert "It ran." in here.texts
        assert "It ran." not in said(thread)


async def test_a_thread_is_forked_into_another_one_of_its_channel(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("One.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="one", thread=True)
        await here.settle()
        [first] = threads(here)
        await here.ben.slash(first, "fork", name="Second")
        await here.settle()
        assert [thread.name for thread in threads(here)] == ["one", "Second"]
        assert f"<#{first.id}>" in said(threads(here)[1])[-1]


async def test_in_direct_messages_and_without_the_permission_it_says_why_not(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("One.")) as here:
        told = await here.people["ben"].slash("fork")
        assert "no threads in direct messages" in told.response.content
        flat = here.guild.create_text_channel(
            "flat", overwrites={here.guild.me: discord.PermissionOverwrite(create_public_threads=False)}
        )
        told = await here.ben.slash(flat, "fork")
        assert "I lack Create Public Threads." in told.response.content
        assert await here.rows("SELECT * FROM audit WHERE event = 'conversation_forked'") == []
        assert said(flat) == []


async def secret_thread(here: Guild) -> Any:
    """Ben's private thread, with the bot in it."""
    kind = discord.ChannelType.private_thread.value
    here.env.backend.create_thread(here.channel.id, "secret", here.ben.id, type=kind)
    await here.settle()
    [secret] = threads(here)
    here.env.backend.add_thread_member(secret.id, here.env.bot.user.id)
    await here.settle()
    return secret


async def test_a_private_thread_goes_on_in_a_private_one_with_who_asked_for_it(tmp_path: Path) -> None:
    script = Script("Hello Ben.", "You are Ben.")
    async with open_guild(tmp_path, script, face=READS) as here:
        secret = await secret_thread(here)
        await here.ben.slash(secret, "ask", prompt="my name is Ben")
        [told] = private(await here.ben.slash(secret, "fork", name="Who am I"))
        await here.settle()
        [_, thread] = threads(here)
        stored = here.env.backend.get_channel(thread.id)
        assert stored.type == discord.ChannelType.private_thread.value
        assert set(stored.thread_members) == {here.ben.id, here.env.bot.user.id}
        assert f"<#{thread.id}>" in told
        assert "private too, and only you are in it" in told
        assert said(thread)[-1].startswith(f"I know what was said in <#{secret.id}> until now")
        assert here.requests("POST", f"/channels/{here.channel.id}/messages") == []
        await here.ben.send(thread, "who am I?")
        await here.settle()
        assert said(thread)[-1] == "You are Ben."


async def test_without_the_permission_for_private_threads_it_says_so_and_opens_no_public_one(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("One.")) as here:
        denied = discord.PermissionOverwrite(create_private_threads=False)
        here.channel = here.guild.create_text_channel("flat", overwrites={here.guild.me: denied})
        secret = await secret_thread(here)
        [told] = private(await here.ben.slash(secret, "fork"))
        assert "I lack Create Private Threads." in told
        assert len(threads(here)) == 1
        assert await here.rows("SELECT * FROM audit WHERE event = 'conversation_forked'") == []
