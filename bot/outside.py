"""MCP servers as the operator names them: the `[mcp.NAME]` tables of `signoff.toml`. Pure, like `bot.values`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
_HEADER = re.compile(r"[A-Za-z0-9-]{1,60}", re.ASCII)
_KEYS = frozenset({"command", "args", "env", "pass_env", "cwd", "url", "headers", "timeout"})
_OURS = ("SIGNOFF_", "DISCORD_")
_MOST_SECONDS = 3_600
_REFERENCE = re.compile(r"\{\{secret:([a-z0-9_-]{1,40})\}\}", re.ASCII)
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS(WORD|WD|PHRASE)?$|(^|_)PAT$|CREDENTIAL|(^|_)AUTH")
_ORDINARY = frozenset({"accept", "accept-encoding", "accept-language", "content-type", "user-agent"})


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """One server: a program of its own, or an address."""

    name: str
    """What its tools' names begin with; without `_`, so that nobody can take another one's."""
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables that the program gets beside PATH, HOME and LANG."""
    pass_env: tuple[str, ...] = ()
    """Variables of ours that it gets too, by name."""
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 60.0
    """Seconds that one call may take."""

    @property
    def where(self) -> str:
        """For cards: how it is reached."""
        return f"MCP server {self.name}, " + (
            f"at {urlsplit(self.url).hostname}" if self.url else "a program on this machine"
        )


@dataclass(frozen=True, kw_only=True)
class ServerState:
    """How one server stands at this moment."""

    name: str
    where: str
    connected: bool
    problem: str
    """Why there is no connection; what stands here while there is one is of no matter."""
    tools: tuple[str, ...]
    """What it offers, or offered last, by our names for it."""


def with_secrets(servers: tuple[McpServer, ...] | None, secrets: Mapping[str, str]) -> tuple[McpServer, ...] | None:
    """The servers, with the values of the secrets that their `env` and `headers` refer to as `{{secret:NAME}}`.

    Raises `ValueError` with a sentence that names the server.
    """

    def filled(server: McpServer, table: Mapping[str, str]) -> dict[str, str]:
        for text in table.values():
            for name in _REFERENCE.findall(text):
                if name not in secrets:
                    raise ValueError(f"has the server {server.name}, which refers to the secret {name}; there is none.")
        return {key: _REFERENCE.sub(lambda found: secrets[found[1]], text) for key, text in table.items()}

    if servers is None:
        return None
    return tuple(replace(one, env=filled(one, one.env), headers=filled(one, one.headers)) for one in servers)


def secrets_of(server: McpServer, environ: Mapping[str, str]) -> dict[str, str]:
    """What must never be shown of what a server is given, by names that may be."""
    given = {name: environ[name] for name in server.pass_env if name in environ} | dict(server.env)
    found = {f"{server.name}.{name}": text for name, text in given.items() if _SECRET_NAME.search(name.upper())}
    # Behind the scheme of an Authorization header; of what else is sent, all but what every client sends.
    sent = {name: text for name, text in server.headers.items() if name.lower() not in _ORDINARY}
    return found | {f"{server.name}.{name}": text.split(" ", 1)[-1].strip() for name, text in sent.items()}


def mcp_servers(value: object) -> tuple[McpServer, ...] | None:
    """Tables by name, or the same as a JSON object. Raises `ValueError` with a sentence that names the server."""
    if value is None or isinstance(value, tuple):
        return value
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError("must be a JSON object; in signoff.toml write [mcp.NAME] tables.") from None
    if not isinstance(value, Mapping) or not value:
        raise ValueError("must have a table for at least one server, or be removed.")
    return tuple(_server(str(name), table) for name, table in value.items())


def _server(name: str, table: object) -> McpServer:
    if not _NAME.fullmatch(name):
        raise ValueError(f"has a server with the name {name[:40]!r}; it takes a-z, 0-9 and -, at most 20 characters.")
    try:
        return _read(name, table)
    except ValueError as problem:
        raise ValueError(f"has the server {name}, which {problem}") from None


def _read(name: str, table: object) -> McpServer:
    if not isinstance(table, Mapping):
        raise ValueError("is not a table.")
    if unknown := sorted(map(str, table.keys() - _KEYS)):
        raise ValueError(f"has the unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}.")
    command, url = _text(table, "command"), _text(table, "url")
    if bool(command) == bool(url):
        raise ValueError("needs either a command or a url.")
    if url and table.keys() & {"args", "env", "pass_env", "cwd"}:
        raise ValueError("has a url, so it takes no args, env, pass_env or cwd.")
    if command and "headers" in table:
        raise ValueError("has a command, so it takes no headers.")
    parts = urlsplit(url)
    if url and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None):
        raise ValueError("has a url that is not one of http or https, without a user name.")
    args = table.get("args", [])
    if not isinstance(args, list) or not all(isinstance(one, str) and "\0" not in one for one in args):
        raise ValueError("has args that are not a list of texts.")
    passed = table.get("pass_env", [])
    if not isinstance(passed, list) or not all(isinstance(one, str) and _VARIABLE.fullmatch(one) for one in passed):
        raise ValueError("has pass_env that is not a list of variables' names.")
    env = _texts(table, "env", _VARIABLE)
    if ours := sorted(one for one in [*passed, *env] if one.upper().startswith(_OURS)):
        raise ValueError(f"would be given {ours[0]}, which is for Signoff only.")
    seconds = table.get("timeout", 60)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= _MOST_SECONDS:
        raise ValueError(f"has a timeout that is not a number of seconds up to {_MOST_SECONDS}.")
    return McpServer(
        name=name,
        command=command,
        args=tuple(args),
        env=env,
        pass_env=tuple(passed),
        cwd=_text(table, "cwd") or None,
        url=url,
        headers=_texts(table, "headers", _HEADER),
        timeout=float(seconds),
    )


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str) or "\0" in value or (key in table and not value.strip()):
        raise ValueError(f"has {key} that is not a text.")
    return value


def _texts(table: Mapping[str, Any], key: str, names: re.Pattern[str]) -> dict[str, str]:
    value = table.get(key, {})
    if not isinstance(value, Mapping) or not all(
        isinstance(one, str) and one.isprintable() and names.fullmatch(str(name)) for name, one in value.items()
    ):
        raise ValueError(f"has {key} that is not a table of texts.")
    return {str(name): one for name, one in value.items()}
