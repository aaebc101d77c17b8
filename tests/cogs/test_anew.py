"""`/new`: it says by name what it ended, to everybody who is there."""

from __future__ import annotations

from pathlib import Path

from cogs.anew import BEGUN, NOTHING_OPEN
from tests.cogs.guild import open_guild, text_of
from tests.cogs.test_lists import SHELL
from tests.house import Script


async def test_a_new_conversation_names_what_it_cancelled_and_the_card_and_a_late_press_say_so(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        told = await here.ben.slash(here.channel, "new")
        await here.settle()
        assert told.ephemeral
        [row] = await here.rows("SELECT id FROM approval")
        assert f"- cancelled: `shell` `echo hello…` · `{row['id']}`, asked by <@{here.ben.id}>" in told.response.content
        assert any(text.startswith(f"<@{here.ben.id}>: {BEGUN}") and row["id"] in text for text in here.texts)
        assert "cancelled" in text_of(here.card)
        assert "a new conversation was begun" in text_of(here.card)
        late = await here.ana.click(here.card, label="Details")
        assert late.ephemeral


async def test_with_nothing_open_it_says_that(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        told = await here.ben.slash(here.channel, "new")
        assert told.response.content == f"{BEGUN} {NOTHING_OPEN}"


async def test_another_member_cannot_end_what_somebody_asked_for(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        told = await here.mallory.slash(here.channel, "new")
        assert "somebody else asked for" in told.response.content
        assert [row["state"] for row in await here.rows("SELECT state FROM approval")] == ["pending"]
        assert not any(BEGUN in text for text in here.texts)
