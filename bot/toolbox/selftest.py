"""Does the sandbox keep its promises on this machine? Asked from inside, before anything else runs there.

Kernels, distributions and containers differ in what they allow, and bubblewrap in its versions. So nothing
is concluded from versions: a probe in the sandbox tries what must not work.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bot.errors import NothingRan
from bot.texts.text import Text, say

PROBE = Path(__file__).with_name("probe.py")
SECONDS = 20.0
MISSING = say("sandbox.missing")
_RUNS = "a program runs in it"
_LIMITS = {"sizes are limited", "processes are limited", "memory and files are limited"}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One promise, and whether it is kept."""

    name: str
    holds: bool
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class SandboxReport:
    """What the self-test found."""

    works: bool
    """Commands may run."""
    reason: str = ""
    """A sentence: why they may not and what to do about it, or what is given up."""
    checks: tuple[Check, ...] = ()


BARE = SandboxReport(works=True, reason="commands run without a sandbox, because the settings say so")


class _Result(Protocol):
    @property
    def output(self) -> str: ...
    @property
    def exit_code(self) -> int | None: ...


class Run(Protocol):
    """`Sandbox.run` without the self-test before it."""

    async def __call__(
        self,
        argv: Sequence[str],
        *,
        workspace: Path,
        timeout: float,
        stdin_data: bytes | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> _Result:
        """See `Sandbox.run`."""
        ...


async def examine(run: Run, *, python: str, environment: Sequence[str]) -> SandboxReport:
    """Try the sandbox in a workspace of its own. Never raises for what it finds."""
    with tempfile.TemporaryDirectory(prefix="signoff-") as name:
        workspace = Path(name).resolve()
        try:
            probed = await run(
                [python, "-I", "-S", "-", *environment],
                workspace=workspace,
                timeout=SECONDS,
                stdin_data=PROBE.read_bytes(),
            )
            # Floods its output, so it is stopped; its grandchild is in a session of its own.
            flood = "readlink /proc/self/ns/pid; setsid sleep 1000 & exec yes"
            stopped = await run(["/bin/sh", "-c", flood], workspace=workspace, timeout=SECONDS)
        except NothingRan as refusal:
            return SandboxReport(works=False, reason=refusal.args[0])
    checks = (*_told(probed), _nothing_left(stopped))
    broken = [check for check in checks if not check.holds]
    if not broken:
        return SandboxReport(works=True, checks=checks)
    named = "; ".join(f"{check.name} ({check.detail})" if check.detail else check.name for check in broken)
    reason = say("sandbox.broken", how=_how_to(broken), broken=named)
    return SandboxReport(works=False, reason=reason, checks=checks)


def _how_to(broken: Sequence[Check]) -> Text:
    """What helps against what is broken."""
    names = {check.name for check in broken}
    if _RUNS in names:
        return say("sandbox.fix_program")
    return say("sandbox.fix_limits") if names <= _LIMITS else say("sandbox.fix_other")


def _told(probed: _Result) -> tuple[Check, ...]:
    if probed.exit_code != 0:
        return (Check(name=_RUNS, holds=False, detail=probed.output.strip()[-300:]),)
    found: dict[str, str] = json.loads(probed.output)
    return (
        Check(name=_RUNS, holds=True),
        *(Check(name=name, holds=not trouble, detail=trouble[:200]) for name, trouble in found.items()),
    )


def _nothing_left(stopped: _Result) -> Check:
    """Whether a process is still in the PID namespace that the stopped command named in its first line."""
    namespace = stopped.output.split("\n", 1)[0]
    left = 0
    for process in Path("/proc").glob("[0-9]*/ns/pid"):
        try:
            if os.readlink(process) == namespace:
                # The state follows the name, which is in brackets; Z has ended and waits to be counted (proc(5)).
                left += process.parents[1].joinpath("stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:  # Somebody else's, or gone.
            continue
    named = namespace.startswith("pid:[")
    return Check(
        name="a stopped command leaves no process behind",
        holds=named and not left and stopped.exit_code is None,
        detail=f"{left} left" if named else "it could not be told",
    )


def advice(said: str) -> Text:
    """What to do about a sandbox that could not be set up, from what bubblewrap said about it."""
    if "Unknown option" in said:
        return say("sandbox.too_old")
    signs = ("namespace", "uid map", "RTM_NEWADDR", "Operation not permitted", "Permission denied")
    last = said.strip().rsplit("\n", 1)[-1]
    if any(sign in said for sign in signs):
        return say("sandbox.denied", said=last)
    return say("sandbox.not_set_up", said=last)
