"""What a card says of its state: who is missing, since when it runs, what was changed, what came of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.rules import Standing
from cogs import card_words, limits
from cogs.cards import render
from cogs.custom_ids import Verb
from storage.approvals import ApprovalState
from tests.cogs.test_cards import EXTREMES, buttons, elsewhere, texts, whole

START = 1_700_000_000_000


def test_a_span_is_said_in_the_unit_that_fits_it() -> None:
    spans = [40, 900, 9_949, 12_300, 59_400, 61_000, 3_599_000, 7_260_000, -5]
    assert [card_words.duration(span) for span in spans] == [
        "less than 0.1 s", "0.9 s", "9.9 s", "12 s", "59 s", "1 min 1 s", "59 min 59 s", "2 h 1 min", "less than 0.1 s",
    ]  # fmt: skip


async def test_a_running_call_says_since_when_by_a_clock_of_discords_own(approval: Any, view: Any) -> None:
    text = whole(render(view(approval(state=ApprovalState.RUNNING, started_at=START + 60_000))))
    assert "it is running. It began <t:1700000060:R>." in text
    assert max(map(int, re.findall(r"<t:(\d+)", text))) == 1_700_086_400


async def test_a_call_that_began_after_its_deadline_leaves_that_the_latest_time(approval: Any, view: Any) -> None:
    call = approval(state=ApprovalState.RUNNING, started_at=START + 90_000_000)
    text = whole(render(view(call)))
    assert max(map(int, re.findall(r"<t:(\d+)", text))) == 1_700_086_400
    assert "it is running." in text


async def test_an_ending_says_the_exit_code_and_how_long_it_took(approval: Any, view: Any) -> None:
    call = approval(state=ApprovalState.FAILED, exit_code=3, started_at=START, finished_at=START + 12_300)
    assert "ran and failed (exit code 3), approved by <@100>. It took 12 s." in whole(render(view(call)))


async def test_a_card_that_one_person_decides_counts_nothing(approval: Any, view: Any) -> None:
    call = approval()
    one = Standing(given=(), more=1, open_users=("100",))
    text = whole(render(view(call, standings={call.id: one})))
    assert "Missing" not in text
    assert "waiting for sign-off\n" in text


async def test_who_is_missing_is_named_and_so_is_who_has_approved(approval: Any, view: Any) -> None:
    call = approval()
    standing = Standing(given=("5",), more=2, roles=("81",), open_users=("100", "101"), open_roles=("80",))
    text = whole(render(view(call, standings={call.id: standing})))
    assert "waiting for sign-off, 1 of 3" in text
    assert "Approved by <@5>. Missing: one of <@&81>, and 1 of <@100>, <@101>, <@&80>." in text


async def test_the_one_person_who_is_missing_is_named_without_counting(approval: Any, view: Any) -> None:
    call = approval()
    for standing, words in [
        (Standing(given=("5",), more=1, open_users=("100",)), "Missing: <@100>."),
        (Standing(given=("5",), more=1, open_roles=("80",)), "Missing: 1 of <@&80>."),
        (Standing(given=(), more=2, open_users=("100", "101")), "Missing: 2 of <@100>, <@101>."),
    ]:
        assert words in whole(render(view(call, standings={call.id: standing})))


async def test_afterwards_a_card_names_all_who_approved(approval: Any, view: Any) -> None:
    call = approval(state=ApprovalState.SUCCEEDED)
    text = whole(render(view(call, standings={call.id: Standing(given=("5", "6"), more=0)})))
    assert "-# Approved by <@5>, <@6>" in text
    one = whole(render(view(call, standings={call.id: Standing(given=("5",), more=0)})))
    assert "-# Approved" not in one


CHANGES = [
    ({"command": "echo hello"}, {"command": "echo goodbye"}, "`echo hello` → `echo goodbye`"),
    (
        {"command": "a" * 50 + "old" + "b" * 50},
        {"command": "a" * 50 + "new" + "b" * 50},
        "`…aaaaaaaaaaaaoldbbbbbbbbbbbb…` → `…aaaaaaaaaaaanewbbbbbbbbbbbb…`",
    ),
    ({"command": "rm x"}, {"command": "rm x\u202e"}, "`rm x` → `rm x⟨U+202E⟩`"),
    ({"command": "abab"}, {"command": "ab"}, "`abab` → `ab`"),
    ({"command": "x"}, {"command": ""}, "`x` → (nothing)"),
    ({"path": "a", "content": "b"}, {"path": "c", "content": "b"}, "changed `path` `a` → `c`"),
    ({"path": "a", "mode": 5}, {"path": "a", "mode": 6}, "changed `mode` `5` → `6`"),
]


@pytest.mark.parametrize(("before", "after", "shown"), CHANGES)
async def test_an_edit_is_shown_as_a_difference_in_which_nothing_hides(
    approval: Any, view: Any, before: dict[str, Any], after: dict[str, Any], shown: str
) -> None:
    call = approval(arguments=after, original=before, edited_by="100", replaces="old")
    text = whole(render(view(call)))
    assert "✎ <@100> changed" in text
    assert shown in text


async def test_a_change_stays_on_the_card_when_the_call_has_ended(approval: Any, view: Any) -> None:
    call = approval(
        arguments={"command": "b"}, original={"command": "a"}, edited_by="100", state=ApprovalState.SUCCEEDED
    )
    assert "✎ <@100> changed `a` → `b`" in whole(render(view(call)))


async def test_a_changed_argument_cannot_format(approval: Any, view: Any) -> None:
    call = approval(arguments={"command": "`**x**` @everyone"}, original={"command": "y"}, edited_by="100")
    outside = re.sub(r"```.*?```|`[^`\n]*`", "", whole(render(view(call))), flags=re.DOTALL)
    assert "**x" not in outside
    assert "@everyone" not in outside


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("long", [False, True])
async def test_a_card_of_up_to_five_calls_has_every_button_of_each(
    approval: Any, view: Any, count: int, long: bool
) -> None:
    calls = [approval(n, arguments={"command": "x" * (6_000 if long else 1)}) for n in range(count)]
    rendered = render(view(*calls, ping=("100",)))
    assert rendered.view.total_children_count <= limits.COMPONENTS
    found = [item for item in rendered.view.walk_children() if getattr(item, "custom_id", None)]
    for call in calls:
        of_call = [item.label for item in found if f":{call.id}" in item.custom_id]
        assert of_call[:5] == ["Approve", "Deny", "Deny with reason…", "Edit…", "Details"]
    if count > 1:
        assert {"Approve all", "Deny all"} <= set(buttons(rendered))
    if count < 5:
        assert "Extend" in buttons(rendered)


async def test_the_buttons_for_all_know_which_edition_of_the_card_they_stand_on(approval: Any, view: Any) -> None:
    from dataclasses import replace

    made = view(approval(0), approval(1))
    later = replace(made, card=replace(made.card, edition=2))
    for card, edition in ((made, 0), (later, 2)):
        found = buttons(render(card))
        for label, verb in (("Approve all", Verb.ALL_APPROVE), ("Deny all", Verb.ALL_DENY)):
            custom_id = found[label]
            assert custom_id is not None
            assert (custom_id.verb, custom_id.edition) == (verb, edition)


@pytest.mark.parametrize("state", [ApprovalState.PENDING, ApprovalState.RUNNING, ApprovalState.FAILED])
@pytest.mark.parametrize("extreme", EXTREMES.values(), ids=EXTREMES.keys())
async def test_discord_takes_the_most_extreme_card_of_edited_calls_under_a_quorum(
    approval: Any, view: Any, state: ApprovalState, extreme: dict[str, Any]
) -> None:
    people = tuple(str(10**18 + n) for n in range(20))
    for count in (1, 2, 3, 4, 5):
        calls = [
            approval(
                number,
                state=state,
                arguments=extreme,
                original={name: f"{value}!" for name, value in extreme.items()} | {"other" * 20: "w\u202e" * 500},
                edited_by="1" * 19,
                tool="t" * 100,
                reason="r" * 900,
                note="\u202e" * 900,
                requester="1" * 19,
                exit_code=255,
                started_at=START,
                finished_at=START + 10**9 if state is ApprovalState.FAILED else None,
            )
            for number in range(count)
        ]
        standing = Standing(given=people, more=18, roles=people, open_users=people, open_roles=people)
        card = elsewhere(view(*calls, ping=people * 2, standings={call.id: standing for call in calls}))
        card.profiles["t" * 100] = "p" * 500
        for attached in (True, False):
            rendered = render(card, attached=attached)
            assert sum(map(limits.length, texts(rendered))) <= limits.CARD_TEXT
            assert rendered.view.total_children_count <= limits.COMPONENTS
            for call in calls if count == 1 else ():
                assert "✎" in whole(rendered), call.id
