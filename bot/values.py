"""How one setting's text is read. Each function takes what a source gave and raises `ValueError` with a sentence
that goes on after the setting's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.rules import MOST_VOTES, ApproverRule
from bot.tables import tables

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])\s*", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_ID = re.compile(r"[1-9][0-9]{0,19}")
_TOOL = re.compile(r"[A-Za-z0-9_*-]{1,100}", re.ASCII)
_SECRET_NAME = re.compile(r"((^|_)(API_?KEY|ACCESS_?KEY|SECRET_?KEY|TOKEN|SECRET)|PASSWORD)$")
SHORTEST_KEY = 8
"""A shorter one could not be masked without hiding other words."""
_MOST = 366 * 86_400
_MOST_DOLLARS = 1_000_000


@dataclass(frozen=True)
class TokenFile:
    """A file that holds the token, and what it held when the program started."""

    path: Path
    token: SecretStr


def token(value: object) -> SecretStr | None:
    """A Discord bot token: the bare one, without the word `Bot`."""
    return None if value is None else _token(value.get_secret_value() if isinstance(value, SecretStr) else str(value))


def _token(text: str) -> SecretStr:
    text = text.strip()
    if not text:
        raise ValueError("is empty; copy the token from the Bot page of the Discord Developer Portal.")
    if any(character.isspace() or not character.isprintable() for character in text):
        raise ValueError("has a blank in it; give the bare token, without the word `Bot`.")
    return SecretStr(text)


def token_file(value: object) -> TokenFile | None:
    """The path of a file with nothing but a token in it."""
    return None if value is None else value if isinstance(value, TokenFile) else TokenFile(*_held(value, _token))


def key(value: object) -> SecretStr | None:
    """A service's key."""
    return None if value is None else _key(value.get_secret_value() if isinstance(value, SecretStr) else str(value))


def key_file(value: object) -> TokenFile | None:
    """The path of a file with nothing but a service's key in it."""
    return None if value is None else value if isinstance(value, TokenFile) else TokenFile(*_held(value, _key))


def _key(text: str) -> SecretStr:
    text = text.strip()
    if len(text) < SHORTEST_KEY or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError(f"is no key: it needs at least {SHORTEST_KEY} characters, and no blank among them.")
    return SecretStr(text)


def _held(value: object, read: Callable[[str], SecretStr]) -> tuple[Path, SecretStr]:
    where = path(value)
    try:
        text = where.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise ValueError(f"names a file that cannot be read: {where} ({reason}).") from None
    return where, read(text)


def proxy(value: object) -> str | None:
    """The address of an HTTP proxy."""
    if value is None:
        return None
    text = str(value).strip()
    try:
        parts = urlsplit(text)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good:
        raise ValueError("must be the address of an HTTP proxy, like http://proxy.example:3128.")
    return text


def password(address: str) -> str | None:
    """The password written in an address, or None."""
    return urlsplit(address).password


def duration(*, least: int) -> Callable[[object], timedelta]:
    """A reader of durations of at least `least` seconds: bare seconds, or forms like 90s, 30m, 24h, 7d, 1h30m."""

    def read(value: object) -> timedelta:
        text = str(value).strip()
        if isinstance(value, timedelta):
            seconds = value.total_seconds()
        elif _NUMBER.fullmatch(text):
            seconds = float(text)
        elif (parts := _PART.findall(text)) and not _PART.sub("", text):
            seconds = sum(float(number) * _UNITS[unit.lower()] for number, unit in parts)
        else:
            raise ValueError(f"is not a duration: {text!r}; write seconds, or a form like 30m or 24h.")
        if not least <= seconds <= _MOST:
            raise ValueError(f"must lie between {least} second{'s' * (least != 1)} and a year, not {text!r}.")
        return timedelta(seconds=seconds)

    return read


def switch(value: object) -> bool:
    """Yes or no."""
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in {"true", "yes", "on", "1"}:
        return True
    if text in {"false", "no", "off", "0"}:
        return False
    raise ValueError(f"must be true or false, not {str(value)!r}.")


def path(value: object) -> Path:
    """A file or folder; `~` is the home folder."""
    text = str(value).strip() if isinstance(value, str | Path) else ""
    if not text or "\0" in text:
        raise ValueError("must be a path.")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"begins with a home folder that does not exist: {text!r}.") from None


def database(value: object) -> Path:
    """The database's file."""
    text = str(value)
    if "://" in text:
        raise ValueError("must be a file's path: this version keeps its data in SQLite only.")
    return path(value)


def ids(value: object) -> frozenset[str] | None:
    """Numeric Discord ids: `1, 2` in text, or a TOML list.

    Empty is an error, never "nobody" or "everybody": who may decide must not hang on a forgotten variable.
    """
    if value is None or isinstance(value, frozenset):
        return value
    entries = [str(entry).strip() for entry in value] if isinstance(value, list) else str(value).split(",")
    entries = [entry.strip() for entry in entries]
    if entries in ([], [""]):
        raise ValueError(
            "is empty; give numeric Discord ids, comma-separated, or remove it "
            "to let the application's owner or team decide."
        )
    for entry in entries:
        if not _ID.fullmatch(entry):
            raise ValueError(
                f"has an entry that is not a numeric Discord id: {entry[:40]!r}; "
                "in Discord turn on Developer Mode, right-click the person or role, Copy ID."
            )
    return frozenset(entries)


def model_names(value: object) -> tuple[str, ...] | None:
    """Names of models: `one, another` in text, or a TOML list."""
    if value is None or isinstance(value, tuple):
        return value
    names = [str(name).strip() for name in (value if isinstance(value, list) else str(value).split(","))]
    if not names or not all(names) or len(set(names)) < len(names) or len(names) > 20:
        raise ValueError("must be 1 to 20 names of models, each once, like anthropic:claude-sonnet-4-5, ollama:qwen3.")
    return tuple(names)


def approver_rules(value: object) -> tuple[ApproverRule, ...] | None:
    """Rules about who decides what: TOML tables, or the same as a JSON list in one line."""
    if value is None or isinstance(value, tuple):
        return value
    return tuple(
        _approver_rule(f"rule {number}", one) for number, one in enumerate(tables(value, name="approvers"), start=1)
    )


def _approver_rule(name: str, table: object) -> ApproverRule:
    """Nothing is guessed and nothing widens: an unknown key, an empty list or a wrong value is an error."""
    if not isinstance(table, Mapping):
        raise ValueError(f"has {name} that is not a table.")
    if unknown := sorted(map(str, set(table) - set(ApproverRule.__dataclass_fields__))):
        known = ", ".join(ApproverRule.__dataclass_fields__)
        raise ValueError(f"has {name} with the unknown key {unknown[0]!r}; a rule takes {known}.")
    given: dict[str, frozenset[str]] = {}
    for key in ("guilds", "channels", "users", "roles", "one_of_each"):
        if key in table:
            given[key] = _rule_ids(f"{name}, {key},", table[key])
    tools = table.get("tools")
    if tools is not None and (
        not isinstance(tools, list) or not tools or not all(isinstance(t, str) and _TOOL.fullmatch(t) for t in tools)
    ):
        raise ValueError(f"has {name} whose tools is not a list of names; `*` stands for any characters.")
    quorum = table.get("quorum", 1)
    if not isinstance(quorum, int) or isinstance(quorum, bool) or not 1 <= quorum <= MOST_VOTES:
        raise ValueError(f"has {name} whose quorum is not a number from 1 to {MOST_VOTES}.")
    four_eyes = table.get("four_eyes")
    if four_eyes is not None and not isinstance(four_eyes, bool):
        raise ValueError(f"has {name} whose four_eyes is not true or false.")
    lifetime = None
    if "lifetime" in table:
        try:
            lifetime = duration(least=6)(table["lifetime"]) // timedelta(milliseconds=1)
        except ValueError as problem:
            raise ValueError(f"has {name} whose lifetime {problem}") from None
    rule = ApproverRule(
        tools=None if tools is None else tuple(tools),
        guilds=given.get("guilds"),
        channels=given.get("channels"),
        users=given.get("users"),
        roles=given.get("roles"),
        one_of_each=tuple(sorted(given.get("one_of_each", ()))),
        quorum=quorum,
        four_eyes=four_eyes,
        lifetime=lifetime,
    )
    if rule.users is not None and rule.roles is None and not rule.one_of_each and len(rule.users) < rule.quorum:
        raise ValueError(f"has {name} that can never be met: it asks for {rule.quorum} people and names fewer.")
    return rule


def _rule_ids(where: str, value: object) -> frozenset[str]:
    if not isinstance(value, list) or not value or any(isinstance(entry, bool) for entry in value):
        raise ValueError(f"has {where} that is not a list of numeric Discord ids.")
    for entry in value:
        if not _ID.fullmatch(str(entry)):
            raise ValueError(f"has {where} with an entry that is not a numeric Discord id: {str(entry)[:40]!r}.")
    return frozenset(map(str, value))


def dollars(value: object) -> int | None:
    """An amount in US dollars, such as `2.50`; in millionths."""
    if value is None:
        return None
    text = str(value).strip().removeprefix("$").strip()
    if isinstance(value, bool) or not _NUMBER.fullmatch(text) or not 0 < (amount := float(text)) <= _MOST_DOLLARS:
        raise ValueError(f"must be an amount in US dollars above 0, such as 2.50, not {str(value)!r}.")
    return max(1, round(amount * 1_000_000))


def upper(value: object) -> str:
    """A word whose case does not matter."""
    return str(value).strip().upper()


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds a key, a token or a password, as providers name theirs."""
    return _SECRET_NAME.search(name.upper()) is not None
