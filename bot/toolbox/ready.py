"""Says at the start, in the log, whether commands can run here and what their sandbox keeps."""

from __future__ import annotations

import logging

from bot.toolbox.sandbox import Sandbox

logger = logging.getLogger(__name__)


async def report(sandbox: Sandbox) -> None:
    """Test the sandbox and log what holds, or why commands will not run and what to do about it."""
    await sandbox.look_again()
    if (found := sandbox.report) is None:
        return
    kept = [check.name for check in found.checks if check.holds]
    broken = [f"{check.name} ({check.detail})" for check in found.checks if not check.holds]
    if not found.works:
        logger.error(
            "commands will not run: %s",
            found.reason,
            extra={"action": "sandbox_broken", "broken": broken, "kept": kept},
        )
    elif sandbox.bare:
        logger.warning("%s", found.reason, extra={"action": "sandbox_none"})
    else:
        logger.info("the sandbox keeps its promises", extra={"action": "sandbox_ready", "kept": kept})
