"""Takes the pictures of docs/jobs.md anew: a fresh playground, and the walk that `tests/wire` tries as well.

PYTHONPATH=. .venv/bin/python docs/take_job_screenshots.py docs/images
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.async_api import async_playwright
from take_screenshot import CHROMIUM_FLAGS, ROOT, address

from tests.wire.job_walk import walk


async def main(folder: Path) -> None:
    """Start `signoff playground` in a new folder, walk through it, and write the pictures to `folder`."""
    with tempfile.TemporaryDirectory() as home:
        words = (sys.executable, "-m", "bot", "playground", "--no-browser", "--port", "0")
        env = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": str(ROOT)}
        program = await asyncio.create_subprocess_exec(*words, cwd=home, env=env, stdout=asyncio.subprocess.PIPE)
        try:
            await pictures(await address(program), folder)
        finally:
            program.terminate()
            await program.wait()


async def pictures(page_address: str, folder: Path) -> None:
    """The walk, with a picture at each of its stations."""
    async with async_playwright() as playwright:
        chromium = shutil.which("chromium") or "chromium"
        browser = await playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        page = await browser.new_page(viewport={"width": 1000, "height": 820})
        page.set_default_timeout(20_000)
        await page.goto(page_address)

        async def shot(name: str) -> None:
            await page.wait_for_timeout(1_000)  # let the last edits be drawn
            await page.screenshot(path=folder / f"{name}.png")

        await walk(page, shot)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
