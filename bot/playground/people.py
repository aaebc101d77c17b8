"""The residents as hands for a test: they see what a member sees and do what a member can.

Everything goes through simcord's actors, which refuse what a real client could not do (a disabled button, a
command that was never synced, a channel one can't see) with simcord's `SetupError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from simcord.components import walk_components
from simcord.enums import ComponentType
from simcord.results import InteractionResult, ResponseMessage

from bot.playground.world import World

Place = int | str
"""A channel or thread: its id, or its name."""


class Post:
    """A message as it stands now: what is read here changes with it."""

    def __init__(self, world: World, message: Any) -> None:
        self._world = world
        self.raw = message
        """simcord's own record."""

    @property
    def id(self) -> int:
        """The message's id."""
        return int(self.raw.id)

    @property
    def channel_id(self) -> int:
        """The channel's id."""
        return int(self.raw.channel_id)

    @property
    def author_id(self) -> int:
        """Who wrote it."""
        return int(self.raw.author_id)

    @property
    def by_bot(self) -> bool:
        """Whether the bot wrote it."""
        return self.author_id == int(self._world.backend.bot_user.id)

    @property
    def content(self) -> str:
        """The plain content."""
        return str(self.raw.content or "")

    @property
    def text(self) -> str:
        """Everything there is to read: the content, the embeds' and the components' texts, line by line."""
        parts = [self.content]
        for embed in self.raw.embeds:
            parts += [str(embed.get("title") or ""), str(embed.get("description") or "")]
            parts += [f"{f['name']}: {f['value']}" for f in embed.get("fields") or []]
        parts += [str(c["content"]) for c in self.components if c.get("content")]
        return "\n".join(part for part in parts if part)

    @property
    def components(self) -> list[dict[str, Any]]:
        """All components, nested ones too, outermost first."""
        return list(walk_components(self.raw.components))

    @property
    def labels(self) -> list[str]:
        """Labels of the buttons that can be pressed."""
        return [
            str(c.get("label") or "")
            for c in self.components
            if c.get("type") == ComponentType.BUTTON and not c.get("disabled") and c.get("custom_id")
        ]

    @property
    def ephemeral(self) -> bool:
        """Whether only one person sees it."""
        return bool(self.raw.is_ephemeral)

    @property
    def edited(self) -> bool:
        """Whether it was edited."""
        return self.raw.edited_timestamp is not None

    @property
    def files(self) -> dict[str, bytes]:
        """Attachments by their name."""
        cdn = self._world.backend.cdn
        return {a["filename"]: cdn.get(a["url"]) or b"" for a in self.raw.attachments}

    @property
    def pinged(self) -> list[int]:
        """Users who were notified."""
        return list(self.raw.ping_user_ids)

    @property
    def reply_to(self) -> int | None:
        """The message it answers."""
        reference = self.raw.reference or {}
        return int(reference["message_id"]) if reference.get("message_id") else None

    def __repr__(self) -> str:
        return f"<Post {self.id} in {self.channel_id} by {self.author_id}: {self.text[:80]!r} {self.labels}>"


class Answer:
    """What the bot made of a command, a press or a submitted form; grows while the bot works."""

    def __init__(self, world: World, result: Any) -> None:
        self._world = world
        self.raw: InteractionResult = result
        """simcord's own result."""

    @property
    def acknowledged(self) -> bool:
        """Whether there was a first response within three seconds. If not, "This interaction failed"."""
        return bool(self.raw.acknowledged)

    @property
    def thinking(self) -> bool:
        """Whether it was deferred and is not filled yet."""
        return bool(self.raw._interaction.loading)

    @property
    def modal(self) -> dict[str, Any] | None:
        """The form that was opened."""
        modal: dict[str, Any] | None = self.raw.modal
        return modal

    @property
    def response(self) -> Post | None:
        """The response's message; for an update the message that was pressed."""
        response = self.raw.response
        return Post(self._world, response._message) if response is not None else None

    @property
    def followups(self) -> list[Post]:
        """Messages sent after the first response."""
        return [Post(self._world, r._message) for r in self.raw.followups]

    @property
    def told(self) -> str:
        """What the person was told in answer: texts of response and follow-ups."""
        posts = [*([self.response] if self.response else []), *self.followups]
        return "\n".join(p.text for p in posts)


class Person:
    """One resident."""

    def __init__(self, world: World, key: str) -> None:
        self._world = world
        self.key = key
        self.id: int = world.user(key).id
        self.mention = f"<@{self.id}>"

    async def send(
        self,
        place: Place,
        text: str,
        *,
        reply_to: Post | None = None,
        files: Sequence[tuple[str, bytes]] = (),
    ) -> Post:
        """Write into a channel."""
        sent = await self._member.send(
            self._world.channel(channel_id(self._world, place)),
            text,
            reply_to=self._handle(reply_to) if reply_to is not None else None,
            attachments=files,
        )
        return self._post(sent.channel.id, sent.id)

    async def dm(self, text: str) -> Post:
        """Write to the bot directly."""
        sent = await self._user.send_dm(text)
        return self._post(self.dm_channel_id, sent.id)

    async def slash(self, place: Place | None, command: str, /, **options: Any) -> Answer:
        """Run a slash command in a channel, or (None) in the direct messages with the bot.

        Waits for the first response, three seconds at most.
        """
        if place is None:
            return Answer(self._world, await self._user.slash(command, **options))
        channel = self._world.channel(channel_id(self._world, place))
        return Answer(self._world, await self._member.slash(channel, command, **options))

    async def menu(self, command: str, post: Post) -> Answer:
        """Use a message's context menu."""
        channel = self._world.channel(post.channel_id)
        return Answer(self._world, await self._member.context_menu(channel, command, self._handle(post)))

    async def complete(
        self, place: Place, command: str, option: str, typed: str, /, **filled: Any
    ) -> list[dict[str, Any]]:
        """Type into an option that completes; returns the choices that were offered."""
        channel = self._world.channel(channel_id(self._world, place))
        choices = await self._member.autocomplete(channel, command, option, typed, **filled)
        return list(choices)

    async def click(self, post: Post, label: str | None = None, *, custom_id: str | None = None) -> Answer:
        """Press a button, named by its label or custom id; waits as `slash`."""
        result = await self._actor(post).click(self._handle(post), label=label, custom_id=custom_id)
        return Answer(self._world, result)

    async def select(self, post: Post, values: Sequence[Any], *, custom_id: str | None = None) -> Answer:
        """Choose in a select menu; waits as `slash`."""
        result = await self._actor(post).select(self._handle(post), values, custom_id=custom_id)
        return Answer(self._world, result)

    async def submit(self, answer: Answer, **values: Any) -> Answer:
        """Fill in the form that `answer` opened; values by the fields' custom ids. Waits as `slash`."""
        interaction = answer.raw._interaction
        actor = self._member if interaction.guild_id is not None else self._user
        return Answer(self._world, await actor.submit_modal(answer.raw, values))

    def messages(self, place: Place | None) -> list[Post]:
        """What this person sees in a channel, or (None) in the direct messages, oldest first."""
        where = self.dm_channel_id if place is None else channel_id(self._world, place)
        return [p for p in posts(self._world, where) if p.raw.visible_to(self.id)]

    @property
    def dm_channel_id(self) -> int:
        """The channel between this person and the bot."""
        return self._world.dm_channel_id(self.key)

    @property
    def _member(self) -> Any:
        return self._world.member(self.key)

    @property
    def _user(self) -> Any:
        return self._world.user(self.key)

    def _actor(self, post: Post) -> Any:
        in_guild = self._world.backend.get_channel(post.channel_id).guild_id is not None
        return self._member if in_guild else self._user

    def _handle(self, post: Post) -> Any:
        return ResponseMessage(self._world.env, post.raw)

    def _post(self, channel: int, message: int) -> Post:
        return Post(self._world, self._world.backend.get_message(channel, message))


def channel_id(world: World, place: Place) -> int:
    """The id of a channel or thread named by id or name. Raises `LookupError`."""
    if isinstance(place, int):
        return place
    for channel in world.backend.channels.values():
        if channel.name == place:
            return int(channel.id)
    raise LookupError(f"there is no channel {place!r}")


def posts(world: World, channel: int) -> Iterator[Post]:
    """All messages of a channel, oldest first."""
    log = world.backend.messages.get(channel, {})
    return (Post(world, log[message]) for message in sorted(log))
