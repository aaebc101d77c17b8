"""Named secrets as the operator writes them: the `[secrets.NAME]` tables of `signoff.toml`.

A table says where the value is, never what it is, and which tools may have it. Whatever makes no sense stops the start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}", re.ASCII)
SHORTEST = 8
"""A shorter value cannot be masked without tearing holes into ordinary words."""
_FEWEST = 5
"""Different characters that a value has: fewer could stand anywhere."""
_MOST = 16_384
_KEYS = frozenset({"file", "env", "tools", "hosts"})
_TOOL = re.compile(r"[A-Za-z0-9_*-]{1,100}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class NamedSecret:
    """One secret: who may have it, and what it was when the settings were read."""

    name: str
    tools: tuple[str, ...] = ()
    """Names of tools; `*` stands for any characters. None at all: only MCP servers whose table names it."""
    hosts: tuple[str, ...] = ()
    """Where `http_fetch` may send it: a host, reached by https, or a whole origin such as http://127.0.0.1:8080."""
    file: Path | None = None
    """Where the value stood, if in a file."""
    value: str = field(repr=False)

    def may(self, tool: str) -> bool:
        """Whether a tool may have it."""
        return any(fnmatchcase(tool, pattern) for pattern in self.tools)

    def goes_to(self, scheme: str, host: str, port: int) -> bool:
        """Whether it may be sent there."""
        return any(
            one == f"{scheme}://{host}:{port}" if "://" in one else (scheme == "https" and one == host)
            for one in self.hosts
        )

    @property
    def allowed(self) -> str:
        """What it is for, in words."""
        tools = ", ".join(self.tools) or "nothing"
        return f"{tools} ({', '.join(self.hosts)})" if self.hosts else tools


def named_secrets(value: object, variables: Mapping[str, str | None], folder: Path) -> tuple[NamedSecret, ...]:
    """Tables by name, or the same as a JSON object; values come from files below `folder` and from `variables`.

    Raises `ValueError` with a sentence that names the secret, and nothing of its value.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError("must be a JSON object; in signoff.toml write [secrets.NAME] tables.") from None
    if not isinstance(value, Mapping) or not value:
        raise ValueError("must have a table for at least one secret, or be removed.")
    found: list[NamedSecret] = []
    for name, table in value.items():
        if not NAME.fullmatch(str(name)):
            raise ValueError(f"has the name {str(name)[:40]!r}; a name takes a-z, 0-9, _ and -, at most 40 characters.")
        try:
            found.append(_read(str(name), table, variables, folder))
        except ValueError as problem:
            raise ValueError(f"has the secret {name}, which {problem}") from None
    if len({one.name.replace("-", "_") for one in found}) < len(found):
        raise ValueError("has two secrets whose names differ in - and _ only.")
    return tuple(found)


def _read(name: str, table: object, variables: Mapping[str, str | None], folder: Path) -> NamedSecret:
    if not isinstance(table, Mapping):
        raise ValueError("is not a table.")
    if "value" in table:
        raise ValueError("has its value in the settings; put that into a file or a variable, and name it here.")
    if unknown := sorted(map(str, table.keys() - _KEYS)):
        raise ValueError(f"has the unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}.")
    value = _fit(_value(table, variables, folder))
    return NamedSecret(
        name=name,
        tools=_texts(table, "tools", _TOOL),
        hosts=tuple(_host(one) for one in _texts(table, "hosts", re.compile(r"\S{1,300}"))),
        file=folder / Path(table["file"]).expanduser() if "file" in table else None,
        value=value,
    )


def _value(table: Mapping[str, Any], variables: Mapping[str, str | None], folder: Path) -> str:
    if ("file" in table) == ("env" in table):
        raise ValueError("needs either a file or an env.")
    where = table.get("file", table.get("env"))
    if not isinstance(where, str) or not where.strip() or "\0" in where:
        raise ValueError("has a file or env that is not a text.")
    if "env" in table:
        if not _VARIABLE.fullmatch(where):
            raise ValueError("has an env that is not a variable's name.")
        if not (value := variables.get(where)):
            raise ValueError(f"is to be found in the variable {where}, which is not set.")
        return value.strip()
    try:
        return (folder / Path(where).expanduser()).read_text(encoding="utf-8").strip()
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise ValueError(f"is to be found in a file that cannot be read: {where} ({reason}).") from None


def _fit(value: str) -> str:
    """The value, if it can be masked without hiding ordinary words, and can be handed to a process."""
    if len("".join(value.split())) < SHORTEST:
        raise ValueError(f"is shorter than {SHORTEST} characters: it could not be masked without hiding other words.")
    if len(set(value)) < _FEWEST:
        raise ValueError(f"has fewer than {_FEWEST} different characters, so it could not be told from other text.")
    if len(value) > _MOST or "\0" in value:
        raise ValueError(f"is longer than {_MOST} characters, or has a zero byte in it.")
    return value


def _texts(table: Mapping[str, Any], key: str, form: re.Pattern[str]) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and form.fullmatch(one) for one in value):
        raise ValueError(f"has {key} that are not a list of {key}.")
    if key in table and not value:
        raise ValueError(f"has an empty list of {key}; remove it.")
    return tuple(value)


def _host(text: str) -> str:
    if "://" not in text:
        if not _HOST.fullmatch(text.lower()):
            raise ValueError(f"has a host that is none: {text[:80]!r}; write it like api.example.com.")
        return text.lower()
    try:
        parts = urlsplit(text)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        port = None
    if port is None or not parts.hostname or parts.path not in {"", "/"} or parts.query or parts.username is not None:
        raise ValueError(f"has a host that is no origin: {text[:80]!r}; write it like http://127.0.0.1:8080.")
    return f"{parts.scheme}://{parts.hostname}:{port}"
