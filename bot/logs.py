"""Where log records go, in what form, and what never gets into them.

structlog renders, stdlib logging carries: discord.py, aiohttp and the model's libraries log through the same one
handler. On a terminal a record is a line to read, elsewhere one JSON object. Either way one record is one line
(a traceback's own lines are set off and cannot pass for records), and everything passes the redactor last,
tracebacks included.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog
from structlog.typing import Processor

from bot.console import visible
from bot.redact import Redactor
from bot.settings import Settings
from bot.shapes import covered

_QUIETER = {
    "aiohttp.access": logging.WARNING,
    "discord": logging.INFO,  # at DEBUG it logs whole payloads, people's messages among them
    "httpcore2": logging.WARNING,
    "httpx2": logging.WARNING,
    "openai": logging.INFO,
    "anthropic": logging.INFO,
    "asyncio": logging.INFO,
}
"""Libraries that say too much, and the least level at which they are heard."""


def configure_logging(settings: Settings, redactor: Redactor, stream: TextIO, *, quiet: bool = False) -> None:
    """Send all logging of this process to `stream`, and unhandled errors with it.

    `quiet` is for commands whose result is what they print: then only errors are logged (all, with level DEBUG).
    """
    as_text = settings.log_format == "text" or (settings.log_format == "auto" and stream.isatty())
    level = logging.getLevelNamesMapping()["ERROR" if quiet and settings.log_level != "DEBUG" else settings.log_level]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=not as_text, key="time"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    formatter = _Redacted(
        redactor,
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _text if as_text else _json],
    )
    handler = _Handler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name, least in _QUIETER.items():
        logging.getLogger(name).setLevel(max(least, level))
    logging.captureWarnings(True)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    # What nobody caught is printed by the interpreter itself, past every handler, if it is not led here.
    logger = logging.getLogger("signoff")
    sys.excepthook = lambda kind, error, trace: logger.critical("unhandled error", exc_info=(kind, error, trace))
    threading.excepthook = lambda hook: logger.critical("unhandled error in a thread", exc_info=hook.exc_value)


class _Redacted(structlog.stdlib.ProcessorFormatter):
    """Masks the finished line: whatever way a secret came into the record, it ends here; by its shape, too."""

    def __init__(self, redactor: Redactor, **keywords: Any) -> None:
        super().__init__(**keywords)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return covered(self._redactor.mask(super().format(record)))


class _Handler(logging.StreamHandler[TextIO]):
    """Says that a record could not be written, without what was in it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is stdlib logging's
        kind = sys.exc_info()[0]
        if kind is not None and issubclass(kind, BrokenPipeError | ValueError):
            return  # nobody listens any more
        self.stream.write(f"a log record of {record.name} could not be written ({kind.__name__ if kind else '?'})\n")


def _json(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """One JSON object in ASCII: every control character is escaped by that."""
    front = {key: event.pop(key) for key in ("time", "level", "logger", "event") if key in event}
    return json.dumps({**front, **event}, default=repr).replace("\x7f", "\\u007f")


def _text(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """A line to read; a traceback below it, each line behind a bar."""
    time, level, name = (str(event.pop(key, "")) for key in ("time", "level", "logger"))
    said = visible(str(event.pop("event", "")))
    below = [str(event.pop(key)) for key in ("stack", "exception") if event.get(key)]
    rest = "".join(f"  {key}={visible(str(value))}" for key, value in event.items())
    line = f"{time[:19].replace('T', ' ')} {level.upper():<8} {visible(name)}: {said}{rest}"
    return "\n".join([line, *(f"    | {visible(one)}" for part in below for one in part.splitlines())])
