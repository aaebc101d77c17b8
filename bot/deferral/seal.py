"""Seals on decisions: who can write to the database can still not approve anything.

A seal is an HMAC under a key that lies outside the database, in a file that only the bot's user can read.
Without it, or with another key, no stored approval counts: it becomes `void`, and says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

KEY_BYTES = 32


class Seal:
    """Seals and checks with one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def asked(self, id: str, digest: str) -> str:
        """The seal of a call that waits: this id stands for exactly this action."""
        return self._of("asked", id, digest)

    def vote(self, id: str, digest: str, by: str, verdict: str, roles: Iterable[str], remember: str = "") -> str:
        """The seal of a vote: this person said so about exactly this action, holding these roles.

        `remember`: for how long they would allow it again.
        """
        again = (remember,) if remember else ()
        return self._of("vote", id, digest, by, verdict, json.dumps(sorted(roles)), *again)

    def approved(self, id: str, digest: str, by: str, everybody: Iterable[str]) -> str:
        """The seal of a decision: `by`, as the last of `everybody`, approved exactly this action."""
        return self._of("approved", id, digest, by, json.dumps(sorted(everybody)))

    def granted(self, id: str, digest: str, grant: str) -> str:
        """The seal of a decision that a grant made: that one, about exactly this action."""
        return self._of("granted", id, digest, grant)

    def grant(self, id: str, mark: str, makers: Iterable[str], *terms: int | None) -> str:
        """The seal of a grant: what it is for, on whose approval, until when, how often, and how often used already."""
        return self._of("grant", id, mark, json.dumps(sorted(makers)), json.dumps(terms))

    def config(self, guild: str, topic: str, version: int, body: str) -> str:
        """The seal of what a guild's people set in chat."""
        return self._of("config", guild, topic, str(version), body)

    def undo(self, id: str, call: str, root: str, path: str, before: str, after: str) -> str:
        """The seal of an undo copy: where there was `before` (a hash), the call left `after` in that file."""
        return self._of("undo", id, call, root, path, before, after)

    def holds(self, seal: str | None, expected: str) -> bool:
        """Whether a stored seal is the expected one."""
        return seal is not None and hmac.compare_digest(seal.encode(), expected.encode())

    def _of(self, *fields: str) -> str:
        return hmac.new(self._key, "\0".join(fields).encode(), hashlib.sha256).hexdigest()


def load_key(path: Path) -> bytes:
    """The key in `path`, made on first use; readable by its owner only. Raises `OSError`, `ValueError`."""
    if not path.exists():
        _make_key(path)
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError(f"{path} does not hold a key of {KEY_BYTES} bytes")
    return key


def _make_key(path: Path) -> None:
    """Whole or not at all: a key that a crash cut short would never open anything again. The first one stays."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
            file.write(secrets.token_bytes(KEY_BYTES).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
