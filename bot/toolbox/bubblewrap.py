"""The bubblewrap recipe: what a sandboxed process can see, and what it may use up.

A pure function from paths and limits to a command line, so that the whole of it can be read in one go. Every
option is there for something that was seen to go wrong without it; bwrap(1) has the meaning of each.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MIB = 1_048_576

USER = 1000
"""The user's id as seen inside."""

FORBIDDEN_WORKSPACES = frozenset(
    f"/{name}" for name in (
        "", "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "proc", "root", "run", "sbin", "sys",
        "tmp", "usr", "var",
    )
)  # fmt: skip
"""Directories that belong to the system: as a workspace they would make it writable, or hide the sandbox's own."""

SYSTEM_FILES = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
)
"""All of the machine's /etc that is shown: what programs need to start, and nothing that names people or keys."""

STAGE = "/tmp"  # noqa: S108 - a place in a private mount namespace, not a file in a shared directory
STAGED_WORKSPACE = f"{STAGE}/workspace"
STAGED_PYTHON = f"{STAGE}/python"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one call may use. Sizes in bytes."""

    processes: int = 128
    """Processes and threads at once."""
    memory: int = 4096 * MIB
    """Address space of each process. Nothing here bounds their sum: that takes a control group."""
    file: int = 512 * MIB
    """Size of each file in the workspace, whose disk has no other limit."""
    open_files: int = 256
    temporary: int = 64 * MIB
    """The temporary directory, which is memory."""
    shared_memory: int = 16 * MIB
    """Shared memory between processes."""
    kept_output: int = 32_768
    """How much output is kept, half from the beginning and half from the end."""
    output: int = 8 * MIB
    """After this much output the call is stopped."""


def own_python() -> Path | None:
    """Where this program's Python lives, when that is not below /usr, so that it can be shown inside."""
    prefix = Path(sys.base_prefix).resolve()
    return None if prefix.is_relative_to("/usr") else prefix


def identity(workspace: Path, *, network: bool = False) -> dict[str, bytes]:
    """The files user and host look-ups read: the real ones would name the machine's people."""
    hosts = "files dns" if network else "files"
    users = (
        "root:x:0:0:root:/:/usr/sbin/nologin",
        f"signoff:x:{USER}:{USER}:Signoff:{workspace}:/bin/sh",
        "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin",
    )
    return {
        "/etc/passwd": "\n".join((*users, "")).encode(),
        "/etc/group": f"root:x:0:\nsignoff:x:{USER}:\nnogroup:x:65534:\n".encode(),
        "/etc/hosts": b"127.0.0.1 localhost sandbox\n::1 localhost\n",
        "/etc/nsswitch.conf": f"passwd: files\ngroup: files\nhosts: {hosts}\n".encode(),
    }


def command_line(
    argv: Sequence[str],
    *,
    bwrap: str,
    workspace: Path,
    python: Path | None,
    limits: Limits,
    data: Mapping[str, int],
    status_fd: int,
    staged: bool,
    network: bool = False,
) -> list[str]:
    """`argv` in a sandbox of its own, with `workspace` (a real path) writable at its own path.

    `data` maps paths inside to descriptors whose bytes appear there, read-only. `staged`: the command runs below
    `as_user`, which shows the workspace and Python's home elsewhere. `network`: it shares the machine's, and nothing
    else.
    """
    words = [bwrap, "--unshare-all", "--unshare-user", "--disable-userns"]
    words += ["--uid", str(USER), "--gid", str(USER), "--hostname", "sandbox"]
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        # Links on systems with a merged /usr, directories on the others.
        if Path(name).is_symlink():
            words += ["--symlink", str(Path(name).readlink()), name]
        elif Path(name).is_dir():
            words += ["--ro-bind", name, name]
    if network:
        words += ["--share-net"]
    for name in (*SYSTEM_FILES, *(("/etc/resolv.conf",) if network else ())):
        words += ["--ro-bind-try", name, name]
    # Below /proc/sys lie the machine's own settings; /dev and / are memory without a limit unless read-only.
    words += ["--proc", "/proc", "--remount-ro", "/proc"]
    words += ["--dev", "/dev", "--size", str(limits.shared_memory), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    words += ["--size", str(limits.temporary), "--tmpfs", "/tmp"]  # noqa: S108
    for path, fd in data.items():
        words += ["--ro-bind-data", str(fd), path]
    if python is not None:
        words += ["--ro-bind", STAGED_PYTHON if staged else str(python), str(python)]
    words += ["--bind", STAGED_WORKSPACE if staged else str(workspace), str(workspace)]
    words += ["--chdir", str(workspace), "--remount-ro", "/", "--json-status-fd", str(status_fd)]
    # Set inside, where they count this sandbox's processes and not everything its user runs.
    words += ["/usr/bin/prlimit", f"--nproc={limits.processes}", f"--as={limits.memory}", f"--fsize={limits.file}"]
    words += [f"--nofile={limits.open_files}", "--core=0", "--", *argv]
    return words


def as_user(
    words: Sequence[str],
    *,
    bwrap: str,
    user: int,
    group: int,
    workspace: Path,
    python: Path | None,
    status_fd: int,
) -> list[str]:
    """For a bot that runs as root: `words` run as an ordinary user of the machine.

    Limits on processes do not bind root, and root can write below /proc/sys, so root is given up *before* the
    sandbox is made. That user may not be able to reach the workspace (below /root, say), so root first shows it,
    and Python's home, at a place everybody can reach, in a mount namespace of its own.
    """
    # A PID namespace here too: bubblewrap gives up its capabilities, and root without them may not signal another
    # user's processes, not even by the wish to die with the parent. The end of a namespace needs no permission.
    stage = [bwrap, "--unshare-pid", "--die-with-parent", "--info-fd", str(status_fd)]
    stage += ["--dev-bind", "/", "/", "--tmpfs", STAGE]
    stage += ["--bind", str(workspace), STAGED_WORKSPACE]
    if python is not None:
        stage += ["--ro-bind", str(python), STAGED_PYTHON]
    # Its /proc is not made by `--proc`, which covers parts of it: the kernel then refuses the inner sandbox one.
    stage += ["--", "/bin/sh", "-ec", 'mount -t proc proc /proc; exec "$@"', "sh"]
    return [*stage, "/usr/bin/setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--", *words]
