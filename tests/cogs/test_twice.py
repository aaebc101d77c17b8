"""A message that Discord delivers twice starts one turn, and its answer is not spoilt (cases of a resumed gateway)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cogs.begin import Beginner
from cogs.places import Place
from tests.cogs.guild import Guild, open_guild, read_whole
from tests.cogs.test_lists import SHELL
from tests.house import Script


async def comes(here: Guild, *, times: int = 1) -> None:
    """The gateway delivers the same occurrence."""
    bot = here.env.bot
    beginner = Beginner(
        here.app.engine, bot.surface, here.app.background.spawn, uploads=here.app.upkeep.uploads, download=read_whole
    )
    person: Any = SimpleNamespace(id=here.ben.id)
    place = Place(guild=here.guild.id, channel=here.channel.id)
    for _ in range(times):
        beginner.begin(place, person, within="", request=4711, prompt="x", reply_to=None)
    await here.app.background.idle()
    await here.settle()


async def test_an_answered_message_that_comes_again_is_pointed_to_its_answer(tmp_path: Path) -> None:
    script = Script("Hello.")
    async with open_guild(tmp_path, script) as here:
        await comes(here)
        await comes(here)
        answer, pointer = here.messages
        assert answer.content == "Hello."
        assert pointer.content.endswith(f"/{here.channel.id}/{answer.id}")
        assert len(script.seen) == 1


async def test_a_message_that_comes_twice_at_once_leaves_one_card_and_one_whole_answer(tmp_path: Path) -> None:
    script = Script(SHELL, "Done.")
    async with open_guild(tmp_path, script) as here:
        await comes(here, times=2)
        assert len(here.cards) == 1
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.texts.count("Done.") == 1
        assert len([text for text in here.texts if "already working on this request" in text]) == 1
        assert here.bench.effects == ["echo hello\nexit"]
