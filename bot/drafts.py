"""Unsaved changes of what a guild's people set in chat: one draft for each person and topic, saved as a whole.

A draft begins with what counts, and knows which version that was: who saves after somebody else saved overwrites
nothing. Its mark goes with every button, so that a list which does not show what is in the draft changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.clock import Clock, NewId
from bot.errors import DecisionRefused
from bot.guild_book import GuildBook
from bot.surface import Actor
from bot.texts.text import say
from storage import guilds
from storage.database import Database
from storage.guilds import Draft, GuildConfig, Topic

MOVED_ON = say("policy.outdated")
OVERTAKEN = say("policy.others_saved")


@dataclass(frozen=True, kw_only=True)
class DraftPress:
    """A press in somebody's list."""

    actor: Actor
    draft: str
    mark: int
    """See `Draft.mark`."""


@dataclass(frozen=True, kw_only=True)
class Current:
    """What counts in a guild, as a draft begins with it."""

    version: int
    body: str
    stored: str
    """The text as it lies in the database, which may be another one: for the trail."""


class Drafts:
    """The drafts of one topic."""

    def __init__(
        self,
        topic: Topic,
        current: Callable[[str], Current],
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        book: GuildBook,
        mask: Callable[[str], str],
    ) -> None:
        """`current` takes a guild; `mask` hides secrets on the trail."""
        self._topic = topic
        self._current = current
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._book = book
        self._mask = mask

    async def left_by(self, person: str, guild: str) -> Draft:
        """The draft that the person left, or a new one where they left none, or changed nothing in it."""
        draft = await guilds.draft_of(self._database.reader, guild, self._topic, person)
        now = self._current(guild)
        if draft is None or (draft.base != now.version and draft.body == now.body):
            return await self.begin(person, guild)
        return draft

    async def begin(self, person: str, guild: str) -> Draft:
        """A new draft in the place of the person's older one."""
        now = self._current(guild)
        draft = Draft(
            id=self._new_id(),
            guild=guild,
            topic=self._topic,
            person=person,
            base=now.version,
            revision=0,
            body=now.body,
            at=self._clock.now(),
        )
        async with self._database.begin("begin draft") as tx:
            await guilds.begin_draft(tx, draft)
        return draft

    async def change(self, draft: Draft, body: str) -> Draft:
        """The draft with another body. Raises `DecisionRefused` if it was changed meanwhile."""
        now = self._clock.now()
        async with self._database.begin("change draft") as tx:
            if not await guilds.change_draft(tx, draft.id, revision=draft.revision, body=body, at=now):
                raise DecisionRefused("moved_on", MOVED_ON)
        return replace(draft, body=body, revision=draft.revision + 1, at=now)

    async def save(self, draft: Draft) -> Draft:
        """Let the draft count from now on; a new one, which begins with it. Raises `DecisionRefused` if overtaken."""
        before = self._current(draft.guild)
        new = GuildConfig(
            guild=draft.guild,
            topic=self._topic,
            version=before.version + 1,
            body=draft.body,
            seal="",
            changed_by=draft.person,
            changed_at=self._clock.now(),
        )
        new = replace(new, seal=self._book.sealed(new))
        async with self._database.begin("save draft") as tx:
            fresh = draft.base == before.version
            if not fresh or not await guilds.put(tx, new, before=before.stored, detail={}, mask=self._mask):
                raise DecisionRefused("overtaken", OVERTAKEN)
            await guilds.drop_draft(tx, draft.guild, self._topic, draft.person)
        self._book.take(new)
        return await self.begin(draft.person, draft.guild)
