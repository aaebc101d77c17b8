"""`/inbox` and `/notify`: what could not be told is there, with the reasons; how people are told (issue 4)."""

from __future__ import annotations

from pathlib import Path

import discord
import pytest

from bot.texts.text import say
from tests.cogs.guild import Guild, open_guild
from tests.cogs.languages import speak_german
from tests.cogs.test_lists import SHELL
from tests.cogs.test_presses import private
from tests.house import Script


async def test_an_ordinary_answer_that_reaches_nobody_waits_in_the_inbox_with_each_reason(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "It ran.")) as here:
        other = here.guild.create_text_channel("other")
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.later(seconds=61)
        direct = here.people["ben"].dm_channel.id
        here.env.inject_error("POST", f"/channels/{here.channel.id}/messages", status=403, code=50001, times=None)
        here.env.inject_error("POST", f"/channels/{direct}/messages", status=403, code=50007, times=None)
        await here.ana.click(here.card, label="Approve")
        await here.later(seconds=400)
        [told] = private(await here.ben.slash(other, "inbox"))
        assert "It ran." in told
        assert f"-# In <#{here.channel.id}>:" in told
        assert "-# As a direct message:" in told
        assert private(await here.ben.slash(other, "inbox")) == ["Nothing is waiting for you here."]
        assert private(await here.mallory.slash(other, "inbox")) == ["Nothing is waiting for you here."]


async def test_what_was_left_out_of_a_request_is_told_the_same_ways(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Seen.")) as here:
        other = here.guild.create_text_channel("other")
        direct = here.people["ben"].dm_channel.id
        for place in (here.channel.id, direct):
            here.env.inject_error("POST", f"/channels/{place}/messages", status=403, code=50001, times=None)
        await here.ben.slash(here.channel, "ask", prompt="look", file=("tool.exe", b"MZ\x00\x01"))
        await here.later(seconds=400)
        told = private(await here.ben.slash(other, "inbox"))
        assert any("In the workspace, but not shown to the model: `tool.exe`" in one for one in told)
        assert any("Seen." in one for one in told)


async def test_notify_says_how_it_stands_and_keeps_what_is_given(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        [told] = private(await here.ben.slash(here.channel, "notify"))
        assert told == say("wishes.says_unset")
        [told] = private(
            await here.ben.slash(
                here.channel, "notify", where="none", quiet_hours="22:00-07:00", timezone="europe/berlin"
            )
        )
        assert told.startswith(say("wishes.says_none"))
        assert told.endswith("From 22:00-07:00 (Europe/Berlin) they make no sound.")
        assert private(await here.ben.slash(here.channel, "notify")) == [told]
        [told] = private(await here.ben.slash(here.channel, "notify", quiet_hours="at night"))
        assert told == say("wishes.not_hours")


async def test_with_none_a_late_answer_pings_nobody_and_in_quiet_hours_it_is_silent(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "It ran.", SHELL, "Again.")) as here:
        await here.ben.slash(here.channel, "notify", where="none")
        await late(here)
        body = here.requests("POST", "/messages")[-1]
        assert (body["content"], body["allowed_mentions"].get("users", [])) == ("It ran.", [])
        await here.ben.slash(here.channel, "notify", where="channel", quiet_hours="00:00-23:59")
        await late(here)
        body = here.requests("POST", "/messages")[-1]
        assert body["allowed_mentions"]["users"] == [here.ben.id]
        assert discord.MessageFlags._from_value(body["flags"]).suppress_notifications


async def late(here: Guild) -> None:
    """Something is asked, and answered when nobody waits in the reply any more."""
    await here.ben.slash(here.channel, "ask", prompt="please")
    await here.later(seconds=61)
    await here.ana.click(here.card, label="Approve")
    await here.settle()


async def test_notify_is_offered_and_answered_in_german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_guild(tmp_path, Script()) as here:
        speak_german(monkeypatch, here.ben.id)
        [told] = private(await here.ben.slash(here.channel, "notify", where="dm"))
        assert told.startswith("Deine Antworten und Ergebnisse kommen als Direktnachricht")
        zones = await here.ben.autocomplete(here.channel, "notify", "timezone", "berlin")
        assert [one["value"] for one in zones] == ["Europe/Berlin"]
