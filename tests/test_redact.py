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


def test_a_megabyte_is_masked_in_little_time() -> None:
    many = Redactor({f"KEY_{n}": f"{n}-{SECRET}" for n in range(10)})
    text = ("Nothing to see here. " * 50_000) + f"3-{SECRET}"
    started = time.perf_counter()
    masked = many.mask(text)
    assert time.perf_counter() - started < 10  # 0.3 s on an idle machine
    assert masked.endswith("[masked: KEY_3]")


@pytest.mark.parametrize(
    "spelling",
    [
        SECRET[::-1],
        json.dumps(json.dumps({"key": SECRET})),
        json.dumps(quote(SECRET)),
        quote(json.dumps(SECRET)),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
        "".join(f"\\u{ord(one):04x}" for one in SECRET),
        "".join(f"\\x{byte:02x}" for byte in SECRET.encode()),
        "".join(f"&#{ord(one)};" for one in SECRET),
        SECRET.encode().hex(":"),
        SECRET.encode().hex(" ", 2).upper(),
        ", ".join(f"0x{byte:02x}" for byte in SECRET.encode()),
        repr(SECRET.encode()),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        quote(base64.b64encode(SECRET.encode()).decode(), safe=""),
    ],
)
def test_a_secret_is_masked_in_spellings_within_spellings(spelling: str) -> None:
    """S-A46."""
    masked = redactor.mask(f"<{spelling}>")
    assert LABEL in masked
    assert len(masked) < len(LABEL) + 25


@given(st.integers(0, 200))
def test_a_text_that_grows_never_shows_the_beginning_of_a_secret(size: int) -> None:
    text = f"It is {SECRET} or {quote(SECRET, safe='')} or {SECRET.encode().hex()}, is it not?"
    shown = redactor.growing(text[:size])
    assert redactor.growing(text).startswith(shown.rpartition("]")[0])
    assert SECRET[:3] not in shown.replace(LABEL, "")
    assert SECRET[:5].encode().hex() not in shown


def test_a_text_that_grows_is_shown_as_far_as_it_holds_no_secret() -> None:
    assert redactor.growing("Nothing of it here") == "Nothing of it here"


@pytest.mark.parametrize("at", [9, 20, len(SECRET) - 9])
def test_the_halves_of_a_secret_that_a_cut_has_left_are_masked(at: int) -> None:
    gap = "[... 1234 bytes left out here ...]"
    masked = redactor.result(f"it was {SECRET[:at]}\n{gap}\n{SECRET[at:]} it was")
    assert masked == f"it was [masked: part of OPENAI_API_KEY]\n{gap}\n[masked: part of OPENAI_API_KEY] it was"
    assert redactor.result(f"{SECRET[at:]} was cut off") == "[masked: part of OPENAI_API_KEY] was cut off"


def test_what_is_learnt_later_is_masked_from_then_on() -> None:
    growing = Redactor({})
    assert growing.mask("a-secret-of-later") == "a-secret-of-later"
    growing.learn({"LATER": "a-secret-of-later"})
    assert growing.mask("a-secret-of-later") == "[masked: LATER]"


def test_values_are_masked_wherever_they_stand_in_a_json_value() -> None:
    value = {"a": [SECRET, 1, None], SECRET: {"b": f"x{SECRET}x"}}
    assert redactor.values(value) == {"a": [LABEL, 1, None], LABEL: {"b": f"x{LABEL}x"}}
