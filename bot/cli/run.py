"""`signoff run` and `signoff playground`: what has to be in order before the house is opened, and its end."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.agent.searching import search_tools
from bot.app import STOP_GRACE_SECONDS, open_app
from bot.clock import SystemClock, new_id
from bot.doctor import within_reach
from bot.errors import StartError
from bot.redact import Redactor
from bot.settings import Settings, environment, load_settings, twin_address
from bot.single import data_lock, hold, token_lock
from bot.toolbox import builtin_tools
from bot.toolbox.command_files import COMMANDS_FOLDER
from bot.toolbox.detached import Detached
from bot.toolbox.ready import report
from bot.toolbox.sandbox import Sandbox

FAREWELL_SECONDS = 6.0
"""After the grace period: long enough for a job's card, which is edited every five seconds at most. With both, closing
the connection included, the program has ended within 20 seconds of the signal."""

CLOSE_SECONDS = 4.0
"""For the connection to close."""

logger = logging.getLogger(__name__)

PLAYGROUND_FOLDER = "playground"
"""Where the playground keeps its guild: beside the database."""

_WITHOUT_EXTRA = (
    "The playground needs a few more packages: pip install 'signoff[play]' (in a checkout: python3 -m bot.setup run)."
)


def run_bot(settings: Settings, redactor: Redactor) -> int:
    """Run the bot on Discord until it is stopped; the exit code. Raises `StartError` when it cannot go on."""
    if settings.token is None:
        raise StartError(
            "There is no token: set DISCORD_TOKEN or DISCORD_TOKEN_FILE to run on Discord, or try `signoff playground`."
        )
    from bot.playground.twin_address import point_discord_at, refuse_playground_token

    token, address = settings.token.get_secret_value(), twin_address()
    if address is None:
        refuse_playground_token(token)
    else:
        point_discord_at(address, token)
    try:
        settings.workspace.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"The workspace {settings.workspace} cannot be made ({error.strerror}).") from None
    for finding in within_reach(settings, Path.cwd()):  # a place of one's own choice, so the bot does start
        logger.error("%s. %s", finding.text, finding.advice, extra={"action": finding.id})
    advice = "stop it first, or set SIGNOFF_DATABASE to another file"
    with hold(data_lock(settings.database), what=f"the data in {settings.database}", advice=advice), _alone(token):
        return asyncio.run(_until_stopped(settings, redactor, token))


def open_playground(settings: Settings, chosen: Namespace) -> int:
    """Open the playground until it is stopped; the exit code. Raises `StartError`."""
    try:
        from bot.playground.run import DEFAULT_PORT, run_playground
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] in {"bot", "cogs", "storage"}:
            raise
        raise StartError(_WITHOUT_EXTRA) from error
    if settings.approver_users is not None or settings.approver_roles is not None:
        print(
            "Note: your approver settings hold in the playground too; without them Ana decides, who owns the bot there."
        )
    env = environment()
    if settings.log_format == "auto" and sys.stdout.isatty():
        env["SIGNOFF_LOG_FORMAT"] = "text"  # the bot writes into a pipe, but a person reads it
    return asyncio.run(
        run_playground(
            state_dir=getattr(chosen, "state", None) or settings.database.parent / PLAYGROUND_FOLDER,
            bot_command=(sys.executable, "-m", "bot", "run"),
            bot_env=env,
            say=lambda line: print(line, flush=True),  # also into a pipe at once: the address is in it
            port=getattr(chosen, "port", DEFAULT_PORT),
            open_browser=not getattr(chosen, "no_browser", False) and sys.stdout.isatty(),
        )
    )


@contextmanager
def _alone(token: str) -> Iterator[None]:
    """Hold the token for this user. A twin hands out tokens of its own, which nobody else can use."""
    if twin_address() is not None:
        yield
        return
    with hold(token_lock(token), what="this Discord token", advice="stop it first: two would answer every press twice"):
        yield


async def _until_stopped(settings: Settings, redactor: Redactor, token: str) -> int:
    """Open the house and its face. SIGTERM and SIGINT end both in order."""
    from discord import VoiceClient

    from cogs.client import SignoffClient, run_client

    VoiceClient.warn_nacl = VoiceClient.warn_dave = False  # nobody here wants to speak; it would be two warnings
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    sandbox = Sandbox(bare=settings.sandbox == "none")
    detached = Detached(
        folder=settings.database.parent / COMMANDS_FOLDER,
        workspace=settings.workspace,
        sandbox=sandbox,
        clock=SystemClock(),
        new_id=new_id,
    )
    tools = [
        *builtin_tools(workspace=settings.workspace, sandbox=sandbox, new_id=new_id, detached=detached),
        *search_tools(settings.search_key),
    ]
    async with open_app(
        settings,
        tools=tools,
        mask=redactor.result,
        redactor=redactor,
        clock=SystemClock(),
        new_id=new_id,
        detached=detached,
        reread=load_settings,
    ) as app:
        app.background.spawn(report(sandbox), name="sandbox self-test")
        client = SignoffClient(
            engine=app.engine,
            background=app.background,
            remember=app.remember,
            recall=app.recall,
            upkeep=app.upkeep,
            proxy=settings.discord_proxy,
            in_thread=settings.ask_in_thread,
            language=settings.language,
            # The playground's own guild hides nothing from the bot that it was made for.
            message_content="on" if twin_address() else settings.message_content,
        )
        connected = asyncio.ensure_future(run_client(client, token))
        stopped = asyncio.ensure_future(stopping.wait())
        try:
            await asyncio.wait({connected, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if connected.done():
                return connected.result() or 0
            # While Discord is still connected: cards and replies show what the stop has left.
            await app.engine.farewell(grace=STOP_GRACE_SECONDS, bring_out=FAREWELL_SECONDS)
            return 0
        finally:
            for task in (stopped, connected):
                task.cancel()
            await asyncio.wait({stopped, connected}, timeout=CLOSE_SECONDS)
