"""`{{secret:NAME}}`: how a call refers to a secret that nobody in between gets to see."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

REFERENCE = re.compile(r"\{\{secret:([a-z][a-z0-9_-]{0,39})\}\}", re.ASCII)
LIKE_ONE = re.compile(r"\{\{\s*secret\b", re.IGNORECASE)
"""What somebody meant to be one."""


def reference(name: str) -> str:
    """How a call refers to the secret."""
    return f"{{{{secret:{name}}}}}"


def variable(name: str) -> str:
    """The environment variable in which a child process finds the secret."""
    return f"SECRET_{name.upper().replace('-', '_')}"


def referred(value: Any) -> list[str]:
    """The names of the secrets that a JSON value refers to, each once, in order."""
    return list(dict.fromkeys(name for text in texts(value) for name in REFERENCE.findall(text)))


def malformed(value: Any) -> bool:
    """Whether something in the value looks like a reference and is none, or stands where none is taken: in a key."""
    return any(len(LIKE_ONE.findall(text)) != len(REFERENCE.findall(text)) for text in texts(value)) or any(
        LIKE_ONE.search(name) for name in _keys(value)
    )


def put_in(value: Any, values: Mapping[str, str], spell: Callable[[str], str] = str) -> Any:
    """The JSON value with `values` in the places of their references, each as `spell` writes it."""
    if isinstance(value, str):
        return REFERENCE.sub(lambda found: spell(values[found[1]]), value)
    if isinstance(value, Mapping):
        return {name: put_in(one, values, spell) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [put_in(one, values, spell) for one in value]
    return value


def texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value that is not a key."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from map(str, value)
        for one in value.values():
            yield from _keys(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _keys(one)
