"""How commands and programs are told of secrets: the reference gives way to the variable that holds the value.

The value itself stands in no command line and in no file. Where a variable would not be read as one, the call is
refused before anybody is asked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from bot.deferral.references import REFERENCE, variable

SHELL_HOW = (
    'Write such a reference into the command, in double quotes: "{{secret:name}}"; the value is put in when it runs, by'
    " an environment variable. You never see it, and it is masked in the output."
)
CODE_HOW = (
    'Write such a reference as a plain string: "{{secret:name}}"; the value is put in when it runs, by an environment'
    " variable. You never see it, and it is masked in the output."
)
IN_SINGLE_QUOTES = (
    "The command has a reference to a secret in single quotes, where sh puts nothing in. Write it in double quotes."
)
NOT_A_STRING = (
    "The program has a reference to a secret that is not in a plain string: not in an f-string, a bytes string, a"
    " comment or a pattern. Write it as a string of its own and join them."
)

_PIECE = re.compile(r"\\.|'[^']*'?|\"(?:\\.|[^\"\\])*\"?", re.DOTALL)
_ENVIRON = "__import__('os').environ[{name!r}]"


def variables(secrets: Mapping[str, str]) -> dict[str, str]:
    """The environment variables for the values of secrets by name."""
    return {variable(name): value for name, value in secrets.items()}


def shell_line(command: str) -> str:
    """The command line as it is run: with `${SECRET_NAME}` in the places of references."""
    return REFERENCE.sub(lambda found: f"${{{variable(found[1])}}}", command)


def shell_problem(command: str) -> str:
    """Why references in the command would not be put in, or ''."""
    quoted = any(piece[0][0] == "'" and REFERENCE.search(piece[0]) for piece in _PIECE.finditer(command))
    return IN_SINGLE_QUOTES if quoted else ""


def program_problem(code: str) -> str:
    """The same for a Python program."""
    return NOT_A_STRING if _with_variables(code) is None else ""


def program(code: str) -> str:
    """The program as it is run: each string that holds references is joined from its pieces and the variables.

    Raises `ValueError` where `program_problem` has something to say.
    """
    if (changed := _with_variables(code)) is None:
        raise ValueError(NOT_A_STRING)
    return changed


def _with_variables(code: str) -> str | None:
    """None if some reference is not in a plain string."""
    if not REFERENCE.search(code):
        return code
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    lines = code.encode().split(b"\n")  # positions in a syntax tree are in bytes
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    raw, done, last = code.encode(), b"", 0
    found = 0
    try:
        for node in _plain_strings(ast.parse(code)):
            found += len(REFERENCE.findall(node.value))
            start = begins[node.lineno - 1] + node.col_offset
            end = begins[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            done += raw[last:start] + f"({_joined(node.value)})".encode()
            last = end
        changed = (done + raw[last:]).decode()
        if found != len(REFERENCE.findall(code)):
            return None
        compile(changed, "<program>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, UnicodeDecodeError):
        return None
    return changed


class _String(ast.Constant):
    """A constant that is a text."""

    value: str


def _plain_strings(tree: ast.AST) -> Iterator[_String]:
    """Every string with references in it, in the order of the source; none from inside an f-string."""
    inside = {id(one) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for one in ast.walk(node)}
    strings = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in inside
        and REFERENCE.search(node.value)
    ]
    yield from sorted(strings, key=lambda node: (node.lineno, node.col_offset))  # type: ignore[misc]


def _joined(text: str) -> str:
    """A string with references as an expression."""
    pieces = REFERENCE.split(text)  # texts, and between them names
    words = [
        _ENVIRON.format(name=variable(piece)) if at % 2 else repr(piece)
        for at, piece in enumerate(pieces)
        if at % 2 or piece
    ]
    return " + ".join(words)
