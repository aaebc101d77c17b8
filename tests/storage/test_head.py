"""The end of the trail is written down outside the database too: what was cut off, or made anew, is found."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path

import pytest

from storage import audit, head
from storage.database import Database, Reader
from storage.head import Head, HeadUnreadable
from tests.storage.rows import AT, open_at


async def grow(database: Database, actor: str, entries: int) -> None:
    async with database.begin("record") as tx:
        for n in range(entries):
            await audit.record(tx, at=AT + n, actor=actor, event="asked", detail={"n": n})


def by_hand(folder: Path, *statements: str) -> None:
    """What somebody does who has the database file in their hands, and nothing else."""
    with sqlite3.connect(folder / "rows.sqlite3") as raw:
        raw.execute("DROP TRIGGER IF EXISTS audit_no_update")
        raw.execute("DROP TRIGGER IF EXISTS audit_no_delete")
        for statement in statements:
            raw.execute(statement)
    raw.close()


def forge(folder: Path, *, keep: int) -> None:
    """Cut the trail behind `keep` entries, and make what stands for its end in the database agree with that."""
    by_hand(
        folder,
        f"DELETE FROM audit WHERE n > {keep}",
        f"UPDATE meta SET value = (SELECT hash FROM audit WHERE n = {keep}) WHERE key = '{audit.HEAD}'",
    )


async def verdicts(reader: Reader, folder: Path) -> tuple[int | None, int | None]:
    """What the chain says, and what the file outside says."""
    return await audit.verify(reader), await head.broken_at(reader, folder / "rows.head")


async def test_a_trail_whose_last_rows_were_cut_off_with_all_that_tells_of_them_inside_is_found(tmp_path: Path) -> None:
    """S-A95, its second half: the chain itself is whole, and only the file outside tells."""
    async with open_at(tmp_path) as database:
        await grow(database, "1", 5)
        await Head(database.reader, tmp_path / "rows.sqlite3").note()
        assert await verdicts(database.reader, tmp_path) == (None, None)
    forge(tmp_path, keep=3)
    async with open_at(tmp_path) as database:
        assert await verdicts(database.reader, tmp_path) == (None, 4)


async def test_a_trail_that_was_made_anew_with_other_actors_is_found(tmp_path: Path) -> None:
    """S-A95: every hash agrees with every other, and none with the file."""
    async with open_at(tmp_path) as database:
        await grow(database, "1", 5)
        await Head(database.reader, tmp_path / "rows.sqlite3").note()
    by_hand(
        tmp_path, "DELETE FROM audit", f"DELETE FROM meta WHERE key = '{audit.HEAD}'", "DELETE FROM sqlite_sequence"
    )
    async with open_at(tmp_path) as database:
        await grow(database, "666", 7)
        assert await verdicts(database.reader, tmp_path) == (None, 5)


@pytest.mark.parametrize("actor", ["7", "1 "])
async def test_the_actor_of_an_old_row_was_changed_and_the_row_is_named(tmp_path: Path, actor: str) -> None:
    """S-A95, its first half."""
    async with open_at(tmp_path) as database:
        await grow(database, "1", 5)
    by_hand(tmp_path, f"UPDATE audit SET actor = '{actor}' WHERE n = 2")
    async with open_at(tmp_path) as database:
        assert await audit.verify(database.reader) == 2


async def test_the_file_grows_with_the_trail_and_agrees_at_every_moment(tmp_path: Path) -> None:
    async with open_at(tmp_path) as database:
        noting = Head(database.reader, tmp_path / "rows.sqlite3")
        await noting.note()
        assert head.read(tmp_path / "rows.head") is None
        for entries in (1, 2, 3):
            await grow(database, "1", 1)
            assert await verdicts(database.reader, tmp_path) == (None, None)
            await noting.note()
            assert json.loads((tmp_path / "rows.head").read_text())["n"] == entries
            assert await verdicts(database.reader, tmp_path) == (None, None)
        assert stat.S_IMODE((tmp_path / "rows.head").stat().st_mode) == 0o600
        assert sorted(path.name for path in tmp_path.iterdir() if "head" in path.name) == ["rows.head"]


async def test_what_tells_of_a_cut_is_not_written_over_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_at(tmp_path) as database:
        await grow(database, "1", 5)
        await Head(database.reader, tmp_path / "rows.sqlite3").note()
    forge(tmp_path, keep=3)
    before = (tmp_path / "rows.head").read_text()
    async with open_at(tmp_path) as database:
        noting = Head(database.reader, tmp_path / "rows.sqlite3")
        for _ in range(3):
            await grow(database, "1", 2)
            await noting.note()
        assert (tmp_path / "rows.head").read_text() == before
        assert [record.getMessage() for record in caplog.records if "not what it was at entry 5" in record.getMessage()]
        assert len(caplog.records) == 1
        assert (await verdicts(database.reader, tmp_path))[1] == 5


async def test_a_cut_between_two_looks_is_found_by_what_was_noted_last(tmp_path: Path) -> None:
    async with open_at(tmp_path) as database:
        noting = Head(database.reader, tmp_path / "rows.sqlite3")
        await grow(database, "1", 5)
        await noting.note()
        before = (tmp_path / "rows.head").read_text()
        (tmp_path / "rows.head").unlink()
        forge(tmp_path, keep=2)
        await noting.note()
        assert not (tmp_path / "rows.head").exists()
        assert "5" in before


@pytest.mark.parametrize("junk", ["", "{", "[]", '{"n": "x", "hash": "y"}', "null"])
async def test_a_file_that_cannot_be_read_is_no_agreement_and_stays(tmp_path: Path, junk: str) -> None:
    (tmp_path / "rows.head").write_text(junk)
    async with open_at(tmp_path) as database:
        await grow(database, "1", 1)
        with pytest.raises(HeadUnreadable):
            await head.broken_at(database.reader, tmp_path / "rows.head")
        await Head(database.reader, tmp_path / "rows.sqlite3").note()
        assert (tmp_path / "rows.head").read_text() == junk
