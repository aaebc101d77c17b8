"""Stays with one background command when the bot does not: a small process of its own between the two.

    python -I -S keeper.py FOLDER SECONDS LOG_BYTES STATUS READY -- COMMAND...

It starts the sandbox (which dies with it, by bubblewrap's `--die-with-parent`), writes the command's output into `log`
in FOLDER, and at the end, whatever that was, `end.json`. `keeper.json` says which process it is: its id, when it was
started, and in which life of the machine, so that no other process is ever taken for it. STATUS is the reading end of
the sandbox's own account, READY where the bot is told that the command runs, or why not. COMMAND says that it has
been reached by a byte to its standard input, which is a pipe to here. SIGTERM stops it.

Should this process be killed from outside, bubblewrap ends the sandbox (but for the first moments of one); what is left
then is found by `sandbox.json`, which says of the sandbox's first process what `keeper.json` says of this one.

Given to Python by its path, so it imports nothing of ours. The bot need not live: nothing here ever waits for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import IO, Any

Taker = Callable[[bytes], None]

CHUNK = 65_536
DEATH_SECONDS = 5.0
_BOOT = "/proc/sys/kernel/random/boot_id"


def identity(pid: int) -> dict[str, Any] | None:
    """What tells a process from every other that has or had its id; None if there is none, or it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            # The name, in brackets, may hold anything; field 3 is the state, field 22 the start (proc(5)).
            fields = stat.read().rpartition(")")[2].split()
        with open(_BOOT, encoding="ascii") as boot:
            return None if fields[0] in "ZX" else {"pid": pid, "started": int(fields[19]), "boot": boot.read().strip()}
    except (OSError, IndexError):
        return None


def write(folder: str, name: str, content: dict[str, Any]) -> None:
    """Put a file there in one step, on the disk: it is whole, or not there."""
    aside = os.path.join(folder, f"{name}.new")
    with open(aside, "w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, os.path.join(folder, name))


class Log:
    """The command's output on disk, in two halves of which the older is let go: never more than `most` bytes."""

    def __init__(self, folder: str, most: int) -> None:
        self._path = os.path.join(folder, "log")
        self._half = most // 2
        self._file = self._fresh()
        self.total = 0

    def _fresh(self) -> IO[bytes]:
        self._size = 0
        return open(self._path, "ab", buffering=0)

    def add(self, chunk: bytes) -> None:
        """Take the next piece. A disk that is full costs output, not the command."""
        self.total += len(chunk)
        with contextlib.suppress(OSError):
            if self._size + len(chunk) > self._half:
                self._file.close()
                os.replace(self._path, f"{self._path}.old")
                self._file = self._fresh()
            self._file.write(chunk)
            self._size += len(chunk)


class Keeper:
    """One command from its start to the end that is written down."""

    def __init__(self, folder: str, *, seconds: float, log_bytes: int, status: int, ready: int) -> None:
        self.folder = folder
        self.deadline = time.monotonic() + seconds
        self.log = Log(folder, log_bytes)
        self.status = status
        self.ready = ready
        self.reported = b""
        self.began = False
        """Whether the command itself has been reached: before, bubblewrap may still fail."""
        self.why = ""
        """Why it was stopped; empty for what ended by itself."""

    def say(self, **words: str) -> None:
        """Tell the bot, once, if it is there."""
        if self.ready >= 0:
            with contextlib.suppress(OSError):
                os.write(self.ready, json.dumps(words).encode())
            os.close(self.ready)
            self.ready = -1

    def told(self) -> dict[str, int]:
        """What the sandbox reported so far. Of two launchers the outer one is the first to name its child."""
        found: dict[str, int] = {}
        text, read = self.reported.decode(), json.JSONDecoder().raw_decode
        with contextlib.suppress(ValueError):
            while text := text.strip():
                one, end = read(text)
                found, text = one | found, text[end:]
        return found

    def run(self, words: list[str], given: list[int]) -> None:
        """Start the command with the descriptors `given` to it, keep it company, and write down how it ended."""
        output, output_write = os.pipe()
        begin, begin_write = os.pipe()
        wake, wake_write = os.pipe()
        for fd in (output, begin, wake, wake_write, self.status):
            os.set_blocking(fd, False)

        def stop(number: int, frame: object) -> None:
            self.why = self.why or "stopped"
            with contextlib.suppress(OSError):
                os.write(wake_write, b"x")

        signal.signal(signal.SIGTERM, stop)
        for ignored in (signal.SIGINT, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        child = subprocess.Popen(
            words,
            stdin=begin_write,
            stdout=output_write,
            stderr=output_write,
            pass_fds=given,
            start_new_session=True,
            cwd="/",
        )
        for fd in (output_write, begin_write, *given):
            os.close(fd)
        takers = {output: self.log.add, begin: self.begin, self.status: self.hear}
        self.watch(child, takers, wake)
        self.bury(child, takers)

    def watch(self, child: subprocess.Popen[bytes], takers: Mapping[int, Taker], wake: int) -> None:
        """Until the launcher has ended, by itself or because its time is up."""
        handle = os.pidfd_open(child.pid)
        with selectors.DefaultSelector() as selector:
            for fd in (*takers, wake, handle):
                selector.register(fd, selectors.EVENT_READ)
            while True:
                ready = [key.fd for key, _ in selector.select(max(0.0, self.deadline - time.monotonic()))]
                if time.monotonic() >= self.deadline:
                    self.why = self.why or "timed_out"
                if self.why:
                    break
                for fd in ready:
                    if fd in takers and not self.take(fd, takers[fd]):
                        selector.unregister(fd)
                if handle in ready:
                    break
        os.close(handle)

    def take(self, fd: int, taker: Taker) -> bool:
        """Take one piece; False at the end of the pipe."""
        try:
            piece = os.read(fd, CHUNK)
        except BlockingIOError:
            return True
        taker(piece)
        return bool(piece)

    def hear(self, piece: bytes) -> None:
        """The sandbox says something of itself."""
        if piece and "child-pid" not in self.told():
            self.reported += piece
            if (first := self.told().get("child-pid")) is not None:
                write(self.folder, "sandbox.json", identity(first) or {})
        else:
            self.reported += piece

    def begin(self, piece: bytes) -> None:
        """The command's first line says that it has been reached."""
        if piece:
            self.began = True
            self.say(up="yes")

    def bury(self, child: subprocess.Popen[bytes], takers: Mapping[int, Taker]) -> None:
        """Nothing of it is left behind, and its end is on the disk."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        until = time.monotonic() + DEATH_SECONDS
        while select.select([self.status], [], [], max(0.0, until - time.monotonic()))[0]:
            if not self.take(self.status, self.hear):
                break
        told = self.told()
        if "child-pid" in told:
            await_death(told["child-pid"], until)
        for fd, taker in takers.items():
            for _ in range(64):  # what is in the pipe, and no more: an orphan could still hold the other end
                if not select.select([fd], [], [], 0)[0] or not self.take(fd, taker):
                    break
        # bubblewrap reports an exit code only for a command that it did start.
        ended = "exited" if "exit-code" in told else "lost" if self.began else "failed"
        why = self.why or ended
        end = {"why": why, "began": self.began, "exit_code": told.get("exit-code"), "at": time.time_ns() // 1_000_000}
        write(self.folder, "end.json", {**end, "bytes": self.log.total})
        self.say(failed=why)


def await_death(pid: int, until: float) -> None:
    """Wait for a process that need not be our child; the end of a namespace's first process is the end of all in it."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        select.select([handle], [], [], max(0.0, until - time.monotonic()))
        os.close(handle)


def inherited() -> list[int]:
    """The descriptors that are open here."""
    listed = [int(name) for name in os.listdir("/proc/self/fd")]
    return [fd for fd in listed if os.path.exists(f"/proc/self/fd/{fd}")]


def main(arguments: list[str]) -> None:
    """Leave the bot, and keep the command."""
    folder, seconds, log_bytes, status, ready, _, *words = arguments
    if os.fork():
        os._exit(0)  # so that the bot has nobody to wait for, and the command belongs to the machine
    os.setsid()
    given = [fd for fd in inherited() if fd > 2 and fd not in {int(status), int(ready)}]
    write(folder, "keeper.json", identity(os.getpid()) or {})
    keeper = Keeper(folder, seconds=float(seconds), log_bytes=int(log_bytes), status=int(status), ready=int(ready))
    keeper.run(words, given)


if __name__ == "__main__":
    os.umask(0o077)
    main(sys.argv[1:])
