"""Which files a call depends on, and marks by which a change of them is noticed.

A command names a script, and the script does the work: whoever approved `sh deploy.sh` approved the script as it was.
So its content is bound to the approval, and so is the content that a `write_file` would replace.

Best effort. Bound is the script that an interpreter is given, or that is called by its path, in each plain command of a
line. Not bound is what a script reads or imports, a module (`python3 -m`), the rules of `make`, what stands behind a
`cd`, in a variable or in a substitution, what a link points to, and what changes between the check and the first line.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from bot.toolbox.beneath import READ, Refused, components, directory, ordinary, refusals

ABSENT = "absent"
NOT_ORDINARY = "not an ordinary file"
MOST_HASHED = 64_000_000
"""Bytes. Of a larger file the size and the time of its last change are the mark."""

_INTERPRETERS = {
    re.compile(r"(.*/)?(a|ba|da|k|z)?sh|\.|source"): re.compile(r"-[A-Za-z]*c"),
    re.compile(r"(.*/)?(python|pypy)[\d.]*"): re.compile(r"-[A-Za-z]*[cm]"),
    re.compile(r"(.*/)?(perl|ruby|node|php|lua|deno|bun|Rscript)[\d.]*"): re.compile(r"-[A-Za-z]*[er]"),
}
"""Who runs scripts, and the option behind which no script follows: a program text, or a module."""

_BEFORE = re.compile(r"[A-Za-z_]\w*=.*|-.*|[\d.]+[smhd]?|!|\{|then|do|else|exec|env|nohup|time|nice|command|timeout")
"""Words that may stand before a command: assignments, what runs the command behind it, and the shell's own."""

_PLAIN = re.compile(r"[^$`*?\[\]{}()<>~\\]+")


def file_mark(workspace: Path, path: str) -> str:
    """What tells this content of a file below the workspace from any other."""
    try:
        *parents, name = components(path) or ("",)
        with directory(workspace, parents) as parent, refusals(path), _opened(parent, name) as file:
            found = ordinary(os.fstat(file.fileno()), path)
            if found.st_size > MOST_HASHED:
                return f"{found.st_size} bytes, changed at {found.st_mtime_ns}"
            return f"{found.st_size} bytes, sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
    except Refused as refusal:
        return ABSENT if refusal.missing else NOT_ORDINARY


def _opened(parent: int, name: str) -> BufferedReader:
    return open(os.open(name, READ, dir_fd=parent), "rb")


def scripts_of(command: str, workspace: Path) -> dict[str, str]:
    """The scripts that a command line names, by path below the workspace, with their marks."""
    found: dict[str, str] = {}
    for words in _plain_commands(command):
        for word in _candidates(words):
            path = word.removeprefix(f"{workspace}/").removeprefix("./")
            if not _PLAIN.fullmatch(path) or not _is_below(path):
                continue
            found[path] = file_mark(workspace, path)
            if found[path] not in {ABSENT, NOT_ORDINARY}:
                break  # this is the script; what follows are its arguments
    return found


def _is_below(path: str) -> bool:
    try:
        return bool(components(path))
    except Refused:
        return False


def _plain_commands(command: str) -> Iterator[list[str]]:
    """The words of each plain command, up to a `cd`, or to a quote that is not closed."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    try:
        for token in lexer:
            if token.strip(";&|\n"):
                words.append(token)
                continue
            yield words
            if words[:1] == ["cd"]:
                return
            words = []
    except ValueError:
        return
    yield words


def _candidates(words: list[str]) -> Iterator[str]:
    """The words of a plain command that may name its script, the likeliest first."""
    rest = iter(words)
    called = next((word for word in rest if not _BEFORE.fullmatch(word)), "")
    no_script = next((option for name, option in _INTERPRETERS.items() if name.fullmatch(called)), None)
    if no_script is None:
        if "/" in called:
            yield called
        return
    for word in rest:
        if no_script.fullmatch(word):
            return
        if not word.startswith("-"):
            yield word
