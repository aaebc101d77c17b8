"""`signoff migrate`: brings the database to this version's form, with nobody else at it."""

from __future__ import annotations

from bot.settings import Settings
from bot.single import data_lock, hold
from storage.database import open_database


async def migrate(settings: Settings) -> int:
    """Open the database once, which migrates it; the exit code. Raises `StartError`, `DatabaseError`."""
    with hold(data_lock(settings.database), what=f"the data in {settings.database}", advice="stop it first"):
        async with open_database(str(settings.database)):
            print(f"{settings.database} is in this version's form.")
    return 0
