"""The table of threats in SECURITY.md: all 96, known states, files that are there, proofs that try that very case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_cases import named

ROOT = Path(__file__).parents[1]
STATES = {"held", "held with a limit", "not held", "not applicable"}

_TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\| (T\d\d) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
ROWS = {row[0]: row[1:] for row in _ROW.findall(_TEXT)}
_, _, _BELOW = _TEXT.partition("**The limits**")
LIMITS = re.findall(r"^- (T\d\d): .{20,}", _BELOW, re.MULTILINE)


def test_every_threat_has_its_row_in_its_place() -> None:
    assert [row[0] for row in _ROW.findall(_TEXT)] == [f"T{n:02}" for n in range(1, 97)]


def test_every_state_is_one_of_the_words() -> None:
    assert {threat: row[1] for threat, row in ROWS.items() if row[1] not in STATES} == {}


def test_what_is_not_simply_held_says_why_and_nothing_else_does() -> None:
    assert [threat for threat, row in ROWS.items() if row[1] != "held"] == LIMITS


@pytest.mark.parametrize("threat", ROWS)
def test_the_files_are_there_and_the_proof_tries_that_case(threat: str) -> None:
    _, _, holds, proof = ROWS[threat]
    files = re.findall(r"`([^`]+)`", holds)
    assert files
    assert [file for file in files if not (ROOT / file).is_file()] == []
    [test] = re.findall(r"`([^`]+)`", proof)
    case = threat.replace("T", "S-A")
    assert test in {one.partition("::")[0] for one in named()[case]}, f"no test in {test} names {case}"
