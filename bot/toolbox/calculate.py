"""The tool `calculate`: the small tier of `execute_code`, for arithmetic and text, with nothing within its reach.

The program runs in Monty, an interpreter of Python's core that has no file, network, process or module of this
machine to give. It is the interpreter's own program that runs, one process for one call, never a library in the
bot: what breaks the interpreter breaks that process. Its limits are always set; Linux holds the process to limits of
its own besides, and ends it with the bot. Sessions are never saved, so none that somebody tampered with is loaded.

It takes no namespaces, so it works where the sandbox does not.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import NothingRan
from bot.texts.text import say
from bot.toolbox.child import Ended, run_child
from bot.toolbox.commands import MOST_CHARACTERS, without_nul
from bot.toolbox.handed import unnamed
from bot.toolbox.sandbox import SYSTEM_PATH

MIB = 1_048_576
AT_ONCE = 2
"""How many calls of it work at the same time; the others wait their turn."""
PROFILE = "a calculator: no files, no network, no programs, nothing is kept"

_TIMED = re.compile(r"^\d+(?:\.\d+)?(?:ns|[µμ]s|ms|s) ❯ ", re.MULTILINE)
"""How the interpreter begins to tell, on stderr, what the last line came to: with the time it took."""

_BEYOND = re.compile(
    r"^(?:NotImplementedError|ModuleNotFoundError|PermissionError|AttributeError: module )|unknown external function"
    r"|is not supported in this environment",
    re.MULTILINE,
)
"""How the interpreter says that it has no such thing, rather than that the program is wrong."""
BEYOND = "calculate has nothing of the kind; what needs it is for execute_code, which a person has to approve."


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What one calculation may use. Each is given to the interpreter by name; one that it does not know stops it."""

    seconds: float = 5.0
    memory: int = 64 * MIB
    recursion: int = 300
    suspensions: int = 100
    """How often the program may ask its host for something, all of which is refused."""
    collect_every: int = 10_000
    """Allocations between two collections of garbage."""
    kept_output: int = 20_000
    output: int = 4 * MIB
    address_space: int = 1024 * MIB
    """Of the process, should the interpreter miscount; its own code takes a tenth of that."""

    def words(self) -> list[str]:
        """The interpreter's options."""
        return [
            f"--max-feed-duration={self.seconds}",
            f"--max-turn-duration={self.seconds}",
            f"--max-memory={self.memory}",
            f"--max-recursion-depth={self.recursion}",
            f"--max-suspensions={self.suspensions}",
            f"--gc-interval={self.collect_every}",
            "--max-total-sleep=0",
            "--max-sleep=0",
        ]


class CalculateArguments(Arguments):
    """What `calculate` takes."""

    code: Annotated[str, Field(max_length=MOST_CHARACTERS), AfterValidator(without_nul)]
    """A small Python program; what its last line comes to is shown as well."""


def interpreter() -> Path | None:
    """The interpreter's program as it was installed with this one, or None. Never one that PATH happens to name."""
    found = Path(sysconfig.get_path("scripts")) / "monty"
    return found if found.is_file() else None


def make_calculate(*, bounds: Bounds | None = None, find: Callable[[], Path | None] = interpreter) -> Tool:
    """The tool. `find` says where the interpreter is, each time anew."""
    limits = bounds or Bounds()
    room = asyncio.Semaphore(AT_ONCE)

    def missing() -> str:
        return say("tools.no_interpreter") if find() is None else ""

    async def body(arguments: CalculateArguments, call: Call) -> ToolOutcome:
        program = find()
        if program is None:
            raise NothingRan(missing())
        async with room:
            return _told(await _run(program, arguments.code, limits), limits)

    return Tool(
        name="calculate",
        description=(
            "Calculate with a small Python program that touches nothing. It has the core of the language and parts of "
            "math, re, json, datetime, decimal, itertools, functools, collections, bisect, random, hashlib and base64; "
            "no files, no network, no processes, no input, no other modules, no yield; times are UTC; nothing is kept "
            "between calls. "
            "Returns what it prints and what its last line comes to. It is stopped after "
            f"{limits.seconds:g} seconds or at {limits.memory // MIB} MiB. Use it for arithmetic, dates and text; for "
            "anything that needs files or more of Python, use execute_code."
        ),
        arguments=CalculateArguments,
        body=body,
        profile=PROFILE,
        touches_nothing=True,
        missing=missing,
    )


async def works(tool: Tool) -> str:
    """Try it. Why it does not work here, as a sentence, or ''."""
    call = Call(id="self-test", run="", conversation="", place="", requester="", approved=False)
    try:
        outcome: ToolOutcome = await tool.body(CalculateArguments(code="6 * 7"), call)
    except NothingRan as signal:
        return str(signal)
    return "" if outcome.text == "42" else outcome.text


async def _run(program: Path, code: str, limits: Bounds) -> Ended:
    with unnamed(code.encode()) as handle:
        shown = f"/dev/fd/{handle.fileno()}"
        ended = await run_child(
            [*_fence(limits), str(program), *limits.words(), shown],
            env={"LANG": "C.UTF-8"},
            cwd="/",
            stdin=None,
            pass_fds=(handle.fileno(),),
            timeout=limits.seconds + _TO_START,
            keep=limits.kept_output,
            most=limits.output,
            buried=_nothing_else,
            errors_apart=True,
        )
    if ended.returncode == _BAD_OPTION:
        raise NothingRan(f"the interpreter does not take its limits: {ended.errors[:300]}")
    return replace(ended, errors=ended.errors.replace(shown, "program.py"))


_TO_START = 10.0
"""Seconds more until the process is ended from outside: it has to come up first, on a busy machine too. One that works
without heeding its own limit is ended by the kernel's before that, where there is one."""
_OUT_OF_TIME = (signal.SIGKILL, signal.SIGXCPU)
"""What the kernel ends a process with that has used its time (setrlimit(2), RLIMIT_CPU)."""
_BAD_OPTION = 2
"""What the interpreter exits with when it does not know an option; a program of its own never ends so."""


def _fence(limits: Bounds) -> list[str]:
    """What the kernel holds the process to: limits.

    PR_SET_PDEATHSIG (prctl(2)) ends it with the bot, whatever ends that.
    """
    if not sys.platform.startswith("linux"):
        return []
    words = {name: shutil.which(name, path=SYSTEM_PATH) for name in ("setpriv", "prlimit")}
    if lacking := [name for name, path in words.items() if path is None]:
        raise NothingRan(f"{lacking[0]} (of util-linux) is not installed, which the calculator is held by")
    seconds = int(limits.seconds) + 2
    return [
        *(str(words["setpriv"]), "--pdeathsig", "KILL", "--no-new-privs"),
        *(str(words["prlimit"]), f"--as={limits.address_space}", f"--cpu={seconds}", "--fsize=0", "--nofile=32"),
        *("--core=0", "--"),
    ]


async def _nothing_else() -> None:
    """The interpreter starts no processes."""


def _told(ended: Ended, limits: Bounds) -> ToolOutcome:
    # What it printed, then what the interpreter says of the last line; a value of None says nothing.
    said = _TIMED.sub("", ended.errors, count=1).strip("\n")
    parts = [ended.output.strip("\n"), "" if ended.returncode == 0 and said == "None" else said]
    text = "\n".join(part for part in parts if part) or "(no output)"
    if ended.flooded:
        return ToolOutcome(text=f"{text}\nIt printed too much and was stopped.", ok=False)
    long = ended.duration_ms >= limits.seconds * 1000
    if ended.timed_out or (long and -ended.returncode in _OUT_OF_TIME):
        return ToolOutcome(text=f"{text}\nIt took longer than {limits.seconds:g} s and was stopped.", ok=False)
    if ended.returncode < 0:
        return ToolOutcome(text=f"{text}\nThe calculator broke (signal {-ended.returncode}).", ok=False)
    if ended.returncode and _BEYOND.search(said):
        return ToolOutcome(text=f"{text}\n{BEYOND}", ok=False)
    return ToolOutcome(text=text, ok=ended.returncode == 0)
