"""What a known secret must not get into: answers, also while they grow, the database and its trail, and output."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bot.redact import Redactor
from storage import audit
from storage.database import open_database
from storage.guarded import GuardedDatabase
from tests.house import Bench, Script, open_house

SECRET = "Zk7-topmost/s3cret+of:all"
LABEL = "[masked: VAULT]"
REDACTOR = Redactor({"VAULT": SECRET})


def dump(folder: Path) -> str:
    with sqlite3.connect(folder / "house.sqlite3") as database:
        return "\n".join(database.iterdump())


async def test_a_secret_in_an_answer_is_masked_in_the_reply_its_growth_and_the_rows(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(f"It is {SECRET} as you know."), redactor=REDACTOR) as house:
        page = await house.ask()
    assert page.finished == f"It is {LABEL} as you know."
    assert not [text for text in page.shown if SECRET[:4] in text]
    assert SECRET not in dump(tmp_path)


async def test_a_secret_that_a_person_writes_reaches_neither_the_rows_nor_the_model(tmp_path: Path) -> None:
    script = Script("I have not seen it.")
    async with open_house(tmp_path, script, redactor=REDACTOR) as house:
        await house.ask(f"my password is {SECRET}, remember it")
    assert f"my password is {LABEL}, remember it" in str(script.seen)
    assert SECRET not in str(script.seen) + dump(tmp_path)


async def test_a_secret_in_a_result_reaches_neither_the_rows_nor_the_model(tmp_path: Path) -> None:
    script = Script([("look", {"what": "the vault"})], "done")
    bench = Bench()
    bench.found = SECRET.encode().hex()
    async with open_house(tmp_path, script, redactor=REDACTOR, bench=bench) as house:
        await house.ask()
    assert script.results() == [("success", f"saw the vault {LABEL}")]
    assert bench.found not in str(script.seen) + dump(tmp_path)


async def test_the_trail_stays_whole_when_something_in_it_was_masked(tmp_path: Path) -> None:
    async with open_database(str(tmp_path / "a.sqlite3")) as opened:
        database = GuardedDatabase(opened, REDACTOR.known)
        async with database.begin("test") as tx:
            await audit.record(tx, at=1, actor="1", event="said", detail={"text": f"it is {SECRET}"})
        assert await audit.verify(database.reader) is None
        (row,) = await database.reader.all("SELECT detail FROM audit")
    assert row["detail"] == f'{{"text": "it is {LABEL}"}}'


async def test_a_secret_in_an_attached_text_is_masked_before_it_is_stored(tmp_path: Path) -> None:
    attached = f"\udcff{SECRET}".encode("utf-8", "surrogateescape")
    async with (
        open_database(str(tmp_path / "a.sqlite3")) as opened,
        GuardedDatabase(opened, REDACTOR.known).begin("test") as tx,
    ):
        row = await tx.one("SELECT ? AS text, ? AS other", attached, b"\xff")
    assert row is not None
    assert (row["text"], row["other"]) == (b"\xff" + LABEL.encode(), b"\xff")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_is_printed_in_pieces_is_masked_as_a_whole(stream: str) -> None:
    """S-T48: also an error that the interpreter itself prints."""
    code = (
        "import sys\nfrom bot.redact import Redactor\nfrom bot.streams import masked_output\n"
        f"secret = {SECRET!r}\n"
        "with masked_output(Redactor({'VAULT': secret})):\n"
        f"    sys.{stream}.write('it is ' + secret[:7])\n"
        f"    sys.{stream}.write(secret[7:] + '\\nand ' + secret)\n"
        "    class Late:\n        def __del__(self): raise ValueError(secret)\n"
        "    Late()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"it is {LABEL}\nand {LABEL}" in getattr(done, stream)
    assert f"ValueError: {LABEL}" in done.stderr
    assert SECRET not in done.stdout + done.stderr
