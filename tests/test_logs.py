"""Logs: one record per line whatever is in it, and no secret on any way. Each test starts a process of its own."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

PROGRAM = """
import logging, sys, threading
from bot.logs import configure_logging
from bot.redact import Redactor
from bot.settings import Settings

configure_logging(Settings(log_format=sys.argv[1], log_level=sys.argv[2]), Redactor({"KEY": "hush-hush"}), sys.stderr)
logger = logging.getLogger("bot.test")
exec(sys.argv[3])
"""


def run(code: str, *, form: str = "json", level: str = "INFO") -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, form, level, code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_a_record_with_line_breaks_stays_one_record() -> None:
    """S-T85, S-A85: a nickname with a newline and a fake INFO line."""
    nickname = "Ana\\n2026-01-01 INFO fake\\r\\x1b[31m\\u2028"
    (line,) = run(f"logger.info('pressed by %s', '{nickname}', extra={{'who': '{nickname}'}})")
    assert json.loads(line)["event"].startswith("pressed by Ana\n2026")
    (line,) = run(f"logger.info('pressed by %s', '{nickname}', extra={{'who': '{nickname}'}})", form="text")
    assert line.count(r"Ana\n2026-01-01 INFO fake\r\x1b[31m\u2028") == 2


def test_a_record_carries_level_logger_time_and_its_extras() -> None:
    record = json.loads(run("logger.warning('late', extra={'action': 'card_late', 'card': 7})")[0])
    assert record.pop("time").endswith("Z")
    assert record == {"level": "warning", "logger": "bot.test", "event": "late", "action": "card_late", "card": 7}


def test_a_traceback_is_one_json_record_without_the_secret() -> None:
    """S-T48."""
    (line,) = run("try:\n  raise ValueError('hush-hush')\nexcept ValueError:\n  logger.exception('failed')")
    assert "ValueError: [masked: KEY]" in json.loads(line)["exception"]
    assert "hush" not in line


def test_a_traceback_in_text_cannot_pass_for_records() -> None:
    code = "try:\n  raise ValueError('a\\n2026-01-01 INFO fake')\nexcept ValueError:\n  logger.exception('failed')"
    first, *rest = run(code, form="text")
    assert "failed" in first
    assert all(line.startswith("    | ") for line in rest)


def test_an_unhandled_error_is_masked_too() -> None:
    (line,) = run("raise RuntimeError('hush-hush')")
    assert json.loads(line)["level"] == "critical"
    assert "hush" not in line


def test_an_unhandled_error_in_a_thread_is_masked_too() -> None:
    (line,) = run("t = threading.Thread(target=int, args=('hush-hush',)); t.start(); t.join()")
    assert json.loads(line)["level"] == "critical"
    assert "hush" not in line


def test_a_record_that_cannot_be_written_does_not_show_its_arguments() -> None:
    (line,) = run("logger.info('%d', 'hush-hush')")
    assert line == "a log record of bot.test could not be written (TypeError)"


def test_libraries_log_through_the_same_handler_and_structlog_too() -> None:
    lines = run(
        "logging.getLogger('discord.client').info('hush-hush'); logging.getLogger('aiohttp.access').info('GET');"
        "import structlog; structlog.get_logger('bot.x').info('bound', secret='hush-hush')"
    )
    assert [json.loads(line)["logger"] for line in lines] == ["discord.client", "bot.x"]
    assert "hush" not in "".join(lines)


def test_the_level_is_the_settings_one() -> None:
    assert run("logger.info('no'); logging.getLogger('discord').info('no')", level="WARNING") == []


def test_auto_is_json_in_a_pipe_and_text_on_a_terminal() -> None:
    assert json.loads(run("logger.info('hello')", form="auto")[0])["event"] == "hello"
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", PROGRAM, "auto", "INFO", "logger.info('hello')"], cwd=ROOT, stderr=theirs, check=True
    )
    os.close(theirs)
    assert os.read(ours, 1000).decode().strip().endswith("INFO     bot.test: hello")
    os.close(ours)


def test_an_http_error_that_carries_its_authorization_leaves_none_of_it_in_the_log() -> None:
    """S-A48: as text and as JSON, in a traceback and in an extra, whether the credential is known or not."""
    code = (
        "import aiohttp, multidict, yarl\n"
        "headers = multidict.CIMultiDict(Authorization='Bearer aB3dE6gH9jKlMnOpQrStUv', Cookie='hush-hush')\n"
        "info = aiohttp.RequestInfo(yarl.URL('https://x.example'), 'GET', headers, yarl.URL('https://x.example'))\n"
        "try:\n  raise aiohttp.ClientResponseError(info, (), status=401, message='no')\n"
        "except aiohttp.ClientError as error:\n"
        "  logger.exception('refused %r', error, extra={'headers': dict(headers), 'problem': repr(error)})"
    )
    for form in ("json", "text"):
        said = "\n".join(run(code, form=form))
        assert "[masked: authorization, 22 characters, " in said
        assert "Mn" + "Op" not in said
        assert "hush-hush" not in said
