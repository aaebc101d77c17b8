"""Who reads what: one's own language where nobody else reads, the server's where others do (issue 4, Texts)."""

from __future__ import annotations

from pathlib import Path

import discord
import pytest

from bot.texts.entry import Language
from tests.cogs.guild import custom_id, labels, open_guild, text_of
from tests.cogs.languages import speak_german
from tests.cogs.test_presses import SHELL, forge, private
from tests.house import Script


async def test_a_private_answer_speaks_the_language_of_who_pressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        speak_german(monkeypatch, here.mallory.id)
        await here.ben.slash(here.channel, "ask", prompt="please")
        unknown = custom_id(here.card, "Approve").replace("approve", "no-such-thing")
        assert private(await forge(here, here.mallory, unknown))[0].startswith("Diesen Knopf kenne ich nicht mehr")
        assert private(await forge(here, here.ben, unknown))[0].startswith("I do not know this button any more")


async def test_the_shared_card_stays_in_the_servers_language_whoever_pressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        speak_german(monkeypatch)
        await here.ben.slash(here.channel, "ask", prompt="please")
        assert labels(here.card)[:2] == ["Approve", "Deny"]
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert "`shell` ran" in text_of(here.card)
        assert labels(here.card) == ["Details", "Run again"]
        stored = await here.rows("SELECT * FROM audit") + await here.rows("SELECT * FROM approval")
        assert "genehmigt" not in str(stored)


async def test_discord_is_told_what_commands_are_for_in_german_too(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        [synced] = here.requests("PUT", "/commands")
        by_name = {command["name"]: command for command in synced}
        assert by_name["ask"]["description"].startswith("Ask for something.")
        assert by_name["ask"]["description_localizations"]["de"].startswith("Um etwas bitten.")
        options = {option["name"]: option for option in by_name["ask"]["options"]}
        assert options["prompt"]["description_localizations"]["de"] == "Was du möchtest, in deinen eigenen Worten."
        choices = {choice["value"]: choice for choice in options["notify"]["choices"]}
        assert choices["dm"]["name"] == "dm"
        assert choices["dm"]["name_localizations"]["de"] == "Direktnachricht"
        [topics] = by_name["help"]["options"]
        assert topics["choices"][0]["name_localizations"]["de"] == "Anfang"


async def test_a_persons_language_is_known_after_a_restart_for_what_is_written_to_them_directly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_guild(tmp_path, Script()) as here:
        speak_german(monkeypatch, here.ben.id)
        await here.ben.slash(here.channel, "inbox")
        await here.ana.slash(here.channel, "inbox")
        await here.restart()
        assert await here.env.bot.languages.of_person(here.ben.id) is Language.DE
        assert await here.env.bot.languages.of_person(here.ana.id) is Language.EN


async def test_a_community_servers_language_is_its_own_and_any_others_is_the_settings(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(), face={"language": "de"}) as here:
        languages, guild = here.env.bot.languages, here.env.bot.get_guild(here.guild.id)
        assert languages.of_guild(guild.id) is Language.DE  # Discord says en-US of every server that is no community
        guild.features.append("COMMUNITY")
        assert languages.of_guild(guild.id) is Language.EN
        guild.preferred_locale = discord.Locale.german
        assert languages.of_guild(guild.id) is Language.DE
        guild.preferred_locale = discord.Locale.french
        assert languages.of_guild(guild.id) is languages.default
