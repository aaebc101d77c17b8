"""Takes the README's picture anew: a fresh playground, a real request, Ana's approval, and Chromium's screenshot of it.

.venv/bin/python docs/take_screenshot.py docs/images/playground.png
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import cast

from playwright.async_api import Page, async_playwright, expect

CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
ROOT = Path(__file__).resolve().parent.parent


async def main(target: Path) -> None:
    """Start `signoff playground` in a new folder, use it, and write the picture to `target`."""
    with tempfile.TemporaryDirectory() as folder:
        words = (sys.executable, "-m", "bot", "playground", "--no-browser", "--port", "0")
        env = {"PATH": os.environ["PATH"], "HOME": folder, "PYTHONPATH": str(ROOT)}
        program = await asyncio.create_subprocess_exec(*words, cwd=folder, env=env, stdout=asyncio.subprocess.PIPE)
        try:
            await picture(await address(program), target)
        finally:
            program.terminate()
            await program.wait()


async def address(program: asyncio.subprocess.Process) -> str:
    """The playground's address, once the bot is connected."""
    found = ""
    async for line in cast(asyncio.StreamReader, program.stdout):
        text = line.decode()
        found = found or "".join(re.findall(r"http://127\.0\.0\.1:\d+/#\S+", text))
        if "has connected to Gateway" in text:
            return found
    raise SystemExit("the playground ended before the bot was connected")


async def picture(page_address: str, target: Path) -> None:
    """As Ben: ask; as Ana: approve. Then ask for one more thing, and take the picture while it waits."""
    async with async_playwright() as playwright:
        chromium = shutil.which("chromium") or "chromium"
        browser = await playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        page = await browser.new_page(viewport={"width": 1180, "height": 900}, device_scale_factor=1.5)
        page.set_default_timeout(20_000)
        await page.goto(page_address)
        view = page.frame_locator("iframe")
        talk = view.locator("#channel-timeline")
        await page.get_by_role("button", name="Be Ben in #ops").click()
        await ask(page, "run `uname -sm`")
        await expect(talk.get_by_role("button", name="Approve")).to_be_visible()
        await page.get_by_role("button", name="Close").first.click()
        await page.get_by_role("radio", name="Ana").click()
        await talk.get_by_role("button", name="Approve").click()
        await expect(talk).to_contain_text("Linux")
        await page.get_by_role("radio", name="Ben").click()
        await view.get_by_role("textbox", name="Message").click()
        await page.keyboard.type("/ask")
        await ask(page, "write hello.txt with the text Hello from Harbour")
        await expect(talk.get_by_role("button", name="Approve")).to_be_visible()
        await page.wait_for_timeout(1_500)  # let the last edits be drawn
        await page.screenshot(path=target)
        await browser.close()


async def ask(page: Page, prompt: str) -> None:
    """With `/ask` typed: choose it, and type the prompt."""
    await expect(page.frame_locator("iframe").get_by_role("option", name="/ask")).to_be_visible()
    await page.keyboard.press("Enter")
    await page.keyboard.type(prompt)
    await page.keyboard.press("Enter")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
