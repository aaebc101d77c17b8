"""Long answers in several messages (cases A28, A29)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogs import limits
from cogs.pieces import closed, split


def fences(piece: str) -> int:
    return piece.count("```")


@pytest.mark.parametrize("size", [1_980, 1_990, 1_991, 1_996, 1_997, 1_998, 2_000, 4_000])
@pytest.mark.parametrize("char", ["x", "🙂"], ids=["plain", "astral"])
def test_the_closing_fence_is_counted(size: int, char: str) -> None:
    """A28."""
    pieces = split("```\n" + char * size + "\n```")
    assert all(limits.length(piece) <= limits.CONTENT for piece in pieces)
    assert all(fences(piece) == 2 for piece in pieces)
    assert "".join(pieces).count(char) == size


def test_every_piece_of_a_long_block_is_a_block_in_its_language() -> None:
    """A29."""
    numbers = [f"line {n:03} of a block that is long" for n in range(300)]
    pieces = split("Here:\n```python\n" + "\n".join(numbers) + "\n```\nDone.")
    assert len(pieces) > 3
    assert pieces[0].startswith("Here:\n```python\nline 000")
    assert all(piece.startswith("```python\nline") for piece in pieces[1:])
    assert all(fences(piece) == 2 for piece in pieces)
    assert pieces[-1].endswith("```\nDone.")
    assert re.findall(r"^line .*", "\n".join(pieces), re.MULTILINE) == numbers


def test_a_block_that_would_only_just_begin_moves_to_the_next_piece() -> None:
    pieces = split("x" * 1_985 + "\n```sh\nls -l\n```")
    assert pieces == ["x" * 1_985, "```sh\nls -l\n```"]


def test_text_behind_the_end_of_a_block_makes_no_empty_block() -> None:
    pieces = split("```\n" + "x" * 1_990 + "\n```" + "y" * 50)
    assert pieces == ["```\n" + "x" * 1_990 + "\n```", "y" * 50]


def test_a_short_answer_is_one_piece_as_it_stands() -> None:
    assert split("Hello **you**.\n\n- one\n- two") == ["Hello **you**.\n\n- one\n- two"]


def test_a_blank_answer_has_no_pieces() -> None:
    assert split(" \n\n ") == []


def test_a_cut_falls_between_words_and_never_inside_a_cluster() -> None:
    words = "word " * 1_000
    assert all(piece.endswith("word ") for piece in split(words)[:-1])
    for piece in split("e\u0301" * 3_000):
        assert piece[0] == "e"


def test_what_was_said_stays_as_it_was_while_the_answer_grows() -> None:
    text = "\n".join(f"paragraph {n} " + "with some words " * 12 for n in range(60))
    final = split(text)
    for end in range(2_500, len(text), 700):
        grown = split(text[:end])
        assert grown[:-1] == final[: len(grown) - 1]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(st.sampled_from("é 🙂`\n~"), max_size=150),
            st.sampled_from(["```", "```py", "``` x", "-", "a" * 130, "🙂" * 70, ""]),
        ),
        max_size=40,
    ).map("\n".join)
)
def test_no_piece_is_too_long_or_left_open_and_nothing_said_is_lost(text: str) -> None:
    pieces = split(text, limit=100)
    assert all(limits.length(piece) <= 100 for piece in pieces)
    assert all(fences(piece) % 2 == 0 for piece in pieces)
    assert all(piece.strip() for piece in pieces)
    said = re.sub(r"[\s`]|py", "", text)
    assert re.sub(r"[\s`]|py", "", "".join(pieces)) == said


def test_a_block_that_was_left_open_is_closed_before_anything_is_put_behind_it() -> None:
    assert closed("see:\n```py\nprint()") == "see:\n```py\nprint()\n```"
    assert closed("```a``` b ```c") == "```a``` b ```c\n```"
    assert closed("```a``` b") == "```a``` b"
