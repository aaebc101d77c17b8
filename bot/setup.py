"""The README's two commands: everything from a fresh clone with nothing but Python.

    python3 -m bot.setup run         install, then start `signoff` (the playground, when there is no token)
    python3 -m bot.setup test        install what the tests need too, then run them
    python3 -m bot.setup install     install only; `--dev` with what the tests need

Runs before anything is installed, so it uses the standard library alone, and no syntax newer than the sentence about
a Python that is too old. What it makes is `.venv` in this checkout; nothing else on the machine is touched.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"
STAMP = VENV / "signoff-installed.txt"

# Every run but the slow tests, and those over real sockets, which CI runs apart. What the machine lacks (a browser, a
# sandbox) is skipped with its reason. On every core up to four: beyond that real processes and browsers get into each
# other's way.
TESTS = ("-m", "not slow and not wire", "-n", "auto", "--maxprocesses", "4", "--dist", "worksteal")


class SetupError(Exception):
    """It cannot be installed here; `str()` is a sentence with the fix."""


def main(arguments: list[str]) -> int:
    """Do what the command line says. Returns the exit code; `run` and `test` become the started program instead."""
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command not in {"run", "test", "install"}:
        say(__doc__ or "")
        return 0 if command in {"-h", "--help"} else 2
    try:
        use_new_enough_python(arguments)
        install(dev=command == "test" or (command == "install" and "--dev" in rest))
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if command == "run":
        become([str(VENV / "bin" / "signoff"), *rest])
    if command == "test":
        become([str(python()), "-m", "pytest", *TESTS, *rest])
    say(f"Ready. Start it with {(VENV / 'bin' / 'signoff').relative_to(ROOT)}")
    return 0


def become(words: list[str]) -> NoReturn:
    """Go on as another program, in this checkout."""
    os.chdir(ROOT)
    sys.stdout.flush()
    os.execv(words[0], words)  # noqa: S606 - our own program, by its full path


def say(text: str) -> None:
    """Tell the person at the terminal, before the children print anything."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def python() -> Path:
    """The Python of the environment."""
    return VENV / "bin" / "python"


def use_new_enough_python(arguments: list[str]) -> None:
    """Return on Python >= 3.11; else go on with one that is there under its own name, or raise `SetupError`."""
    if sys.version_info[:2] >= OLDEST:
        return
    for minor in range(OLDEST[1] + 3, OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.run([found, "-c", ""], check=False, capture_output=True).returncode == 0:
            become([found, "-m", "bot.setup", *arguments])
    raise SetupError(
        "Signoff needs Python 3.11 or newer, and this is {}.{}; install one, then run the same with it, "
        "for example: python3.11 -m bot.setup {}".format(*sys.version_info[:2], " ".join(arguments))
    )


def install(*, dev: bool) -> None:
    """Make `.venv` hold this checkout and what it needs. Does nothing when it already does."""
    wanted = fingerprint()
    have = STAMP.read_text(encoding="utf-8").split() if STAMP.exists() else []
    if have[1:] == [wanted] and (have[0] == "dev" or not dev) and works(python()):
        return
    extra = "dev" if dev or have[:1] == ["dev"] else "play"
    if not works(python()):
        say(f"Making an environment in {VENV.relative_to(ROOT)} ...")
        make_environment()
    size = "about 430 MB" if extra == "dev" else "about 260 MB"
    say(f"Installing what Signoff needs ({size}, a minute or two the first time) ...")
    STAMP.unlink(missing_ok=True)
    pip("install", "--constraint", str(CONSTRAINTS), "--editable", f"{ROOT}[{extra}]")
    STAMP.write_text(f"{extra} {wanted}\n", encoding="utf-8")
    say("Installed.")


def fingerprint() -> str:
    """Changes with whatever decides what is installed: the project file, the pins, the Python, the place."""
    digest = hashlib.sha256()
    for part in ((ROOT / "pyproject.toml").read_bytes(), CONSTRAINTS.read_bytes(), sys.version.encode(), bytes(ROOT)):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def works(interpreter: Path) -> bool:
    """Whether this Python starts and is new enough. A moved checkout or a removed Python leaves one that does not."""
    check = f"import sys; sys.exit(sys.version_info[:2] < {OLDEST} or not sys.prefix.startswith({str(VENV)!r}))"
    try:
        return subprocess.run([str(interpreter), "-c", check], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def make_environment() -> None:
    """A new, empty `.venv` with pip in it. Raises `SetupError`."""
    plain = [sys.executable, "-m", "venv", "--clear"]
    done = subprocess.run([*plain, str(VENV)], check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return
    # Debian and Ubuntu take pip out of `venv` (package python3-venv); a pip that is there already can do it.
    has_pip = subprocess.run([sys.executable, "-m", "pip", "--version"], check=False, capture_output=True)
    if has_pip.returncode == 0:
        bare = subprocess.run([*plain, "--without-pip", str(VENV)], check=False, capture_output=True)
        if bare.returncode == 0:
            return
    shutil.rmtree(VENV, ignore_errors=True)  # half made, it would pass for a whole one the next time
    detail = (done.stdout + done.stderr).strip().splitlines()
    raise SetupError(
        "This Python cannot make an environment with pip in it. On Debian or Ubuntu: "
        f"apt install python3-venv; elsewhere install Python's venv and pip. ({detail[-1] if detail else 'no detail'})"
    )


def pip(*arguments: str) -> None:
    """Run pip on `.venv`, its progress in view. Raises `SetupError`."""
    own = subprocess.run([str(python()), "-m", "pip", "--version"], check=False, capture_output=True).returncode == 0
    words = [str(python()), "-m", "pip"] if own else [sys.executable, "-m", "pip", "--python", str(python())]
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    if subprocess.run([*words, *arguments], check=False, env=env, cwd=ROOT).returncode != 0:
        raise SetupError(
            "The installation did not go through; pip says why above. Most often the network is the reason: "
            "run the same command again, it goes on where it was."
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
