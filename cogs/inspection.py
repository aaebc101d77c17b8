"""What Discord says about the bot's application: for `signoff doctor`. Reads over REST, connects to no gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import discord

from bot.doctor import Finding, Level
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
                text="Discord does not accept the token",
                advice=f"Copy it anew: {PORTAL}, your application, Bot, Reset Token.",
            )
            return
        except (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError) as error:
            yield Finding(
                id="login",
                level=Level.FAIL,
                text=f"Discord cannot be reached ({type(error).__name__}: {error})",
                advice="Check this machine's network; behind a proxy set DISCORD_PROXY.",
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
        f"team {team.name} ({len(team.members)} members)" if team else f"{application.owner} ({application.owner.id})"
    )
    findings = [
        Finding(id="login", level=Level.OK, text=f"{application.name} ({application.id}), owned by {owner}"),
        Finding(
            id="intents",
            level=Level.OK,
            text="none of the privileged ones is needed"
            + ("; Message Content is on, and may be off" if _reads_messages(application) else ""),
        ),
    ]
    if application.interactions_endpoint_url:
        findings.append(
            Finding(
                id="interactions-endpoint",
                level=Level.FAIL,
                text="commands and buttons go to a web address, not to this bot: an Interactions Endpoint URL is set",
                advice=f"Clear it: {page}/information, Interactions Endpoint URL.",
            )
        )
    if application.bot_public:
        findings.append(
            Finding(
                id="public-bot",
                level=Level.WARN,
                text="anybody can add this bot to a server of theirs",
                advice=f"Switch off Public Bot: {page}/bot (set the install link to None first: {page}/installation).",
            )
        )
    if application.bot_require_code_grant:
        findings.append(
            Finding(
                id="code-grant",
                level=Level.FAIL,
                text="the install link will not work: Requires OAuth2 Code Grant is on",
                advice=f"Switch it off: {page}/bot.",
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
                text="the bot is in no server yet",
                advice=f"Add it with this link: {link}",
            )
        ]
    findings = [Finding(id="servers", level=Level.OK, text=f"in {len(guilds)}; add it to more with {link}")]
    for guild in guilds:
        held = discord.Permissions(int(guild.get("permissions", 0)))
        if held.administrator:
            findings.append(
                Finding(
                    id=f"server-{guild['id']}",
                    level=Level.WARN,
                    text=f"it is Administrator in {guild['name']}, and does not need to be",
                    advice="Take that permission from its role.",
                )
            )
        elif missing := [name for name, needed in INSTALL_PERMISSIONS if needed and not getattr(held, name)]:
            findings.append(
                Finding(
                    id=f"server-{guild['id']}",
                    level=Level.WARN,
                    text=f"in {guild['name']} its role lacks: {', '.join(missing).replace('_', ' ')}",
                    advice=f"Give its role these, or add it again with {link}",
                )
            )
    return findings
