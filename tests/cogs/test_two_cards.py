"""The trap with discord.py's view store: one card's end must not take away another card's buttons.

In 2.7.1 a stopped or timed-out view that holds a dynamic item beside an ordinary button removes the dynamic item's
pattern for every message. This bot stores no view at all; these tests hold it to that.
"""

from __future__ import annotations

from pathlib import Path

from tests.cogs.guild import labels, open_guild, text_of
from tests.house import Script


async def test_the_second_card_decides_after_the_first_was_decided_edited_and_timed_out(tmp_path: Path) -> None:
    script = Script([("shell", {"command": "echo one"})], [("shell", {"command": "echo two"})], "First.", "Second.")
    async with open_guild(tmp_path, script) as here:
        other = here.guild.create_text_channel("other")
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.ben.slash(other, "ask", prompt="two")
        second = other.last_message
        assert labels(second) == ["Approve", "Deny", "Deny with reason…", "Edit…", "Details", "Cancel", "Extend"]
        await here.ana.click(here.card, label="Details")
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert "done" in text_of(here.card)
        await here.env.advance_time(1_000)
        result = await here.ana.click(second, label="Approve")
        await here.settle()
        assert result.acknowledged
        assert here.bench.effects == ["echo one", "echo two"]


async def test_no_card_and_no_form_is_kept_by_discord_py(tmp_path: Path) -> None:
    script = Script([("ask_user", {"question": "Which?", "choices": ["a"]})], "Good.")
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(here.channel, "ask", prompt="ask me")
        await here.ben.click(here.card, label="Answer…")
        store = here.env.bot._connection._view_store
        assert store._views == {}
        assert store._modals == {}
        assert store._dynamic_items == {}
        assert list(here.env.bot.persistent_views) == []
