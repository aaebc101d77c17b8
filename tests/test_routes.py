"""Every way to a decision is on a list: a new one has to be looked at before it can be taken (threats T09, T70, T72).

Findings F01, F02, F09 and F11 were all a second way that missed a check of the first one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.arguments import build_parser

ROOT = Path(__file__).parents[1]

DECIDING = {
    "bot/engine.py": "hands on to bot/decisions.py",
    "cogs/presses.py": "the buttons of a card",
    "cogs/list_presses.py": "the buttons of /approvals, and the menu behind them",
    "cogs/forms.py": "the forms that a button opens",
}
"""Who calls `decide`, `decide_all` or `together` of the engine or its decisions, and for which surface."""

APPROVING = {
    "bot/decisions.py": "the vote that completes what the rule asks for",
    "storage/grants.py": "what people allowed beforehand, under their seals",
}
"""Who may put a call into the state `approved`."""

VERBS = {"approve", "deny", "decide", "allow", "grant", "vote", "accept", "confirm"}


def sources(*folders: str) -> Iterator[tuple[str, ast.AST]]:
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text(encoding="utf-8"))


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def is_a_decision(call: ast.Call) -> bool:
    """A call of `.decide`, `.decide_all` or `.together` on something that is named after engine or decisions."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in {"decide", "decide_all", "together"}:
        return False
    owner = ast.unparse(call.func.value)
    return "engine" in owner or "decisions" in owner


def test_only_presses_and_forms_decide() -> None:
    """S-A72: neither the command line, a tool, a job nor the model has a way to a decision."""
    found = {file for file, tree in sources("bot", "cogs", "storage") if any(map(is_a_decision, calls(tree)))}
    assert found == set(DECIDING)


def test_only_two_places_make_an_approval() -> None:
    """S-A70: whatever else moves a call moves it somewhere else."""
    found = set()
    for file, tree in sources("bot", "cogs", "storage"):
        for call in calls(tree):
            into = [*call.args[2:3], *(word.value for word in call.keywords if word.arg == "to")]
            moves = ast.unparse(call.func).rpartition(".")[2] in {"settle", "moved", "replace"}
            if moves and "ApprovalState.APPROVED" in map(ast.unparse, into):
                found.add(file)
    assert found == set(APPROVING)


@pytest.mark.parametrize("group", ["approvals", "jobs", "grants", "schedules", "policy", "audit", "usage"])
@pytest.mark.parametrize("verb", sorted(VERBS))
def test_the_command_line_has_no_verb_that_decides(group: str, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """S-A72: whoever sits at the machine can look, stop and hand in results; only people on Discord decide."""
    for words in ([group, verb, "abc"], [verb, "abc"]):
        with pytest.raises(SystemExit) as ended:
            build_parser().parse_args(words)
        assert ended.value.code == 2
    assert "invalid choice" in capsys.readouterr().err
