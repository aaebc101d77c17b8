"""The bot as an ordinary child process: its life, its death, its lines, and a keeper that starts it again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.background import Background
from bot.clock import Clock
from bot.playground.changes import Changes
from bot.playground.frame import BotState

_KEPT_LINES = 500
_LONGEST_LINE = 256 * 1024
_LEASH = Path(__file__).with_name("leash.py")


class BotProcess:
    """One bot program; `start` makes a new process each time."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        say: Callable[[str], None] = lambda _line: None,
        cwd: Path | None = None,
    ) -> None:
        self.lines: deque[str] = deque(maxlen=_KEPT_LINES)
        """The newest lines it printed, both streams."""
        self._command = tuple(command)
        self._env = {**env, "PYTHONUNBUFFERED": "1"}
        self._say = say
        self._cwd = cwd
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._background = Background()
        self._printed = Changes()

    @property
    def pid(self) -> int | None:
        """Of the running process; None when there is none."""
        return self._process.pid if self.running and self._process is not None else None

    @property
    def running(self) -> bool:
        """Whether a process is there."""
        return self._process is not None and self._process.returncode is None

    @property
    def output(self) -> str:
        """The kept lines as one text."""
        return "\n".join(self.lines)

    async def start(self) -> None:
        """Start a process in a session of its own: Ctrl-C in the terminal reaches the playground only.

        Where the system can do it (Linux), it ends together with us, even when we are killed: an orphan
        would hold the data and keep the next start out (see `leash`). Raises `OSError`.
        """
        self._process = await asyncio.create_subprocess_exec(
            *_leashed(self._command),
            env=self._env,
            cwd=self._cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            limit=_LONGEST_LINE,
        )
        self._reader = self._background.spawn(self._read(self._process.stdout), name="bot output")

    def kill(self) -> None:
        """SIGKILL, as a crash would be."""
        if self._process is not None and self.running:
            self._process.kill()

    async def wait(self) -> int:
        """Wait for the process to end and its output to be read; returns its exit code."""
        if self._process is None:
            raise RuntimeError("start() comes first")
        code = await self._process.wait()
        if self._reader is not None:
            await asyncio.wait([self._reader], timeout=1.0)  # A grandchild may hold the pipe open.
        return code

    async def wait_for_output(self, text: str, *, timeout: float = 10.0) -> None:
        """Wait until `text` is among the kept lines. Raises `TimeoutError`, with the lines in its notes."""
        try:
            await self._printed.wait_for(lambda: text in self.output, timeout=timeout, what=f"output {text!r}")
        except TimeoutError as error:
            error.add_note(self.output)
            raise

    async def stop(self, *, grace: float = 10.0) -> int | None:
        """SIGTERM, and SIGKILL after `grace` seconds; returns the exit code, None if there was no process."""
        if self._process is None:
            return None
        if self.running:
            self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace):
                await self._process.wait()
        except TimeoutError:
            self.kill()
        code = await self.wait()
        await self._background.stop(grace=0)
        return code

    async def _read(self, stream: asyncio.StreamReader | None) -> None:
        while stream is not None:
            try:
                line = await stream.readline()
            except ValueError:  # Longer than the limit; asyncio has dropped it.
                continue
            if not line:
                return
            text = line.decode(errors="replace").rstrip("\n")
            self.lines.append(text)
            self._printed.note()
            self._say(text)


class Keeper:
    """Keeps the bot running: starts it again when it ends by itself, later and later while it keeps ending."""

    FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
    """Seconds between an unexpected end and the next start: the first, doubled up to the longest."""

    HEALTHY_AFTER = 20_000
    """Milliseconds; a bot that ran this long begins again with the first pause."""

    def __init__(
        self,
        bot: BotProcess,
        *,
        clock: Clock,
        connected: Callable[[], bool],
        changed: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self.bot = bot
        """Whom it keeps."""
        self._clock = clock
        self._connected = connected
        self._changed = changed
        self._say = say
        self._at_once = asyncio.Event()
        self._asked = False
        self._why = ""
        self._background = Background()

    @property
    def state(self) -> BotState:
        """How the bot is now."""
        if not self.bot.running:
            return BotState("stopped", self._why)
        return BotState("running" if self._connected() else "starting")

    def restart(self) -> None:
        """SIGKILL, and a new start at once."""
        self._asked = True
        self._at_once.set()
        self.bot.kill()
        self._say("The bot was killed (SIGKILL) and is started again.")

    def start(self) -> None:
        """Begin to keep the bot running, until `stop`."""
        self._background.spawn(self._run(), name="bot keeper")

    async def stop(self) -> None:
        """End the bot in order and keep it ended."""
        await self._background.stop(grace=0)
        await self.bot.stop()

    async def _run(self) -> None:
        pause = self.FIRST_PAUSE
        while True:
            self._asked = False
            self._at_once.clear()
            began = self._clock.now()
            code = await self._one_life()
            if self._asked:
                pause = self.FIRST_PAUSE
                continue
            if self._clock.now() - began > self.HEALTHY_AFTER:
                pause = self.FIRST_PAUSE
            self._why = f"ended with {_describe(code)}"
            self._changed()
            self._say(f"The bot ended by itself ({_describe(code)}); it is started again in {pause:g} s.")
            await self._sleep(pause)
            pause = min(pause * 2, self.LONGEST_PAUSE)

    async def _one_life(self) -> int:
        try:
            await self.bot.start()
        except OSError as error:
            self._say(f"The bot could not be started: {error}.")
            return 127
        self._changed()
        code = await self.bot.wait()
        self._changed()
        return code

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._at_once.wait()
        except TimeoutError:
            return


def _leashed(command: tuple[str, ...]) -> tuple[str, ...]:
    if sys.platform != "linux":
        return command
    return (sys.executable, "-I", "-S", str(_LEASH), str(os.getpid()), *command)


def _describe(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
