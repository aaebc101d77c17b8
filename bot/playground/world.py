"""The guild one finds: Harbour, its channels, its people, and the bot; built fresh or taken from the disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import discord
from simcord.actors import MemberActor
from simcord.backend.cdn import CDN_BASE
from simcord.builders import ChannelHandle, GuildHandle, UserHandle

from bot.playground.faces import draw_face, draw_stamp, hash_of
from bot.playground.live import LiveEnv
from bot.playground.world_file import read_world, write_world

DISCORD_EPOCH = 1420070400000
"""Milliseconds UTC; the zero of every id's time."""

BOT_PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    embed_links=True,
    attach_files=True,
    read_message_history=True,
    add_reactions=True,
)
"""What the bot's role may, as after an ordinary invitation; not more, so that a missing one shows here."""

BOT_COLOUR = "#5865f2"


@dataclass(frozen=True)
class Resident:
    """Somebody who lives in the guild."""

    key: str
    name: str
    role: str
    """What they are here, in a few words, for the newcomer."""
    colour: str


PEOPLE = (
    Resident("ana", "Ana", "owner, approves", "#3ba55d"),
    Resident("ben", "Ben", "member", "#e67e22"),
    Resident("mallory", "Mallory", "another member", "#9b59b6"),
)

CHANNELS = (("general", "Ask Signoff for something"), ("ops", "Where things are run"))
THREAD = ("ops", "deploy night")


class World:
    """The guild with handles on everything that others need to find."""

    def __init__(self, env: LiveEnv) -> None:
        self.env = env
        self.backend = env.backend
        self._guild_id = 0
        self._user_ids: dict[str, int] = {}

    def build(self) -> None:
        """Make the guild as it is on the first day."""
        self.backend.bot_user.name = "Signoff"
        people = {p.key: self.env.create_user(p.name.lower(), global_name=p.name) for p in PEOPLE}
        guild = self.env.create_guild("Harbour", owner=people["ana"])
        self.backend.get_guild(guild.id).roles[self._bot_role(guild.id)].permissions = BOT_PERMISSIONS.value
        for user in people.values():
            if user is not people["ana"]:
                guild.add_member(user)
        channels = {name: guild.create_text_channel(name, topic=topic) for name, topic in CHANNELS}
        parent, name = THREAD
        thread = self.backend.create_thread(channels[parent].id, name, people["ana"].id, broadcast=False)
        for user_id in (*(user.id for user in people.values()), self.backend.bot_user.id):
            self.backend.add_thread_member(thread.id, user_id)
        self._guild_id = guild.id
        self._user_ids = {key: user.id for key, user in people.items()}
        self._hang_faces()

    def load(self, path: Path) -> dict[str, Any]:
        """Take the guild from a file; returns what `save` was given along.

        Raises `UnreadableWorld`, `OSError`; then nothing is changed.
        """
        ours = read_world(path, self.backend)
        self._guild_id, self._user_ids = ours["guild"], ours["people"]
        newest = max((id_ for log in self.backend.messages.values() for id_ in log), default=0)
        self.backend.clock.not_before((newest >> 22) + DISCORD_EPOCH + 1)
        self._hang_faces()
        return dict(ours)

    def save(self, path: Path, **along: Any) -> None:
        """Write the guild, and JSON `along` with it, to a file. Raises `OSError`."""
        write_world(path, self.backend, {"guild": self._guild_id, "people": self._user_ids, **along})

    @property
    def guild(self) -> Any:
        """simcord's handle on the guild."""
        return GuildHandle(self.env, self.backend.get_guild(self._guild_id))

    @property
    def owner_id(self) -> int:
        """Whose application the bot is: Ana's."""
        return self._user_ids["ana"]

    def user(self, key: str) -> Any:
        """simcord's handle on a resident's account. Raises `KeyError`."""
        return UserHandle(self.env, self.backend.get_user(self._user_ids[key]))

    def member(self, key: str) -> Any:
        """simcord's handle on a resident as a member of the guild."""
        return MemberActor(self.env, self.guild, self.user(key))

    def channel(self, channel_id: int) -> Any:
        """simcord's handle on a channel, thread or direct-message channel. Raises simcord's `BackendError`."""
        channel = self.backend.get_channel(channel_id)
        return ChannelHandle(self.env, self.guild if channel.guild_id else None, channel)

    def dm_channel_id(self, key: str) -> int:
        """The channel between a resident and the bot, opened when it is not there yet."""
        return int(self.user(key).dm_channel.id)

    def _bot_role(self, guild_id: int) -> int:
        member = self.backend.get_guild(guild_id).members[self.backend.bot_user.id]
        return int(member.role_ids[0])

    def _hang_faces(self) -> None:
        self.faces = {p.key: draw_face(p.name, p.colour) for p in PEOPLE}
        self.faces["signoff"] = draw_stamp(BOT_COLOUR)
        users = {p.key: self.backend.get_user(self._user_ids[p.key]) for p in PEOPLE}
        for key, user in {**users, "signoff": self.backend.bot_user}.items():
            user.avatar = hash_of(self.faces[key])
            blobs = self.backend.cdn._blobs  # private: _blobs, where the renderer looks for faces
            blobs[f"{CDN_BASE}/avatars/{user.id}/{user.avatar}.png"] = self.faces[key]
