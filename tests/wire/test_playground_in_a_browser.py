"""What a newcomer does in the first five minutes: `signoff` without a token, and a browser."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import FrameLocator, Page, async_playwright, expect

from bot.playground.child import BotProcess
from tests.needs import needs
from tests.wire.conftest import ROOT
from tests.wire.job_walk import become, walk

pytestmark = [pytest.mark.browser, needs("bwrap", "chromium")]

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[BotProcess]:
    """`signoff`, in an empty folder, with nothing set."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    words = ["playground", "--port", "0", "--no-browser"]
    process = BotProcess([sys.executable, "-m", "bot", *words], env, say=lambda _: None, cwd=tmp_path)
    await process.start()
    yield process
    await process.stop()


@pytest.fixture
async def page(door: BotProcess) -> AsyncIterator[Page]:
    """The guild in a browser."""
    await door.wait_for_output("has connected to Gateway", timeout=20)
    found = re.search(r"http://127\.0\.0\.1:\S+", door.output)
    assert found is not None
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(15_000)
        expect.set_options(timeout=15_000)
        await page.goto(found.group(0))
        await expect(page.frame_locator("iframe").locator("#preview-app")).to_have_attribute("aria-busy", "false")
        yield page
        await browser.close()


async def ask(page: Page, view: FrameLocator, prompt: str) -> None:
    """Type `/ask` as a person does: the command from the list, then its prompt."""
    await view.get_by_role("textbox", name="Message").fill("/ask")
    await finish_asking(page, view, prompt)


async def finish_asking(page: Page, view: FrameLocator, prompt: str) -> None:
    """Take `/ask` from the list and type its prompt."""
    await view.get_by_role("option", name="/ask").click()
    await expect(view.locator(":focus")).to_have_count(1)
    await page.keyboard.type(prompt)
    await page.keyboard.press("Enter")


async def test_asked_approved_killed_and_pressed_again_also_as_a_phone(page: Page, door: BotProcess) -> None:
    view = page.frame_locator("iframe")
    talk = view.locator("#channel-timeline")

    # Ben asks; the card waits; Mallory is refused; Ana approves; outcome and answer come by themselves.
    await page.get_by_role("button", name="Be Ben in #ops").click()
    await expect(page.locator("#acting")).to_contain_text("You are Ben")
    await finish_asking(page, view, "run `echo $((40 + 2))`")
    try:
        await expect(talk).to_contain_text("waiting for sign-off", timeout=6_000)
    except AssertionError:
        # Keys pressed while the new frame is still taking the focus are lost; a person types them again.
        await ask(page, view, "run `echo $((40 + 2))`")
        await expect(talk).to_contain_text("waiting for sign-off")
    await become(page, "Mallory")
    await talk.get_by_role("button", name="Approve").click()
    await expect(talk).to_contain_text("not an approver")
    await become(page, "Ana")
    await talk.get_by_role("button", name="Approve").click()
    await expect(talk).to_contain_text("exit code 0")
    await expect(talk).to_contain_text("42")
    await expect(talk.get_by_role("button", name="Approve")).to_have_count(0)

    # The bot is killed while a card waits; the old card still decides.
    await become(page, "Ben")
    await ask(page, view, "run `echo survived`")
    await expect(talk.get_by_role("button", name="Approve")).to_be_visible()
    await become(page, "Ana")
    await page.get_by_role("button", name="Restart the bot").click()
    await expect(page.get_by_text("The bot was killed.")).to_be_visible()
    await expect(page.locator("#bot")).to_contain_text("is starting")
    await expect(page.locator("#bot")).to_contain_text("is running")
    await talk.get_by_role("button", name="Approve").click()
    await expect(talk).to_contain_text("The command echo survived: it ran")

    # As a phone: a direct message, and a card in it, decided with a thumb.
    await page.set_viewport_size({"width": 390, "height": 780})
    await page.get_by_role("button", name="Places and people").click()
    # Ana owns the bot: after the kill it has written to her what the start found, so its name says "unread" too.
    await page.get_by_role("button", name=re.compile(r"^Signoff\b")).click()
    await expect(view.get_by_role("textbox", name="Message")).to_be_visible()
    await view.get_by_role("textbox", name="Message").fill("run `echo phone`")
    await page.keyboard.press("Enter")
    await talk.get_by_role("button", name="Approve").click()
    await expect(talk).to_contain_text("The command echo phone: it ran")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "Traceback" not in door.output


async def test_a_background_job_shows_how_it_goes_asks_and_tells_in_both_places(page: Page, door: BotProcess) -> None:
    """Issue 6: meanwhile something else is asked and answered. The pictures in docs/ are of this walk."""

    async def no_picture(_name: str) -> None: ...

    await walk(page, no_picture)
    assert "Traceback" not in door.output
