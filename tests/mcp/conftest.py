"""Servers and ears for the tests of MCP."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.kit import Heard, Probe, tool


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    """A server with one tool."""
    made = Probe(tmp_path)
    made.plan(tool("do"))
    return made


@pytest.fixture
def heard() -> Iterator[Heard]:
    """Listens to what is logged about servers."""
    handler, logger = Heard(), logging.getLogger("bot.agent")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)
