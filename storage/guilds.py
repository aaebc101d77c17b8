"""What the people of a guild set in chat: one versioned body for each topic, and each person's unsaved draft of one.

A body is JSON that only the floor above reads. Every change is on the trail in the same commit, with what was there
before and what is there now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from storage import audit
from storage.database import Reader, Transaction

Topic = Literal["policy", "settings"]


@dataclass(frozen=True, kw_only=True)
class GuildConfig:
    """What counts in a guild. Times are milliseconds UTC; version 0 is never stored and means: nothing was set yet."""

    guild: str
    topic: Topic
    version: int
    body: str
    seal: str
    changed_by: str
    changed_at: int


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What one person is changing."""

    id: str
    guild: str
    topic: Topic
    person: str
    base: int
    """The version it began with."""
    revision: int
    body: str
    at: int

    @property
    def mark(self) -> int:
        """What its buttons carry: another one after every change, also one that was made around this program."""
        return int.from_bytes(sha256(f"{self.revision}:{self.body}".encode()).digest()[:7], "big")


async def every(reader: Reader) -> list[GuildConfig]:
    """Everything that was ever set and counts."""
    return [GuildConfig(**row) for row in await reader.all("SELECT * FROM guild_config ORDER BY guild, topic")]


async def put(
    tx: Transaction, new: GuildConfig, *, before: str, detail: dict[str, Any], mask: Callable[[str], str]
) -> bool:
    """Store the next version. False, and nothing changes, if somebody else stored one meanwhile.

    `before` and `detail` go on the trail beside the new body, masked: patterns are typed by people.
    """
    done = await tx.execute(
        "INSERT INTO guild_config (guild, topic, version, body, seal, changed_by, changed_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (guild, topic) DO UPDATE SET version = excluded.version, body = excluded.body,"
        " seal = excluded.seal, changed_by = excluded.changed_by, changed_at = excluded.changed_at"
        " WHERE guild_config.version = excluded.version - 1",
        new.guild,
        new.topic,
        new.version,
        new.body,
        new.seal,
        new.changed_by,
        new.changed_at,
    )
    if done != 1:
        return False
    await audit.record(
        tx,
        at=new.changed_at,
        actor=new.changed_by,
        event=f"{new.topic}_changed",
        detail={
            **detail,
            "guild": new.guild,
            "version": new.version,
            "before": mask(before),
            "after": mask(new.body),
        },
    )
    return True


async def draft_of(reader: Reader, guild: str, topic: Topic, person: str) -> Draft | None:
    """The person's draft, if they have one."""
    row = await reader.one(
        "SELECT * FROM guild_draft WHERE guild = ? AND topic = ? AND person = ?", guild, topic, person
    )
    return None if row is None else Draft(**row)


async def draft(reader: Reader, id: str) -> Draft | None:
    """The draft with this id."""
    row = await reader.one("SELECT * FROM guild_draft WHERE id = ?", id)
    return None if row is None else Draft(**row)


async def begin_draft(tx: Transaction, new: Draft) -> None:
    """Store a draft in the place of the person's older one."""
    await drop_draft(tx, new.guild, new.topic, new.person)
    await tx.execute(
        "INSERT INTO guild_draft (id, guild, topic, person, base, revision, body, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        new.id,
        new.guild,
        new.topic,
        new.person,
        new.base,
        new.revision,
        new.body,
        new.at,
    )


async def change_draft(tx: Transaction, id: str, *, revision: int, body: str, at: int) -> bool:
    """Write the next revision. False if it is not at `revision` any more."""
    return (
        await tx.execute(
            "UPDATE guild_draft SET revision = revision + 1, body = ?, at = ? WHERE id = ? AND revision = ?",
            body,
            at,
            id,
            revision,
        )
        == 1
    )


async def drop_draft(tx: Transaction, guild: str, topic: Topic, person: str) -> None:
    """Forget the person's draft."""
    await tx.execute("DELETE FROM guild_draft WHERE guild = ? AND topic = ? AND person = ?", guild, topic, person)
