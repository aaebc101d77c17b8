"""One child process, from start to nothing left of it, with its output bounded on the way.

The pipes of `asyncio.subprocess` are not used: `communicate()` keeps all that a child prints, and waiting for the
end of a pipe waits for every orphan that still holds it. Here the pipe is read as it fills, in bounded memory,
and the wait is for the process alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from bot.errors import NothingRan

T = TypeVar("T")

CHUNK = 65_536
MOST_IN_A_PIPE = 1_048_576  # pipe(7): what an unprivileged process may raise a pipe to


class Kept:
    """The beginning and the end of a stream; what lies between is counted and let go."""

    def __init__(self, size: int) -> None:
        self._half = size // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Take the next piece of the stream."""
        self.total += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def dropped(self) -> int:
        """How many bytes of the stream are in neither end."""
        return max(0, self.total - len(self._head) - self._half)

    def text(self) -> str:
        """Both ends as text, with the gap named where there is one. Bytes that are not UTF-8 are replaced."""
        tail = bytes(self._tail[-self._half :])
        if not self.dropped:
            return _readable(bytes(self._head) + tail)
        gap = f"\n[... {self.dropped} bytes left out here ...]\n"
        return _readable(bytes(self._head)) + gap + _readable(tail)


def _readable(raw: bytes) -> str:
    # PostgreSQL cannot store a NUL in text, and nobody can read one.
    return raw.decode("utf-8", "replace").replace("\0", "\ufffd")


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a child came to its end."""

    output: str
    dropped_bytes: int
    returncode: int
    timed_out: bool
    flooded: bool
    """It was stopped because it printed more than it may."""
    duration_ms: int
    errors: str = ""
    """What it wrote to stderr, where that was to be kept apart."""


class _Output:
    """The bot's end of the pipe that is a child's stdout and stderr, or one of the two."""

    def __init__(self, *, keep: int, most: int, flooded: Callable[[], None]) -> None:
        self.kept = Kept(keep)
        self.flooded = False
        self._most = most
        self._on_flood = flooded
        self._loop = asyncio.get_running_loop()
        self._read, self.write = os.pipe()
        os.set_blocking(self._read, False)
        self._loop.add_reader(self._read, self._ready)

    def close_write(self) -> None:
        """Give up the bot's own copy of the writing end, once the child has its."""
        if self.write >= 0:
            os.close(self.write)
            self.write = -1

    def _ready(self) -> None:
        if self._take() == 0:
            self._loop.remove_reader(self._read)
        elif self.kept.total > self._most and not self.flooded:
            self.flooded = True
            self._loop.remove_reader(self._read)
            self._on_flood()

    def _take(self) -> int | None:
        """Take one piece. 0: the pipe has ended. None: nothing is in it now."""
        try:
            chunk = os.read(self._read, CHUNK)
        except BlockingIOError:
            return None
        self.kept.add(chunk)
        return len(chunk)

    def finish(self) -> None:
        """Take what is already in the pipe, and never wait for more: an orphan may still hold the other end."""
        self._loop.remove_reader(self._read)
        for _ in range(0 if self.flooded else MOST_IN_A_PIPE // CHUNK):
            if not self._take():
                break

    def close(self) -> None:
        """Let go of both ends."""
        self._loop.remove_reader(self._read)
        self.close_write()
        os.close(self._read)


async def run_child(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    stdin: IO[bytes] | None,
    pass_fds: Sequence[int],
    timeout: float,
    keep: int,
    most: int,
    buried: Callable[[], Coroutine[Any, Any, None]],
    errors_apart: bool = False,
) -> Ended:
    """Run `argv` for at most `timeout` seconds and leave nothing of it behind, also when cancelled.

    `keep` bytes of output are kept; past `most` the child is stopped; with `errors_apart` stderr is a second stream.
    It leads a session of its own and is killed with its group; `buried` then waits for whatever else must be gone.
    Raises `NothingRan` when it could not be started.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    process: asyncio.subprocess.Process | None = None
    timed_out = False

    async def start() -> asyncio.subprocess.Process:
        nonlocal process
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=dict(env),
                cwd=cwd,
                stdin=asyncio.subprocess.DEVNULL if stdin is None else stdin,
                stdout=output.write,
                stderr=errors.write,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL or a lone surrogate in an argument.
            raise NothingRan(f"it could not be started: {error}") from error
        output.close_write()
        errors.close_write()
        return process

    async def bury(dead: asyncio.subprocess.Process) -> None:
        await dead.wait()
        await buried()
        reap_adopted(-dead.pid)

    def kill() -> None:
        if process is not None:
            kill_group(process)

    def time_is_up() -> None:
        nonlocal timed_out
        timed_out = True
        kill()

    output = _Output(keep=keep, most=most, flooded=kill)
    errors = _Output(keep=keep, most=most, flooded=kill) if errors_apart else output
    try:
        try:
            started = await insist(start())
            alarm = loop.call_later(timeout, time_is_up)
            try:
                code = await started.wait()
            finally:
                alarm.cancel()
        finally:
            if process is not None:
                kill()
                await insist(bury(process))
        output.finish()
        if errors_apart:
            errors.finish()
        return Ended(
            output=output.kept.text(),
            errors=errors.kept.text() if errors_apart else "",
            dropped_bytes=output.kept.dropped,
            returncode=code,
            # It may have ended by itself in the very moment it was to be stopped.
            timed_out=timed_out and code < 0,
            flooded=(output.flooded or errors.flooded) and code < 0,
            duration_ms=round((loop.time() - began) * 1000),
        )
    finally:
        output.close()
        if errors_apart:
            errors.close()


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a session leader with its group. The group may outlive its leader, so it is always tried."""
    # PermissionError: what is left of the group changed its user (sudo, without a sandbox) and is beyond reach.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def insist(step: Coroutine[Any, Any, T]) -> T:
    """Let `step` come to its end however often the caller is cancelled meanwhile; then pass the cancellation on."""
    task = asyncio.ensure_future(step)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as again:
            cancelled = again
    if cancelled is not None:
        raise cancelled from task.exception()
    return task.result()


def reap_adopted(target: int) -> None:
    """Collect what has ended and fell to us as the first process of a container, where orphans come to.

    `target` as in waitpid(2): a process, or a group when negative. Elsewhere they are not ours, and nothing happens.
    """
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(target, os.WNOHANG)[0]:
            pass


async def await_death(pid: int, *, within: float) -> bool:
    """Wait until process `pid`, which need not be a child of ours, has ended. False if it outlives `within` seconds.

    For the first process of a PID namespace its end is the end of everything in it: the kernel ends the
    others before it (pid_namespaces(7)).
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return await await_end(handle, within=within)
    finally:
        os.close(handle)


async def await_end(handle: int, *, within: float) -> bool:
    """Wait until the process behind a pidfd has ended. False if it outlives `within` seconds."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        async with asyncio.timeout(within):
            await ended.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(handle)
    return True
