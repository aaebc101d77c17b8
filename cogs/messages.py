"""A text as the ordinary messages that show it: posted, edited as it grows, split, and at last a file if it is long.

Ordinary messages of the bot's own, never answers under an interaction's token: that dies after 15 minutes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import discord
from discord import ui

from bot.errors import Gone, Unreachable
from bot.texts.text import say
from cogs import limits, posting
from cogs.pieces import split
from cogs.posting import Channel, FileRefused, Post
from cogs.speech import shown, tell

MOST_PIECES = 6
"""An answer of more messages than this comes as a file, with its beginning shown."""
_BEGINNING = 2
_FILE = 1_000
"""The file's number among the pieces, for its nonce; no text has so many."""
_NOTHING = say("surface.no_text")


@dataclass
class _Posted:
    id: int
    content: str


class Messages:
    """One logical text in a channel. `key` names it: every attempt to say the same thing uses the same one.

    `reply_to`, `if_apart`: see `Post`; `files` come with its first message. `already`: a message that is there and is
    to be its first.
    """

    def __init__(
        self,
        channel: Channel,
        key: str,
        *,
        reply_to: int | None = None,
        if_apart: bool = False,
        already: int | None = None,
        ping: Iterable[str] = (),
        ping_roles: Iterable[str] = (),
        silent: bool = False,
        files: Callable[[], list[discord.File]] | None = None,
    ) -> None:
        self._files = files
        self._channel = channel
        self._key = key
        self._reply_to, self._if_apart = reply_to, if_apart
        self._users, self._roles, self._silent = list(ping), list(ping_roles), silent
        self._posted = [] if already is None else [_Posted(already, "")]
        self._row: Callable[[], ui.View] | None = None
        self._has_row = already is not None  # that may be so
        self._new_row = False
        self._file: int | None = None
        self._tried = False

    @property
    def first(self) -> int | None:
        """The id of the first message, once there is one."""
        return self._posted[0].id if self._posted else None

    def set_row(self, row: Callable[[], ui.View]) -> None:
        """Its first message has these buttons from the next time it is shown, until the text is complete."""
        self._row = row
        self._new_row = bool(self._posted)

    def rename(self, key: str) -> None:
        """Say it under another key, unless something has been sent under the one from before."""
        if not self._posted and not self._tried:
            self._key = key

    async def grow(self, text: str) -> None:
        """Show the text so far. Raises `DeliveryError`, `Unreachable`; can be repeated."""
        await self._show(split(text)[:MOST_PIECES])

    async def complete(self, text: str) -> int:
        """Show the whole text; the first message's id. Raises `DeliveryError`, `Unreachable`; can be repeated."""
        text = self._addressed(text)
        pieces = split(text) or [shown(_NOTHING)]
        self._row = None
        if len(pieces) <= MOST_PIECES:
            await self._show(pieces)
        else:
            await self._show(pieces[: min(max(_BEGINNING, len(self._posted)), MOST_PIECES)])
            await self._attach(text)
        return self._posted[0].id

    def _addressed(self, text: str) -> str:
        """The text behind the names of those who are notified; a ping needs the name in the message."""
        names = [f"<@{user}>" for user in self._users] + [f"<@&{role}>" for role in self._roles]
        unnamed = " ".join(name for name in names if name not in text)
        if not unnamed:
            return text
        return f"{unnamed} {text}" if text[:1].isalnum() else f"{unnamed}\n{text}"

    async def _show(self, pieces: list[str]) -> None:
        for number, content in enumerate(pieces):
            if number < len(self._posted):
                posted = self._posted[number]
                bare = number == 0 and self._has_row and self._row is None
                row = self._row() if number == 0 and self._new_row and self._row is not None else None
                if posted.content != content or bare or row is not None:
                    await self._channel.edit(posted.id, content=content, row=row, bare=bare)
                    posted.content = content
                    self._has_row = row is not None or (self._has_row and not bare)
                    self._new_row = self._new_row and row is None
                continue
            first = number == 0
            row = self._row() if first and self._row is not None else None
            post = Post(
                nonce=limits.nonce(self._key, number),
                content=content,
                view=row,
                reply_to=self._reply_to if first else None,
                if_apart=self._if_apart,
                mentions=posting.mentions(self._users, self._roles) if first else posting.NOBODY,
                silent=self._silent,
                files=self._files if first else None,
            )
            self._tried = True
            self._has_row = self._has_row or row is not None
            self._posted.append(_Posted(await self._create(post), content))
        while len(self._posted) > max(len(pieces), 1):
            await self._channel.delete(self._posted[-1].id)
            self._posted.pop()

    async def _create(self, post: Post) -> int:
        try:
            return await self._channel.create(post)
        except (FileRefused, Unreachable) as error:
            if post.files is None or isinstance(error, Gone):
                raise
            return await self._channel.create(replace(post, files=None))  # the text alone; it names them

    async def _attach(self, text: str) -> None:
        if self._file is not None:
            return
        nonce = limits.nonce(self._key, _FILE)
        file = discord.File(io.BytesIO(text.encode("utf-8", "replace")), filename="answer.md")
        try:
            self._file = await self._channel.create(
                Post(nonce=nonce, content=tell("surface.attached", n=len(text)), file=file)
            )
        except (FileRefused, Unreachable) as error:
            if isinstance(error, Gone):
                raise
            told = tell("surface.too_large", n=len(text))
            if isinstance(error, Unreachable):
                told = tell("surface.not_attached", n=len(text), why=shown(error.problem))
            self._file = await self._channel.create(Post(nonce=nonce, content=told))
