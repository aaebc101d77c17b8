"""The world on disk: JSON that names simcord's plain dataclasses, so that reading it runs no code.

One file with everything but the bytes of attachments, which lie beside it under their hash and are written
once. Written whole and swapped in, for the owner's eyes only. It belongs to the pinned simcord and does not
outlive an upgrade: what can't be read is set aside, and a fresh world begins.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from simcord.backend import models
from simcord.backend.cdn import CDN_BASE

FORMAT = "signoff-playground-1/simcord-3.2.1"

_KEPT = (
    "application_id",
    "bot_user",
    "users",
    "guilds",
    "channels",
    "messages",
    "dm_channels",
    "commands",
    "command_permissions",
    "interactions",
    "interaction_tokens",
    "webhooks",
    "webhook_tokens",
)
"""What makes the world. Ids given out need no keeping: they come from the time, which does not return."""

_KINDS: dict[str, Any] = {
    name: kind
    for name, kind in vars(models).items()
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, enum.Enum))
}
"""All that a file may name: data, nothing that acts."""


class UnreadableWorld(Exception):
    """The file is not a world of this version."""


def write_world(path: Path, backend: Any, extra: dict[str, Any]) -> None:
    """Replace the file at `path` by `backend` and our own `extra` (JSON). Raises `OSError`."""
    backend.forget_dead_interactions()
    blobs = backend.cdn._blobs  # private: _blobs, the attachments' bytes by their URL
    world = {
        "format": FORMAT,
        "extra": extra,
        "backend": {name: encode(getattr(backend, name)) for name in _KEPT},
        "blobs": {
            url: _keep_blob(path.parent / "files", data)
            for url, data in blobs.items()
            if url.startswith(f"{CDN_BASE}/attachments/")
        },
    }
    write_private(path, json.dumps(world, separators=(",", ":")).encode())


def read_world(path: Path, backend: Any) -> dict[str, Any]:
    """Fill `backend` from the file and return `extra`. Raises `UnreadableWorld`, `OSError`.

    Nothing is changed in `backend` unless everything could be read.
    """
    try:
        world = json.loads(path.read_bytes())
        if world["format"] != FORMAT:
            raise UnreadableWorld(f"it is of another version ({world['format']})")
        values = {name: decode(world["backend"][name]) for name in _KEPT}
        blobs = {url: (path.parent / "files" / name).read_bytes() for url, name in world["blobs"].items()}
        extra: dict[str, Any] = world["extra"]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UnreadableWorld(str(error)) from error
    for name, value in values.items():
        setattr(backend, name, value)
    # The bot's own user is one object in two places.
    backend.users[backend.bot_user.id] = backend.bot_user
    backend.cdn._blobs.update(blobs)  # private: _blobs, see `write_world`
    return extra


def write_private(path: Path, data: bytes) -> None:
    """Replace a file in one step, readable by its owner only. Raises `OSError`."""
    partial = path.with_name(path.name + ".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(partial, path)


def _keep_blob(folder: Path, data: bytes) -> str:
    name = hashlib.sha256(data).hexdigest()
    if not (folder / name).exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        write_private(folder / name, data)
    return name


def encode(value: Any) -> Any:
    """`value` as JSON; what JSON has no word for becomes `{"$": kind, ...}`. Raises `TypeError`."""
    if isinstance(value, enum.Enum):
        if type(value).__name__ in _KINDS:
            return {"$": type(value).__name__, "v": value.value}
        return encode(value.value)  # Wire numbers: the plain number compares equal.
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value) and "$" not in value:
            return {key: encode(item) for key, item in value.items()}
        return {"$": "dict", "v": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, tuple | set | frozenset):
        return {"$": type(value).__name__, "v": [encode(item) for item in value]}
    if dataclasses.is_dataclass(value) and type(value).__name__ in _KINDS:
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        return {"$": type(value).__name__, "v": {k: encode(v) for k, v in fields.items() if v != _default(value, k)}}
    raise TypeError(f"a world does not hold a {type(value).__name__}")


def decode(value: Any) -> Any:
    """The reverse of `encode`. Raises `UnreadableWorld`, `LookupError`, `TypeError`."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("$")
    if kind is None:
        return {key: decode(item) for key, item in value.items()}
    content = value["v"]
    if kind == "dict":
        return {decode(key): decode(item) for key, item in content}
    if kind in ("tuple", "set", "frozenset"):
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](decode(item) for item in content)
    if kind not in _KINDS:
        raise UnreadableWorld(f"it holds an unknown {kind}")
    made = _KINDS[kind]
    return made(content) if issubclass(made, enum.Enum) else made(**{k: decode(v) for k, v in content.items()})


_NOTHING = object()


def _default(value: Any, name: str) -> Any:
    field = type(value).__dataclass_fields__[name]
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _NOTHING
