"""Background commands: in the sandbox like any other, but a restart of the bot does not end them.

What is known of each lies in a folder (`bot.toolbox.command_files`); who keeps it company is `bot.toolbox.keeper`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio.to_thread

from bot.clock import Clock, NewId
from bot.deferral.tool import Call
from bot.errors import NothingRan
from bot.toolbox import keeper
from bot.toolbox.child import await_end, insist
from bot.toolbox.command_files import Command, CommandFiles, CommandState
from bot.toolbox.handed import Handed
from bot.toolbox.sandbox import Sandbox

READY_SECONDS = 15.0
"""How long a sandbox may take to be there."""
_FIRST_LINE = 'echo begun >&0; exec </dev/null; exec /bin/sh -c "$1"'
"""Says that the sandbox stands and the command is reached, where its keeper listens; then it has no input."""

STOP_SECONDS = 8.0
"""How long a keeper may take to end its command before it is ended with it."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What all of them may use, beside the sandbox's own limits for each."""

    at_once: int = 4
    seconds: float = 6 * 3600.0
    log_bytes: int = 8 * 1_048_576
    """Of output on disk, for each; the older half is let go first."""
    kept: int = 50
    """Ended ones whose folders are kept; the oldest go first."""


class Detached(CommandFiles):
    """The background commands of one data folder."""

    def __init__(
        self,
        *,
        folder: Path,
        workspace: Path,
        sandbox: Sandbox,
        clock: Clock,
        new_id: NewId,
        bounds: Bounds | None = None,
    ) -> None:
        """`folder` must be out of the tools' reach; it is made when the first command is started."""
        self.bounds = bounds or Bounds()
        super().__init__(folder)
        self._workspace = workspace
        self._sandbox = sandbox
        self._clock = clock
        self._new_id = new_id
        self._starting = asyncio.Lock()
        self._begins = ""
        """The one that is being started, of which nothing can be said yet."""

    # -- starting -------------------------------------------------------------------------------

    async def start(self, line: str, call: Call) -> Command:
        """Start a command line with /bin/sh, and come back as soon as it runs. Raises `NothingRan`."""
        async with self._starting:
            every = await anyio.to_thread.run_sync(self.every)
            running = sum(one.state is CommandState.RUNNING for one in every)
            if running >= self.bounds.at_once:
                raise NothingRan(
                    f"{running} commands run in the background already, which is as many as may: stop one first"
                )
            try:
                return await self._start(line, call)
            finally:
                self._begins = ""

    async def _start(self, line: str, call: Call) -> Command:
        command = Command(
            id=self._new_id(),
            command=line,
            call=call.id,
            run=call.run,
            conversation=call.conversation,
            place=call.place,
            requester=call.requester,
            started_at=self._clock.now(),
        )
        self._begins = command.id
        async with self._sandbox.prepared(
            ["/bin/sh", "-c", _FIRST_LINE, "sh", line], workspace=self._workspace, network=call.network
        ) as (
            words,
            handed,
        ):
            folder = self.folder / command.id
            folder.mkdir(parents=True, mode=0o700)
            keeper.write(str(folder), "about.json", asdict(command))
            try:
                # To its end, also when we are cancelled: only then it is known what there is to be stopped.
                failed = await insist(self._begun(command, words, handed))
            except BaseException as problem:
                # Nobody has been told that it runs, so it must not.
                await insist(self._stop(command))
                self._mark_told(command)
                if isinstance(problem, OSError | TimeoutError):
                    raise NothingRan(f"it could not be started in the background: {problem}") from problem
                raise
        if failed:
            self._mark_told(command)
            raise NothingRan(f"the sandbox could not be set up: {self.output(command, most=2_000).strip() or failed}")
        return command

    async def _begun(self, command: Command, words: list[str], handed: Handed) -> str:
        """Start the keeper and wait until the command runs (''), or will not (why)."""
        folder = self.folder / command.id
        ready_read, ready_write = os.pipe()
        try:
            given = (*handed.inherited(status=True), handed.status_read, ready_write)
            settings = [str(folder), str(self.bounds.seconds), str(self.bounds.log_bytes)]
            try:
                await self._launch([*settings, str(handed.status_read), str(ready_write), "--", *words], given, folder)
            finally:
                os.close(ready_write)
                handed.close_status_writes()
            return await _hear(ready_read)
        finally:
            os.close(ready_read)

    async def _launch(self, arguments: list[str], given: tuple[int, ...], folder: Path) -> None:
        """Start the keeper, which leaves us at once."""
        errors = os.open(folder / "keeper.err", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", keeper.__file__, *arguments),
                # Clean: what is in it could be read from inside the sandbox (/proc/1/environ).
                env=self._sandbox.environment(self._workspace),
                cwd="/",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=errors,
                pass_fds=given,
                start_new_session=True,
            )
        finally:
            os.close(errors)
        if await process.wait() != 0:
            raise OSError((folder / "keeper.err").read_text(errors="replace").strip()[-500:] or "no keeper")

    # -- ending ---------------------------------------------------------------------------------

    async def stop(self, command: Command) -> Command:
        """Stop it with all that it has started, and wait until nothing of it is left. The command as it ended."""
        await self._stop(command)
        return self.get(command.id) or command

    async def _stop(self, command: Command) -> None:
        if not await self._signalled(command.id, "keeper.json", signal.SIGTERM):
            await self._signalled(command.id, "keeper.json", signal.SIGKILL)
        # Its keeper leaves nothing behind, unless it was killed itself.
        await self._signalled(command.id, "sandbox.json", signal.SIGKILL)

    async def _signalled(self, id: str, name: str, number: signal.Signals) -> bool:
        """Send a signal to the process that a file names; whether it has ended then."""
        pid = self.process(id, name)
        if pid is None:
            return True
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            if self.process(id, name) != pid:  # once more: the handle is this process, or none
                return True
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, number)
            return await await_end(handle, within=STOP_SECONDS)
        finally:
            os.close(handle)

    # -- telling --------------------------------------------------------------------------------

    def untold(self) -> list[Command]:
        """Those that have ended, and whose end nobody has been promised yet."""
        ended = [one for one in self.every() if one.state is not CommandState.RUNNING and not one.told]
        return [one for one in ended if one.id != self._begins]

    def told(self, command: Command) -> None:
        """The end of a command has been promised to people. Folders of the oldest ended ones are let go."""
        self._mark_told(command)
        ended = [one for one in self.every() if one.told and one.state is not CommandState.RUNNING]
        for one in ended[: -self.bounds.kept]:
            shutil.rmtree(self.folder / one.id, ignore_errors=True)

    def _mark_told(self, command: Command) -> None:
        (self.folder / command.id / "told").touch()


async def _hear(fd: int) -> str:
    """What a keeper says when its command runs ('') or will not. Raises `TimeoutError`."""
    os.set_blocking(fd, False)
    loop = asyncio.get_running_loop()
    said = bytearray()
    ended = asyncio.Event()

    def take() -> None:
        piece = os.read(fd, 4_096)
        said.extend(piece)
        if not piece:
            ended.set()

    loop.add_reader(fd, take)
    try:
        async with asyncio.timeout(READY_SECONDS):
            await ended.wait()
    except TimeoutError:
        raise TimeoutError("its sandbox was not ready in time") from None
    finally:
        loop.remove_reader(fd)
    words: dict[str, str] = json.loads(said or b'{"failed": "its keeper is gone"}')
    return words.get("failed", "")
