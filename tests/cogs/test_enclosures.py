"""Files on `/ask` and on messages: the model is shown them, and what was left out is named where everybody reads it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import aiohttp
import discord

from bot.settings import Settings
from cogs.mentions import WORDLESS
from tests.cogs.guild import open_guild, text_of
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
        named = [text for text in here.texts if "tool.exe" in text]
        where = "`tool.exe` (it lies at `uploads/tool.exe (4 bytes)`; neither text nor an image I know)"
        assert named == [f"In the workspace, but not shown to the model: {where}."]
        assert sorted(file.name for file in (tmp_path / "uploads").iterdir()) == ["a.png", "notes.txt", "tool.exe"]
        assert (tmp_path / "uploads" / "tool.exe").read_bytes() == b"MZ\x00\x01"
        assert "put into the workspace as uploads/notes.txt (13 bytes)" in str(contents(script))


async def test_a_message_of_nothing_but_a_file_is_a_request_too(tmp_path: Path) -> None:
    script = Script("Seen.")
    async with open_guild(tmp_path, script) as here:
        me = here.env.bot.user.id
        await here.ben.send(here.channel, f"<@{me}>", attachments=[("notes.txt", b"one two three")])
        await here.settle()
        assert contents(script)[-1] == WORDLESS


async def test_a_file_of_a_command_lands_under_a_safe_name_and_two_of_one_name_stay_apart(tmp_path: Path) -> None:
    script = Script("Seen.", "Seen.")
    async with open_guild(tmp_path, script) as here:
        for content in (b"one", b"two"):
            await here.ben.slash(here.channel, "ask", prompt="look", file=("../report\u202efdp.txt", content))
            await here.settle()
        assert {file.name: file.read_bytes() for file in (tmp_path / "uploads").iterdir()} == {
            "report_fdp.txt": b"one",
            "report_fdp-2.txt": b"two",
        }
        assert not any(text.startswith(("Not taken", "In the workspace", "Shown")) for text in here.texts)


async def test_a_file_that_is_larger_than_discord_says_is_refused_with_the_reason(tmp_path: Path) -> None:
    """The size in the event is somebody's word; what comes is counted."""

    async def endless(file: discord.Attachment) -> AsyncGenerator[bytes, None]:
        while True:
            sent.append(1)
            yield b"x" * 100_000

    sent: list[int] = []
    script = Script("Seen.")
    settings = Settings(upload_megabytes=1)
    async with open_guild(tmp_path, script, settings=settings, face={"download": endless}) as here:
        await here.ben.slash(here.channel, "ask", prompt="look", file=("bomb.zip", b"x"))
        await here.settle()
        assert "Seen." in here.texts
        [told] = [text for text in here.texts if text.startswith("Not taken")]
        assert told == "Not taken from what was attached: `bomb.zip` (larger than 100 kB; larger than 1,000 kB)."
        assert list((tmp_path / "uploads").iterdir()) == []
        assert len(sent) < 40


async def test_a_file_that_breaks_off_leaves_nothing_and_the_turn_goes_on(tmp_path: Path) -> None:
    async def broken(file: discord.Attachment) -> AsyncGenerator[bytes, None]:
        yield b"half"
        raise aiohttp.ClientPayloadError

    script = Script("Seen.")
    async with open_guild(tmp_path, script, face={"download": broken}) as here:
        await here.ben.slash(here.channel, "ask", prompt="look", file=("notes.txt", b"x"))
        await here.settle()
        assert "Not taken from what was attached: `notes.txt` (Discord did not give it to me)." in here.texts
        assert "Seen." in here.texts
        assert list((tmp_path / "uploads").iterdir()) == []


async def test_where_uploads_are_off_the_model_is_shown_files_as_before_and_nothing_lands(tmp_path: Path) -> None:
    script = Script("Seen.")
    async with open_guild(tmp_path, script, settings=Settings(upload_megabytes=0)) as here:
        files = [("notes.txt", b"one two three"), ("tool.exe", b"MZ\x00\x01")]
        await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> look", attachments=files)
        await here.settle()
        assert any("one two three" in str(one) for one in contents(script))
        assert "Not taken from what was attached: `tool.exe` (neither text nor an image I know)." in here.texts
        assert not (tmp_path / "uploads").exists()


async def test_what_is_shown_and_cannot_land_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "uploads").write_text("in the way")
    script = Script("Seen.")
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(here.channel, "ask", prompt="look", file=("notes.txt", b"one two three"))
        await here.settle()
        [told] = [text for text in here.texts if text.startswith("Shown to the model, but not put")]
        assert "`notes.txt` (it could not be stored: `uploads` is not a directory" in told
        assert any("one two three" in str(one) for one in contents(script))


async def test_what_a_file_said_stands_on_the_next_card_by_its_name(tmp_path: Path) -> None:
    script = Script([("shell", {"command": "sh uploads/tool.exe"})], "Done.")
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(here.channel, "ask", prompt="run it", file=("tool.exe", b"MZ\x00\x01"))
        await here.settle()
        assert "Proposed after reading `tool.exe`" in text_of(here.card)
