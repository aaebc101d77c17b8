"""Finds sentences for people that stand in the code instead of in the catalogue, and knows which are for nobody.

A literal counts when it has two words side by side, or is a capitalised word. Docstrings, keys, log lines and what
is raised as a programming error do not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_WORDS = re.compile(r"[A-Za-z]{2,}[,.:;]? [A-Za-z]{2,}|^[A-Z][a-z]+[.…]?$")
_QUIET = {"logger", "log"}
"""Whose calls speak to the operator's log."""
_BUGS = {"ValueError", "RuntimeError", "TypeError", "LookupError", "AssertionError"}
_QUIET_CALLS = {"say", "tell", "offered", "key", "getattr", "compile", "sub", "NewType", "TypeVar", "begin", "category"}
_SETTINGS = {"SettingsError", "StartError"}
"""What the operator reads on the terminal."""
_NAMES = {"name", "event", "error"}
"""Arguments that name a task, or go to the trail."""

OTHERS = {
    "bot/texts": "the catalogue itself",
    "bot/cli": "the operator's terminal",
    "bot/__main__.py": "the operator's terminal",
    "bot/setup.py": "the operator's terminal",
    "bot/playground": "a program of its own, for trying things out",
    "bot/agent": "what the model reads, and logs",
    "bot/toolbox": "what the model reads",
    "bot/settings.py": "what the operator reads at the start",
    "bot/shapes.py": "what credentials are called, alike in every language: a mask is to be compared with others",
    "bot/secrets_file.py": "what the operator reads at the start",
}
"""Parts of the program that speak to nobody on Discord, and to whom they do."""


def literals(path: Path) -> set[str]:
    """The sentences of a module that stand in its code."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {text for text in _found(tree) if _WORDS.search(text)}


def _found(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        if isinstance(child, ast.Call) and _is_quiet(child):
            for word in child.keywords:
                yield from _found(word)
            continue
        if isinstance(child, ast.keyword) and child.arg in _NAMES and not _is_text(child.value):
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        else:
            yield from _found(child)


def _is_text(value: ast.AST) -> bool:
    """Whether an argument called `name` may be read by people: a sentence is, a task's or a trail's name is not."""
    return isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value[:1].isupper()


def _is_quiet(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name)) if name in _QUIET:
            return True
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in _QUIET_CALLS | _BUGS | _SETTINGS
    return False
