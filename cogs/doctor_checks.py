"""What `/doctor` looks at on Discord's side of one server: channels, approvers, commands, the application itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import discord

from bot.doctor import Finding, Level
from bot.engine import Engine
from bot.errors import DeliveryError
from bot.rules import Subject
from cogs import inert, permissions
from cogs.inspection import application_findings
from cogs.interactions import DISCORD_FAILED
from cogs.places import Place
from cogs.surface import DiscordSurface
from storage import reach

MOST_CHANNELS = 10
MOST_PEOPLE = 15
MOST_ROLES = 10

_SETTINGS = "Give it to me in the channel's settings, under Permissions."


def channel(guild: discord.Guild, id: int) -> Finding:
    """Whether the bot can work in a channel; what is missing, by name."""
    found = guild.get_channel_or_thread(id)
    if found is None:
        return Finding(
            id=f"<#{id}>", level=Level.WARN, text="I cannot see it, or it is gone", advice="Give me View Channel there."
        )
    if isinstance(found, discord.Thread) and found.locked:
        return Finding(
            id=f"<#{id}>",
            level=Level.WARN,
            text="the thread is locked, so nobody can press a button in it",
            advice="Decide from `/approvals`, or unlock it.",
        )
    lacking = permissions.missing(found.permissions_for(guild.me), thread=isinstance(found, discord.Thread))
    if lacking:
        return Finding(id=f"<#{id}>", level=Level.FAIL, text=f"I lack {', '.join(lacking)}", advice=_SETTINGS)
    return Finding(id=f"<#{id}>", level=Level.OK, text="I can work there")


async def approvers(
    engine: Engine, surface: DiscordSurface, guild: discord.Guild, place: Place, *, within: str, tools: Sequence[str]
) -> AsyncIterator[Finding]:
    """Whether those who decide about what is asked in `place` can be reached."""
    asked = [Subject(tool=tool, place=str(place), within=within, requester="") for tool in tools]
    users, roles = engine.authority.approvers(asked)
    if not users and not roles:
        yield Finding(
            id="approvers",
            level=Level.FAIL,
            text="nobody can decide here",
            advice="Set SIGNOFF_APPROVER_USERS or SIGNOFF_APPROVER_ROLES.",
        )
    for person in sorted(users)[:MOST_PEOPLE]:
        yield await _person(engine, surface, place, person)
    if len(users) > MOST_PEOPLE:
        yield Finding(id="approvers", level=Level.OK, text=f"{len(users) - MOST_PEOPLE} more were not looked at")
    if roles:
        counts = await _counts(guild)
        for role in sorted(roles)[:MOST_ROLES]:
            yield _role(guild, role, counts)


async def _person(engine: Engine, surface: DiscordSurface, place: Place, person: str) -> Finding:
    who = f"<@{person}>"
    try:
        hidden = await surface.hidden_from(person, str(place))
    except DeliveryError as error:
        return Finding(id=who, level=Level.WARN, text=f"could not be looked up: {error}", advice="Try again later.")
    if hidden is not None:
        return Finding(
            id=who,
            level=Level.FAIL,
            text=f"decides, and cannot see the cards here: {hidden}",
            advice="Let them see this channel, or name somebody else.",
        )
    known = await reach.last(engine.database.reader, person)
    if known is None:
        return Finding(id=who, level=Level.OK, text="decides, sees this channel; was never written to directly")
    if known.problem is None:
        return Finding(id=who, level=Level.OK, text=f"decides, sees this channel; got a message {_when(known.at)}")
    return Finding(
        id=who,
        level=Level.WARN,
        text=f"decides and sees this channel, but a direct message failed {_when(known.at)}: {known.problem}",
        advice="They can allow direct messages in this server's privacy settings.",
    )


def _role(guild: discord.Guild, role: str, counts: dict[int, int] | None) -> Finding:
    who = f"<@&{role}>"
    if guild.get_role(int(role)) is None:
        return Finding(
            id=f"role {role}", level=Level.WARN, text="decides, and is no role of this server", advice="Name another."
        )
    if counts is None:
        return Finding(id=who, level=Level.OK, text="decides; how many hold it Discord did not say")
    held = counts.get(int(role), 0)
    if held == 0:
        return Finding(id=who, level=Level.FAIL, text="decides, and nobody holds it", advice="Give it to somebody.")
    return Finding(id=who, level=Level.OK, text=f"decides; {held} {'member holds' if held == 1 else 'members hold'} it")


async def _counts(guild: discord.Guild) -> dict[int, int] | None:
    """How many hold each role: all that Discord says of it without the members intent. None if it does not."""
    try:
        return {role.id: count for role, count in (await guild.role_member_counts()).items()}
    except DISCORD_FAILED:
        return None


async def application(client: discord.Client, offered: set[str]) -> AsyncIterator[Finding]:
    """The application as Discord has it now, and whether it has the commands in `offered`."""
    try:
        found = await client.application_info()
        there = {command["name"] for command in await client.http.get_global_commands(found.id)}
    except DISCORD_FAILED as error:
        problem = inert.label(repr(error), limit=120)
        yield Finding(id="Discord", level=Level.WARN, text=f"did not answer: {problem}", advice="Try again later.")
        return
    for finding in application_findings(found):
        yield finding
    wants = client.intents.message_content
    has = found.flags.gateway_message_content or found.flags.gateway_message_content_limited
    if wants and not has:
        yield Finding(
            id="message-content",
            level=Level.FAIL,
            text="I ask for Message Content, and the application's page does not allow it",
            advice="Allow it there (Bot, Message Content Intent), or do without in the settings.",
        )
    yield _commands(offered, there)


def _commands(offered: set[str], there: set[str]) -> Finding:
    missing, old = sorted(offered - there), sorted(there - offered)
    if not missing and not old:
        return Finding(id="commands", level=Level.OK, text=f"all {len(offered)} are known to Discord")
    parts = [f"Discord lacks {', '.join(missing)}"] if missing else []
    parts += [f"it still has {', '.join(old)}"] if old else []
    return Finding(id="commands", level=Level.WARN, text="; ".join(parts), advice="Restart me: that offers them anew.")


def masked(finding: Finding) -> Finding:
    """A finding about the machine, for somebody who may learn that something is wrong there, and not what."""
    if finding.level is Level.OK:
        return Finding(id=finding.id, level=finding.level, text="in order")
    return Finding(
        id=finding.id, level=finding.level, text="not in order", advice="The owner of this bot sees more in `/doctor`."
    )


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Problems first, each with what to do."""
    words = {Level.FAIL: "**problem**", Level.WARN: "**look at this**", Level.OK: "ok"}
    for level in words:
        for finding in findings:
            if finding.level is level:
                yield f"{words[level]} · {finding.id}: {finding.text}" + (
                    f"\n  → {finding.advice}" if finding.advice else ""
                )


def _when(at: int) -> str:
    return f"<t:{at // 1000}:R>"
