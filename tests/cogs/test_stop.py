"""The `Stop` button: there while a turn goes on, gone when its answer stands, and still good after a restart."""

from __future__ import annotations

from pathlib import Path

import discord

from tests.cogs.guild import Guild, labels, open_guild
from tests.cogs.test_lists import SHELL
from tests.house import Script


def with_button(here: Guild) -> list[discord.Message]:
    return [message for message in here.messages if "Stop" in labels(message)]


async def test_a_turn_that_waits_can_be_stopped_and_the_button_is_gone(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        [progress] = with_button(here)
        refused = await here.mallory.click(progress, label="Stop")
        assert refused.ephemeral
        assert "Only the person who asked for this" in refused.response.content
        [entry] = await here.rows("SELECT actor, run, detail FROM audit WHERE event = 'press_refused'")
        [run] = await here.rows("SELECT id FROM run")
        assert (entry["actor"], entry["run"]) == (str(here.mallory.id), run["id"])
        assert "not_requester" in entry["detail"]
        told = await here.ben.click(progress, label="Stop")
        await here.settle()
        assert told.ephemeral
        assert told.response.content.startswith("Stopped. What it still asked for was cancelled: shell (")
        assert with_button(here) == []
        ended = next(message for message in here.messages if message.id == progress.id)
        assert ended.content == f"-# Stopped by <@{here.ben.id}> before it was complete."
        assert await here.rows("SELECT state FROM run") == [{"state": "cancelled"}]


async def test_a_whole_answer_has_no_button(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "It ran.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        assert len(with_button(here)) == 1
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert "It ran." in here.texts
        assert with_button(here) == []


async def test_an_answer_that_comes_late_takes_the_button_from_the_message_that_points_to_it(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "It ran.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.later(seconds=61)
        assert len(with_button(here)) == 1
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert any(text.startswith("The answer is here:") for text in here.texts)
        assert with_button(here) == []


async def test_after_a_restart_the_button_still_stops(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        [progress] = with_button(here)
        await here.restart()
        await here.ana.click(progress, label="Stop")
        await here.settle()
        assert await here.rows("SELECT state FROM run") == [{"state": "cancelled"}]
        assert with_button(here) == []


async def test_a_turn_is_sent_into_the_background_by_its_button_and_announced_as_a_job(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "It ran.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        [reply] = here.app.engine._delivery.replies.values()
        reply.lasts()  # half a minute has passed
        await reply.rest("I asked.")
        [progress] = with_button(here)
        assert labels(progress) == ["Stop", "Continue in background"]
        refused = await here.mallory.click(progress, label="Continue in background")
        assert "Only the person who asked for this, or an approver, can send it" in refused.response.content
        told = await here.ben.click(progress, label="Continue in background")
        await here.settle()
        assert told.ephemeral
        assert told.response.content.startswith("It goes on in the background as job `")
        assert progress.id not in [message.id for message in with_button(here)]
        moved = next(message for message in here.messages if message.id == progress.id)
        assert moved.content.startswith("This went on in the background as job `")
        [card] = [message for message in here.cards if "Approve" in labels(message)]
        await here.ana.click(card, label="Approve")
        await here.settle()
        await here.later(seconds=31)
        assert any(text.endswith("is done: It ran.") for text in here.texts)
