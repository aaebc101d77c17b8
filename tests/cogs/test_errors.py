"""The last net under slash commands: one private sentence, and the truth in the log."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import discord
import pytest
from discord import app_commands

from bot.errors import NotAllowed
from cogs.errors import NOT_FOR_YOU, OUTDATED, explain
from tests.cogs.guild import open_guild
from tests.house import Script

INTERACTION: Any = SimpleNamespace(id=77)


def test_a_refusal_is_told_as_it_is() -> None:
    command: Any = SimpleNamespace(name="job")
    error = app_commands.CommandInvokeError(command, NotAllowed("no", "Only Ana can do that."))
    assert explain(INTERACTION, error) == "Only Ana can do that."


def test_outdated_commands_are_told_how_to_renew_them() -> None:
    assert explain(INTERACTION, app_commands.CommandNotFound("old", [])) == OUTDATED


def test_a_failed_check_says_that_it_is_not_for_them() -> None:
    assert explain(INTERACTION, app_commands.CheckFailure()) == NOT_FOR_YOU


async def test_a_broken_command_answers_and_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*args: object) -> None:
        raise RuntimeError("the disk is on fire")

    async with open_guild(tmp_path, Script(), check_errors=False) as here:
        monkeypatch.setattr(here.app.engine, "open_approvals", broken)
        result = await here.ben.slash(here.channel, "approvals")
        assert result.ephemeral
        assert result.response.content.startswith("Something went wrong inside me, so this may not have worked.")
        assert "disk" not in result.response.content
        assert "the disk is on fire" in caplog.text
        assert result.response.flags.ephemeral
        assert isinstance(result.response.flags, discord.MessageFlags)
