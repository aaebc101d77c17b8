"""`signoff resolve`: hands in the result of a call that lives elsewhere."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from bot.cli.listings import find_approval, reading
from bot.clock import Clock
from bot.deferral.external import deliver
from bot.errors import DecisionRefused, SignoffError
from bot.redact import Redactor
from bot.settings import Settings
from storage.database import open_database


class NotTaken(SignoffError):
    """The result was not used; `str()` says why."""


async def resolve(settings: Settings, chosen: Namespace, clock: Clock, redactor: Redactor) -> int:
    """`signoff resolve ID`: a running bot goes on within its next sweep. The exit code."""
    text = _text(chosen)
    async with reading(settings) as reader:
        call = await find_approval(reader, chosen.id)
    async with open_database(str(settings.database)) as database:
        try:
            await deliver(database, call.id, text, failed=chosen.failed, at=clock.now(), mask=redactor.mask)
        except DecisionRefused as refusal:
            raise NotTaken(refusal.sentence) from refusal
    print(f"{call.id} is {'reported as failed' if chosen.failed else 'resolved'}; the bot goes on with it.")
    return 0


def _text(chosen: Namespace) -> str:
    if chosen.file is None:
        if chosen.text is None and not chosen.failed:
            raise NotTaken("There is no result: give --text, --file or --failed.")
        return str(chosen.text or "")
    try:
        raw = sys.stdin.buffer.read() if chosen.file == Path("-") else chosen.file.read_bytes()
        return str(raw.decode())
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise NotTaken(f"{chosen.file} cannot be read ({reason}); nothing changed.") from None
