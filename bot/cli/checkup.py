"""`signoff doctor`: prints findings as they come, and ends with 1 if something fails."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

from bot.console import visible
from bot.doctor import Finding, Level, examine, from_settings_error
from bot.errors import SettingsError
from bot.redact import Redactor
from bot.settings import Settings, twin_address


async def check(settings: Settings, redactor: Redactor, *, as_json: bool) -> int:
    """Look at this machine and, with a token, at Discord; the exit code."""
    return await _report(_everything(settings), redactor, as_json=as_json)


async def report_settings(error: SettingsError, *, as_json: bool) -> int:
    """When the settings make no sense there is nothing else to look at; the exit code."""

    async def findings() -> AsyncIterator[Finding]:
        for finding in from_settings_error(error):
            yield finding

    return await _report(findings(), Redactor({}), as_json=as_json)


async def _everything(settings: Settings) -> AsyncIterator[Finding]:
    async for finding in examine(settings, Path.cwd()):
        yield finding
    if settings.token is None:
        yield Finding(
            id="login",
            level=Level.OK,
            text="no token, so `signoff` opens the playground; for Discord set DISCORD_TOKEN or DISCORD_TOKEN_FILE",
        )
        return
    from cogs.inspection import inspect

    token = settings.token.get_secret_value()
    if address := twin_address():
        from bot.playground.twin_address import point_discord_at

        point_discord_at(address, token)
    async for finding in inspect(token, settings.discord_proxy):
        yield finding


async def _report(findings: AsyncIterator[Finding], redactor: Redactor, *, as_json: bool) -> int:
    found = []
    async for finding in findings:
        found.append(finding)
        if not as_json:
            print(redactor.mask(f"{finding.level:<5} {visible(f'{finding.id}: {finding.text}')}"), flush=True)
            if finding.advice:
                print(redactor.mask(f"      -> {visible(finding.advice)}"), flush=True)
    if as_json:
        print(redactor.mask(json.dumps([asdict(finding) for finding in found], indent=2)))
    failed = sum(finding.level is Level.FAIL for finding in found)
    if not as_json:
        print(f"\n{failed} of {len(found)} checks failed." if failed else "\nEverything needed is in place.")
    return 1 if failed else 0
