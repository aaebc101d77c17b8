"""`/schedule` in the guild (issue 6, point 7)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import discord

from cogs.schedules import NONE
from tests.cogs.guild import Guild, open_guild, text_of
from tests.cogs.test_presses import forge, private
from tests.house import Script

SHELL = [("shell", {"command": "echo hello"})]
HOUR, DAY = 3_600, 86_400
MORNING = int(datetime(2026, 7, 1, 8, tzinfo=UTC).timestamp())


@asynccontextmanager
async def morning(folder: Path, *steps: Any) -> AsyncIterator[Guild]:
    async with open_guild(folder, Script(by_prompt={"clean up": list(steps)})) as here:
        here.clock.at = MORNING * 1000
        yield here


async def draft(here: Guild, when: str = "every weekday at 9", *, channel: Any = None, **more: Any) -> discord.Message:
    """Ben makes a schedule; the message with the buttons."""
    result = await here.ben.slash(channel or here.channel, "schedule add", goal="clean up", when=when, **more)
    [message] = [one for one in (result.response, *result.followups) if one is not None]
    assert message.ephemeral
    return message


async def saved(here: Guild, **more: Any) -> str:
    await here.ben.click(await draft(here, **more), label="Save")
    await here.settle()
    return str((await here.rows("SELECT id FROM schedule WHERE state = 'active'"))[-1]["id"])


async def test_the_next_three_times_are_shown_before_anything_is_saved(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        message = await draft(here, timezone="Europe/Berlin")
        for day in (2, 3, 6):  # at 10 in Berlin it is too late for today, and then comes a weekend
            assert f"<t:{int(datetime(2026, 7, day, 7, tzinfo=UTC).timestamp())}:F>" in message.content
        assert "**Not saved yet.** `every weekday at 9`, times of Europe/Berlin" in message.content
        buttons = str(here.requests("POST", "/webhooks/")[-1]["components"])
        assert "'label': 'Save'" in buttons
        assert "'label': 'Discard'" in buttons
        assert private(await here.ben.slash(here.channel, "schedule list")) == [NONE]


async def test_saving_replaces_the_draft_also_after_a_restart(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        message = await draft(here)
        assert "I take UTC" in message.content
        await here.restart()
        await here.ben.click(message, label="Save")
        [row] = await here.rows("SELECT id, state, cron FROM schedule")
        assert (row["state"], row["cron"]) == ("active", "0 9 * * 1-5")
        [told] = private(await here.ben.slash(here.channel, "schedule list"))
        assert f"`{row['id']}` **active** · `every weekday at 9` (UTC) · `clean up`" in told
        assert told.count("<t:") == 3


async def test_a_discarded_draft_is_gone(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        message = await draft(here)
        [row] = await here.rows("SELECT id FROM schedule")
        await here.ben.click(message, label="Discard")
        assert await here.rows("SELECT id FROM schedule") == []
        posted = await here.ana.send(here.channel, "hello")
        [told] = private(await forge(here, here.ben, f"so1:schedule-save:{row['id']}", message=posted))
        assert "That draft is gone" in told


async def test_what_cannot_be_read_is_refused_privately_with_examples(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        for words, more in (("whenever you like", {}), ("daily at 9", {"timezone": "Mars/Crater"})):
            [told] = private(await here.ben.slash(here.channel, "schedule add", goal="clean up", when=words, **more))
            assert "every weekday at 9" in told or "Europe/Berlin" in told
        assert await here.rows("SELECT id FROM schedule") == []


async def test_a_scheduled_job_asks_on_a_card_that_names_the_schedule_and_announces_its_end(tmp_path: Path) -> None:
    async with morning(tmp_path, SHELL, "Cleaned.") as here:
        id = await saved(here)
        await here.later(seconds=HOUR)
        await here.app.background.idle()
        await here.settle()
        [job, approval] = here.cards if "### Job" in text_of(here.cards[0]) else reversed(here.cards)
        named = f"schedule `{id}` (`every weekday at 9`)"
        assert f"For <@{here.ben.id}> · `" in text_of(job)
        assert named in text_of(job)
        assert f"of {named}" in text_of(approval)
        assert here.bench.effects == []
        await here.ana.click(approval, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]
        assert "is done: Cleaned." in here.texts[-1]
        [told] = private(await here.ben.slash(here.channel, "schedule list"))
        assert f"<t:{MORNING + HOUR}:R>: its job `" in told


async def test_pause_resume_run_now_and_remove_say_what_they_did(tmp_path: Path) -> None:
    async with morning(tmp_path, "Cleaned.") as here:
        id = await saved(here)
        [told] = private(await here.mallory.slash(here.channel, "schedule pause", id=id))
        assert "Only the person whose schedule this is" in told
        [told] = private(await here.ben.slash(here.channel, "schedule pause", id=id))
        assert told.startswith(f"Paused: schedule `{id}`")
        [told] = private(await here.ana.slash(here.channel, "schedule resume", id=id))
        assert f"next at <t:{MORNING + HOUR}:F>" in told
        [told] = private(await here.ben.slash(here.channel, "schedule run-now", id=id))
        assert "has started" in told
        await here.settle()
        assert "is done: Cleaned." in here.texts[-1]
        [told] = private(await here.ben.slash(here.channel, "schedule remove", id=id))
        assert told.startswith("Removed")
        [told] = private(await here.ben.slash(here.channel, "schedule run-now", id=id))
        assert "There is no schedule" in told
        trail = await here.rows("SELECT event, actor FROM audit WHERE event LIKE 'schedule%' ORDER BY n")
        assert [row["event"].removeprefix("schedule_") for row in trail] == ["saved", "paused", "resumed", "removed"]
        assert trail[2]["actor"] == str(here.ana.id)


async def test_it_pauses_itself_when_its_person_has_left_the_server(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        id = await saved(here)
        here.guild.remove_member(here.ben)
        await here.later(seconds=HOUR)
        assert f"Schedule `{id}` (`every weekday at 9`) has paused itself" in here.texts[-1]
        assert "They have left that server." in here.texts[-1]
        [told] = private(await here.ana.slash(here.channel, "schedule list"))
        assert "**paused**" in told
        assert "paused itself: They have left that server." in told


async def test_it_pauses_itself_when_its_channel_is_gone_and_tells_its_person(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        other = here.guild.create_text_channel("old")
        await here.settle()
        id = await saved(here, channel=other)
        await here.env.bot.get_channel(other.id).delete()
        await here.settle()
        await here.later(seconds=HOUR)
        [message] = here.people["ben"].dm_channel.history()
        assert f"Schedule `{id}`" in message.content
        assert "That channel does not exist any more." in message.content
        assert await here.rows("SELECT id FROM run") == []


async def test_it_pauses_itself_where_it_may_not_write_any_more(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        await saved(here)
        channel = here.env.bot.get_channel(here.channel.id)
        await channel.set_permissions(channel.guild.default_role, send_messages=False)
        await here.settle()
        await here.later(seconds=HOUR)
        [row] = await here.rows("SELECT state, note FROM schedule")
        assert row["state"] == "paused"
        assert row["note"].startswith("I lack Send Messages")


async def test_what_lies_in_a_hidden_channel_is_in_nobodys_list_but_its_persons(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        other = here.guild.create_text_channel("secret")
        await here.settle()
        await saved(here, channel=other)
        channel = here.env.bot.get_channel(other.id)
        await channel.set_permissions(channel.guild.default_role, view_channel=False)
        await here.settle()
        assert private(await here.mallory.slash(here.channel, "schedule list")) == [NONE]
        [told] = private(await here.ben.slash(here.channel, "schedule list"))
        assert "**active**" in told


async def test_schedules_and_time_zones_are_suggested_while_one_types(tmp_path: Path) -> None:
    async with morning(tmp_path) as here:
        id = await saved(here)
        choices = await here.ben.autocomplete(here.channel, "schedule pause", "id", "clean")
        assert [choice["value"] for choice in choices] == [id]
        zones = await here.ben.autocomplete(here.channel, "schedule add", "timezone", "berl")
        assert [choice["value"] for choice in zones] == ["Europe/Berlin"]
