"""kill -9 at any moment, on the real program: the rows, Discord and the people agree afterwards."""

from __future__ import annotations

import asyncio

import pytest

from bot.playground.faults import Fault
from bot.playground.twin import Twin
from tests.needs import needs
from tests.wire.conftest import Signoff

pytestmark = [pytest.mark.wire, needs("bwrap")]

CREATE = r"/channels/\d+/messages"
EDIT = r"/channels/\d+/messages/\d+"


STATE = "SELECT state FROM approval"


async def test_killed_before_the_card(signoff: Signoff, twin: Twin) -> None:
    held = twin.faults.add(Fault("delay", "POST", CREATE, seconds=30, times=None))
    await signoff.ask("run `echo once >> log`")
    await twin.wait_for(lambda: held.struck, what="a message under way")
    twin.faults.clear()
    await signoff.restart()
    card = await signoff.card("echo once")
    await twin.people["ana"].click(card, "Approve")
    await signoff.shows(card, "exit code 0")
    answer = await twin.wait_for(lambda: twin.last("ops", text="after a person approved it"), timeout=20)
    assert signoff.logged() == ["once"]
    assert answer.pinged == [twin.people["ben"].id]
    assert len([p for p in twin.posts("ops") if "Asked by" in p.text]) == 1


async def test_killed_between_card_and_press_the_old_button_still_decides(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("run `echo once >> log`", notify="both")
    card = await signoff.card("echo once")
    await signoff.restart()
    await twin.people["ana"].click(card, "Approve")
    await signoff.shows(card, "exit code 0")
    answer = await twin.wait_for(
        lambda: next((p for p in reversed(twin.posts("ops")) if p.pinged == [twin.people["ben"].id]), None),
        what="a new message that pings Ben",
    )
    assert "after a person approved it" in answer.text
    await twin.wait_for(lambda: twin.people["ben"].messages(None), what="the direct message")
    assert signoff.logged() == ["once"]


async def test_killed_right_after_the_press(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("run `echo once >> log`")
    card = await signoff.card("echo once")
    held = twin.faults.add(Fault("delay", "PATCH", EDIT, seconds=30, times=None))
    await twin.people["ana"].click(card, "Approve")
    await twin.wait_for(lambda: held.struck, what="an edit under way")
    twin.faults.clear()
    await signoff.kill()
    before = signoff.row(STATE)
    assert before in {"approved", "running", "succeeded"}
    await signoff.start()
    await signoff.shows(card, "interrupted" if before == "running" else "exit code 0")
    assert len(signoff.logged()) <= 1
    if before == "approved":
        assert signoff.logged() == ["once"]


async def test_killed_inside_the_tool_it_is_interrupted_and_everybody_is_told(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("run `echo once >> log; sleep 60; echo twice >> log`")
    card = await signoff.card("echo once")
    await twin.people["ana"].click(card, "Approve")
    await signoff.until_logged(1)
    await signoff.restart()
    await signoff.shows(card, "interrupted")
    answer = await twin.wait_for(
        lambda: next((p for p in reversed(twin.posts("ops")) if p.pinged == [twin.people["ben"].id]), None), timeout=20
    )
    assert "unknown whether it took effect" in answer.text
    assert signoff.logged() == ["once"]
    assert signoff.row(STATE) == "interrupted"


async def test_killed_before_the_announcement_it_is_made_once(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("run `echo once >> log`")
    card = await signoff.card("echo once")
    signoff.env["SIGNOFF_STARTUP_REPORT"] = "false"  # the message that is held up shall be the announcement
    await signoff.restart()
    held = twin.faults.add(Fault("delay", "POST", CREATE, seconds=30, times=None))
    await twin.people["ana"].click(card, "Approve")
    await twin.wait_for(lambda: held.struck, timeout=20, what="the announcement under way")
    twin.faults.clear()
    await signoff.restart()
    await twin.wait_for(
        lambda: [p for p in twin.posts("ops") if p.pinged == [twin.people["ben"].id]], timeout=20, what="the answer"
    )
    answers = [p for p in twin.posts("ops") if "after a person approved it" in p.text]
    assert len(answers) == 1
    assert signoff.logged() == ["once"]


async def test_stopped_in_order_nothing_is_left_behind(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("run `echo once >> log; sleep 60`")
    card = await signoff.card("echo once")
    await twin.people["ana"].click(card, "Approve")
    await signoff.until_logged(1)
    assert signoff.process is not None
    async with asyncio.timeout(20):
        await signoff.process.stop(grace=20)
    assert signoff.row(STATE) == "interrupted"
    assert "Traceback" not in signoff.output
