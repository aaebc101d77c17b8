"""Files on `/ask` and on messages: the model is shown them, and what was left out is named where everybody reads it."""

from __future__ import annotations

from pathlib import Path

from cogs.mentions import WORDLESS
from tests.cogs.guild import open_guild
from tests.house import Script
from tests.test_attachments import PNG, contents


async def test_a_file_of_a_command_goes_to_the_model(tmp_path: Path) -> None:
    script = Script("Seen.")
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(here.channel, "ask", prompt="look", file=("notes.txt", b"one two three"))
        await here.settle()
        assert here.texts[-1] == "Seen."
        assert any("one two three" in str(one) for one in contents(script))
        assert contents(script)[-1] == "look"


async def test_files_on_a_message_go_to_the_model_and_what_was_left_out_is_named_once(tmp_path: Path) -> None:
    script = Script("Seen.")
    async with open_guild(tmp_path, script) as here:
        files = [("notes.txt", b"one two three"), ("a.png", PNG), ("tool.exe", b"MZ\x00\x01")]
        await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> look", attachments=files)
        await here.settle()
        assert any("one two three" in str(one) for one in contents(script))
        named = [text for text in here.texts if text.startswith("Not taken from what was attached:")]
        assert named == ["Not taken from what was attached: `tool.exe` (neither text nor an image I know)."]


async def test_a_message_of_nothing_but_a_file_is_a_request_too(tmp_path: Path) -> None:
    script = Script("Seen.")
    async with open_guild(tmp_path, script) as here:
        me = here.env.bot.user.id
        await here.ben.send(here.channel, f"<@{me}>", attachments=[("notes.txt", b"one two three")])
        await here.settle()
        assert contents(script)[-1] == WORDLESS
