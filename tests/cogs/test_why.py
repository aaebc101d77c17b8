"""`/why`: the story of one request, privately, and only to who could see its card."""

from __future__ import annotations

from pathlib import Path

from cogs.limits import CONTENT, length
from cogs.why import NO_SUCH_REQUEST
from tests.cogs.guild import open_guild
from tests.cogs.test_lists import SHELL, hidden
from tests.house import Script


async def test_the_story_of_a_request_is_told_privately_with_names_and_times(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.mallory.click(here.card, label="Approve")
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        [row] = await here.rows("SELECT id FROM approval")
        told = await here.mallory.slash(here.channel, "why", id=row["id"])
        assert told.ephemeral
        text = told.response.content
        assert f"<@{here.mallory.id}> tried, and was refused: not approver" in text
        assert f"<@{here.ana.id}> approved it" in text
        assert "It ran to its end, exit code 0" in text
        assert "<t:17" in text
        assert text.splitlines()[-1].startswith("**done**")


async def test_the_beginning_of_an_id_is_enough_and_an_unknown_one_is_said_to_be(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        [row] = await here.rows("SELECT id FROM approval")
        told = (await here.ben.slash(here.channel, "why", id=row["id"][:6])).response.content
        assert "was asked for" in told
        assert (await here.ben.slash(here.channel, "why", id="nosuchid")).response.content == NO_SUCH_REQUEST


async def test_a_request_in_a_channel_one_cannot_see_is_not_known(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(hidden(here, here.ben), "ask", prompt="please")
        [row] = await here.rows("SELECT id FROM approval")
        assert (await here.mallory.slash(here.channel, "why", id=row["id"])).response.content == NO_SUCH_REQUEST
        assert "was asked for" in (await here.ben.slash(here.channel, "why", id=row["id"])).response.content


async def test_a_story_that_is_too_long_keeps_its_ends_and_counts_the_rest(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        for _ in range(60):
            await here.mallory.click(here.card, label="Deny")
        [row] = await here.rows("SELECT id FROM approval")
        told = (await here.ben.slash(here.channel, "why", id=row["id"])).response.content
        assert length(told) <= CONTENT
        assert "was asked for" in told
        assert f"more, which `signoff audit show {row['id']}` tells" in told
        assert "waits for sign-off" in told.splitlines()[-1]


async def test_words_of_others_stay_words_in_the_story(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script([("shell", {"command": "echo `@everyone`\n**x**"})])) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        [row] = await here.rows("SELECT id FROM approval")
        told = (await here.ben.slash(here.channel, "why", id=row["id"])).response.content
        assert "\n**x**" not in told
