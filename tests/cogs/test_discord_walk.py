"""The whole walk in a guild: asked, shown, decided, run, told."""

from __future__ import annotations

from pathlib import Path

from tests.cogs.guild import labels, open_guild, text_of
from tests.house import Script


async def test_an_approved_call_runs_once_and_the_answer_follows(tmp_path: Path) -> None:
    script = Script([("shell", {"command": "echo hello"})], "It said hello.")
    async with open_guild(tmp_path, script) as here:
        result = await here.ben.slash(here.channel, "ask", prompt="say hello")
        assert result.acknowledged
        assert result.response.content == "> say hello"
        assert "echo hello" in text_of(here.card)
        assert labels(here.card) == ["Approve", "Deny", "Deny with reason…", "Edit…", "Details", "Cancel", "Extend"]
        assert here.bench.effects == []
        pressed = await here.ana.click(here.card, label="Approve")
        assert pressed.acknowledged
        await here.settle()
        assert here.bench.effects == ["echo hello"]
        assert labels(here.card) == ["Details", "Run again"]
        assert "done" in text_of(here.card)
        assert here.texts[-1] == "It said hello."
