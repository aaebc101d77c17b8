"""What Discord says about the bot's application: for `signoff doctor`. Reads over REST, connects to no gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import discord

from bot.doctor import Finding, Level
from bot.texts.text import joined, say
from cogs.limits import PORTAL

INSTALL_PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    embed_links=True,
    attach_files=True,
    read_message_history=True,
    send_messages_in_threads=True,
)
"""The least that the bot needs: 274878024704."""

_MOST_GUILDS = 200
"""One page of `GET /users/@me/guilds` (Discord API, Get Current User Guilds)."""


def install_link(application_id: int) -> str:
    """The address with which somebody who manages a server adds the bot to it."""
    return discord.utils.oauth_url(
        application_id, permissions=INSTALL_PERMISSIONS, scopes=("bot", "applications.commands")
    )


async def inspect(token: str, proxy: str | None) -> AsyncIterator[Finding]:
    """Log in and look at everything that is set up at Discord's side."""
    client = discord.Client(intents=discord.Intents.none(), proxy=proxy)
    try:
        try:
            async with asyncio.timeout(30):
                await client.login(token)
                application = await client.application_info()
                guilds = await client.http.get_guilds(_MOST_GUILDS)
        except discord.LoginFailure:
            yield Finding(
                id="login",
                level=Level.FAIL,
                text=say("checkup.token_refused"),
                advice=say("checkup.token_advice", portal=PORTAL),
            )
            return
        except (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError) as error:
            yield Finding(
                id="login",
                level=Level.FAIL,
                text=say("checkup.unreachable", kind=type(error).__name__, problem=error),
                advice=say("checkup.network"),
            )
            return
        for finding in application_findings(application):
            yield finding
        for finding in _guilds(application.id, guilds):
            yield finding
    finally:
        await client.close()


def application_findings(application: discord.AppInfo) -> list[Finding]:
    """How the application's own page is set up."""
    page = f"{PORTAL}/{application.id}"
    team = application.team
    owner = (
        say("checkup.team", name=team.name, n=len(team.members))
        if team
        else f"{application.owner} ({application.owner.id})"
    )
    findings = [
        Finding(
            id="login",
            level=Level.OK,
            text=say("checkup.application", name=application.name, id=application.id, owner=owner),
        ),
        Finding(
            id="intents",
            level=Level.OK,
            text=joined(
                [say("checkup.no_privileged"), say("checkup.content_on") if _reads_messages(application) else ""], by=""
            ),
        ),
    ]
    if application.interactions_endpoint_url:
        findings.append(
            Finding(
                id="interactions-endpoint",
                level=Level.FAIL,
                text=say("checkup.endpoint"),
                advice=say("checkup.clear_it", page=page),
            )
        )
    if application.bot_public:
        findings.append(
            Finding(
                id="public-bot",
                level=Level.WARN,
                text=say("checkup.public"),
                advice=say("checkup.not_public", page=page, install=page),
            )
        )
    if application.user_integration_config is not None:
        findings.append(
            Finding(
                id="user-install",
                level=Level.WARN,
                text=say("checkup.user_install"),
                advice=say("checkup.no_user_install", page=page),
            )
        )
    if application.bot_require_code_grant:
        findings.append(
            Finding(
                id="code-grant",
                level=Level.FAIL,
                text=say("checkup.code_grant"),
                advice=say("checkup.switch_off", page=page),
            )
        )
    return findings


def _reads_messages(application: discord.AppInfo) -> bool:
    flags = application.flags
    return flags.gateway_message_content or flags.gateway_message_content_limited


def _guilds(application_id: int, guilds: list[discord.types.guild.Guild]) -> list[Finding]:
    link = install_link(application_id)
    if not guilds:
        return [
            Finding(
                id="servers",
                level=Level.WARN,
                text=say("checkup.no_server"),
                advice=say("checkup.add_it", link=link),
            )
        ]
    findings = [Finding(id="servers", level=Level.OK, text=say("checkup.servers", n=len(guilds), link=link))]
    for guild in guilds:
        held = discord.Permissions(int(guild.get("permissions", 0)))
        if held.administrator:
            findings.append(
                Finding(
                    id=f"server-{guild['id']}",
                    level=Level.WARN,
                    text=say("checkup.administrator", name=guild["name"]),
                    advice=say("checkup.take_it"),
                )
            )
        elif missing := [name for name, needed in INSTALL_PERMISSIONS if needed and not getattr(held, name)]:
            findings.append(
                Finding(
                    id=f"server-{guild['id']}",
                    level=Level.WARN,
                    text=say(
                        "checkup.role_lacks", name=guild["name"], permissions=", ".join(missing).replace("_", " ")
                    ),
                    advice=say("checkup.give_role", link=link),
                )
            )
    return findings
