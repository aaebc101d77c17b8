"""What is offered while somebody types an option of a command."""

from __future__ import annotations

from functools import cache

from discord import app_commands

from bot.jobs import when

MOST = 25
"""Choices that Discord shows at once."""


def zone_choices(typed: str) -> list[app_commands.Choice[str]]:
    """Time zones whose name contains what was typed so far."""
    part = typed.strip().replace(" ", "_").casefold()
    found = [name for name in _zones() if part in name.casefold()]
    return [app_commands.Choice(name=name, value=name) for name in found[:MOST]]


@cache
def _zones() -> tuple[str, ...]:
    return tuple(when.zones())
