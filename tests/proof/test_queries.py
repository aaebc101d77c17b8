"""What a running house asks its database goes through an index: it must not cost more the more has ever happened.

Every story is told once with an ear on the statements; then the database says how it would look for the rows of each.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from storage.database import open_database
from storage.sqlite import _Connection
from tests.proof.life import Life
from tests.proof.stories import STORIES

FEW = "approval_live|card_owed|job_owed|outbox_in_flight|outbox_inbox"
"""Indexes of what is in hand at the moment: these may be walked through."""

TABLES = "approval|audit|card|conversation|job|message|outbox|run|usage|usage_day"
GROWING = rf"\bSCAN ({TABLES})\b(?! USING (COVERING )?INDEX ({FEW})\b)"
"""Walks through all of a table, or all of an index, that grows with everything that happens."""


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The texts of all statements that are run from here on."""
    texts: set[str] = set()

    def listen(name: str) -> None:
        original: Any = getattr(_Connection, name)

        async def method(self: _Connection, sql: str, *parameters: object) -> Any:
            texts.add(sql)
            return await original(self, sql, *parameters)

        monkeypatch.setattr(_Connection, name, method)

    for name in ("all", "one", "execute"):
        listen(name)
    return texts


async def test_no_statement_of_a_running_house_walks_through_what_only_grows(heard: set[str], tmp_path: Path) -> None:
    for name, story in STORIES.items():
        (tmp_path / name).mkdir()
        life = Life(tmp_path / name)
        await life.open()
        life.check = _nothing  # type: ignore[method-assign]  # its own questions are not the house's
        await story(life)
        await life.close()
    walks = {}
    async with open_database(str(tmp_path / "plan.sqlite3")) as database:
        for sql in sorted(heard):
            if sql.startswith("PRAGMA") or "prompt FROM approval JOIN run" in sql:
                continue
            plan = await database.reader.all(f"EXPLAIN QUERY PLAN {sql}", *[None] * sql.count("?"))
            if walked := [step["detail"] for step in plan if re.search(GROWING, step["detail"])]:
                walks[sql] = walked
    assert walks == {}
    assert len(heard) > 50


async def _nothing() -> None:
    pass
