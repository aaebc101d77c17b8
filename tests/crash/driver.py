"""One life in a freshly started interpreter: `python -m tests.crash.driver FOLDER SCENARIO [MOMENT]`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.crash.scenarios import SCENARIOS
from tests.crash.stage import live

if __name__ == "__main__":
    folder, scenario, *moment = sys.argv[1:]
    asyncio.run(live(Path(folder), SCENARIOS[scenario], moment[0] if moment else None))
