"""Run as a script before the bot: asks Linux to end this process when its parent ends, then becomes the bot.

An orphaned bot would hold the data and keep the next start out. The wish survives `exec`. Not done between
fork and exec in the parent, because Python warns of that in a process with threads.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
"""From <sys/prctl.h>."""


def main(parent: int, command: list[str]) -> None:
    """Tie this process to the process `parent`, and become `command`."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It ended before the system was asked.
        sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606 - the whole point; a list, no shell


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
