"""The playground as a person sees it, in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from bot.clock import SystemClock
from bot.playground.child import Keeper
from bot.playground.twin import Twin
from tests.needs import needs
from tests.playground.conftest import sample_bot

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"

pytestmark = [pytest.mark.browser, needs("chromium")]


@pytest.fixture
async def keeper(twin: Twin) -> AsyncIterator[Keeper]:
    """The sample bot, looked after as in the playground."""
    keeper = Keeper(
        sample_bot(twin),
        clock=SystemClock(),
        connected=lambda: twin.gateway.connected,
        changed=twin.changes.note,
        say=lambda _line: None,
    )
    twin.frame.keeper = keeper
    keeper.start()
    yield keeper
    await keeper.stop()


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        await browser.close()


async def opened(browser: Browser, twin: Twin, width: int = 1280, height: int = 800) -> Page:
    """A page with the frame, and a list of what went wrong in it."""
    page = await browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(10_000)
    await page.goto(twin.page)
    await expect(page.frame_locator("iframe").locator("#preview-app")).to_have_attribute("aria-busy", "false")
    return page


async def test_a_newcomer_asks_approves_kills_the_bot_and_does_it_on_a_phone(
    twin: Twin, keeper: Keeper, browser: Browser
) -> None:
    await twin.wait_until_connected()
    page = await opened(browser, twin)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    view = page.frame_locator("iframe")
    talk = view.locator("#channel-timeline")

    # An empty start says what to try; its first button makes one Ben in #ops with /ask begun.
    await expect(page.get_by_role("heading", name="Three things to try")).to_be_visible()
    await page.get_by_role("button", name="Be Ben in #ops").click()
    await expect(page.locator("#acting")).to_contain_text("You are Ben")
    await expect(view.get_by_role("option", name="/ask")).to_be_visible()
    await page.keyboard.press("Enter")
    await page.keyboard.type("uname -a")
    await page.keyboard.press("Enter")
    await expect(talk.get_by_role("button", name="Approve")).to_be_visible()

    # As Ana she presses it; the card changes by itself, and a DM shows as a badge.
    await page.get_by_role("radio", name="Ana").click()
    await talk.get_by_role("button", name="Approve").click()
    await expect(talk).to_contain_text("Approved by @Ana")
    await expect(page.get_by_role("button", name="Signoff, mentions you")).to_be_visible()
    await page.get_by_role("button", name="Signoff, mentions you").click()
    await expect(talk).to_contain_text("Your call ran.")
    await expect(page.get_by_role("button", name="Signoff", exact=True)).to_be_visible()

    # Somebody else writes in another place: a dot, within a second, and the message when one goes there.
    await twin.people["mallory"].send("general", "anybody here?")
    await expect(page.get_by_role("button", name="general, unread")).to_be_visible(timeout=1_500)
    await page.get_by_role("button", name="general, unread").click()
    await expect(talk).to_contain_text("anybody here?")
    await twin.people["mallory"].send("general", "by itself")
    await expect(talk).to_contain_text("by itself", timeout=1_500)

    # A typed @Signoff is a mention, so the bot answers.
    await view.get_by_role("textbox", name="Message").fill("@signoff hello")
    await page.keyboard.press("Enter")
    await expect(talk).to_contain_text("You said: @Signoff hello")

    # Kill the bot while a card waits: a press fails and says so, after the restart it works.
    await twin.people["ben"].slash("general", "ask", prompt="again")
    await expect(talk.get_by_role("button", name="Approve")).to_be_visible()
    first = keeper.bot.pid
    await page.get_by_role("button", name="Restart the bot").click()
    await expect(page.get_by_text("The bot was killed.")).to_be_visible()
    await twin.wait_for(lambda: keeper.bot.pid not in (None, first) and twin.gateway.connected)
    await expect(page.locator("#bot")).to_contain_text("is running")
    await talk.get_by_role("button", name="Slow").click()
    await twin.people["mallory"].send("general", "meanwhile")
    await expect(talk).to_contain_text("meanwhile", timeout=1_500)
    await expect(page.get_by_text("This interaction failed.")).to_be_visible()
    await talk.get_by_role("button", name="Approve").click()
    await expect(talk).to_contain_text("Approved by @Ana")

    # A thread that is made now appears by itself.
    twin.world.backend.create_thread(twin.channel_id("general"), "fresh thread", twin.people["ben"].id)
    await expect(page.get_by_role("button", name="fresh thread")).to_be_visible(timeout=1_500)

    # A telephone: the places are a drawer, nothing is wider than the screen.
    await page.set_viewport_size({"width": 390, "height": 780})
    await expect(page.get_by_role("button", name="ops", exact=True)).to_be_hidden()
    await page.get_by_role("button", name="Places and people").click()
    await page.get_by_role("button", name="ops", exact=True).click()
    await expect(page.get_by_role("button", name="ops", exact=True)).to_be_hidden()
    await expect(view.get_by_role("heading", name="ops")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390

    # The keyboard alone: Alt+3 makes one Mallory.
    await page.keyboard.press("Alt+3")
    await expect(page.locator("#acting")).to_contain_text("You are Mallory")
    assert faults == []


async def test_a_link_to_a_message_of_the_guild_stays_inside_and_a_wrong_address_shows_nothing(
    twin: Twin, browser: Browser
) -> None:
    target = await twin.people["ben"].send("general", "the one that is meant")
    link = f"https://discord.com/channels/{twin.world.guild.id}/{target.channel_id}/{target.id}"
    await twin.people["ben"].send("ops", f"see {link}")
    page = await opened(browser, twin)
    talk = page.frame_locator("iframe").locator("#channel-timeline")
    await page.get_by_role("button", name="ops", exact=True).click()
    await expect(talk.get_by_role("link")).to_have_text("#general › message")
    await talk.get_by_role("link").click()
    await expect(talk).to_contain_text("the one that is meant")
    assert len(page.context.pages) == 1

    await page.goto(f"{twin.url}/#wrong")
    await expect(page.get_by_text("This address is not complete.")).to_be_visible()


async def test_the_page_goes_to_the_answer_lets_time_pass_and_has_a_menu_on_messages(
    twin: Twin, keeper: Keeper, browser: Browser
) -> None:
    await twin.wait_until_connected()
    for number in range(40):
        await twin.people["mallory"].send("general", f"line {number}")
    began = int(SystemClock().now() / 1000) - 2
    await twin.people["mallory"].send("general", f"It began <t:{began}:R>")
    page = await opened(browser, twin)
    view = page.frame_locator("iframe")
    talk = view.locator("#channel-timeline")
    await page.get_by_role("button", name="general", exact=True).click()

    # A relative time goes on, though nothing else changes.
    time = talk.locator("time.discord-timestamp")
    before = await time.inner_text()
    assert before.endswith("ago")
    await expect(time).not_to_have_text(before)

    # Who has scrolled up stays there while others write, and is at the end again for the answer to a command of theirs.
    await talk.hover()
    await page.mouse.wheel(0, -1_500)
    await expect(talk.get_by_text("It began")).not_to_be_in_viewport()
    await twin.people["ben"].send("general", "something else")
    await expect(talk.get_by_text("something else")).to_be_attached()
    await expect(talk.get_by_text("something else")).not_to_be_in_viewport()
    await view.get_by_role("textbox", name="Message").fill("/stream")
    await expect(view.get_by_role("option", name="/stream")).to_be_visible()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await expect(talk.get_by_text("step 5")).to_be_in_viewport()

    # The menu of a message opens the application's form, which is answered like any other.
    asked = talk.get_by_text("something else")
    await asked.click(button="right")
    await view.get_by_role("menuitem", name="Ask about this").click()
    await view.get_by_role("dialog").get_by_role("textbox").fill("what?")
    await view.get_by_role("dialog").get_by_role("button", name="Submit").click()
    await expect(talk.get_by_text("Noted:")).to_be_in_viewport()
    await asked.hover()
    await asked.locator("xpath=ancestor::article").get_by_role("button", name="Apps").click()
    await expect(view.get_by_role("menu", name="Apps")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(view.get_by_role("menu", name="Apps")).to_be_hidden()

    # A small window: what is said has most of the room.
    await page.set_viewport_size({"width": 800, "height": 480})
    sidebar = await page.locator("#sidebar").bounding_box()
    assert sidebar is not None
    assert sidebar["width"] <= 800 / 4
    await expect(page.get_by_role("button", name="general", exact=True)).to_be_in_viewport()
