"""The tool `shell`: one command line, run by the plainest shell there is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer

from bot.deferral.tool import Arguments, Call, SecretUse, Tool, ToolOutcome
from bot.errors import NothingRan
from bot.toolbox import secret_words
from bot.toolbox.background import begun
from bot.toolbox.bound import scripts_of
from bot.toolbox.commands import MOST_CHARACTERS, outcome, without_nul
from bot.toolbox.detached import Detached
from bot.toolbox.sandbox import Sandbox


class CommandArguments(Arguments):
    """What `shell` takes where no command runs in the background."""

    command: Annotated[str, Field(max_length=MOST_CHARACTERS), AfterValidator(without_nul)]
    """The command line, for /bin/sh."""


class ShellArguments(CommandArguments):
    """What `shell` takes."""

    run_in_background: bool = Field(
        default=False,
        description="Start it and come back at once; its end is announced. For servers, builds and long work.",
    )

    @model_serializer(mode="wrap")
    def _said(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A command that is not for the background does not mention it: on no card, in no digest, in no key."""
        values: dict[str, Any] = plain(self)
        if not self.run_in_background:
            values.pop("run_in_background", None)
        return values


def in_background(arguments: CommandArguments) -> bool:
    """Whether the command is for the background."""
    return isinstance(arguments, ShellArguments) and arguments.run_in_background


def make_shell(*, workspace: Path, sandbox: Sandbox, timeout: float = 60.0, detached: Detached | None = None) -> Tool:
    """The tool, for commands of at most `timeout` seconds in `workspace`, and with `detached` for longer ones."""

    # Without a sandbox nothing could end all that they start: then the argument is not even offered.
    background = None if sandbox.bare else detached
    unless = "" if background is None else ", unless run_in_background is true"

    async def body(arguments: CommandArguments, call: Call) -> ToolOutcome:
        if in_background(arguments):
            if background is None:
                raise NothingRan("commands do not run in the background here")
            return begun(await background.start(arguments.command, call), background.bounds)
        argv = ["/bin/sh", "-c", secret_words.shell_line(arguments.command) if call.secrets else arguments.command]
        result = await sandbox.run(
            argv,
            workspace=workspace,
            timeout=timeout,
            variables=secret_words.variables(call.secrets),
            network=call.network,
        )
        return outcome(result, seconds=timeout)

    def problem(arguments: CommandArguments, secrets: Mapping[str, object]) -> str:
        if in_background(arguments):
            return "A command in the background is given no secrets: what it prints is kept on the disk."
        return secret_words.shell_problem(arguments.command)

    def binds(arguments: CommandArguments) -> Mapping[str, str]:
        return scripts_of(arguments.command, workspace.resolve())

    return Tool(
        name="shell",
        description=(
            "Run a command line with /bin/sh (POSIX sh, not bash) in the workspace. Returns stdout and stderr "
            f"together, then the exit code. It is stopped after {timeout:g} seconds, gets no input, and nothing it "
            f"starts outlives it{unless}. It runs under: {sandbox.profile}."
        ),
        arguments=CommandArguments if background is None else ShellArguments,
        body=body,
        profile=sandbox.profile,
        networked=sandbox.networked,
        environment=sandbox.environment_names,
        missing=sandbox.missing,
        look_again=sandbox.look_again,
        binds=binds,
        secrets=SecretUse(how=secret_words.SHELL_HOW, problem=problem),
    )
