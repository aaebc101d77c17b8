"""`signoff playground`: open the guild, start the bot in it, tell the newcomer what to do, clean up."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bot.clock import Clock, SystemClock
from bot.errors import StartError
from bot.playground.child import BotProcess, Keeper
from bot.playground.twin import Twin
from bot.playground.world import PEOPLE
from bot.playground.world_file import write_private

DEFAULT_PORT = 8484

Say = Callable[[str], None]
"""Told one line of text for the person at the terminal."""

WELCOME = """
  Signoff's playground is open:

    {page}

  The address holds a secret; open it yourself, and don't pass it on. Nothing here reaches Discord.

  Who is who (choose whom you act as at the lower left)
{people}

  Three things to try
    1. As Ben, in #ops, run /ask with the prompt: run `uname -a`
       A card appears. Switch to Ana and press Approve.
    2. Ask again, and press Approve as Mallory: only who may decide, decides.
    3. Ask again, press "Restart the bot" while the card waits, then press Approve on the old card.

  Stop with Ctrl-C; start again, and everything is still there.
"""


async def run_playground(
    *,
    state_dir: Path,
    bot_command: Sequence[str],
    bot_env: Mapping[str, str],
    port: int = DEFAULT_PORT,
    open_browser: bool = False,
    say: Say = print,
    clock: Clock | None = None,
) -> int:
    """Keep the playground open until SIGINT or SIGTERM; returns the process's exit code.

    `state_dir` holds the guild across starts. `bot_command` is started with `bot_env` and the twin's two
    values (`DISCORD_TOKEN`, `SIGNOFF_TWIN`), and again whenever it ends; its lines go to `say`. If `port` is
    taken by something else, a free one is used. `open_browser` does so where `bot_env` tells of a screen.

    Raises `StartError` if the playground of this folder is open already, or the folder can't be used.
    """
    clock = clock or SystemClock()
    with _alone(state_dir) as announce:
        async with Twin.open(state_dir=state_dir, port=port if _is_free(port) else 0, clock=clock) as twin:
            announce(twin.page)
            stop = asyncio.Event()
            with _stopped_by_signals(stop):
                bot = BotProcess(bot_command, twin.bot_env(bot_env), say=lambda line: say(f"bot | {line}"))
                keeper = Keeper(
                    bot,
                    clock=clock,
                    connected=lambda: twin.gateway.connected,
                    changed=twin.changes.note,
                    say=say,
                )
                twin.frame.keeper = keeper
                for notice in twin.notices:
                    say(notice)
                say(welcome(twin.page))
                keeper.start()
                if open_browser and (
                    sys.platform == "darwin" or bot_env.get("DISPLAY") or bot_env.get("WAYLAND_DISPLAY")
                ):
                    await asyncio.to_thread(_show, state_dir, twin.page)
                await stop.wait()
                say("Stopping the bot, then the playground.")
                await keeper.stop()
    return 0


def _show(state_dir: Path, page: str) -> None:
    """Open the browser by a file of ours: on its command line the secret would be there for all users to read."""
    way = state_dir / "open.html"
    write_private(way, f'<!doctype html><meta http-equiv="refresh" content="0; url={page}">'.encode())
    webbrowser.open(way.absolute().as_uri())


def welcome(page: str) -> str:
    """What the terminal tells a newcomer."""
    people = "\n".join(f"    {p.name:<9}{p.role}" for p in PEOPLE)
    return WELCOME.format(page=page, people=people)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@contextmanager
def _alone(state_dir: Path) -> Iterator[Callable[[str], None]]:
    """Hold the folder's lock; yields what leaves our address there for whoever comes second."""
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(state_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StartError(f"The playground can't use the folder {state_dir}: {error.strerror}.") from error
    with os.fdopen(descriptor, "r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StartError(f"The playground of this folder is open already: {lock.read().strip()}") from None

        def announce(page: str) -> None:
            lock.seek(0)
            lock.truncate()
            lock.write(page)
            lock.flush()

        yield announce


@contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """SIGINT, SIGTERM and a closed terminal end the playground in order; a second one changes nothing."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
