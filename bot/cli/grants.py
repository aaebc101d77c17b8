"""`signoff grants list`: what runs without a card to press, for whom, on whose word, and how long still."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict

from bot.cli.listings import reading
from bot.clock import Clock
from bot.console import local_time, one_line, table
from bot.settings import Settings
from storage import grants
from storage.grants import Grant

_WIDE = 50


async def list_grants(settings: Settings, chosen: Namespace, clock: Clock) -> None:
    """Print those that hold, oldest first; with `--all` also those that have ended."""
    now = clock.now()
    async with reading(settings) as reader:
        found = [one for one in await grants.listed(reader) if chosen.all or one.holds_at(now)] if reader else []
    if chosen.json:
        print(json.dumps([{**asdict(one), "holds": one.holds_at(now), "left": one.left} for one in found], indent=2))
    elif not found:
        print("Nobody has allowed anything yet." if chosen.all else "Nothing is allowed: every call has its own card.")
    else:
        rows = [
            (
                one.id,
                one.tool,
                one_line(json.dumps(one.arguments, ensure_ascii=False), _WIDE),
                one.requester,
                one.place,
                ", ".join(one.makers),
                _rest(one, now),
            )
            for one in found
        ]
        print(table(("ID", "TOOL", "ARGUMENTS", "FOR", "IN", "BY", "LEFT"), rows))


def _rest(one: Grant, now: int) -> str:
    if one.why is not None:
        return f"{one.why} {local_time(one.ended_at)} by {one.ended_by}"
    if not one.holds_at(now):
        return "used up" if one.left == 0 else "its time is over"
    until = "until it is revoked" if one.expires_at is None else f"until {local_time(one.expires_at)}"
    return until if one.left is None else f"{one.left} uses, {until}"
