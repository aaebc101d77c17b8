"""A real discord.py process against the twin, over real sockets."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from bot.playground.child import BotProcess
from bot.playground.faults import Fault
from bot.playground.people import Post
from bot.playground.twin import Twin
from tests.playground.conftest import sample_bot

pytestmark = pytest.mark.wire

CREATE = r"/channels/\d+/messages"


async def card(twin: Twin, prompt: str = "uname -a") -> Post:
    """Ask as Ben in #ops; the card that follows."""
    answer = await twin.people["ben"].slash("ops", "ask", prompt=prompt)
    assert answer.acknowledged
    return await twin.wait_for(lambda: twin.last("ops", text=prompt, label="Approve"), what="a card")


async def test_a_real_client_logs_in_and_finds_ana_as_the_owner(twin: Twin, bot: BotProcess) -> None:
    await bot.wait_for_output("READY as Signoff")
    assert f"owner {twin.people['ana'].id}" in bot.output
    assert twin.requests.of("PUT", r"/applications/\d+/commands")


async def test_a_wrong_token_is_refused_at_login(twin: Twin) -> None:
    bot = sample_bot(twin, DISCORD_TOKEN="playground.not-the-one-of-this-twin")
    await bot.start()
    assert await bot.wait() == 1
    assert "LoginFailure" in bot.output


async def test_a_slash_command_becomes_a_message_and_a_click_edits_it(twin: Twin, bot: BotProcess) -> None:
    post = await card(twin)
    answer = await twin.people["ana"].click(post, "Approve")
    assert answer.acknowledged
    await twin.wait_for(lambda: "Approved by" in post.text)
    assert post.labels == []
    dm = await twin.wait_for(lambda: twin.people["ana"].messages(None))
    assert dm[0].text == "Your call ran."


async def test_a_private_answer_is_seen_by_the_one_who_pressed_only(twin: Twin, bot: BotProcess) -> None:
    post = await card(twin)
    answer = await twin.people["mallory"].click(post, "Private")
    assert answer.told == "Only you read this."
    assert "Only you read this." in [p.text for p in twin.people["mallory"].messages("ops")]
    assert "Only you read this." not in [p.text for p in twin.people["ana"].messages("ops")]


async def test_a_form_is_opened_and_submitted(twin: Twin, bot: BotProcess) -> None:
    post = await card(twin)
    shown = await twin.people["ana"].click(post, "Why")
    assert shown.modal is not None
    answer = await twin.people["ana"].submit(shown, reason="too risky")
    assert "too risky" in answer.told


async def test_a_mention_and_a_direct_message_reach_the_bot_without_the_content_intent(
    twin: Twin, bot: BotProcess
) -> None:
    ben = twin.people["ben"]
    await ben.send("deploy night", f"<@{twin.world.backend.bot_user.id}> hello")
    await twin.wait_for(lambda: twin.last("deploy night", text="You said"))
    await ben.dm("and here")
    await twin.wait_for(lambda: [p for p in ben.messages(None) if p.text == "You said: and here"])


async def test_a_press_after_three_seconds_is_unknown_to_discord(twin: Twin, bot: BotProcess) -> None:
    post = await card(twin)
    answer = await twin.people["ana"].click(post, "Slow")
    assert not answer.acknowledged
    await bot.wait_for_output("LATE 10062")


async def test_a_press_on_a_dead_bot_fails_and_works_after_the_next_start(twin: Twin, bot: BotProcess) -> None:
    post = await card(twin)
    bot.kill()
    await bot.wait()
    assert not (await twin.people["ana"].click(post, "Approve")).acknowledged
    await bot.start()
    await twin.wait_until_connected()
    assert (await twin.people["ana"].click(post, "Approve")).acknowledged


async def test_the_world_survives_a_restart_of_the_twin_and_an_old_card_still_works(tmp_path: Path) -> None:
    async with Twin.open(state_dir=tmp_path) as twin:
        bot = sample_bot(twin)
        await bot.start()
        try:
            await twin.wait_until_connected()
            post, port, page = await card(twin), twin.guard.port, twin.page
        finally:
            await bot.stop()
    async with Twin.open(state_dir=tmp_path, port=port) as twin:
        assert twin.page == page
        old = twin.last("ops", label="Approve")
        assert old is not None
        assert (old.id, old.text) == (post.id, post.text)
        bot = sample_bot(twin)
        await bot.start()
        try:
            await twin.wait_until_connected()
            assert (await twin.people["ana"].click(old, "Approve")).acknowledged
            newer = await card(twin, "second")
            assert newer.id > old.id
        finally:
            await bot.stop()


async def test_a_repeated_nonce_makes_one_message(twin: Twin, bot: BotProcess) -> None:
    twin.faults.add(Fault("cut_after", "POST", CREATE))
    await twin.people["ben"].slash("ops", "ask", prompt="first")
    await bot.wait_for_output("CUT")
    await twin.people["ben"].slash("ops", "ask", prompt="first")
    await twin.wait_for(lambda: len([r for r in twin.requests.of("POST", CREATE) if r.status == 200]) == 1)
    cards = [p for p in twin.posts("ops") if "Approve" in p.labels]
    assert [p.text for p in cards] == ["## Run this?\n```\nfirst\n```"]


async def test_a_nonce_is_remembered_across_a_restart_of_the_twin(tmp_path: Path) -> None:
    sent = []
    for _ in range(2):
        async with Twin.open(state_dir=tmp_path) as twin, aiohttp.ClientSession(twin.url) as session:
            headers = {"Authorization": f"Bot {twin.token}"}
            body = {"content": "once", "nonce": "the-same", "enforce_nonce": True}
            path = f"/api/v10/channels/{twin.channel_id('ops')}/messages"
            async with session.post(path, headers=headers, json=body) as answer:
                sent.append((await answer.json())["id"])
    assert sent[0] == sent[1]


async def test_a_429_is_waited_for_and_the_message_is_sent_once(twin: Twin, bot: BotProcess) -> None:
    fault = twin.faults.add(Fault("429", "POST", CREATE, retry_after=0.2))
    await card(twin)
    assert fault.struck == 1
    assert [r.status for r in twin.requests.of("POST", CREATE)] == [429, 200]
    assert len([p for p in twin.posts("ops") if "Approve" in p.labels]) == 1


async def test_a_500_is_retried_by_discord_py(twin: Twin, bot: BotProcess) -> None:
    twin.faults.add(Fault("status", "POST", CREATE, status=500))
    await card(twin)
    assert [r.status for r in twin.requests.of("POST", CREATE)] == [500, 200]


async def test_a_403_carries_its_code(twin: Twin, bot: BotProcess) -> None:
    twin.faults.add(Fault("status", "POST", CREATE, status=403, code=50013))
    await twin.people["ben"].slash("ops", "ask", prompt="x")
    await bot.wait_for_output("HTTP 403 50013")


async def test_a_cut_before_the_effect_leaves_nothing(twin: Twin, bot: BotProcess) -> None:
    twin.faults.add(Fault("cut_before", "POST", CREATE))
    await twin.people["ben"].slash("ops", "ask", prompt="x")
    await bot.wait_for_output("CUT")
    assert twin.last("ops", label="Approve") is None


async def test_a_delayed_acknowledgement_is_too_late(twin: Twin, bot: BotProcess) -> None:
    post = await card(twin)
    twin.faults.add(Fault("delay", "POST", r"/interactions/.*", seconds=3.2))
    assert not (await twin.people["ana"].click(post, "Approve")).acknowledged


async def test_a_cut_gateway_is_resumed_and_nothing_is_missed(twin: Twin, bot: BotProcess) -> None:
    twin.gateway.cut()
    await twin.wait_for(lambda: not twin.gateway.connected)
    await twin.people["ben"].dm("said while away")
    await twin.wait_for(lambda: twin.gateway.resumed == 1, timeout=15, what="a resume")
    assert twin.gateway.identified == 1
    await twin.wait_for(lambda: [p for p in twin.people["ben"].messages(None) if p.text == "You said: said while away"])


async def test_a_refused_resume_makes_the_bot_identify_anew(twin: Twin, bot: BotProcess) -> None:
    twin.gateway.refuse_resumes = 1
    twin.gateway.cut()
    await twin.wait_for(lambda: twin.gateway.identified == 2, timeout=20, what="a second identify")
    await card(twin)


async def test_intents_that_the_portal_does_not_allow_close_the_gateway(twin: Twin) -> None:
    bot = sample_bot(twin, SAMPLE_INTENTS="all")
    await bot.start()
    assert await bot.wait() == 1
    assert "PrivilegedIntentsRequired" in bot.output


async def test_a_first_gateway_connection_can_be_refused(twin: Twin) -> None:
    fault = twin.faults.add(Fault("status", "GET", "/gateway", status=503))
    bot = sample_bot(twin)
    await bot.start()
    assert await bot.wait() == 1  # discord.py gives up when the very first one fails.
    assert (fault.struck, twin.gateway.identified) == (1, 0)


async def test_events_can_be_held_back(twin: Twin, bot: BotProcess) -> None:
    twin.gateway.delay = 3.2
    assert not (await twin.people["ben"].slash("ops", "ask", prompt="late")).acknowledged
