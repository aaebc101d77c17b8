"""What this program prints, with every known secret masked on its way out: results, usage, and errors of any kind."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from bot.redact import Redactor


class MaskedStream:
    """A text stream that hands on whole lines: a secret that is written in two pieces is found all the same."""

    def __init__(self, behind: TextIO, redactor: Redactor) -> None:
        self._behind = behind
        self._redactor = redactor
        self._held = ""

    def write(self, text: str) -> int:
        """Take a piece; what ends in a newline goes on at once, as one."""
        held = self._held + text
        done = held.rfind("\n") + 1
        self._held = held[done:]
        if done:
            self._behind.write(self._redactor.mask(held[:done]))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        """Take several pieces."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Hand on what is there, a line that is not finished too."""
        held, self._held = self._held, ""
        if held:
            self._behind.write(self._redactor.mask(held))
        self._behind.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


@contextmanager
def masked_output(redactor: Redactor) -> Iterator[TextIO]:
    """Mask what is printed to stdout and stderr meanwhile. Gives the plain stderr, for logs that are masked already."""
    out, err = sys.stdout, sys.stderr
    masked = [MaskedStream(out, redactor), MaskedStream(err, redactor)]
    sys.stdout, sys.stderr = masked[0], masked[1]
    try:
        yield err
    finally:
        sys.stdout, sys.stderr = out, err
        for stream in masked:
            with contextlib.suppress(OSError, ValueError):  # nobody reads on, or the stream is closed
                stream.flush()
