"""What no rule may allow: programs that run whatever they are given, and arguments that are a program's text.

A rule that always allows `env` or `sh` allows everything (GHSA-6j27-pc5c-m8w8, GHSA-796m-2973-wc5q), and whether a
shell line is harmless cannot be told from its text (CVE-2025-66032, GHSA-g8r9-g2v8-jv6f). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.texts.text import say

_PROGRAMS = frozenset(
    """
    sh ash bash dash zsh ksh mksh fish csh tcsh yash busybox toybox pwsh powershell cmd command xonsh nu elvish rbash

    env sudo su doas runuser setpriv capsh pkexec nice ionice chrt taskset nohup setsid timeout time watch xargs
    parallel find fd entr script stdbuf unbuffer strace ltrace gdb lldb valgrind perf chroot unshare nsenter bwrap
    firejail proot fakeroot systemd-run at batch crontab flock start-stop-daemon ld.so ld-linux rlwrap expect socat
    nc ncat netcat screen tmux dtach abduco exec eval source coproc

    ssh sshpass mosh docker podman nerdctl kubectl oc lxc incus buildah ctr crictl machinectl flatpak snap vagrant

    python pypy perl ruby irb node nodejs deno bun php lua luajit tclsh wish guile racket sbcl clisp ecl erl elixir
    iex escript ghci runghc runhaskell ocaml julia r rscript octave scala groovy java jshell kotlin swift awk gawk
    mawk nawk sed jq bc dc m4 ed ex vi vim nvim view emacs nano sqlite psql mysql mongosh redis-cli gnuplot

    make gmake cmake ninja just task meson bazel ant mvn gradle rake npm npx pnpm pnpx yarn corepack pip pipx uv uvx
    poetry hatch tox nox conda mamba gem bundle cargo go dotnet composer apt apt-get dpkg yum dnf rpm apk brew nix
    nix-shell guix pre-commit ansible ansible-playbook terraform
    """.split()  # noqa: SIM905 - so many words are easier to read as words
)
"""Shells; what starts the program named in its arguments; other machines and containers; interpreters; builders and
package managers, which run what a file or a package says."""
_VERSION = re.compile(r"(?:[-.]?\d+(?:\.\d+)*)?(?:\.exe)?$", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_.+-]+", re.ASCII)
_SYSTEM = ("/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/bin/", "/sbin/")
_TEXTS = frozenset(
    """
    command commands cmd cmds commandline cmdline shell sh bash powershell script scripts code program python
    javascript js snippet argv exec executable sql
    """.split()  # noqa: SIM905 - as above
)


def objection(argv: tuple[str, ...]) -> str | None:
    """Why a rule may not allow this exact command, or None."""
    program = argv[0] if argv else ""
    name = program.rpartition("/")[2]
    if not _NAME.fullmatch(name):
        return say("rules.no_program", program=repr(program))
    if "/" in program and (not program.startswith(_SYSTEM) or ".." in program):
        return say("rules.outside", program=repr(program))
    lower = name.lower()
    if lower in _PROGRAMS or _VERSION.sub("", lower) in _PROGRAMS:
        return say("rules.wrapper", name=name)
    return None


def program_texts(schema: Mapping[str, Any]) -> tuple[frozenset[str], str | None]:
    """Of a tool's arguments: those that are a list of words of a command, and one that is a program's text, if any.

    Looked up by name, since a schema says no more; what hides deeper, or in a form that cannot be told, counts as text.
    """
    lists = set()
    for name, one in _properties(schema):
        if _plain(name) not in _TEXTS:
            continue
        if isinstance(one, Mapping) and one.get("type") == "array":
            lists.add(name)
        else:
            return frozenset(), name
    for part in _parts(schema):
        for name, _ in _properties(part):
            if part is not schema and _plain(name) in _TEXTS:
                return frozenset(), name
    return frozenset(lists), None


def text_in(arguments: Mapping[str, Any], *, but: frozenset[str]) -> str | None:
    """The name of a given argument, however deep, that is a program's text by its name, other than those of `but` at
    the top; None if there is none. A schema need not name everything that it takes."""
    for depth, part in enumerate(_parts(arguments)):
        for name in part:
            if _plain(str(name)) in _TEXTS and (depth or name not in but):
                return str(name)
    return None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _properties(schema: Any) -> Iterator[tuple[str, Any]]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if isinstance(properties, Mapping):
        yield from ((str(name), one) for name, one in properties.items())


def _parts(node: Any) -> Iterator[Any]:
    if isinstance(node, Mapping):
        yield node
        for one in node.values():
            yield from _parts(one)
    elif isinstance(node, list):
        for one in node:
            yield from _parts(one)
