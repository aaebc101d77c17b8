"""Runs inside the sandbox and tries what must not work there; see `selftest.py`.

Given to the Python inside on its standard input, so it imports nothing of ours. Its arguments are the names of the
variables it may find in the environment. Prints one JSON object: each promise, and what is wrong with it or "".
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path

CLONE_NEWUSER = 0x10000000
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts", "/dev/console")
SIZED = ("/tmp", "/dev/shm")  # noqa: S108 - the sandbox's own
FEW = 4


def environment() -> str:
    """Nothing but the variables it was given, in any process it can see."""
    seen: set[str] = set()
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            pairs = file.read_bytes().split(b"\0")
        except OSError:  # Ended meanwhile, or another user's, which is as good as clean.
            continue
        seen |= {pair.split(b"=")[0].decode("utf-8", "replace") for pair in pairs if pair}
    return " ".join(sorted(seen - set(sys.argv[1:]) - {"LC_CTYPE"}))


def network() -> str:
    """No way out."""
    names = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
    others = [name for name in names if name != "lo"]
    if others:
        return f"sees {' '.join(others)}"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return ""
    return "has a route"


def privileges() -> str:
    """No capabilities, and no way to get any."""
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    held = [name for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb") if int(status[name], 16)]
    return " ".join(held) or ("" if status["NoNewPrivs"] == "1" else "may gain privileges")


def namespaces() -> str:
    """No sandboxes within the sandbox, where it would have capabilities."""
    return "may be made" if ctypes.CDLL(None).unshare(CLONE_NEWUSER) == 0 else ""


def descriptors() -> str:
    """Nothing inherited but stdin, stdout and stderr."""
    listed = {int(name) for name in os.listdir("/proc/self/fd")}
    # The listing's own descriptor is closed again by now.
    return " ".join(str(fd) for fd in sorted(listed) if fd > 2 and os.path.exists(f"/proc/self/fd/{fd}"))


def machine_settings() -> str:
    """The kernel's settings are out of reach."""
    open_for_writing = []
    for name in ("kernel/core_pattern", "kernel/hostname", "vm/overcommit_memory", "fs/suid_dumpable"):
        try:
            os.close(os.open(f"/proc/sys/{name}", os.O_WRONLY))
        except OSError:
            continue
        open_for_writing.append(name)
    return " ".join(open_for_writing)


def writes() -> str:
    """Only the workspace and the temporary directories are writable, and the workspace is."""
    workspace = os.getcwd()
    mine = (workspace, *SIZED, *DEVICES)
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    wrong = [mount[4] for mount in mounts if "rw" in mount[5].split(",") and mount[4] not in mine]
    elsewhere = ("/", "/usr", "/etc", "/dev", "/proc", os.path.dirname(workspace))
    wrong += [directory for directory in elsewhere if directory not in mine and _can_write(directory)]
    return " ".join(wrong) or ("" if _can_write(workspace) else "the workspace is not writable")


def _can_write(directory: str) -> bool:
    name = os.path.join(directory, ".signoff-probe")
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False
    os.unlink(name)
    return True


def sizes() -> str:
    """What is memory has a size."""
    big = [name for name in SIZED if (at := os.statvfs(name)).f_blocks * at.f_frsize > 1 << 30]
    limits = (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE)
    unlimited = any(resource.getrlimit(limit)[1] == resource.RLIM_INFINITY for limit in limits)
    return " ".join(big) or ("a limit is missing" if unlimited else "")


def processes() -> str:
    """It sees only its own, and a limit on their number binds (it does not for root, whatever it is set to)."""
    seen = len([name for name in os.listdir("/proc") if name.isdigit()])
    if seen > FEW:
        return f"sees {seen}"
    if not _fork_until_refused(1):
        return "cannot start one"
    resource.setrlimit(resource.RLIMIT_NPROC, (FEW, FEW))
    started = _fork_until_refused(2 * FEW)
    return f"{started} with a limit of {FEW}" if started >= FEW else ""


def _fork_until_refused(most: int) -> int:
    gate_read, gate_write = os.pipe()
    children: list[int] = []
    try:
        while len(children) < most:
            child = os.fork()
            if child == 0:
                os.close(gate_write)
                os.read(gate_read, 1)
                os._exit(0)
            children.append(child)
    except BlockingIOError:
        pass
    finally:
        os.close(gate_write)
        os.close(gate_read)
        for child in children:
            os.waitpid(child, 0)
    return len(children)


PROMISES: dict[str, Callable[[], str]] = {
    "the environment is clean": environment,
    "there is no network": network,
    "there are no privileges": privileges,
    "no namespaces can be made": namespaces,
    "no descriptors are inherited": descriptors,
    "the machine's settings are read-only": machine_settings,
    "only the workspace is writable": writes,
    "sizes are limited": sizes,
    "processes are limited": processes,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: promise() for name, promise in PROMISES.items()}))
