"""A real database for each test, on a real file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from storage.database import Database
from tests.storage.rows import open_at


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_at(tmp_path) as opened:
        yield opened
