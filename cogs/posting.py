"""The one place where messages are created and edited: mentions off, nonce on, files optional.

Client defaults are not relied on: an edit without `allowed_mentions` is parsed by Discord's own defaults.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import discord
from discord import ui

from bot.errors import DeliveryError, Unreachable
from bot.texts.text import say
from cogs import faults, permissions
from cogs.places import Place

T = TypeVar("T")


class FileRefused(DeliveryError):
    """The message was not posted, because of its file; without the file it may be."""


def mentions(users: Iterable[str] = (), roles: Iterable[str] = ()) -> discord.AllowedMentions:
    """Exactly these people and roles are notified; with neither, nobody."""
    return discord.AllowedMentions(
        everyone=False,
        users=[discord.Object(int(user)) for user in users],
        roles=[discord.Object(int(role)) for role in roles],
        replied_user=False,
    )


NOBODY = mentions()


@dataclass(frozen=True, kw_only=True)
class Post:
    """A message to create."""

    nonce: str
    content: str | None = None
    view: ui.LayoutView | ui.View | None = None
    file: discord.File | None = None
    files: Callable[[], list[discord.File]] | None = None
    """Made anew for each attempt: what was sent once cannot be sent again."""
    mentions: discord.AllowedMentions = NOBODY
    silent: bool = False
    """Whoever is notified hears no sound (a message flag of Discord's, SUPPRESS_NOTIFICATIONS)."""
    reply_to: int | None = None
    if_apart: bool = False
    """Refer to `reply_to` only when other messages stand between: right below it, the reader sees it anyway."""


class Channel:
    """A channel that need not be in the cache."""

    def __init__(self, client: discord.Client, place: Place) -> None:
        self._client = client
        self.place = place
        self._known = known = client.get_channel(place.channel)
        self.messageable = (
            known
            if isinstance(known, discord.TextChannel | discord.Thread | discord.DMChannel)
            else client.get_partial_messageable(place.channel, guild_id=place.guild)
        )

    async def create(self, post: Post) -> int:
        """Post a message; its id. Raises `FileRefused`, `DeliveryError`, `Unreachable`."""
        if isinstance(self._known, discord.abc.GuildChannel | discord.Thread) and (
            self._known.guild.id != self.place.guild
        ):
            raise Unreachable(say("faults.elsewhere"))  # whoever set it may not have a say over there
        reply_to = None if post.if_apart and post.reply_to == self._newest() else post.reply_to
        with self._reaching():
            try:
                return await self._awake(lambda: self._send(post, reply_to=reply_to))
            except discord.HTTPException as error:
                if (post.file is not None or post.files is not None) and faults.is_too_large(error):
                    raise FileRefused(say("faults.file_too_large")) from error
                if reply_to is None or not faults.is_reply_refused(error):
                    raise
                return await self._send(post, reply_to=None)

    async def _send(self, post: Post, *, reply_to: int | None) -> int:
        place = self.place
        reference = None
        if reply_to is not None:
            reference = discord.MessageReference(
                message_id=reply_to, channel_id=place.channel, guild_id=place.guild, fail_if_not_exists=False
            )
        # Absent is not None to discord.py's typing, so only what is there is handed on. Previews are off: fetching
        # one would carry whatever a model wrote into an address out to that address.
        rest: dict[str, Any] = {"file": post.file, "reference": reference, "view": post.view}
        given = {name: value for name, value in rest.items() if value is not None}
        if post.files is not None:
            given["files"] = post.files()
        if post.content is not None:
            given["suppress_embeds"] = True
        if post.silent:
            given["silent"] = True
        message: discord.Message = await self.messageable.send(
            post.content, nonce=post.nonce, allowed_mentions=post.mentions, **given
        )
        return message.id

    async def edit(
        self,
        message: int,
        *,
        content: str | None = None,
        view: ui.LayoutView | None = None,
        files: list[discord.File] | None = None,
        row: ui.View | None = None,
        bare: bool = False,
    ) -> None:
        """Change a message of ours. An edit never notifies anybody. `files` take the place of those that are there.
        `row`: give an ordinary message other buttons; `bare`: take them off.

        Raises `FileRefused`, `DeliveryError`, `Unreachable`.
        """
        rest: dict[str, Any] = {"content": content} if view is None else {"view": view}
        if bare or row is not None:
            rest["view"] = row
        if files is not None:
            rest["attachments"] = files
        with self._reaching():
            try:
                ours = self.messageable.get_partial_message(message)
                await self._awake(lambda: ours.edit(allowed_mentions=NOBODY, **rest))
            except discord.HTTPException as error:
                if files and faults.is_too_large(error):
                    raise FileRefused(say("faults.file_too_large")) from error
                raise

    async def delete(self, message: int) -> None:
        """Remove a message of ours. Raises `DeliveryError`, `Unreachable`."""
        with self._reaching():
            await self.messageable.get_partial_message(message).delete()

    async def open_thread(self, message: int, name: str) -> int:
        """Open a public thread on a message; its id. Raises `DeliveryError`, `Unreachable`.

        A thread has the id of the message that it was opened on, and there is one at most: after a lost answer a
        second try finds the first one's.
        """
        with self._reaching():
            try:
                thread = await self.messageable.get_partial_message(message).create_thread(name=name)
            except discord.HTTPException as error:
                if error.code != faults.HAS_A_THREAD:
                    raise
                return message
            return thread.id

    async def open_private_thread(self, name: str) -> int:
        """Open a private thread that its members can add others to; its id. Raises `DeliveryError`, `Unreachable`.

        Nothing marks a second try as one: after a lost answer an empty thread may be left, which nobody else sees.
        """
        channel = self.messageable
        if not isinstance(channel, discord.TextChannel):
            raise Unreachable(say("faults.no_channel"))
        with self._reaching():
            kind = discord.ChannelType.private_thread
            return (await channel.create_thread(name=name, type=kind, invitable=True)).id

    async def let_in(self, person: int) -> None:
        """Put somebody on the list of this thread. Raises `DeliveryError`, `Unreachable`."""
        with self._reaching():
            await self._client.http.add_user_to_thread(self.place.channel, person)

    async def typing(self) -> None:
        """Show for ten seconds that something is being written. Raises `DeliveryError`, `Unreachable`."""
        with self._reaching():
            await self.messageable.typing()

    async def _awake(self, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request about a thread's message; an archived thread is opened first, where that is allowed.

        Discord does that by itself for new messages, and never for edits. Raises what discord.py raises.
        """
        try:
            return await request()
        except discord.HTTPException as error:
            if not faults.is_archived(error):
                raise
            try:
                await self._client.http.edit_channel(self.place.channel, archived=False)
            except discord.Forbidden:
                raise error from None  # a locked thread is opened by moderators only
        return await request()

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        if self._client.is_closed():
            raise DeliveryError(say("faults.no_connection"))
        with faults.delivering(
            lambda: permissions.missing_in(self._client, self.place.guild, self.place.channel), self._slow
        ):
            yield

    def _slow(self) -> int:
        """The channel's slow mode in seconds, as far as the cache knows it."""
        return getattr(self._client.get_channel(self.place.channel), "slowmode_delay", 0)

    def _newest(self) -> int | None:
        """The channel's newest message, if the cache knows the channel."""
        return getattr(self.messageable, "last_message_id", None)
