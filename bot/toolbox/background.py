"""What the agent can do about background commands without asking anybody: look at its own, and stop them.

Starting one is a call of `shell`, gated like any other. Looking changes nothing, and stopping only ends what had to be
approved to begin.
"""

from __future__ import annotations

import anyio.to_thread
from pydantic import Field

from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.toolbox.command_files import Command, CommandState
from bot.toolbox.detached import Bounds, Detached

MOST_OUTPUT = 32_768
"""Bytes that are shown at once, the newest."""


class OutputArguments(Arguments):
    """What `command_output` takes."""

    id: str = Field(default="", max_length=40, description="The command's id. Empty: a list of this conversation's.")
    most: int = Field(default=8_192, ge=1, le=MOST_OUTPUT, description="How many bytes of the newest output.")


class StopArguments(Arguments):
    """What `stop_command` takes."""

    id: str = Field(min_length=1, max_length=40, description="The command's id.")


def begun(command: Command, bounds: Bounds) -> ToolOutcome:
    """What the model is told when a command has begun."""
    return ToolOutcome(
        text=(
            f"Started in the background as command {command.id}. It goes on by itself, for at most {_hours(bounds)};"
            " its end is announced here. Look at its output with command_output, stop it with stop_command."
        )
    )


def how_it_stands(command: Command) -> str:
    """A command's state as half a sentence."""
    match command.state:
        case CommandState.RUNNING:
            return "runs"
        case CommandState.EXITED:
            return f"has ended with exit code {command.exit_code}"
        case CommandState.STOPPED:
            return "was stopped"
        case CommandState.TIMED_OUT:
            return "was stopped, because it had run for as long as it may"
        case CommandState.FAILED:
            return "was never begun: its sandbox could not be set up"
        case CommandState.LOST:
            return "is gone, and nobody knows how far it came: the machine was restarted, or it was killed from outside"


def make_command_output(detached: Detached) -> Tool:
    """`command_output(id, most)`."""

    async def body(arguments: OutputArguments, call: Call) -> ToolOutcome:
        if not arguments.id:
            return ToolOutcome(text=await anyio.to_thread.run_sync(_listed, detached, call))
        command = await anyio.to_thread.run_sync(_own, detached, arguments.id, call)
        if command is None:
            return _unknown(arguments.id)
        output = await anyio.to_thread.run_sync(lambda: detached.output(command, most=arguments.most))
        said = output.rstrip("\n") or "(no output so far)"
        ok = command.state in {CommandState.RUNNING, CommandState.EXITED}
        return ToolOutcome(text=f"{said}\n[command {command.id} {how_it_stands(command)}]", ok=ok)

    return Tool(
        name="command_output",
        description=(
            "Look at a command that runs in the background, or did: its newest output, whether it still runs, its exit"
            " code. Without an id, list the commands of this conversation. Changes nothing."
        ),
        arguments=OutputArguments,
        body=body,
        gated=False,
    )


def make_stop_command(detached: Detached) -> Tool:
    """`stop_command(id)`."""

    async def body(arguments: StopArguments, call: Call) -> ToolOutcome:
        command = await anyio.to_thread.run_sync(_own, detached, arguments.id, call)
        if command is None:
            return _unknown(arguments.id)
        if command.state is not CommandState.RUNNING:
            return ToolOutcome(text=f"Nothing to stop: command {command.id} {how_it_stands(command)}.", ok=False)
        ended = await detached.stop(command)
        return ToolOutcome(
            text=f"Command {ended.id} {how_it_stands(ended)}, with everything that it had started.",
            ok=ended.state is not CommandState.RUNNING,
        )

    return Tool(
        name="stop_command",
        description="Stop a command of this conversation that runs in the background, with all that it has started.",
        arguments=StopArguments,
        body=body,
        gated=False,
    )


def _own(detached: Detached, id: str, call: Call) -> Command | None:
    """The command, if it is there and the call may look at it. An id is a folder's name, so only a known one counts."""
    return next((one for one in detached.every() if one.id == id and one.belongs_to(call)), None)


def _listed(detached: Detached, call: Call) -> str:
    lines = [
        f"{one.id}: {how_it_stands(one)}: {one.command.splitlines()[0][:200]}"
        for one in detached.every()
        if one.belongs_to(call)
    ]
    return "\n".join(lines) or "No command of this conversation runs in the background, or has."


def _unknown(id: str) -> ToolOutcome:
    return ToolOutcome(text=f"There is no background command {id} in this conversation.", ok=False)


def _hours(bounds: Bounds) -> str:
    hours = bounds.seconds / 3600
    return f"{hours:g} hours" if hours >= 1 else f"{bounds.seconds:g} seconds"
