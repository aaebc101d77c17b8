"""A warm process: every life is a fork of it, so that none has to wait for imports.

    python -m tests.crash.server      one JSON line per life on stdin, its exit code on stdout

A life is a process of its own, which shares nothing with others but the files in its folder, and is killed like any
other. (The program keeps nothing in globals, so that the one life lived for warming up leaves no trace.)
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from tests.crash.scenarios import SCENARIOS
from tests.crash.stage import live
from tests.histories import life as history


def life(folder: Path, name: str, moment: str | None) -> Coroutine[Any, Any, None]:
    """A life in a scenario, or (`history 17`) in the history of a seed."""
    kind, _, seed = name.partition(" ")
    if kind == "history":
        return history.live(folder, int(seed), moment)
    return live(folder, SCENARIOS[name], moment)


def fork(folder: Path, scenario: str, moment: str | None) -> int:
    """Begin a life; its process id. An error of it is left in the file `error`."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        asyncio.run(life(folder, scenario, moment))
        code = 0
    except BaseException:  # noqa: BLE001 - whatever ends a life by itself is an error to be read by the test
        (folder / "error").write_text(traceback.format_exc())
    finally:
        os._exit(code)


def main() -> None:
    """Serve until the input ends."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live(Path(folder), SCENARIOS["approve"], None))
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        pid = fork(Path(asked["folder"]), asked["scenario"], asked.get("moment"))
        if (after := asked.get("kill_after")) is not None:
            time.sleep(after)
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
