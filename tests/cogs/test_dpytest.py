"""What dpytest can honestly show (it has no interactions): a mention starts a turn, and an answer goes out by DM."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import discord
import discord.ext.test as dpytest
import pytest

from bot.app import App, open_app
from bot.clock import new_id
from bot.settings import Settings
from cogs.client import SignoffClient
from tests.cogs.guild import make_client
from tests.house import Bench, ManualClock, Script


@dataclass
class Configured:
    client: SignoffClient
    app: App
    script: Script


@pytest.fixture
async def configured(tmp_path: Path) -> AsyncIterator[Configured]:
    """The real client on dpytest's stand-in for Discord's HTTP."""
    script = Script("Hello, Ben.")
    settings = Settings().model_copy(update={"database": tmp_path / "house.sqlite3", "workspace": tmp_path})
    async with open_app(
        settings,
        tools=Bench().tools(),
        mask=lambda text: text,
        clock=ManualClock(),
        new_id=new_id,
        model=script.model,
        sweep_ms=3_600_000,
    ) as app:
        client = make_client(app)
        await client._async_setup_hook()  # gives the client its loop
        dpytest.configure(client, members=2)
        client._connection.loop = asyncio.get_running_loop()  # dpytest leaves it unset; typing needs it
        await client.setup_hook()
        await app.background.idle()
        yield Configured(client, app, script)
        await dpytest.empty_queue()
        await client.close()


async def test_a_mention_in_a_channel_gets_its_turn(configured: Configured) -> None:
    client = configured.client
    assert client.user is not None
    await dpytest.message(f"{client.user.mention} hello there")
    await configured.app.background.idle()
    assert dpytest.verify().message().content("Hello, Ben.")
    asked = configured.script.seen[0][0].parts[0]
    assert getattr(asked, "content", None) == "hello there"


async def test_what_is_not_meant_for_the_bot_is_left_alone(configured: Configured) -> None:
    await dpytest.message("hello everybody")
    await configured.app.background.idle()
    assert dpytest.verify().message().nothing()
    assert configured.script.seen == []


async def test_an_answer_by_direct_message_reaches_that_person(configured: Configured) -> None:
    """The announcement of a turn that wished for one, in the direct messages of the person who asked."""
    from bot.surface import Announcement

    guild = configured.client.guilds[0]
    person = next(member for member in guild.members if not member.bot)
    announcement = Announcement(
        key="dm:run1", place=f"discord/{guild.id}/{guild.text_channels[0].id}", text="It is done."
    )
    await configured.client.surface.tell(str(person.id), announcement)
    sent = dpytest.get_message(peek=True)
    assert isinstance(sent.channel, discord.DMChannel)
    assert sent.channel.recipient == person
    assert dpytest.verify().message().contains().content("It is done.")
