"""`/job`: private lists of what one could see by oneself (issue 2, point 11). `/approvals`: `test_approval_list.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord

from cogs import arguments
from cogs.jobs import NO_JOBS, NO_SUCH_JOB
from cogs.limits import CONTENT, length, listed
from tests.cogs.guild import Guild, open_guild
from tests.house import Script

SHELL = [("shell", {"command": "echo hello\nexit"})]


def hidden(here: Guild, *who: Any) -> Any:
    """A channel that only the bot and `who` can see."""
    see = discord.PermissionOverwrite(view_channel=True)
    members = {here.guild.me: see, **dict.fromkeys(who, see)}
    closed = discord.PermissionOverwrite(view_channel=False)
    return here.guild.create_text_channel("hidden", overwrites={here.guild.default_role: closed, **members})


def test_a_long_list_is_cut_and_counted() -> None:
    text = listed([f"- entry {n} " + "x" * 100 for n in range(50)])
    assert length(text) <= CONTENT
    assert text.endswith("and 34 more")


async def test_a_job_works_in_the_background_and_announces_its_end(tmp_path: Path) -> None:
    script = Script(by_prompt={"count the fish": ["Seven fish."]})
    async with open_guild(tmp_path, script) as here:
        result = await here.ben.slash(here.channel, "job start", goal="count the fish")
        await here.settle()
        [job] = await here.rows("SELECT id, kind, state FROM run WHERE kind = 'job'")
        assert (job["kind"], job["state"]) == ("job", "done")
        assert (
            result.response.content
            == f"> count the fish\n-# Background job `{job['id']}`: its result will be announced."
        )
        assert "Seven fish." in here.texts[-1]
        assert f"<@{here.ben.id}>" in here.texts[-1]


async def test_a_waiting_job_is_listed_shown_and_cancelled(tmp_path: Path) -> None:
    script = Script(by_prompt={"clean up": [SHELL]})
    async with open_guild(tmp_path, script) as here:
        assert (await here.ben.slash(here.channel, "job list")).response.content == NO_JOBS
        await here.ben.slash(here.channel, "job start", goal="clean up")
        await here.settle()
        [job] = await here.rows("SELECT id FROM run")
        result = await here.ben.slash(here.channel, "job list")
        assert result.ephemeral
        assert job["id"] in result.response.content
        shown = await here.ben.slash(here.channel, "job show", id=job["id"])
        assert "> clean up" in shown.response.content
        refused = await here.mallory.slash(here.channel, "job cancel", id=job["id"])
        assert "approver" in refused.response.content
        assert "is cancelled" in (await here.ben.slash(here.channel, "job cancel", id=job["id"])).response.content
        await here.settle()
        assert await here.rows("SELECT state FROM approval") == [{"state": "cancelled"}]
        again = await here.ben.slash(here.channel, "job cancel", id=job["id"])
        assert "already ended" in again.response.content


async def test_a_job_of_a_hidden_channel_is_nobody_elses_business(tmp_path: Path) -> None:
    script = Script(by_prompt={"clean up": [SHELL]})
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(hidden(here, here.ben), "job start", goal="clean up")
        await here.settle()
        [job] = await here.rows("SELECT id FROM run")
        assert (await here.mallory.slash(here.channel, "job list")).response.content == NO_JOBS
        shown = await here.mallory.slash(here.channel, "job show", id=job["id"])
        assert shown.response.content == NO_SUCH_JOB
        suggested = await here.mallory.autocomplete(here.channel, "job show", "id", "")
        assert not suggested


async def test_jobs_are_suggested_while_one_types(tmp_path: Path) -> None:
    script = Script(by_prompt={"clean up": [SHELL]})
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(here.channel, "job start", goal="clean up")
        await here.settle()
        [job] = await here.rows("SELECT id FROM run")
        suggested = await here.ben.autocomplete(here.channel, "job cancel", "id", "clean")
        assert job["id"] in str(suggested)


def test_a_passage_is_a_line_or_a_block_and_is_cut_in_its_middle() -> None:
    assert arguments.passage("clean up", limit=90) == "> `clean up`"
    assert arguments.passage("run `date`", limit=90) == "```text\nrun `date`\n```"
    assert "characters not shown" in arguments.passage("run `date` " * 90, limit=90)
