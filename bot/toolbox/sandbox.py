"""Where the tools' commands run: apart from the machine, with a clean environment, and gone without a trace.

Under bubblewrap, and it fails closed: where the sandbox does not do what it promises, nothing runs. Running
commands without one is possible, but only by an explicit choice, and then every card says so.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from bot.errors import NothingRan
from bot.texts.text import say
from bot.toolbox import bubblewrap, selftest
from bot.toolbox.bubblewrap import Limits
from bot.toolbox.child import Ended, await_death, reap_adopted, run_child
from bot.toolbox.handed import Handed, unnamed
from bot.toolbox.lending import lend
from bot.toolbox.selftest import SandboxReport

logger = logging.getLogger(__name__)

SANDBOX_USER = 65_529
"""The machine's user that commands run as when the bot is root: a number no distribution gives to anybody.

(systemd's table of users and groups leaves 65520-65533 unused.)
"""

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
DEATH_SECONDS = 5.0
"""How long a killed sandbox may take to be gone before the log says that it is not."""


NO_BACKGROUND = "commands run in the background only in the sandbox, and the settings have it off"


class Lost(Exception):
    """Somebody else killed the sandbox: the command had begun, and nobody knows how far it came."""


@dataclass(frozen=True, kw_only=True)
class SandboxResult:
    """What a command left behind: its output, and how it ended."""

    output: str
    """stdout and stderr together; the middle is left out, and says so, when there is too much."""
    exit_code: int | None
    """None when it was stopped. 128 + n for a command that signal n ended."""
    timed_out: bool
    dropped_bytes: int
    """How much of what was read of the output is not in `output`."""
    duration_ms: int
    flooded: bool = False
    """Stopped for printing too much."""


class Sandbox:
    """Runs commands apart from the machine.

    `bare` runs them without a sandbox: the operator's explicit choice, never a fallback. `python` is where this
    program's Python lives (`own_python`), shown inside so that there always is one. `timezone` becomes TZ.
    """

    def __init__(
        self,
        *,
        bare: bool = False,
        limits: Limits | None = None,
        python: Path | None = None,
        timezone: str | None = None,
        bwrap: str = "bwrap",
        user: int = SANDBOX_USER,
    ) -> None:
        self.bare = bare
        self.limits = limits or Limits()
        self.report: SandboxReport | None = None
        """What the last self-test found; None before the first."""
        self._python = python or bubblewrap.own_python()
        self._timezone = timezone
        self._bwrap = bwrap
        self._user = user
        self._testing = asyncio.Lock()

    @property
    def profile(self) -> str:
        """What a command may touch, in words for the card."""
        if self.bare:
            return "no sandbox (opted in): this machine and its network"
        return "bubblewrap, no network, writes in the workspace only"

    @property
    def networked(self) -> str:
        """The same for a command that is given network. It shares the machine's own, so it reaches localhost too."""
        return (
            self.profile
            if self.bare
            else "bubblewrap, this machine's network with localhost, writes in the workspace only"
        )

    @property
    def environment_names(self) -> tuple[str, ...]:
        """The names of all the variables a command gets."""
        return tuple(sorted(self.environment(Path("/"))))

    def environment(self, workspace: Path) -> dict[str, str]:
        """All the variables a command gets. Nothing is taken over from the bot's own environment."""
        path = SYSTEM_PATH if self._python is None else f"{self._python}/bin:{SYSTEM_PATH}"
        env = {"PATH": path, "LANG": "C.UTF-8", "HOME": str(workspace), "PWD": str(workspace)}
        return env if self._timezone is None else env | {"TZ": self._timezone}

    @property
    def python(self) -> str:
        """The Python to run inside."""
        return "python3" if self._python is None else f"{self._python}/bin/python3"

    def missing(self) -> str:
        """Why commands are off here, and how to get them on, as the last self-test found; '' if they are on."""
        if self.bare:
            return ""
        if self.report is None:
            return say("sandbox.not_tested")
        return "" if self.report.works else self.report.reason

    async def look_again(self) -> None:
        """Test it unless it was found to work before: who installs bubblewrap need not restart the bot."""
        async with self._testing:
            if self.report is None or not self.report.works:
                await self.self_test()

    async def self_test(self) -> SandboxReport:
        """Find out, from inside, whether the sandbox keeps its promises here. Takes some 50 ms."""
        self.report = (
            selftest.BARE
            if self.bare
            else await selftest.examine(self._run, python=self.python, environment=self.environment_names)
        )
        return self.report

    async def run(
        self,
        argv: Sequence[str],
        *,
        workspace: Path,
        timeout: float,
        stdin_data: bytes | None = None,
        files: Mapping[str, bytes] | None = None,
        variables: Mapping[str, str] | None = None,
        network: bool = False,
    ) -> SandboxResult:
        """Run `argv` in `workspace` for at most `timeout` seconds, and leave no process of it behind.

        `files` maps absolute paths to what the command finds there, read-only; `variables` stand in its environment
        beside the ordinary ones. `network`: see `networked`. Raises `NothingRan` when the command was certainly not
        begun (no sandbox here, say), `Lost` when something else killed it.
        """
        await self._tested()
        return await self._run(
            argv,
            workspace=workspace,
            timeout=timeout,
            stdin_data=stdin_data,
            files=files,
            variables=variables,
            network=network,
        )

    @asynccontextmanager
    async def prepared(
        self, argv: Sequence[str], *, workspace: Path, network: bool = False
    ) -> AsyncIterator[tuple[list[str], Handed]]:
        """The command line that runs `argv` as `run` would, for somebody else to start, and what it must inherit.

        Raises `NothingRan`, also where commands run without a sandbox: nothing there could end all that they start.
        """
        await self._tested()
        if self.bare:
            raise NothingRan(NO_BACKGROUND)
        workspace = _checked(workspace)
        with Handed() as handed:
            try:
                yield list(await self._prepared(argv, workspace, handed, None, {}, network=network)), handed
            except OSError as error:
                raise NothingRan(f"the sandbox could not be prepared: {error}") from error

    async def _tested(self) -> None:
        """Raises `NothingRan` where the sandbox does not keep its promises."""
        await self.look_again()
        if missing := self.missing():
            raise NothingRan(missing)

    async def _run(
        self,
        argv: Sequence[str],
        *,
        workspace: Path,
        timeout: float,
        stdin_data: bytes | None = None,
        files: Mapping[str, bytes] | None = None,
        variables: Mapping[str, str] | None = None,
        network: bool = False,
    ) -> SandboxResult:
        workspace = _checked(workspace)
        with Handed() as handed:
            try:
                words = await self._prepared(argv, workspace, handed, stdin_data, files or {}, network=network)
            except OSError as error:
                raise NothingRan(f"the sandbox could not be prepared: {error}") from error
            told: dict[str, int] = {}

            async def buried() -> None:
                told.update(await handed.status(within=DEATH_SECONDS))
                if "child-pid" in told:
                    if not await await_death(told["child-pid"], within=DEATH_SECONDS):
                        logger.error("a killed sandbox is still there", extra={"action": "sandbox_lives", **told})
                    reap_adopted(told["child-pid"])

            ended = await run_child(
                words,
                env={**self.environment(workspace), **(variables or {})},
                cwd=str(workspace) if self.bare else "/",
                stdin=handed.stdin,
                pass_fds=handed.inherited(status=not self.bare),
                timeout=timeout,
                keep=self.limits.kept_output,
                most=self.limits.output,
                buried=buried,
            )
        return _bare_result(ended) if self.bare else _result(ended, told)

    async def _prepared(
        self,
        argv: Sequence[str],
        workspace: Path,
        handed: Handed,
        stdin_data: bytes | None,
        files: Mapping[str, bytes],
        *,
        network: bool,
    ) -> Sequence[str]:
        """The whole command line, with everything it refers to in `handed`."""
        handed.stdin = None if stdin_data is None else unnamed(stdin_data)
        handed.data = {path: unnamed(content) for path, content in files.items()}
        if self.bare:
            return [f"/dev/fd/{handed.fds()[word]}" if word in handed.data else word for word in argv]
        handed.data |= {
            path: unnamed(content) for path, content in bubblewrap.identity(workspace, network=network).items()
        }
        return await self._sandboxed(argv, workspace, handed, network=network)

    async def _sandboxed(self, argv: Sequence[str], workspace: Path, handed: Handed, *, network: bool) -> list[str]:
        bwrap = shutil.which(self._bwrap, path=f"{SYSTEM_PATH}:/usr/local/sbin:/usr/sbin:/run/wrappers/bin")
        if bwrap is None:
            raise NothingRan(selftest.MISSING)
        as_root = os.geteuid() == 0
        words = bubblewrap.command_line(
            argv,
            bwrap=bwrap,
            workspace=workspace,
            python=self._python,
            limits=self.limits,
            data=handed.fds(),
            status_fd=handed.status_writes[0],
            staged=as_root,
            network=network,
        )
        if not as_root:
            return words
        user, group = await anyio.to_thread.run_sync(lend, workspace, self._user)
        return bubblewrap.as_user(
            words,
            bwrap=bwrap,
            user=user,
            group=group,
            workspace=workspace,
            python=self._python,
            status_fd=handed.another_status_write(),
        )


def _checked(workspace: Path) -> Path:
    real = workspace.resolve()
    if not real.is_dir():
        raise NothingRan(f"the workspace {workspace} is not a directory")
    if str(real) in bubblewrap.FORBIDDEN_WORKSPACES or real.parts[1] in ("proc", "sys", "dev"):
        raise NothingRan(f"{real} belongs to the system and cannot be the workspace; choose a directory of its own")
    return real


def _bare_result(ended: Ended) -> SandboxResult:
    code = ended.returncode if ended.returncode >= 0 else 128 - ended.returncode
    stopped = ended.timed_out or ended.flooded
    return _as_result(ended, None if stopped else code)


def _result(ended: Ended, told: Mapping[str, int]) -> SandboxResult:
    """Tell apart a command that failed from one that never was (bubblewrap exits 1 for both).

    bubblewrap reports an exit code only for a command it did start (`--json-status-fd` in bwrap(1)).
    """
    if ended.timed_out or ended.flooded:
        if "child-pid" not in told:
            raise NothingRan("the sandbox was not ready in time")
        return _as_result(ended, None)
    if "exit-code" in told:
        return _as_result(ended, told["exit-code"])
    if 0 < ended.returncode < 128:
        raise NothingRan(selftest.advice(ended.output))
    raise Lost("the sandbox was killed from outside")


def _as_result(ended: Ended, exit_code: int | None) -> SandboxResult:
    return SandboxResult(
        output=ended.output,
        exit_code=exit_code,
        timed_out=ended.timed_out,
        dropped_bytes=ended.dropped_bytes,
        duration_ms=ended.duration_ms,
        flooded=ended.flooded,
    )
