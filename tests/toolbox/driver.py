"""A process that runs one command in a sandbox and prints what came of it: for tests that need another process.

Its one argument is a JSON object: `command`, `workspace`, and what else `Sandbox` and `run` take.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

from bot.errors import NothingRan
from bot.toolbox.sandbox import Sandbox


async def main(command: str, workspace: str, *, bare: bool = False, timeout: float = 20.0) -> None:
    sandbox = Sandbox(bare=bare)
    try:
        result = await sandbox.run(["/bin/sh", "-c", command], workspace=Path(workspace), timeout=timeout)
    except NothingRan as reason:
        sys.stdout.write(json.dumps({"nothing_ran": str(reason)}))
    else:
        sys.stdout.write(json.dumps(asdict(result)))


if __name__ == "__main__":
    asyncio.run(main(**json.loads(sys.argv[1])))
