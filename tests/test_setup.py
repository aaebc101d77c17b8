"""The README's commands, as far as they can be tried without installing everything anew; the whole is `slow`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def setup(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bot.setup", *words], cwd=root, capture_output=True, text=True, check=False
    )


def test_without_a_command_it_says_what_there_is() -> None:
    done = setup(ROOT)
    assert done.returncode == 2
    assert "python3 -m bot.setup run" in done.stdout
    assert setup(ROOT, "--help").returncode == 0


def test_it_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    code = "import sys, bot.setup; print({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() in {"{'bot'}", "{'bot', '__main__'}", "{'__main__', 'bot'}"}


def test_every_pin_is_one_version_and_nothing_of_ours() -> None:
    lines = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(line.count("==") == 1 and " " not in line for line in lines)
    assert not [line for line in lines if line.startswith("signoff")]


@pytest.mark.slow
def test_a_fresh_clone_installs_starts_and_does_not_install_twice(tmp_path: Path) -> None:
    clone = tmp_path / "signoff"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    first = setup(clone, "install")
    assert first.returncode == 0, first.stderr
    assert "Installing" in first.stdout
    second = setup(clone, "install")
    assert (second.returncode, "Installing" in second.stdout) == (0, False)
    started = subprocess.run([clone / ".venv/bin/signoff", "--version"], capture_output=True, text=True, check=True)
    assert started.stdout.startswith("signoff 0.")
    size = sum(file.lstat().st_size for file in (clone / ".venv").rglob("*"))
    assert size < 400_000_000
