"""A newcomer and a background job in the playground, in a browser: what the test tries and `docs/` has pictures of."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from playwright.async_api import FrameLocator, Page, expect

GOAL = "list files and then run `echo counted`"
"""Its card shows the backticks as they are."""
MEANWHILE = "what can you do?"

Shot = Callable[[str], Awaitable[None]]
"""Takes a picture, by its name."""


async def become(page: Page, name: str) -> None:
    """Act as somebody else, and wait until the place is shown with their eyes."""
    await page.get_by_role("radio", name=name).click()
    await expect(page.locator("#acting")).to_contain_text(f"You are {name}")
    await expect(page.locator("iframe")).to_have_attribute("src", re.compile(rf"\b{name.lower()}\b"))
    await expect(page.frame_locator("iframe").locator("#preview-app")).to_have_attribute("aria-busy", "false")


async def command(page: Page, view: FrameLocator, name: str, text: str, **options: str) -> None:
    """Type a command as a person does: the command from the list, its text, then options with choices."""
    await view.get_by_role("textbox", name="Message").fill(f"/{name}")
    await view.get_by_role("option", name=f"/{name}").first.click()
    await expect(view.locator(":focus")).to_have_count(1)
    await page.keyboard.type(text)
    for option, value in options.items():
        await view.get_by_text(re.compile(r"\+\d+ more")).click()
        await view.get_by_role("option", name=re.compile(rf"^{option}\b")).click()
        await view.get_by_role("option", name=value, exact=True).click()
    if options:  # a choice takes the focus away
        await view.get_by_role("button", name="Send").click()
    else:
        await page.keyboard.press("Enter")


async def walk(page: Page, shot: Shot) -> None:
    """A job is started, shows how it goes, asks; something else is asked meanwhile; then it is approved, and tells."""
    view = page.frame_locator("iframe")
    talk = view.locator("#channel-timeline")
    await page.get_by_role("button", name="Be Ben in #ops").click()
    await expect(page.locator("#acting")).to_contain_text("You are Ben")
    await expect(view.get_by_role("option", name="/ask")).to_be_visible()
    await page.get_by_role("button", name="Close").first.click()

    # Ben starts a job and wants its result in both places. Its card shows how it goes and what it waits for.
    await command(page, view, "job start", GOAL, notify="both")
    await expect(talk).to_contain_text("Job · waiting for people", timeout=20_000)
    await expect(talk).to_contain_text("list_files: success")
    await expect(talk).to_contain_text(GOAL)
    await expect(talk.get_by_role("button", name="Approve")).to_be_visible()
    await shot("job-waits")

    # He asks for something else meanwhile, and gets it.
    await command(page, view, "ask", MEANWHILE)
    answer = talk.get_by_text("This is what I understand")
    await answer.scroll_into_view_if_needed()
    await shot("job-meanwhile")

    # Ana approves what the job asks for.
    await become(page, "Ana")
    await talk.get_by_role("button", name="Approve").click()
    await expect(talk).to_contain_text("Job · done", timeout=20_000)

    # Ben has one new message that notifies him, and one directly.
    await become(page, "Ben")
    await expect(talk).to_contain_text("is done:")
    await expect(page.get_by_role("button", name=re.compile(r"^Signoff, "))).to_be_visible()
    await shot("job-done")
    await page.get_by_role("button", name=re.compile(r"^Signoff, ")).click()
    await expect(talk).to_contain_text("is done:")
    await expect(talk).to_contain_text("You asked in #ops.")
    await shot("job-direct")
