"""Counting as Discord counts, and marking a message so that a retry does not repeat it (cases A28, A31)."""

from __future__ import annotations

from cogs.limits import NONCE, length, nonce


def test_length_counts_an_astral_character_twice() -> None:
    assert length("a🙂é") == 4


def test_a_nonce_names_the_logical_message_and_the_piece() -> None:
    """A31."""
    marks = {nonce(key, piece) for key in ("answer:1", "answer:11", "card/1") for piece in (0, 1, 11)}
    assert len(marks) == 9
    assert nonce("answer:1", 0) in marks
    assert all(0 < len(mark) <= NONCE and mark.isascii() for mark in marks)
