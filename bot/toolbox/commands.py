"""What `shell` and `execute_code` share: the sandbox's result in words for the model."""

from __future__ import annotations

from bot.deferral.tool import ToolOutcome
from bot.toolbox.sandbox import SandboxResult

MOST_CHARACTERS = 20_000
"""The longest command or program. More does not fit on a card that anybody reads."""


def without_nul(text: str) -> str:
    """Refuse what no argument list can hold, and what is not there. Raises ValueError."""
    if "\0" in text:
        raise ValueError("it must not contain a NUL character")
    if not text.strip():
        raise ValueError("it must not be empty")
    return text


def outcome(result: SandboxResult, *, seconds: float) -> ToolOutcome:
    """The result as the model reads it: the output, then how it ended. `seconds` is the time it had."""
    if result.timed_out:
        ending = f"stopped after {seconds:g} s; it had started, so part of its work may be done"
    elif result.flooded:
        ending = "stopped because it printed too much; it had started, so part of its work may be done"
    else:
        ending = f"exit code: {result.exit_code}"
    output = result.output.rstrip("\n") or "(no output)"
    return ToolOutcome(text=f"{output}\n{ending}", ok=result.exit_code == 0, exit_code=result.exit_code)
