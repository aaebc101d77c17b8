"""The walk as people meet it: the real program, real sockets, and what can go wrong on them."""

from __future__ import annotations

import pytest

from bot.playground.faults import Fault
from bot.playground.people import Post
from bot.playground.twin import Twin
from tests.needs import needs
from tests.wire.conftest import Signoff

pytestmark = [pytest.mark.wire, needs("bwrap")]

CREATE = r"/channels/\d+/messages"
EDIT = r"/channels/\d+/messages/\d+"


def cards(twin: Twin, text: str, place: str = "ops") -> list[Post]:
    return [post for post in twin.posts(place) if text in post.text and "Asked by" in post.text]


async def test_asked_approved_run_answered_and_told_by_direct_message(signoff: Signoff, twin: Twin) -> None:
    answer = await signoff.ask("run `echo hello`", notify="both")
    assert answer.acknowledged
    card = await signoff.card("echo hello")
    assert {"Approve", "Deny", "Details"} <= set(card.labels)
    assert twin.people["ana"].id in card.pinged
    pressed = await twin.people["ana"].click(card, "Approve")
    assert pressed.acknowledged
    await signoff.shows(card, "exit code 0")
    said = await signoff.says("offline model")
    assert "hello" in said.text
    assert said.text.startswith("-# offline model")
    assert said.pinged == []
    dm = await twin.wait_for(lambda: twin.people["ben"].messages(None), what="a direct message")
    assert "hello" in dm[-1].text


async def test_every_create_and_edit_names_whom_it_may_notify(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("run `echo @everyone`")
    card = await signoff.card("echo @everyone")
    await twin.people["ana"].click(card, "Approve")
    await signoff.shows(card, "exit code 0")
    await signoff.says("@everyone")
    sent = [r for r in twin.requests.all if r.method in {"POST", "PATCH"} and "/messages" in r.path]
    sent += [r for r in twin.requests.all if r.path.endswith("/callback") and "content" in (r.body.get("data") or {})]
    assert len(sent) >= 4
    for request in sent:
        body = request.body.get("data") or request.body
        assert body["allowed_mentions"].get("parse", []) == [], request


async def test_strangers_and_late_presses_get_a_private_true_answer_and_change_nothing(
    signoff: Signoff, twin: Twin
) -> None:
    await signoff.ask("run `touch made`")
    card = await signoff.card("touch made")
    refused = await twin.people["mallory"].click(card, "Approve")
    await twin.wait_for(lambda: "not an approver" in refused.told, what="a refusal")
    assert not (signoff.workspace / "made").exists()
    assert "Approve" in card.labels
    labels = card.components
    await twin.people["ana"].click(card, "Deny")
    await signoff.shows(card, "denied")
    approve = next(c["custom_id"] for c in _buttons(labels) if c["label"] == "Approve")
    late = await _press_old(twin, card, approve)
    await twin.wait_for(lambda: "already been settled" in late.told, what="a late answer")
    assert not (signoff.workspace / "made").exists()


async def test_a_limited_a_failing_and_a_cut_request_lose_and_double_nothing(signoff: Signoff, twin: Twin) -> None:
    limited = twin.faults.add(Fault("429", "POST", CREATE))
    broken = twin.faults.add(Fault("status", "PATCH", EDIT, status=500))
    await signoff.ask("run `echo one`")
    card = await signoff.card("echo one")
    cut = twin.faults.add(Fault("cut_after", "PATCH", EDIT))
    await twin.people["ana"].click(card, "Approve")
    await signoff.shows(card, "exit code 0", timeout=20)
    await signoff.says("The command `echo one`", timeout=20)
    assert (limited.struck, broken.struck, cut.struck) == (1, 1, 1)
    assert len(cards(twin, "echo one")) == 1


async def test_a_card_whose_posting_is_cut_after_it_happened_is_there_once(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("what can you do?")
    await signoff.says("offline model")
    # The reply comes first, then the card: let the reply pass.
    cut = twin.faults.add(Fault("cut_after", "POST", CREATE, skip=1))
    await signoff.ask("run `echo two`")
    card = await signoff.card("echo two")
    await twin.people["ana"].click(card, "Approve")
    await signoff.says("The command `echo two`", timeout=20)
    assert cut.struck == 1
    assert len(cards(twin, "echo two")) == 1


async def test_after_a_cut_gateway_the_session_goes_on_and_presses_work(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("run `echo three`")
    card = await signoff.card("echo three")
    twin.gateway.cut()
    await twin.wait_until_connected(timeout=20)
    await twin.people["ana"].click(card, "Approve")
    await signoff.says("The command `echo three`", timeout=20)
    assert len(cards(twin, "echo three")) == 1


async def test_a_mention_and_a_direct_message_start_turns_of_their_own(signoff: Signoff, twin: Twin) -> None:
    await twin.people["ben"].send("general", f"<@{twin.world.backend.bot_user.id}> list files")
    await signoff.says("offline model", place="general")
    await twin.people["ana"].dm("run `echo private`")
    card = await twin.wait_for(
        lambda: next((post for post in twin.people["ana"].messages(None) if "Approve" in post.labels), None),
        what="a card in Ana's direct messages",
    )
    await twin.people["ana"].click(card, "Approve")
    await twin.wait_for(
        lambda: any("The command `echo private`" in post.text for post in twin.people["ana"].messages(None)),
        what="the answer",
    )


def _buttons(components: list[dict[str, object]]) -> list[dict[str, str]]:
    found = []
    for component in components:
        if component.get("type") == 2:
            found.append(component)
        found += _buttons(component.get("components") or [])  # type: ignore[arg-type]
    return found  # type: ignore[return-value]


async def _press_old(twin: Twin, card: Post, custom_id: str):  # type: ignore[no-untyped-def]
    """Press a button that the card does not have any more, as a client does that has not caught up."""
    stored = twin.world.backend.get_message(card.channel_id, card.id)
    now = stored.components
    stored.components = [
        {"type": 1, "components": [{"type": 2, "style": 3, "label": "Approve", "custom_id": custom_id}]}
    ]
    try:
        return await twin.people["ana"].click(card, custom_id=custom_id)
    finally:
        stored.components = now
