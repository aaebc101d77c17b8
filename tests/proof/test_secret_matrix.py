"""Twenty-five secrets in seven spellings at twelve sinks of a whole house: none leaks, each is replaced by its name.

One turn for each spelling carries all the secrets along every way at once: what a person writes, what the model says
and calls, what tools give and raise, what an approver types, what is logged and printed.
"""

from __future__ import annotations

import base64
import io
import json
import logging
import random
import re
import sqlite3
import string
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import structlog
from pydantic_ai.messages import ModelMessage, ModelResponse

from bot.logs import configure_logging
from bot.redact import Redactor
from bot.settings import Settings
from bot.streams import masked_output
from tests.house import ASKER, Bench, House, Page, Script, open_house

SECRETS = 25
_HARD = [
    'quote"and\\back%41slash',
    "with some blanks in it",
    "ünïcödé-🔑-geheim",
    "percent%2Fencoded%already",
    "<html>&amp;entity&#39;s",
    "$HOME/`id`;rm -rf",
    "'single' \"double\"",
    "tab\tand\nnewline-1",
    "\\u0041\\x42\\n-literal",
    "postgres://u:p4ss@h/db?x=1&y=2",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcw/+==\n-----END PRIVATE KEY-----",
    "12345678",
]


def secrets() -> dict[str, str]:
    """The same ones on every run: hard ones by hand, and tokens of all lengths."""
    dice = random.Random(25)
    letters = string.ascii_letters + string.digits
    tokens = ["".join(dice.choice(letters + "-_+/=.~"[: size % 8]) for _ in range(size)) for size in range(9, 90, 6)]
    every = [*_HARD, *tokens][:SECRETS]
    return {f"secret-{n:02}": value for n, value in enumerate(every, start=1)}


SPELLINGS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "base64": lambda value: base64.b64encode(f"user:{value}!".encode()).decode(),
    "base64url": lambda value: base64.urlsafe_b64encode(value.encode()).decode().rstrip("="),
    "hex": lambda value: value.encode().hex(),
    "HEX dump": lambda value: value.encode().hex(":").upper(),
    "url": lambda value: quote(value, safe=""),
    "json": lambda value: (
        "".join(f"\\u{ord(one):04x}" for one in value if ord(one) < 0x10000)
        if all(ord(one) < 0x10000 for one in value)
        else json.dumps(json.dumps(value))[3:-3]
    ),
}

SINKS = (
    "run", "message", "step", "approval", "audit", "outbox",
    "the model", "the growing reply", "the reply", "cards and announcements", "the log", "the terminal",
)  # fmt: skip


class Watching(Script):
    """A model before whose every answer the tables are looked at, in the middle of a turn."""

    def __init__(self, folder: Path, *steps: Any) -> None:
        super().__init__(*steps)
        self.tables: dict[str, str] = {}
        self._folder = folder

    def look(self) -> None:
        with sqlite3.connect(self._folder / "house.sqlite3") as database:
            for table in SINKS[:6]:
                rows = database.execute(f"SELECT * FROM {table}").fetchall()
                self.tables[table] = self.tables.get(table, "") + "\n".join(str(one) for row in rows for one in row)

    def _answer(self, messages: list[ModelMessage], info: Any) -> ModelResponse:
        self.look()
        return super()._answer(messages, info)


@contextmanager
def logging_to(stream: io.StringIO, redactor: Redactor) -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level, sys.excepthook, structlog.get_config()
    hook = threading.excepthook
    configure_logging(Settings(log_format="json"), redactor, stream)
    try:
        yield
    finally:
        root.handlers[:], sys.excepthook, threading.excepthook = before[0], before[2], hook
        root.setLevel(before[1])
        structlog.configure(**before[3])
        logging.captureWarnings(False)


async def carry(folder: Path, spelled: Mapping[str, str], redactor: Redactor) -> dict[str, str]:
    """Everything that one turn leaves at each sink when each way in carries all the secrets."""
    text = "\n".join(f"- {one} -" for one in spelled.values())
    script = Watching(
        folder,
        [("look", {"what": text})],
        [("look", {"what": "the vault"}), ("careful", {"what": "fail"})],
        [("act", {"what": "one"}), ("act", {"what": "two"}), ("ask_user", {"question": "what is it?"})],
        f"It is:\n{text}\nand that is all.",
    )
    bench = Bench()
    bench.found = text
    log, printed = io.StringIO(), io.StringIO()
    page = Page()
    with logging_to(log, redactor):
        async with open_house(folder, script, bench=bench, redactor=redactor) as house:
            bench.fail_with = RuntimeError(text)
            await house.ask(f"remember:\n{text}", page=page)
            await house.decide("deny", row=0, reason=text)
            await house.decide("approve", row=1)
            await answer(house, text)
            script.look()
            logging.getLogger("bot.test").warning("said %s", text, extra={"what": text})
    out, sys.stdout = sys.stdout, printed
    try:
        with masked_output(redactor):
            sys.stdout.write(text[:11])
            sys.stdout.write(text[11:] + "\n")
    finally:
        sys.stdout = out
    shown = [house.face.cards, house.face.card_words, house.face.said, house.face.told]
    return {
        **script.tables,
        "the model": "\n".join(plain(script.seen)),
        "the growing reply": "\n".join(page.shown),
        "the reply": f"{page.finished}\n" + "\n".join(one.text for one in house.face.said),
        "cards and announcements": "\n".join(plain(shown)),
        "the log": log.getvalue(),
        "the terminal": printed.getvalue(),
    }


async def answer(house: House, text: str) -> None:
    press = house.press(ASKER, 2)
    await house.app.engine.answer(press, f"I would say:\n{text}")
    await house.app.background.idle()


def plain(value: Any) -> Iterator[str]:
    """Every text in an object, as it is."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in (*value.keys(), *value.values()):
            yield from plain(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from plain(one)
    elif is_dataclass(value):
        for one in fields(value):
            yield from plain(getattr(value, one.name))


def parts(spelled: str) -> list[str]:
    """What of a spelling must not be found: any stretch of it that says something."""
    size = min(10, len(spelled))
    return [spelled[at : at + size] for at in range(0, len(spelled) - size + 1, 3)]


QUICK = ("base64", "url")
"""The ordinary run's sample; the slow one has all of them."""


@pytest.mark.parametrize(
    "spelling", [pytest.param(one, marks=() if one in QUICK else pytest.mark.slow) for one in SPELLINGS]
)
async def test_no_secret_in_this_spelling_reaches_a_sink(spelling: str, tmp_path: Path) -> None:
    """S-A46, S-T46, S-T48, S-T49."""
    values = secrets()
    spelled = {name: SPELLINGS[spelling](value) for name, value in values.items()}
    sinks = await carry(tmp_path, spelled, Redactor(values))
    assert tuple(sinks) == SINKS
    cells, leaks = 0, []
    for sink, text in sinks.items():
        assert "[masked: " in text, f"nothing came to {sink}"
        # Labels, and what JSON makes of a text, are no leak.
        bare = re.sub(r"\[masked: (?:part of )?secret-\d\d\]", "", text)
        for name, one in spelled.items():
            cells += 1
            if any(part in bare for part in parts(one)):
                leaks.append((sink, name))
    assert leaks == [], f"{len(leaks)} leaks"
    assert cells == SECRETS * len(SINKS)


def test_the_matrix_is_as_large_as_it_says() -> None:
    assert (len(secrets()), len(SINKS), len(SPELLINGS)) == (25, 12, 7)
