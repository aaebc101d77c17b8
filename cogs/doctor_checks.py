"""What `/doctor` looks at on Discord's side of one server: channels, approvers, commands, the application itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import discord

from bot.doctor import Finding, Level
from bot.engine import Engine
from bot.errors import DeliveryError
from bot.rules import Subject
from bot.texts.text import joined, say
from cogs import inert, permissions
from cogs.inspection import application_findings
from cogs.interactions import DISCORD_FAILED
from cogs.places import Place
from cogs.speech import shown, tell
from cogs.surface import DiscordSurface
from storage import reach

MOST_CHANNELS = 10
MOST_PEOPLE = 15
MOST_ROLES = 10

_SETTINGS = say("doctor.how_to_give")


def channel(guild: discord.Guild, id: int) -> Finding:
    """Whether the bot can work in a channel; what is missing, by name."""
    found = guild.get_channel_or_thread(id)
    if found is None:
        return Finding(id=f"<#{id}>", level=Level.WARN, text=say("doctor.not_visible"), advice=say("doctor.give_view"))
    if isinstance(found, discord.Thread) and found.locked:
        return Finding(
            id=f"<#{id}>",
            level=Level.WARN,
            text=say("doctor.thread_locked"),
            advice=say("doctor.decide_elsewhere"),
        )
    lacking = permissions.missing(found.permissions_for(guild.me), thread=isinstance(found, discord.Thread))
    if lacking:
        return Finding(
            id=f"<#{id}>", level=Level.FAIL, text=say("doctor.lacks", names=joined(lacking)), advice=_SETTINGS
        )
    return Finding(id=f"<#{id}>", level=Level.OK, text=say("doctor.can_work"))


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
            text=say("doctor.nobody"),
            advice=say("doctor.set_approvers"),
        )
    for person in sorted(users)[:MOST_PEOPLE]:
        yield await _person(engine, surface, place, person)
    if len(users) > MOST_PEOPLE:
        yield Finding(id="approvers", level=Level.OK, text=say("doctor.more_people", n=len(users) - MOST_PEOPLE))
    if roles:
        counts = await _counts(guild)
        for role in sorted(roles)[:MOST_ROLES]:
            yield _role(guild, role, counts)


async def _person(engine: Engine, surface: DiscordSurface, place: Place, person: str) -> Finding:
    who = f"<@{person}>"
    try:
        hidden = await surface.hidden_from(person, str(place))
    except DeliveryError as error:
        return Finding(
            id=who,
            level=Level.WARN,
            text=say("doctor.not_looked_up", problem=error.problem if isinstance(error, DeliveryError) else error),
            advice=say("doctor.later"),
        )
    if hidden is not None:
        return Finding(
            id=who,
            level=Level.FAIL,
            text=say("doctor.cannot_see", why=hidden),
            advice=say("doctor.let_see"),
        )
    known = await reach.last(engine.database.reader, person)
    if known is None:
        return Finding(id=who, level=Level.OK, text=say("doctor.never_written"))
    if known.problem is None:
        return Finding(id=who, level=Level.OK, text=say("doctor.got_message", when=_when(known.at)))
    return Finding(
        id=who,
        level=Level.WARN,
        text=say("doctor.message_failed", when=_when(known.at), problem=known.problem),
        advice=say("doctor.allow_dm"),
    )


def _role(guild: discord.Guild, role: str, counts: dict[int, int] | None) -> Finding:
    who = f"<@&{role}>"
    if guild.get_role(int(role)) is None:
        return Finding(
            id=say("doctor.role", role=role),
            level=Level.WARN,
            text=say("doctor.no_role"),
            advice=say("doctor.name_another"),
        )
    if counts is None:
        return Finding(id=who, level=Level.OK, text=say("doctor.count_unknown"))
    held = counts.get(int(role), 0)
    if held == 0:
        return Finding(id=who, level=Level.FAIL, text=say("doctor.nobody_holds"), advice=say("doctor.give_role"))
    return Finding(id=who, level=Level.OK, text=say("doctor.held", n=held))


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
        problem = inert.line(repr(error), limit=120)
        yield Finding(
            id="Discord", level=Level.WARN, text=say("doctor.no_answer", problem=problem), advice=say("doctor.later")
        )
        return
    for finding in application_findings(found):
        yield finding
    wants = client.intents.message_content
    has = found.flags.gateway_message_content or found.flags.gateway_message_content_limited
    if wants and not has:
        yield Finding(
            id="message-content",
            level=Level.FAIL,
            text=say("doctor.intent_refused"),
            advice=say("doctor.intent_advice"),
        )
    yield _commands(offered, there)


def _commands(offered: set[str], there: set[str]) -> Finding:
    missing, old = sorted(offered - there), sorted(there - offered)
    if not missing and not old:
        return Finding(id="commands", level=Level.OK, text=say("doctor.all_known", n=len(offered)))
    parts = [say("doctor.lacks_commands", names=", ".join(missing))] if missing else []
    parts += [say("doctor.has_old", names=", ".join(old))] if old else []
    return Finding(id="commands", level=Level.WARN, text=joined(parts, by="; "), advice=say("doctor.restart_me"))


def masked(finding: Finding) -> Finding:
    """A finding about the machine, for somebody who may learn that something is wrong there, and not what."""
    if finding.level is Level.OK:
        return Finding(id=finding.id, level=finding.level, text=say("doctor.in_order"))
    return Finding(id=finding.id, level=finding.level, text=say("doctor.not_in_order"), advice=say("doctor.owner_sees"))


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Problems first, each with what to do."""
    words = {Level.FAIL: tell("doctor.problem"), Level.WARN: tell("doctor.look"), Level.OK: tell("doctor.ok")}
    for level in words:
        for finding in findings:
            if finding.level is level:
                advice = f"\n  → {shown(finding.advice)}" if finding.advice else ""
                yield f"{words[level]} · {shown(finding.id)}: {shown(finding.text)}{advice}"


def _when(at: int) -> str:
    return f"<t:{at // 1000}:R>"
