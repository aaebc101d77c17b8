"""Seals: without the key nothing can be approved by writing to the database."""

from __future__ import annotations

import itertools
import os
import stat
from pathlib import Path

import pytest

from bot.deferral.seal import KEY_BYTES, Seal, load_key

KEY = b"k" * KEY_BYTES


def test_a_seal_holds_for_exactly_what_it_was_made_for() -> None:
    seal = Seal(KEY)
    made = [
        seal.asked("a", "d"),
        seal.asked("b", "d"),
        seal.asked("a", "e"),
        seal.approved("a", "d", "1", ["1"]),
        seal.approved("a", "d", "2", ["2"]),
        seal.approved("a", "e", "1", ["1"]),
        seal.approved("b", "d", "1", ["1"]),
        seal.approved("a", "d", "", [""]),
        seal.undo("u", "a", "r", "p", "b", "c"),
        seal.undo("v", "a", "r", "p", "b", "c"),
        seal.undo("u", "b", "r", "p", "b", "c"),
        seal.undo("u", "a", "q", "p", "b", "c"),
        seal.undo("u", "a", "r", "q", "b", "c"),
        seal.undo("u", "a", "r", "p", "c", "b"),
        Seal(b"l" * KEY_BYTES).asked("a", "d"),
        Seal(b"l" * KEY_BYTES).approved("a", "d", "1", ["1"]),
    ]
    for one, two in itertools.product(range(len(made)), repeat=2):
        assert seal.holds(made[one], made[two]) is (one == two)


@pytest.mark.parametrize("stored", [None, "", "x", "é", "\ud800"[:0] + "0" * 64])
def test_what_is_no_seal_does_not_hold(stored: str | None) -> None:
    seal = Seal(KEY)
    assert not seal.holds(stored, seal.asked("a", "d"))


def test_the_key_is_made_once_and_is_for_its_owner_only(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        key = load_key(tmp_path / "house.key")
    finally:
        os.umask(old)
    assert load_key(tmp_path / "house.key") == key
    assert len(key) == KEY_BYTES
    assert stat.S_IMODE((tmp_path / "house.key").stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["house.key"]
    assert load_key(tmp_path / "other.key") != key


@pytest.mark.parametrize("content", ["", "zz", "00" * (KEY_BYTES - 1), "é" * 64])
def test_a_file_that_holds_no_key_is_refused_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "house.key"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="does not hold a key"):
        load_key(path)
    assert path.read_text(encoding="utf-8") == content


def test_a_key_that_could_not_be_written_whole_is_not_there_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", dies)
    with pytest.raises(OSError, match="No space"):
        load_key(tmp_path / "house.key")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    assert len(load_key(tmp_path / "house.key")) == KEY_BYTES


def test_a_key_that_another_process_made_first_is_the_one_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "house.key"
    first = "ab" * KEY_BYTES
    link = os.link

    def late(draft: Path, target: Path) -> None:
        path.write_text(first)
        link(draft, target)

    monkeypatch.setattr(os, "link", late)
    assert load_key(path) == bytes.fromhex(first)
