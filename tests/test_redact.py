"""Secrets in every spelling in which they leak by accident are masked, and nothing else is."""

from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.redact import Redactor

SECRET = 's3cr3t/with+odd "signs" & ä-0123456789abcdefghijklmnopqrstuvwxyz'
LABEL = "[masked: OPENAI_API_KEY]"
redactor = Redactor({"OPENAI_API_KEY": SECRET, "SHORT": "abc1234"})


@pytest.mark.parametrize(
    "spelling",
    [
        SECRET,
        quote(SECRET, safe=""),
        html.escape(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
    ],
)
def test_a_secret_is_masked_in_each_spelling(spelling: str) -> None:
    """S-T48."""
    assert redactor.mask(f"key={spelling}; done") == f"key={LABEL}; done"


@pytest.mark.parametrize("before", ["", "x", "xx", "xxx"])
def test_a_secret_is_masked_within_base64_wherever_it_lies(before: str) -> None:
    masked = redactor.mask(base64.b64encode(f"{before}{SECRET}yy".encode()).decode())
    assert LABEL in masked
    assert len(masked) < len(LABEL) + 12


def test_a_secret_is_masked_when_lines_break_it() -> None:
    assert LABEL in redactor.mask(base64.encodebytes(SECRET.encode() * 3).decode())
    hexed = SECRET.encode().hex()
    assert redactor.mask("\n".join(hexed[at : at + 60] for at in range(0, len(hexed), 60))) == LABEL


def test_a_value_too_short_to_be_a_secret_is_left_alone() -> None:
    assert redactor.mask("abc1234") == "abc1234"


def test_a_discord_token_is_masked_by_its_shape() -> None:
    shape = ".".join(["MTEyMzQ1Njc4OTAxMjM0NTY3OA", "GhIjKl", "a" * 38])
    assert redactor.mask(f"token: {shape}!") == "token: [masked: Discord token]!"


def test_a_secret_within_another_does_not_uncover_the_rest() -> None:
    both = Redactor({"INNER": "0123456789", "OUTER": "abc0123456789def"})
    assert both.mask("abc0123456789def 0123456789") == "[masked: OUTER] [masked: INNER]"


@given(st.text())
def test_a_text_without_secrets_comes_back_as_it_is(text: str) -> None:
    assert redactor.mask(text) == text


@given(st.text(max_size=50), st.text(max_size=50))
def test_a_secret_never_survives_whatever_surrounds_it(before: str, after: str) -> None:
    assert SECRET not in redactor.mask(before + SECRET + after)


def test_a_megabyte_is_masked_in_a_blink() -> None:
    many = Redactor({f"KEY_{n}": f"{n}-{SECRET}" for n in range(10)})
    text = ("Nothing to see here. " * 50_000) + f"3-{SECRET}"
    started = time.perf_counter()
    masked = many.mask(text)
    assert time.perf_counter() - started < 1  # 0.02 s on an idle machine
    assert masked.endswith("[masked: KEY_3]")
