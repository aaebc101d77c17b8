"""Each case of tests/cases.py is named by a test, and no test names a case that there is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.cases import DISCORD, NEAREST, SECURITY

TESTS = Path(__file__).parent
GIVEN = TESTS.parent.parent / "shared" / "cases"
"""Where the cases were written down; not part of the repository."""

_SECURITY = re.compile(r"\bS-A\d\d\b")
_DISCORD = re.compile(r"(?<![-\w])A\d{1,2}\b(?!-)")


def _own_words(test: ast.AST) -> Iterator[str]:
    """A test's docstring, and the texts in its decorators: its parameters and their ids."""
    assert isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef)
    yield ast.get_docstring(test) or ""
    for decorator in test.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@cache
def named() -> dict[str, list[str]]:
    """Which tests name which case."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        if file == Path(__file__):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                words = "\n".join(_own_words(node))
                for case in {*_SECURITY.findall(words), *_DISCORD.findall(words)}:
                    found.setdefault(case, []).append(f"{file.relative_to(TESTS.parent)}::{node.name}")
    return found


@pytest.mark.parametrize("cases", [SECURITY, DISCORD], ids=["security", "discord"])
def test_every_case_is_named_by_a_test(cases: dict[str, str]) -> None:
    assert [case for case in cases if case not in named()] == []


def test_no_test_names_a_case_that_there_is_not() -> None:
    assert {case: tests for case, tests in named().items() if case not in SECURITY | DISCORD} == {}


def test_there_are_as_many_cases_as_were_given() -> None:
    assert list(SECURITY) == [f"S-A{n:02}" for n in range(1, 97)]
    assert list(DISCORD) == [f"A{n}" for n in range(1, 37)]
    assert set(NEAREST) <= set(SECURITY)


@pytest.mark.parametrize(("file", "cases"), [("security.md", SECURITY), ("discord.md", DISCORD)])
def test_the_list_is_the_one_that_was_given(file: str, cases: dict[str, str]) -> None:
    if not (GIVEN / file).is_file():
        pytest.skip("the cases as they were given do not lie beside this repository")
    text = (GIVEN / file).read_text(encoding="utf-8")
    given = re.findall(r"^\| (S-A\d\d) \|", text, re.MULTILINE) or re.findall(r"^\*\*(A\d+) ", text, re.MULTILINE)
    assert given == list(cases)
