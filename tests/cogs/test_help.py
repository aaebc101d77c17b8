"""`/help`: every topic has a text that fits, and every command there is stands in one of them (issue 4)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cogs.help import HELP
from cogs.help_texts import TEXTS, Topic
from cogs.limits import CONTENT, length
from tests.cogs.guild import open_guild
from tests.house import Script


@pytest.mark.parametrize("topic", TEXTS)
def test_a_topic_fits_into_a_message(topic: Topic) -> None:
    assert length(TEXTS[topic]) <= CONTENT
    assert length(HELP) <= CONTENT


async def test_help_begins_with_what_to_do_first_and_is_private(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        result = await here.ben.slash(here.channel, "help")
        assert result.ephemeral
        assert result.response.content == TEXTS[Topic.START]


@pytest.mark.parametrize("topic", Topic)
async def test_another_topic_takes_the_place_of_the_first(tmp_path: Path, topic: Topic) -> None:
    async with open_guild(tmp_path, Script()) as here:
        result = await here.ben.slash(here.channel, "help")
        picked = await here.ben.select(result.response, [topic.value])
        assert (
            picked.response.content == (await here.ben.slash(here.channel, "help", topic=topic.value)).response.content
        )
        if topic is not Topic.COMMANDS:
            assert picked.response.content == TEXTS[topic]


async def test_all_commands_are_listed_with_what_they_are_for(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        text = (await here.ben.slash(here.channel, "help", topic="commands")).response.content
        for command in here.env.bot.tree.walk_commands():
            if not hasattr(command, "commands"):
                assert f"`/{command.qualified_name}` {command.description}" in text


async def test_commands_that_the_topics_name_are_there(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        there = {command.qualified_name for command in here.env.bot.tree.walk_commands()}
        named = {name for text in TEXTS.values() for name in re.findall(r"`/([a-z ]+)`", text)}
        assert named <= there
