"""A workspace, a sandbox, and ways to see what a command left behind. The processes are real."""

from __future__ import annotations

import asyncio
import os
import secrets
import select
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from bot.deferral.tool import Call
from bot.toolbox.bubblewrap import Limits
from bot.toolbox.sandbox import Sandbox
from bot.toolbox.selftest import SandboxReport
from tests.toolbox.served import Server

CALL = Call(id="call1", run="run1", conversation="c", place="p", requester="1", approved=True)
PASSED = SandboxReport(works=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@pytest.fixture
def make_sandbox() -> Callable[..., Sandbox]:
    """A sandbox that has passed its self-test: that one has tests of its own and takes 50 ms."""

    def make(limits: Limits | None = None) -> Sandbox:
        sandbox = Sandbox(limits=limits)
        sandbox.report = PASSED
        return sandbox

    return make


@pytest.fixture
def sandbox(make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    return make_sandbox()


class Mark:
    """A number that appears in a command line and nowhere else, to find the processes that carry it."""

    def __init__(self) -> None:
        self.seconds = f"4{secrets.randbelow(10**9):09}"

    def alive(self) -> list[int]:
        """The processes on this machine that carry it; an ended one has no command line any more."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.seconds.encode() in process.joinpath("cmdline").read_bytes():
                    found.append(int(process.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
        return found

    def all_end_within(self, seconds: float) -> bool:
        """Wait for the end of every process that carries it now."""
        for pid in self.alive():
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            try:
                if not select.select([handle], [], [], seconds)[0]:
                    return False
            finally:
                os.close(handle)
        return not self.alive()


@pytest.fixture
def mark() -> Mark:
    return Mark()


@pytest.fixture
def started(workspace: Path) -> Callable[[], asyncio.Future[bytes]]:
    """Call it, then have a command run `echo > started`: what it returned is then done."""
    fifo = workspace / "started"
    os.mkfifo(fifo)
    fifo.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IWOTH)
    return lambda: asyncio.ensure_future(asyncio.to_thread(fifo.read_bytes))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    runner = web.ServerRunner(web.Server(made.answer), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.port = runner.addresses[0][1]
    yield made
    await runner.cleanup()
