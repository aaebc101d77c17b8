"""The house looking after itself: what can be done here, and what the operator may have done anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from bot.clippings import Clippings
from bot.clock import Clock
from bot.doctor import Finding
from bot.drills import Drills
from bot.missed import Missed
from bot.reloading import Reloading
from bot.startup import Startup
from bot.toolbook import Toolbook
from bot.usage_desk import UsageDesk


@dataclass(frozen=True, kw_only=True)
class Upkeep:
    """Everything a face may ask of the house about itself."""

    clock: Clock
    toolbook: Toolbook
    reloading: Reloading
    startup: Startup
    drills: Drills
    missed: Missed
    clippings: Clippings
    usage: UsageDesk
    examine: Callable[[], AsyncIterator[Finding]]
    """Looks at this machine, as `signoff doctor` does."""
