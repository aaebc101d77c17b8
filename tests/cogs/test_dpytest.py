"""The same bot under a second, independent stand-in for Discord: a mention turn and a direct message."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import discord

from bot.app import App, open_app
from bot.clock import new_id
from bot.settings import Settings
from bot.surface import Announcement
from cogs.client import SignoffClient
from tests.house import Bench, ManualClock, Script

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # dpytest 0.7.0 imports pkg_resources' successor the old way
    import discord.ext.test as dpytest


@asynccontextmanager
async def connected(folder: Path, script: Script) -> AsyncIterator[tuple[App, SignoffClient]]:
    settings = Settings().model_copy(update={"database": folder / "house.sqlite3", "workspace": folder})
    async with open_app(
        settings,
        tools=Bench().tools(),
        mask=lambda text: text,
        clock=ManualClock(),
        new_id=new_id,
        model=script.model,
        sweep_ms=3_600_000,
    ) as app:
        client = SignoffClient(
            engine=app.engine, background=app.background, remember=app.remember, recall=app.recall, upkeep=app.upkeep
        )
        await client._async_setup_hook()
        # dpytest finds its people in the cache, which this bot does without.
        client._connection._intents = discord.Intents.all()
        client._connection.member_cache_flags = discord.MemberCacheFlags.all()
        dpytest.configure(client, members=2)
        client._connection.loop = asyncio.get_running_loop()  # dpytest leaves it unset; the typing indicator needs it
        await client.setup_hook()
        await app.background.idle()
        try:
            yield app, client
        finally:
            await dpytest.empty_queue()


async def test_a_mention_is_answered_in_the_channel(tmp_path: Path) -> None:
    # One word: dpytest cannot edit a message that the bot knows only by its id.
    async with connected(tmp_path, Script("Hello!")) as (app, client):
        assert client.user is not None
        await dpytest.message(f"{client.user.mention} hello")
        await app.background.idle()
        assert dpytest.verify().message().content("Hello!")


async def test_what_is_not_for_the_bot_is_not_answered(tmp_path: Path) -> None:
    async with connected(tmp_path, Script("Hello!")) as (app, _):
        await dpytest.message("hello all")
        await app.background.idle()
        assert dpytest.verify().message().nothing()


async def test_an_answer_comes_as_a_direct_message(tmp_path: Path) -> None:
    async with connected(tmp_path, Script()) as (_, client):
        config: Any = dpytest.get_config()
        channel, member = config.channels[0], config.members[0]
        await member.create_dm()  # dpytest can open one only from the person's side
        place = f"discord/{channel.guild.id}/{channel.id}"
        receipt = await client.surface.tell(str(member.id), Announcement(key="dm:1", place=place, text="It is done."))
        message = dpytest.get_message()
        assert isinstance(message.channel, discord.DMChannel)
        assert receipt == str(message.id)
        assert message.content.startswith("It is done.")
