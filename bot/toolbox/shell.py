"""The tool `shell`: one command line, run by the plainest shell there is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.toolbox.bound import scripts_of
from bot.toolbox.commands import MOST_CHARACTERS, outcome, without_nul
from bot.toolbox.sandbox import Sandbox


class ShellArguments(Arguments):
    """What `shell` takes."""

    command: Annotated[str, Field(max_length=MOST_CHARACTERS), AfterValidator(without_nul)]
    """The command line, for /bin/sh."""


def make_shell(*, workspace: Path, sandbox: Sandbox, timeout: float = 60.0) -> Tool:
    """The tool, for commands of at most `timeout` seconds in `workspace`."""

    async def body(arguments: ShellArguments, call: Call) -> ToolOutcome:
        argv = ["/bin/sh", "-c", arguments.command]
        result = await sandbox.run(argv, workspace=workspace, timeout=timeout)
        return outcome(result, seconds=timeout)

    def binds(arguments: ShellArguments) -> Mapping[str, str]:
        return scripts_of(arguments.command, workspace.resolve())

    return Tool(
        name="shell",
        description=(
            "Run a command line with /bin/sh (POSIX sh, not bash) in the workspace. Returns stdout and stderr "
            f"together, then the exit code. It is stopped after {timeout:g} seconds, gets no input, and nothing it "
            f"starts outlives it. It runs under: {sandbox.profile}."
        ),
        arguments=ShellArguments,
        body=body,
        profile=sandbox.profile,
        environment=sandbox.environment_names,
        binds=binds,
    )
