"""Who reads what: one's own language where nobody else reads, the server's where others do (issue 4, Texts)."""

from __future__ import annotations

from pathlib import Path

import pytest

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
