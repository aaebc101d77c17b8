"""Properties are looked for in the same places every time: a run that failed can be repeated, and leaves no files."""

from __future__ import annotations

from hypothesis import settings

from tests.storage.conftest import database

__all__ = ["database"]

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")
