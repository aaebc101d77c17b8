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
_QUIET_CALLS = {"say", "tell", "offered", "key", "getattr", "compile", "sub", "NewType", "TypeVar"}

OTHERS = {
    "bot/texts": "the catalogue itself",
    "bot/cli": "the operator's terminal",
    "bot/__main__.py": "the operator's terminal",
    "bot/setup.py": "the operator's terminal",
    "bot/playground": "a program of its own, for trying things out",
    "bot/agent": "what the model reads, and logs",
    "bot/toolbox": "what the model reads",
    "bot/settings.py": "what the operator reads at the start",
    "bot/secrets_file.py": "what the operator reads at the start",
}
"""Parts of the program that speak to nobody on Discord, and to whom they do."""

NOT_YET: frozenset[str] = frozenset(
    {
        "bot/anew.py",
        "bot/app.py",
        "bot/commands.py",
        "bot/console.py",
        "bot/decisions.py",
        "bot/deferral/authority.py",
        "bot/deferral/body.py",
        "bot/deferral/digest.py",
        "bot/deferral/endings.py",
        "bot/deferral/executor.py",
        "bot/deferral/external.py",
        "bot/deferral/policy.py",
        "bot/deferral/rerun.py",
        "bot/deferral/results.py",
        "bot/deferral/sentences.py",
        "bot/delivery.py",
        "bot/drills.py",
        "bot/edits.py",
        "bot/engine.py",
        "bot/forking.py",
        "bot/holding.py",
        "bot/intake.py",
        "bot/interpreters.py",
        "bot/jobs/cards.py",
        "bot/jobs/desk.py",
        "bot/jobs/endings.py",
        "bot/jobs/occurrences.py",
        "bot/jobs/schedules.py",
        "bot/jobs/tool.py",
        "bot/jobs/watch.py",
        "bot/jobs/when.py",
        "bot/jobs/words.py",
        "bot/logs.py",
        "bot/outside.py",
        "bot/plain.py",
        "bot/policing.py",
        "bot/policy_desk.py",
        "bot/policy_file.py",
        "bot/progress.py",
        "bot/recording.py",
        "bot/redact.py",
        "bot/rehearsal.py",
        "bot/reloading.py",
        "bot/showing.py",
        "bot/single.py",
        "bot/startup.py",
        "bot/stopping.py",
        "bot/turns.py",
        "bot/values.py",
        "cogs/approval_list.py",
        "cogs/client.py",
        "cogs/doctor_checks.py",
        "cogs/fork.py",
        "cogs/inert.py",
        "cogs/layout.py",
        "cogs/mentions.py",
        "cogs/missed.py",
        "cogs/places.py",
        "cogs/posting.py",
        "cogs/surface.py",
        "cogs/watching.py",
    }
)
"""Modules whose texts are not all in the catalogue yet."""

NOT_FOR_PEOPLE: dict[str, tuple[str, ...]] = {
    "bot/clippings.py": ("keep clipping",),
    "bot/wishes.py": ("set notify",),
    "cogs/ask_about.py": (  # what the model reads, and the menu, which is called the same in every language
        "Ask about this",
        "Discord message ",
        ", written by ",
        "[files on it: ",
        ", a file on that message",
    ),
    "cogs/quoting.py": (" with the id ",),  # what the model reads
    "bot/accounts.py": ("count usage", "forget usage"),  # names of commits
    "bot/deferral/vault.py": (" Secrets that it may refer to: ",),
    "bot/granting.py": ("refused press", "revoke grant"),
    "bot/drafts.py": ("begin draft", "change draft", "save draft"),
}
"""What looks like a sentence and is for no person, by module."""


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
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        else:
            yield from _found(child)


def _is_quiet(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name)) if name in _QUIET:
            return True
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in _QUIET_CALLS or name in _BUGS
    return False
