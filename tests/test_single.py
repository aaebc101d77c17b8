"""A second process on the same data or token is kept out, and told who is in. The holders are real processes."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.errors import StartError
from bot.single import data_lock, hold, holder, token_lock

ROOT = Path(__file__).parent.parent

HOLDER = """
import sys, time
from pathlib import Path
from bot.single import hold
with hold(Path(sys.argv[1]), what="it", advice="wait"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(lock: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_process_is_told_which_one_is_in(tmp_path: Path) -> None:
    lock = tmp_path / "data" / "x.lock"
    with held_elsewhere(lock) as other:
        with pytest.raises(StartError) as told, hold(lock, what="these data", advice="stop it first"):
            pass
        assert str(told.value) == f"Another signoff (process {other.pid}) is already using these data; stop it first."
        assert holder(lock) == f"process {other.pid}"


def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    with held_elsewhere(lock) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
        with hold(lock, what="it", advice="wait"):
            assert lock.read_text() == f"{os.getpid()}\n"


def test_a_child_process_does_not_inherit_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    with hold(lock, what="it", advice="wait"):
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        assert holder(lock) is None
    finally:
        child.communicate()


def test_asking_who_holds_a_lock_takes_nothing_and_makes_nothing(tmp_path: Path) -> None:
    assert holder(tmp_path / "x.lock") is None
    assert list(tmp_path.iterdir()) == []


def test_a_database_has_one_lock_by_whatever_link_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert data_lock(tmp_path / "link" / "a.db") == data_lock(tmp_path / "real" / "a.db")
    assert data_lock(tmp_path / "real" / "b.db") != data_lock(tmp_path / "real" / "a.db")


def test_a_token_has_one_lock_that_only_this_user_can_open_and_that_hides_it() -> None:
    lock = token_lock("abc.def")
    assert lock == token_lock("abc.def") != token_lock("abc.deg")
    assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700
    assert "abc" not in str(lock)


def test_a_lock_folder_that_is_not_a_folder_of_ours_stops_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"signoff-{os.getuid()}").symlink_to(tmp_path)
    with pytest.raises(StartError, match="have it removed"):
        token_lock("abc.def")


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "x.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StartError, match="cannot be opened"), hold(tmp_path / "x.lock", what="it", advice="wait"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"
