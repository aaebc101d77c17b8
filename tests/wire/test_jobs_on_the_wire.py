"""Background jobs on the real program: deploys, kill -9 in the middle of them, endings said once (issue 6, 4 and 6)."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.playground.faults import Fault, FaultKind
from bot.playground.people import Post
from bot.playground.twin import Twin
from tests.needs import needs
from tests.wire.conftest import Signoff

pytestmark = [pytest.mark.wire, needs("bwrap")]

CREATE = r"/channels/\d+/messages"
OPEN = "SELECT count(*) FROM run WHERE state IN ('queued', 'running', 'waiting')"


async def start(twin: Twin, goal: str) -> None:
    await twin.people["ben"].slash("ops", "job start", goal=goal)


def endings(twin: Twin) -> list[Post]:
    return [post for post in twin.posts("ops") if post.text.startswith(f"<@{twin.people['ben'].id}> Job ")]


def job_card(twin: Twin) -> Post:
    return next(post for post in reversed(twin.posts("ops")) if "### Job" in post.text)


async def test_a_deploy_in_the_middle_of_five_jobs_loses_none_and_runs_nothing_twice(
    signoff: Signoff, twin: Twin
) -> None:
    for number in range(5):
        await start(twin, f"run `echo {number} >> log`")
        await signoff.card(f"echo {number}")
    cards = [await signoff.card(f"echo {number}") for number in range(5)]
    await twin.people["ana"].click(cards[0], "Approve")
    await signoff.until_logged(1)
    await signoff.restart()
    for card in cards[1:3]:
        await twin.people["ana"].click(card, "Approve")
    await signoff.until_logged(3)
    await signoff.restart()
    for card in cards[3:]:
        await twin.people["ana"].click(card, "Approve")
    await twin.wait_for(lambda: len(endings(twin)) >= 5, timeout=30, what="five endings")
    await signoff.until(OPEN, 0)
    assert len(endings(twin)) == 5
    assert sorted(signoff.logged()) == ["0", "1", "2", "3", "4"]
    assert all(post.pinged == [twin.people["ben"].id] for post in endings(twin))


async def test_killed_while_an_ending_is_delivered_it_is_there_once(signoff: Signoff, twin: Twin) -> None:
    await start(twin, "run `echo once >> log`")
    card = await signoff.card("echo once")
    held = twin.faults.add(Fault("delay", "POST", CREATE, seconds=30, times=None))
    await twin.people["ana"].click(card, "Approve")
    await twin.wait_for(lambda: held.struck, timeout=20, what="the ending under way")
    twin.faults.clear()
    await signoff.restart()
    await twin.wait_for(lambda: endings(twin), timeout=20, what="the ending")
    await signoff.until("SELECT state FROM outbox WHERE key LIKE 'answer:%'", "delivered")
    assert len(endings(twin)) == 1
    assert signoff.logged() == ["once"]
    assert signoff.row("SELECT receipt FROM outbox WHERE key LIKE 'answer:%'") == str(endings(twin)[0].id)


async def test_stopped_in_order_people_see_before_the_end_what_was_cut_short(signoff: Signoff, twin: Twin) -> None:
    await start(twin, "run `echo once >> log; sleep 60`")
    card = await signoff.card("echo once")
    await twin.people["ana"].click(card, "Approve")
    await signoff.until_logged(1)
    assert signoff.process is not None
    began = time.monotonic()
    await signoff.process.stop(grace=30)
    assert time.monotonic() - began < 20
    assert "interrupted" in card.text
    assert "Traceback" not in signoff.output
    await signoff.start()
    ending = await twin.wait_for(lambda: endings(twin), timeout=20, what="the ending")
    assert "unknown whether it took effect" in ending[0].text
    assert signoff.logged() == ["once"]


async def test_a_job_card_is_one_message_that_is_edited(signoff: Signoff, twin: Twin) -> None:
    await start(twin, "run `echo once >> log`")
    card = await signoff.card("echo once")
    await twin.wait_for(lambda: "waiting for people" in job_card(twin).text, timeout=20, what="its card's edit")
    await twin.people["ana"].click(card, "Approve")
    await twin.wait_for(lambda: "### Job · done" in job_card(twin).text, timeout=20, what="its card's last edit")
    assert len([post for post in twin.posts("ops") if "### Job" in post.text]) == 1
    await asyncio.wait_for(signoff.until("SELECT count(*) FROM job WHERE shown < version", 0), 10)


@pytest.mark.parametrize("kind", ["cut_before", "cut_after"])
async def test_a_cut_connection_neither_loses_an_ending_nor_says_it_twice(
    signoff: Signoff, twin: Twin, kind: FaultKind
) -> None:
    await start(twin, "run `echo once >> log`")
    card = await signoff.card("echo once")
    cut = twin.faults.add(Fault(kind, "POST", CREATE))
    await twin.people["ana"].click(card, "Approve")
    await twin.wait_for(lambda: cut.struck, timeout=20, what="the cut")
    await signoff.until("SELECT state FROM outbox WHERE key LIKE 'answer:%'", "delivered")
    [ending] = endings(twin)
    assert signoff.row("SELECT receipt FROM outbox WHERE key LIKE 'answer:%'") == str(ending.id)
    assert signoff.logged() == ["once"]


async def test_an_ending_that_no_way_takes_lies_in_the_inbox_with_each_failure(signoff: Signoff, twin: Twin) -> None:
    await start(twin, "run `echo once >> log`")
    card = await signoff.card("echo once")
    twin.faults.add(Fault("status", "POST", CREATE, status=403, code=50001, times=1))
    twin.faults.add(Fault("status", "POST", CREATE, status=403, code=50007, times=None))
    await twin.people["ana"].click(card, "Approve")
    await signoff.until("SELECT state FROM outbox WHERE key LIKE 'answer:%'", "inbox")
    failures = str(signoff.row("SELECT failures FROM outbox WHERE key LIKE 'answer:%'"))
    assert "I cannot see that channel." in failures
    assert "Your direct messages are closed to me." in failures
    assert endings(twin) == []
