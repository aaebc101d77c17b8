"""The files that a job made, as Discord shows them: with the ending, and by the button of its card."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.surface import Offered
from cogs import offers
from tests.cogs.guild import labels, open_guild, text_of
from tests.house import Script
from tests.test_job_files import Writers, write


async def test_they_come_with_the_ending_and_privately_by_the_button(tmp_path: Path) -> None:
    script = Script(by_prompt={"clean up": [write("out/report.md", "Clean."), "Cleaned."]})
    async with open_guild(tmp_path, script, bench=Writers(tmp_path)) as here:
        await here.ben.slash(here.channel, "job start", goal="clean up")
        await here.settle()
        [card] = [message for message in here.cards if "### Job" not in text_of(message)]
        await here.ana.click(card, label="Approve")
        await here.settle()
        await here.later(seconds=31)
        ending = next(message for message in here.messages if "is done: Cleaned." in message.content)
        assert [one.filename for one in ending.attachments] == ["out-report.md"]
        assert await ending.attachments[0].read() == b"Clean."
        assert ending.content.endswith("\n-# Files that it made: `out/report.md` (6 B)")
        await here.later()
        [card] = [message for message in here.cards if "### Job" in text_of(message)]
        assert labels(card) == ["Log", "Files"]
        refused = await here.mallory.click(card, label="Files")
        assert "Only the person this job works for" in refused.response.content
        fetched = await here.ben.click(card, label="Files")
        assert fetched.ephemeral
        assert fetched.response.content == "Files that it made: `out/report.md` (6 B)"


async def test_what_is_not_handed_over_says_where_it_is() -> None:
    large = Offered(path="a/b`c.bin", size=3_000_000)
    assert "**Files** on the job's card brings them to you" in offers.named([large])
    assert "too much for one message" in offers.named([large], fetched=True)
    assert offers.files([large]) == []
    assert offers.named([]) == "There is no file of this job in the workspace any more."
    [file] = offers.files([Offered(path="../a b/ü\n.md", size=1, body=b"x")])
    assert file.filename == "a_b-ü_.md"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("report\u202efdp.exe", "report_fdp.exe"),
        ("report\u3164\u115f.pdf.exe", "report_.pdf.exe"),
        ("out/@everyone.md", "out-_everyone.md"),
        (".env", "env"),
        ("a" * 300 + ".txt", "a" * 76 + ".txt"),
    ],
)
def test_the_name_of_a_file_that_is_handed_over_hides_nothing(path: str, name: str) -> None:
    """S-A43: what is posted; what comes in: tests/test_uploads.py."""
    [file] = offers.files([Offered(path=path, size=1, body=b"x")])
    assert file.filename == name
