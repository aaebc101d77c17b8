"""Runs one tool body and says what came of it: no exception gets past, but for the signals a tool raises on purpose."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from bot.background import was_cancelled
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import ApprovalRequired, CallDeferred, NothingRan, RunCancelled, RunStopped
from bot.plain import describe, plain, words_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a body came to, in words for the model."""

    text: str
    ok: bool
    error: Exception | None = None
    """What it raised, where it did."""


async def run_body(
    tool: Tool, arguments: Arguments, call: Call, *, timeout_seconds: float | None, mask: Callable[[str], str]
) -> Ran:
    """Run the body for at most `timeout_seconds`. `mask` goes over every text.

    Raises `ApprovalRequired` and `CallDeferred` as the tool does, `RunStopped` also for an agent inside the tool that
    was stopped, and lets a cancellation from outside through: that is never the tool's failure.
    """
    try:
        async with asyncio.timeout(timeout_seconds) as time:
            outcome = await tool.body(arguments, call)
        if not isinstance(outcome, ToolOutcome) or not isinstance(outcome.text, str):
            # A paused run of an agent inside the tool has no text: it must not pass for the tool's answer.
            raise TypeError(f"{tool.name} gave {outcome!r} instead of an outcome with a text")
    except (ApprovalRequired, CallDeferred, RunStopped):
        raise
    except RunCancelled as inner:
        raise RunStopped(str(inner)) from inner
    except NothingRan as signal:
        return Ran(text=mask(f"It could not start, so nothing ran: {words_of(signal)}"), ok=False, error=signal)
    except TimeoutError as error:
        if not time.expired():
            return _failed(tool, error, mask)
        text = (
            f"The tool was stopped because it took longer than {timeout_seconds:g} seconds; how far it got is unknown."
        )
        return Ran(text=text, ok=False, error=error)
    except asyncio.CancelledError as error:
        if was_cancelled():
            raise
        return _failed(tool, RuntimeError(describe(error)), mask)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises, the run must go on; `_failed` logs it
        return _failed(tool, error, mask)
    except (KeyboardInterrupt, GeneratorExit):
        raise  # these are not the tool's
    except BaseException as error:  # noqa: BLE001 - `sys.exit` in a tool's code must not end the bot; `_failed` logs it
        return _failed(tool, RuntimeError(describe(error)), mask)
    return Ran(text=mask(plain(outcome.text)), ok=outcome.ok)


def _failed(tool: Tool, error: Exception, mask: Callable[[str], str]) -> Ran:
    logger.exception("tool failed", extra={"action": "tool_failed", "tool": tool.name}, exc_info=error)
    return Ran(text=mask(f"The tool failed: {describe(error)}"), ok=False, error=error)
