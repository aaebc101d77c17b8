"""Threads: one for a request, no mention in those that the bot opened, one conversation however one comes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord
import pytest

from tests.cogs.guild import Guild, open_guild
from tests.cogs.test_lists import SHELL
from tests.house import Script

READS = {"message_content": "on"}


def threads(here: Guild) -> list[Any]:
    """The channel's threads, oldest first."""
    return list(here.channel.threads)


def said(channel: Any) -> list[str]:
    return [message.content for message in channel.history() if message.content]


def whispers(result: Any) -> list[str]:
    return [answer.content for answer in [result.response, *result.followups] if answer is not None]


async def test_a_request_may_have_a_thread_of_its_own_and_is_answered_there(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="say hello\nto everybody", thread=True)
        await here.settle()
        [thread] = threads(here)
        assert thread.name == "say hello"
        assert said(thread)[-1] == "Hello."
        assert "Hello." not in here.texts
        [run] = await here.rows("SELECT conversation, place, within FROM run")
        place = f"discord/{here.guild.id}/{thread.id}"
        assert run == {"conversation": place, "place": place, "within": str(here.channel.id)}


async def test_a_thread_has_one_conversation_however_one_comes_to_it(tmp_path: Path) -> None:
    """A23: `/ask` that opens it, a reply in it, a command in it, a press in it, a job that announces there."""
    job = {"count": ["Counted."]}
    script = Script(
        SHELL, "It ran.", "Two.", "Three.", [("start_job", {"goal": "count"})], "I am on it.", by_prompt=job
    )
    async with open_guild(tmp_path, script, face=READS) as here:
        await here.ben.slash(here.channel, "ask", prompt="one", thread=True)
        await here.settle()
        [thread] = threads(here)
        card = next(message for message in thread.history() if message.flags.components_v2)
        await here.ana.click(card, label="Approve")
        await here.settle()
        await here.ben.send(thread, "two")
        await here.settle()
        await here.ben.slash(thread, "ask", prompt="three")
        await here.settle()
        await here.ben.send(thread, "in the background")
        await here.settle()
        turns = await here.rows("SELECT conversation FROM run WHERE kind = 'turn' AND announces IS NULL")
        assert [row["conversation"] for row in turns] == [f"discord/{here.guild.id}/{thread.id}"] * 4
        assert any("Counted." in text for text in said(thread))
        assert {row["conversation"] for row in await here.rows("SELECT conversation FROM approval")} == {
            f"discord/{here.guild.id}/{thread.id}"
        }


async def test_in_its_own_thread_the_bot_needs_no_mention(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.", "Again."), face=READS) as here:
        await here.ben.slash(here.channel, "ask", prompt="hello", thread=True)
        await here.settle()
        [thread] = threads(here)
        message = await here.mallory.send(thread, "and once more")
        await here.settle()
        assert said(thread)[-1] == "Again."
        assert list(thread.history())[-1].reference.message_id == message.id


async def test_in_somebody_elses_thread_and_in_channels_it_does(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.", "Here.", "Again."), face=READS) as here:
        here.env.backend.create_thread(here.channel.id, "theirs", here.ben.id)
        await here.settle()
        [thread] = threads(here)
        await here.ben.send(thread, "hello")
        await here.ben.send(here.channel, "hello")
        await here.settle()
        assert await here.rows("SELECT * FROM run") == []
        await here.ben.send(thread, f"<@{here.env.bot.user.id}> hello")
        await here.settle()
        assert said(thread)[-1] == "Hello."


async def test_in_its_own_thread_people_can_still_turn_to_one_another(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello."), face=READS) as here:
        await here.ben.slash(here.channel, "ask", prompt="hello", thread=True)
        await here.settle()
        [thread] = threads(here)
        words = await here.ben.send(thread, f"<@{here.mallory.id}> look at this")
        await here.mallory.send(thread, "I see it", reply_to=words)
        await here.settle()
        assert len(await here.rows("SELECT * FROM run")) == 1


async def test_a_setting_opens_threads_and_the_person_may_want_none(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("One.", "Two.", "Three."), face={"in_thread": True}) as here:
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        [thread] = threads(here)
        assert said(thread)[-1] == "One."
        await here.ben.slash(here.channel, "ask", prompt="two", thread=False)
        await here.settle()
        assert here.texts[-1] == "Two."
        await here.ben.slash(thread, "ask", prompt="three")
        await here.settle()
        assert said(thread)[-1] == "Three."
        assert len(threads(here)) == 1


@pytest.mark.parametrize(
    ("permission", "name"),
    [("create_public_threads", "Create Public Threads"), ("send_messages_in_threads", "Send Messages in Threads")],
)
async def test_where_no_thread_can_be_opened_the_answer_comes_where_it_was_asked(
    tmp_path: Path, permission: str, name: str
) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        flat = here.guild.create_text_channel(
            "flat", overwrites={here.guild.me: discord.PermissionOverwrite(**{permission: False})}
        )
        told = await here.ben.slash(flat, "ask", prompt="hello", thread=True)
        await here.settle()
        assert said(flat)[-1] == "Hello."
        assert any(f"I lack {name}, so I answer here." in text for text in whispers(told))
        assert list(flat.threads) == []


@pytest.mark.parametrize("code", [160006, 50013])
async def test_a_thread_that_discord_refuses_is_told_and_the_answer_comes_all_the_same(
    tmp_path: Path, code: int
) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        here.env.inject_error("POST", "/channels/*/messages/*/threads", status=403, code=code)
        told = await here.ben.slash(here.channel, "ask", prompt="hello", thread=True)
        await here.settle()
        assert here.texts[-1] == "Hello."
        assert threads(here) == []
        assert any(text.startswith("I could not open a thread, so I answer here.") for text in whispers(told))


async def test_a_thread_whose_opening_was_not_heard_of_is_used_and_not_opened_twice(tmp_path: Path) -> None:
    """A31: Discord says that there is one already; it has the id of its message."""
    async with open_guild(tmp_path, Script("Hello.")) as here:
        here.env.inject_error("POST", "/channels/*/messages/*/threads", status=400, code=160004)
        await here.ben.slash(here.channel, "ask", prompt="hello", thread=True)
        await here.settle()
        [run] = await here.rows("SELECT place FROM run")
        request = next(message for message in here.messages if message.content == "> hello")
        assert run["place"] == f"discord/{here.guild.id}/{request.id}"
        assert threads(here) == []


async def test_in_direct_messages_there_is_no_thread(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        ben = here.people["ben"]
        told = await ben.slash("ask", prompt="hello", thread=True)
        await here.settle()
        assert said(ben.dm_channel)[-1] == "Hello."
        assert any("no threads in direct messages" in text for text in whispers(told))
