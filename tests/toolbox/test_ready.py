"""What the log says of the sandbox when the bot starts."""

from __future__ import annotations

import logging

import pytest

from bot.toolbox.ready import report
from bot.toolbox.sandbox import Sandbox
from tests.needs import needs


async def said(sandbox: Sandbox, caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    with caplog.at_level(logging.INFO, logger="bot.toolbox.ready"):
        await report(sandbox)
    (record,) = caplog.records
    return record


async def test_without_bubblewrap_it_says_that_commands_will_not_run_and_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    record = await said(Sandbox(bwrap="no-such-bwrap"), caplog)
    assert record.levelno == logging.ERROR
    assert "commands will not run: there is no sandbox" in record.message
    assert "apt install bubblewrap" in record.message


async def test_the_opt_in_for_no_sandbox_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    record = await said(Sandbox(bare=True), caplog)
    assert (record.levelno, record.message) == (
        logging.WARNING,
        "commands run without a sandbox, because the settings say so",
    )


@needs("bwrap")
async def test_a_sandbox_that_holds_says_what_it_keeps(caplog: pytest.LogCaptureFixture) -> None:
    record = await said(Sandbox(), caplog)
    assert record.levelno == logging.INFO
    assert "there is no network" in record.__dict__["kept"]
