"""The connection to Discord: least intents, commands synced only when they changed, and a start that does not give up.

`setup_hook` does what must be done once, before the gateway; nothing happens in `on_ready`, which fires many times.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Literal

import aiohttp
import discord
from discord.ext import commands

from bot.background import Background
from bot.engine import Engine
from bot.errors import StartError
from bot.texts.entry import Language
from bot.texts.text import say
from bot.upkeep import Upkeep
from cogs.anew import New
from cogs.approvals import Approvals
from cogs.ask_about import AskAbout
from cogs.begin import Beginner
from cogs.chat import Chat
from cogs.doctor import Doctor
from cogs.downloads import Download, from_discord
from cogs.drill import Drill
from cogs.errors import SignoffTree
from cogs.fork import Fork
from cogs.grants import Grants
from cogs.help import Help
from cogs.inbox import Inbox
from cogs.jobs import Jobs
from cogs.limits import PORTAL
from cogs.mentions import Mentions
from cogs.missed import Catching
from cogs.notify import Notifying
from cogs.policy import Policy
from cogs.posting import NOBODY
from cogs.presses import Presses
from cogs.reload import Reload
from cogs.resuming import Resuming
from cogs.schedules import Schedules
from cogs.settings import ServerSettings
from cogs.speech import CommandTranslator, Hearing, Languages, Recall, Remember
from cogs.surface import DiscordSurface
from cogs.tools import Tools
from cogs.usage import Usage
from cogs.watching import Watching
from cogs.why import Why

logger = logging.getLogger(__name__)

MessageContent = Literal["auto", "on", "off"]

LONGEST_WAIT_SECONDS = 60.0
LONGEST_RATE_LIMIT_SECONDS = 30.0
"""Longer than this nothing waits inside discord.py: what is owed is in the database, and is tried again from there."""
_SYNCED = "discord commands"


def least_intents(*, message_content: bool = False) -> discord.Intents:
    """What is needed and no more: commands, mentions and direct messages come with their text without asking for it.

    `message_content`: also that of other messages, which threads without a mention need. A privileged intent.
    """
    intents = discord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = message_content
    return intents


class SignoffClient(commands.Bot):
    """The bot as Discord knows it."""

    def __init__(
        self,
        *,
        engine: Engine,
        background: Background,
        remember: Remember,
        recall: Recall,
        upkeep: Upkeep,
        proxy: str | None = None,
        in_thread: bool = False,
        message_content: MessageContent = "auto",
        language: str = Language.EN,
        download: Download | None = None,
    ) -> None:
        """`remember` and `recall` keep a small fact across restarts; `proxy` is for REST and gateway.

        `in_thread`: see `Beginner`. `message_content`: whether to ask Discord for the text of messages that do not
        mention the bot; `auto` where the application's page allows it. `language`: for whom nothing else is known.
        `download` reads attached files in the place of `cogs.downloads`.
        """
        self._resuming = Resuming()
        super().__init__(
            commands.when_mentioned,
            help_command=None,
            tree_cls=SignoffTree,
            intents=least_intents(message_content=message_content == "on"),
            allowed_mentions=NOBODY,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_ratelimit_timeout=LONGEST_RATE_LIMIT_SECONDS,
            proxy=proxy,
        )
        self._in_thread = in_thread
        self._message_content = message_content
        self._engine = engine
        self._background = background
        self._remember = remember
        self._recall = recall
        self._upkeep = upkeep
        self._download = download or from_discord(proxy)
        self.languages = Languages(self, Language(language), remember=remember, recall=recall)
        self.surface = DiscordSurface(self, background.spawn, self.languages)

    async def setup_hook(self) -> None:
        """Learn who owns the bot, offer the commands, and begin to make good what a dead process left."""
        spawn = self._background.spawn
        await self.tree.set_translator(CommandTranslator())
        drill = Drill(self._upkeep.drills)
        tools = Tools(self._engine, self._upkeep.toolbook, self._upkeep.clock)
        usage = Usage(self._upkeep.usage)
        beginner = Beginner(
            self._engine,
            self.surface,
            spawn,
            uploads=self._upkeep.uploads,
            download=self._download,
            in_thread=self._in_thread,
        )
        ask_about = AskAbout(self, beginner, self._upkeep.clippings)
        await self.add_cog(
            Presses(
                self,
                self._engine,
                self.surface,
                spawn,
                tools=tools,
                drill=drill,
                usage_list=usage,
                ask_about=ask_about,
                languages=self.languages,
                undoing=self._upkeep.undoing,
            )
        )
        await self.add_cog(usage)
        await self.add_cog(Hearing(self.languages))
        await self.add_cog(tools)
        await self.add_cog(drill)
        await self.add_cog(Reload(self._upkeep.reloading))
        await self.add_cog(Doctor(self, self._engine, self.surface, self._upkeep))
        await self.add_cog(Chat(self, beginner))
        await self.add_cog(ask_about)
        mentions = Mentions(self, self.surface, beginner)
        await self.add_cog(mentions)
        await self.add_cog(Catching(self, self._upkeep.missed, mentions, spawn))
        await self.add_cog(Approvals(self._engine))
        await self.add_cog(Grants(self._engine))
        await self.add_cog(Jobs(self, self._engine))
        await self.add_cog(Schedules(self, self._engine))
        await self.add_cog(Inbox(self._engine, self.surface))
        await self.add_cog(Notifying(self._engine))
        await self.add_cog(New(self._engine, self.surface))
        await self.add_cog(Fork(self, self._engine))
        await self.add_cog(Help(self, tools))
        await self.add_cog(Why(self._engine))
        await self.add_cog(Policy(self._engine.policy_desk))
        await self.add_cog(ServerSettings(self._engine.settings_desk))
        await self.add_cog(Watching(self, self._engine, spawn))
        application = self.application or await self.application_info()
        self._read_more_if_allowed(application.flags)
        await self._refuse_everybody()
        self._engine.set_owners(owners_of(application))
        warnings = (*_warnings(application), *await self._upkeep.toolbook.warnings())
        await self._upkeep.startup.begin(owner_of(application), warnings=warnings)
        await self._engine.belong_to(str(application.id))
        await self._offer_commands(application.id)
        self._engine.connect(self.surface)
        self._upkeep.drills.connect(self.surface)
        spawn(self._engine.recover(), name="recover")
        spawn(self._upkeep.drills.sweep(), name="recover drills")

    def _read_more_if_allowed(self, flags: discord.ApplicationFlags) -> None:
        """Asking for a privileged intent that is not allowed ends the connection, so it is looked up first."""
        allowed = flags.gateway_message_content or flags.gateway_message_content_limited
        if self._message_content == "auto" and allowed:
            self._connection._intents.message_content = True  # what the gateway is told when it connects, after this

    async def _refuse_everybody(self) -> None:
        """The role that is a server itself is everybody's there. It never counts, and the start says so.

        Raises `StartError`.
        """
        roles = self._engine.authority.every_role()
        if not roles:
            return
        async for guild in self.fetch_guilds():
            if str(guild.id) in roles:
                raise StartError(
                    f"{guild.id} stands among the approver roles, and is the server {guild.name} itself: the role that"
                    " everybody there holds. Take it out of SIGNOFF_APPROVER_ROLES and [[approvers]]."
                )

    def dispatch(self, event_name: str, /, *args: Any, **kwargs: Any) -> None:
        """Keep count of connections, before discord.py acts on the end of one. Called by discord.py."""
        if event_name == "disconnect":
            self._resuming.broke(sys.exc_info()[1])
        elif event_name in {"ready", "resumed"}:
            self._resuming.stands()
        super().dispatch(event_name, *args, **kwargs)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait before a session begins that is not the first. Called by discord.py."""
        if not initial:
            await asyncio.sleep(self._resuming.wait_seconds())

    async def on_message(self, message: discord.Message, /) -> None:
        """Overrides discord.py's search for prefix commands: there are none. `Chat` listens by itself."""

    async def _offer_commands(self, application: int) -> None:
        """Sync when the commands changed since the last time, or when Discord has others. Never stops the bot."""
        translator = self.tree.translator
        payload = [
            command.to_dict(self.tree)
            if translator is None
            else await command.get_translated_payload(self.tree, translator)
            for command in self.tree.get_commands()
        ]
        text = json.dumps(sorted(payload, key=lambda command: str(command["name"])), sort_keys=True)
        digest = f"{application}:{hashlib.sha256(text.encode()).hexdigest()}"
        try:
            if await self._recall(_SYNCED) == digest and await self._are_there():
                return
            await self.tree.sync()
            await self._remember(_SYNCED, digest)
        except Exception:
            # Commands that people already have go on working, and so do mentions, cards and direct messages.
            logger.exception(
                "commands not synced; restart signoff to try again, and check that the bot was invited with the"
                " applications.commands scope (signoff doctor shows the link)",
                extra={"action": "sync_failed"},
            )

    async def _are_there(self) -> bool:
        offered = {command.name for command in await self.tree.fetch_commands()}
        return offered == {command.name for command in self.tree.get_commands()}


def owners_of(application: discord.AppInfo) -> frozenset[str]:
    """Who decides when no approver is configured: the owner, or the team's members who joined and may change it."""
    if application.team is None:
        return frozenset({str(application.owner.id)})
    return frozenset(
        str(member.id)
        for member in application.team.members
        if member.membership_state is discord.TeamMembershipState.accepted
        and member.role is not discord.TeamMemberRole.read_only
    )


def owner_of(application: discord.AppInfo) -> str:
    """The one person whom the bot reports to: its owner, or the owner of its team."""
    team = application.team
    return str(team.owner_id) if team is not None and team.owner_id else str(application.owner.id)


def _warnings(application: discord.AppInfo) -> Iterator[str]:
    """What will keep people from using the bot, and can be seen at the start."""
    if application.interactions_endpoint_url:
        logger.error("an Interactions Endpoint URL is set", extra={"action": "endpoint_set"})
        yield (say("startup.endpoint", link=f"{PORTAL}/{application.id}/information"))


async def run_client(
    client: discord.Client, token: str, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Log in and stay connected until the client is closed.

    Raises `StartError` where trying again cannot help. Whatever else fails before the first connection stands is
    tried again with back-off; after it discord.py does that by itself.
    """
    async with client:
        await _patiently(lambda: _login(client, token), sleep)
        await _patiently(lambda: _connect(client), sleep)


async def _login(client: discord.Client, token: str) -> None:
    try:
        await client.login(token)
    except BaseException:
        # Every login opens a session of its own, on a connector that closes with it.
        await client.http.close()
        client.http.connector = discord.utils.MISSING
        raise


async def _connect(client: discord.Client) -> None:
    try:
        await client.connect()
    except AttributeError as error:
        # discord.py 2.7.1 answers a failed first connection by reading an attribute of the socket that it does not
        # have yet. Any other AttributeError is a bug and must be seen.
        cause = error.__context__
        if cause is None or hasattr(client.ws, "sequence"):
            raise
        raise cause from None


async def _patiently(step: Callable[[], Awaitable[None]], sleep: Callable[[float], Awaitable[None]]) -> None:
    wait = 1.0
    while True:
        try:
            await step()
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
            if (sentence := hopeless(error)) is not None:
                raise StartError(sentence) from error
            logger.warning(
                "Discord cannot be reached; trying again in %.0f s",
                wait,
                extra={"action": "connect_failed", "problem": repr(error)},
            )
        else:
            return
        await sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT_SECONDS)


def hopeless(error: BaseException) -> str | None:
    """The one sentence, with the fix, for an error that no further try can mend; None for all others."""
    match error:
        case discord.LoginFailure():
            return (
                "Discord does not accept the token in DISCORD_TOKEN. Copy it anew:"
                f" {PORTAL}, your application, Bot, Reset Token."
            )
        case discord.PrivilegedIntentsRequired():
            return f"Discord refuses an intent that this bot asks for. Allow it: {PORTAL}, your application, Bot."
        case discord.ConnectionClosed() if error.code in {4004, 4010, 4011, 4012, 4013, 4014}:
            return f"Discord closed the connection for good (code {error.code}). `signoff doctor` looks for the cause."
        case discord.Forbidden():
            return (
                "Discord forbids this application to log in (403). Check that it is not disabled:"
                f" {PORTAL}, your application."
            )
        case _:
            return None
