"""The house looking after itself: what can be done here, and what the operator may have done anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from bot.clippings import Clippings
from bot.clock import Clock
from bot.doctor import Finding
from bot.drills import Drills
from bot.files.undo import Undoing
from bot.files.uploads import Uploads
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
    undoing: Undoing
    uploads: Uploads
    examine: Callable[[], AsyncIterator[Finding]]
    """Looks at this machine, as `signoff doctor` does."""


def one_after_another(*steps: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """Steps of a sweep as one. One that fails keeps no other from its turn; its error is raised at the end."""

    async def all_of_them() -> None:
        problems: list[Exception] = []
        for step in steps:
            try:
                await step()
            except Exception as error:  # noqa: BLE001 - raised below, when the others have had their turn
                problems.append(error)
        if problems:
            raise problems[0] if len(problems) == 1 else ExceptionGroup("tidy", problems)

    return all_of_them
