"""`signoff usage`: what calls of the model took, added up for the operator; works while the bot runs."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict
from functools import reduce

from bot.budgets import cost_words
from bot.cli.listings import reading
from bot.clock import Clock
from bot.console import one_line, table
from bot.settings import Settings
from storage import usage
from storage.usage import DAY_MS, Sum, day_of

_WIDE = 60


async def list_usage(settings: Settings, chosen: Namespace, clock: Clock) -> None:
    """Print it by what was chosen, the most tokens first, and all of it together; as JSON without the latter."""
    since = day_of(clock.now()) - max(chosen.days, 1) + 1
    async with reading(settings) as reader:
        found = await usage.of_all(reader, by=chosen.by, since=since) if reader else []
    if chosen.json:
        objects = [{"id": _id(chosen.by, name), **asdict(used), "cost": str(cost_words(used))} for name, used in found]
        print(json.dumps(objects, indent=2))
    elif not found:
        print("Nothing was used in that time.")
    else:
        total = reduce(Sum.__add__, (used for _, used in found), Sum())
        rows = [_row(_id(chosen.by, name), used) for name, used in found]
        print(table((chosen.by.upper(), "CALLS", "TOKENS", "READ", "WRITTEN", "COST"), [*rows, _row("total", total)]))


def _id(by: str, name: str) -> str:
    """A day as its first millisecond, as all times of the listings are; all else as it is stored."""
    return str(int(name) * DAY_MS) if by == "day" else name


def _row(name: str, used: Sum) -> tuple[str, ...]:
    numbers = (used.calls, used.tokens, used.input_tokens, used.output_tokens)
    return (one_line(name, _WIDE), *(f"{number:,}" for number in numbers), str(cost_words(used)))
