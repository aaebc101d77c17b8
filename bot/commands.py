"""What people can know of background commands and do about them: what runs, an end to it, and how each has ended.

An end is told once, whichever life of the bot it was that noticed.

A command's folder says how it ended (`bot.toolbox.detached`). The promise to say so is a row of the outbox like any
other ending, under a key of its own; only when that is committed the folder is marked. Whatever comes between is made
good by the next sweep, and the key keeps it from being said twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio.to_thread

from bot.clock import Clock
from bot.deferral.authority import WRONG_GUILD, Authority
from bot.errors import AlreadySettled, DecisionRefused, NotAllowed, UnknownApproval
from bot.jobs.endings import ladder
from bot.place import space_of
from bot.surface import Actor
from bot.texts.text import Text, key, say, worded
from bot.toolbox.background import how_it_stands
from bot.toolbox.command_files import Command, CommandState
from bot.toolbox.detached import Detached
from storage import audit, outbox, runs
from storage.database import Database

logger = logging.getLogger(__name__)

_SHOWN = 120
"""Characters of a command that an announcement names it by."""


class Commands:
    """Watches the background commands of one data folder. Part of the sweep."""

    def __init__(
        self,
        detached: Detached,
        *,
        database: Database,
        clock: Clock,
        authority: Authority,
        above: Callable[[str], str | None],
        mask: Callable[[str], str],
    ) -> None:
        """`above`: the channel that a place is a thread of."""
        self._authority = authority
        self._database = database
        self._clock = clock
        self._detached = detached
        self._above = above
        self._mask = mask

    async def running(self) -> list[Command]:
        """Those that run, oldest first, for people: what is secret in them is masked."""
        every = await anyio.to_thread.run_sync(self._detached.every)
        return [replace(one, command=self._mask(one.command)) for one in every if one.state is CommandState.RUNNING]

    async def stop(self, id: str, actor: Actor) -> Command:
        """Stop a command with all that it has started; the command as it ended. Its end is announced like any other.

        For the person it was started for, and for approvers of its place. Raises `DecisionRefused`.
        """
        command = await anyio.to_thread.run_sync(self._detached.get, id)
        if command is None:
            raise UnknownApproval("unknown", say("jobs.no_command"))
        async with self._database.begin("stop command") as tx:
            run = await runs.get(tx, command.run)
            refusal = self._refusal(command, actor, within=run.within if run is not None else "")
            await audit.record(
                tx,
                at=self._clock.now(),
                actor=actor.id,
                event="command_stop" if refusal is None else "command_stop_refused",
                run=command.run,
                conversation=command.conversation,
                detail={"command": id, "call": command.call, **({} if refusal is None else {"why": refusal.code})},
            )
        if refusal is not None:
            raise refusal
        return await self._detached.stop(command)

    def _refusal(self, command: Command, actor: Actor, *, within: str) -> DecisionRefused | None:
        if actor.guild is not None and actor.guild != space_of(command.place):
            return NotAllowed("wrong_guild", WRONG_GUILD)
        if actor.id != command.requester and not self._authority.is_approver(actor, command.place, within=within):
            return NotAllowed("not_requester", say("jobs.not_your_command"))
        if command.state is not CommandState.RUNNING:
            return AlreadySettled("too_late", say("jobs.command_over", id=command.id, how=how_it_stands(command)))
        return None

    async def announce(self) -> None:
        """Promise the ends of those that have ended. Safe to repeat."""
        for command in await anyio.to_thread.run_sync(self._detached.untold):
            if command.state is CommandState.LOST:
                command = await self._detached.stop(command)  # what its keeper may have left when it was killed
            await self._owe(command)
            await anyio.to_thread.run_sync(self._detached.told, command)

    async def _owe(self, command: Command) -> None:
        now = self._clock.now()
        async with self._database.begin("command ended") as tx:
            run = await runs.get(tx, command.run)
            ways: list[dict[str, Any]] = (
                ladder(run, self._above(command.place)) if run is not None else [{"place": command.place}]
            )
            owed = await outbox.owe(
                tx,
                key=f"command:{command.id}",
                run=command.run,
                place=command.place,
                body={**worded(ending(command, self._mask)), "ping": [command.requester], "ladder": ways},
                at=now,
                person=command.requester,
            )
            if owed:
                await audit.record(
                    tx,
                    at=now,
                    actor=audit.SYSTEM,
                    event=f"command_{command.state}",
                    run=command.run,
                    conversation=command.conversation,
                    detail={"command": command.id, "call": command.call, "exit_code": command.exit_code},
                )
        logger.info("command ended", extra={"action": "command_ended", "command": command.id, "state": command.state})


_HOW = {
    CommandState.RUNNING: key("delivery.command_runs"),
    CommandState.EXITED: key("delivery.command_exited"),
    CommandState.STOPPED: key("delivery.command_stopped"),
    CommandState.TIMED_OUT: key("delivery.command_time"),
    CommandState.FAILED: key("delivery.command_failed"),
    CommandState.LOST: key("delivery.command_lost"),
}


def ending(command: Command, mask: Callable[[str], str] = str) -> Text:
    """The announcement: which command, how it ended, what to do next."""
    line = " ".join(command.command.split()).replace("`", "'")
    shown = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
    took: str = ""
    if command.ended_at is not None and command.state is not CommandState.FAILED:
        took = say("delivery.after", time=_duration(command.ended_at - command.started_at))
    how = say(_HOW[command.state], code=command.exit_code)
    return say("delivery.command_ended", command=mask(shown), id=command.id, how=how, took=took)


def _duration(milliseconds: int) -> str:
    seconds = max(0, milliseconds) // 1000
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
