"""The tool `execute_code`: a Python program, run from memory so that no file can be swapped for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.deferral.tool import Arguments, Call, SecretUse, Tool, ToolOutcome
from bot.toolbox import secret_words
from bot.toolbox.commands import MOST_CHARACTERS, outcome, without_nul
from bot.toolbox.sandbox import Sandbox

PROGRAM = "/run/program.py"
"""Where the program is found inside, so that a traceback can quote its lines."""


class CodeArguments(Arguments):
    """What `execute_code` takes."""

    code: Annotated[str, Field(max_length=MOST_CHARACTERS), AfterValidator(without_nul)]
    """A whole Python program."""


def make_execute_code(*, workspace: Path, sandbox: Sandbox, timeout: float = 60.0) -> Tool:
    """The tool, for programs of at most `timeout` seconds in `workspace`."""

    async def body(arguments: CodeArguments, call: Call) -> ToolOutcome:
        # -u: what was printed before a time-out is not lost in a buffer.
        argv = [sandbox.python, "-I", "-u", PROGRAM]
        code = secret_words.program(arguments.code) if call.secrets else arguments.code
        result = await sandbox.run(
            argv,
            workspace=workspace,
            timeout=timeout,
            files={PROGRAM: code.encode()},
            variables=secret_words.variables(call.secrets),
            network=call.network,
        )
        return outcome(result, seconds=timeout)

    def problem(arguments: CodeArguments, secrets: Mapping[str, object]) -> str:
        return secret_words.program_problem(arguments.code)

    return Tool(
        name="execute_code",
        description=(
            "Run a Python 3 program in the workspace: standard library only, nothing is kept between calls, and only "
            "what it prints is seen. Returns stdout and stderr together, then the exit code. It is stopped after "
            f"{timeout:g} seconds and gets no input. It runs under: {sandbox.profile}."
        ),
        arguments=CodeArguments,
        body=body,
        profile=sandbox.profile,
        networked=sandbox.networked,
        environment=sandbox.environment_names,
        missing=sandbox.missing,
        look_again=sandbox.look_again,
        secrets=SecretUse(how=secret_words.CODE_HOW, problem=problem),
    )
