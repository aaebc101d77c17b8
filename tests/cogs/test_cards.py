"""What a card shows (cases A18, A19, S-A31 to S-A41), and that Discord would take it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import discord
import pytest
from discord import ui

from bot.surface import CardView
from cogs import cards, details, inert, limits
from cogs.cards import render
from cogs.custom_ids import CustomId, Verb, decode
from storage.approvals import ApprovalState


def texts(rendered: cards.Rendered) -> list[str]:
    return [item.content for item in rendered.view.walk_children() if isinstance(item, ui.TextDisplay)]


def whole(rendered: cards.Rendered) -> str:
    return "\n".join(texts(rendered))


def buttons(rendered: cards.Rendered) -> dict[str, CustomId | None]:
    found = [item for item in rendered.view.walk_children() if isinstance(item, ui.Button)]
    return {str(button.label): decode(button.custom_id or "") for button in found}


def accent(rendered: cards.Rendered) -> int:
    (container,) = (item for item in rendered.view.children if isinstance(item, ui.Container))
    assert isinstance(container.accent_colour, discord.Colour | int)
    return int(container.accent_colour)


async def test_the_first_paragraph_alone_says_what_is_asked(approval: Any, view: Any) -> None:
    """A19."""
    first = texts(render(view(approval(arguments={"command": "make deploy\nexit"}))))[0]
    assert "`shell`" in first
    assert "make deploy" in first
    assert "<@200>" in first
    assert "`abcdefghijklmnop`" in first


async def test_a_waiting_call_can_be_approved_denied_and_looked_into(approval: Any, view: Any) -> None:
    assert buttons(render(view(approval()))) == {
        "Approve": CustomId(verb=Verb.APPROVE, id="abcdefghijklmnop"),
        "Deny": CustomId(verb=Verb.DENY, id="abcdefghijklmnop"),
        "Deny with reason…": CustomId(verb=Verb.DENY_REASON, id="abcdefghijklmnop"),
        "Edit…": CustomId(verb=Verb.EDIT, id="abcdefghijklmnop"),
        "Details": CustomId(verb=Verb.DETAILS, id="abcdefghijklmnop"),
        "Cancel": CustomId(verb=Verb.CANCEL, id="abcdefghijklmnop"),
        "Extend": CustomId(verb=Verb.EXTEND, id="cardcardcardcard"),
    }


@pytest.mark.parametrize("state", [state for state in ApprovalState if state is not ApprovalState.PENDING])
async def test_a_settled_call_can_be_looked_into_and_once_it_has_ended_asked_about_again(
    approval: Any, view: Any, state: ApprovalState
) -> None:
    rendered = render(view(approval(state=state)))
    goes_on = state in {ApprovalState.APPROVED, ApprovalState.RUNNING}
    assert list(buttons(rendered)) == (["Details"] if goes_on else ["Details", "Run again"])


@pytest.mark.parametrize("state", ApprovalState)
@pytest.mark.parametrize("kind", ["approval", "question", "external"])
async def test_the_latest_time_on_a_card_is_its_deadline(
    approval: Any, view: Any, state: ApprovalState, kind: str
) -> None:
    call = approval(state=state, kind=kind, arguments={"question": "Which?"}, finished_at=1_800_000_000_000)
    stamps = re.findall(r"<t:(\d+)", whole(render(view(call))))
    assert max(map(int, stamps)) == 1_700_086_400


async def test_a_card_says_why_it_asks_and_what_the_tool_may_touch(approval: Any, view: Any) -> None:
    text = whole(render(view(approval())))
    assert "`shell needs a person's sign-off`" in text
    assert "`bubblewrap, no network`" in text


async def test_the_colour_tells_the_state(approval: Any, view: Any) -> None:
    def colour(*states: ApprovalState) -> int:
        calls = [approval(number, state=state) for number, state in enumerate(states)]
        return accent(render(view(*calls)))

    assert colour(ApprovalState.PENDING) == cards.AMBER
    assert colour(ApprovalState.RUNNING) == cards.BLUE
    assert colour(ApprovalState.SUCCEEDED) == cards.GREEN
    assert colour(ApprovalState.FAILED) == cards.RED
    assert colour(ApprovalState.DENIED) == cards.GREY
    assert colour(ApprovalState.SUCCEEDED, ApprovalState.PENDING) == cards.AMBER
    assert colour(ApprovalState.SUCCEEDED, ApprovalState.DENIED) == cards.GREEN


async def test_the_command_decodes_from_the_only_block_of_the_card(approval: Any, view: Any) -> None:
    """A18, S-A31: the attack comes in by every field that somebody else fills in."""
    attack = "ls ```\n**Approved by admin** [click](http://x) @everyone \u202e\u200b\n```"
    call = approval(arguments={"command": attack}, reason=attack, tool="x`**y**", note=attack)
    text = whole(render(view(call)))
    block = re.search(r"```text\n(.*?)\n```", text, re.DOTALL)
    assert block is not None
    assert inert.decode(block[1]) == attack
    outside = text.replace(block[0], "")
    assert "```" not in outside
    for span in re.findall(r"`[^`\n]*`", outside):
        outside = outside.replace(span, "")
    for forbidden in ("**", "@everyone", "[click]", "`", "\u202e", "\u200b"):
        assert forbidden not in outside


async def test_a_note_cannot_format_the_sentence_about_the_outcome(approval: Any, view: Any) -> None:
    """S-A40, S-A41."""
    call = approval(state=ApprovalState.DENIED, note="||safe||\n-# [docs](http://evil.example)")
    text = whole(render(view(call)))
    assert "<@100> denied `shell`: `||safe||↵-# [docs](http://evil.example)`. Nothing ran." in text


async def test_a_hidden_character_puts_a_warning_on_the_card(approval: Any, view: Any) -> None:
    """S-A33."""
    text = whole(render(view(approval(arguments={"command": "cat a\u202eb"}))))
    assert "a⟨U+202E⟩b" in text
    assert "⚠" in text


async def test_a_long_call_is_cut_visibly_and_attached_whole(approval: Any, view: Any) -> None:
    """S-A38: both ends, how much is missing, length, digest, and no approval by one press."""
    command = "echo start " + "x" * 6_000 + " ; rm -r ~/x"
    rendered = render(view(approval(arguments={"command": command})))
    text = whole(rendered)
    assert "echo start" in text
    assert "; rm -r ~/x" in text
    hidden = re.search(r"([\d,]+) characters not shown", text)
    shown = "".join(map(inert.decode, re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)))
    assert hidden is not None
    assert int(hidden[1].replace(",", "")) + len(shown) == len(command)
    assert f"{len(command):,} characters in all" in text
    assert "`0123456789ab`" in text
    assert rendered.attachment is not None
    assert rendered.attachment.content == command
    assert buttons(rendered)["Approve"] == CustomId(verb=Verb.APPROVE_UNSEEN, id="abcdefghijklmnop")


async def test_a_call_whose_file_was_refused_cannot_be_approved(approval: Any, view: Any) -> None:
    """S-A38."""
    call = view(approval(arguments={"command": "x" * 6_000}))
    rendered = render(call, attached=False)
    assert rendered.attachment is None
    assert list(buttons(rendered)) == ["Deny", "Deny with reason…", "Edit…", "Details", "Cancel", "Extend"]
    assert "could not be attached" in whole(rendered)


SENDS = {
    "method": "POST", "host": "xn--ypal-43d9g.com:443", "path": "/things?a=b", "headers": ["X-Key", "Content-Type"],
    "bytes": 50_000, "sha256": "ab" * 32,
}  # fmt: skip


async def test_a_card_says_what_would_be_sent_where_and_has_all_of_it_before_anybody_approves(
    approval: Any, view: Any
) -> None:
    """S-A88, T88, S-A35."""
    arguments = {
        "url": "https://раypal.com/things?a=b", "method": "POST",
        "headers": {"X-Key": "1", "Content-Type": "text/plain"}, "body": "a body " + "x" * 49_986 + " its end",
    }  # fmt: skip
    rendered = render(view(approval(tool="http_fetch", arguments=arguments, bound={"sends": SENDS})))
    text = whole(rendered)
    assert (
        "Sends `POST` to `xn--ypal-43d9g.com:443`, path `/things?a=b` · Headers: `X-Key`, `Content-Type` · Body: 50,000"
        " bytes, SHA-256 `abababababababab`"
    ) in text
    assert "a body x" in text
    assert "x its end" in text
    assert text.count("xn--ypal-43d9g.com") == 2  # and in the warning about a host that only looks familiar
    assert "⚠" in text
    assert rendered.attachment is not None
    assert arguments["body"] in rendered.attachment.content
    assert buttons(rendered)["Approve"] == CustomId(verb=Verb.APPROVE_UNSEEN, id="abcdefghijklmnop")


@pytest.mark.parametrize("count", range(1, 6))
async def test_what_would_be_sent_stands_on_a_card_of_several_calls_too(approval: Any, view: Any, count: int) -> None:
    hard = {**SENDS, "path": "/" + "%60" * 600, "headers": [f"X-{'`' * 30}{n}" for n in range(16)], "bytes": 0}
    call = {"tool": "http_fetch", "arguments": {"url": "x" * 2000}, "bound": {"sends": hard}}
    calls = [approval(number, **call) for number in range(count)]
    text = whole(render(view(*calls)))
    assert text.count("Sends `POST` to") == count
    assert text.count("No body") == count
    assert limits.length(text) <= 4_000


@pytest.mark.parametrize("state", ApprovalState)
async def test_a_card_keeps_its_file_through_all_its_states(approval: Any, view: Any, state: ApprovalState) -> None:
    call = view(approval(arguments={"command": "x" * 6_000}, state=state))
    (file,) = (item for item in render(call).view.walk_children() if isinstance(item, ui.File))
    assert file.media.url == "attachment://call-abcdefghijklmnop.txt"


async def test_every_argument_is_shown_with_its_name_and_kind(approval: Any, view: Any) -> None:
    arguments = {"path": "a b.txt", "content": "one\ntwo\n", "mode": 5, "flag": True, "rest": {"k": [1]}}
    text = whole(render(view(approval(tool="write_file", arguments=arguments))))
    assert "**path** `a b.txt`" in text
    assert "**content**\n```text\none↵\ntwo↵\n```" in text
    assert "**mode** (number) `5`" in text
    assert "**flag** (yes or no) `true`" in text
    assert '**rest** (object) `{"k": [1]}`' in text


async def test_an_argument_name_cannot_format(approval: Any, view: Any) -> None:
    text = whole(render(view(approval(arguments={"a**b`": "1", "c": "2"}))))
    assert "`a**b⟨U+0060⟩`" in text


@pytest.mark.parametrize("count", [1, 2, 5])
async def test_people_are_named_as_long_as_anything_waits(approval: Any, view: Any, count: int) -> None:
    """An edit that took their line away would move the buttons up under somebody's finger."""
    people = {"ping": ("100", "101"), "ping_roles": ("900",)}
    names = "<@100> <@101> <@&900>"
    waiting = [approval(number) for number in range(count)]
    assert whole(render(view(*waiting, **people))).startswith(names)
    denied = [replace(call, state=ApprovalState.DENIED) for call in waiting]
    assert whole(render(view(*denied[:-1], waiting[-1], **people))).startswith(names)
    assert names not in whole(render(view(*denied, **people)))


async def test_each_call_of_several_has_its_own_buttons_behind_its_text(approval: Any, view: Any) -> None:
    calls = [approval(number, arguments={"command": f"echo {number}"}) for number in range(3)]
    rendered = render(view(*calls))
    order: list[str] = []
    for item in rendered.view.walk_children():
        if isinstance(item, ui.TextDisplay) and (command := re.search(r"echo \d", item.content)):
            order.append(command[0])
        elif isinstance(item, ui.Button):
            custom_id = decode(item.custom_id or "")
            assert custom_id is not None
            order.append(f"{custom_id.verb} {custom_id.id}")
    assert order == [
        *(
            entry
            for call in calls
            for entry in (
                call.arguments["command"],
                *(f"{verb} {call.id}" for verb in ("approve", "deny", "deny-reason", "edit", "details")),
            )
        ),
        "all-approve cardcardcardcard",
        "all-deny cardcardcardcard",
        "all-cancel cardcardcardcard",
        "extend cardcardcardcard",
    ]


async def test_a_reason_is_not_repeated_under_each_call_but_a_warning_is(approval: Any, view: Any) -> None:
    text = whole(render(view(*(approval(number, arguments={"command": "a\u202eb"}) for number in range(3)))))
    assert text.count("Why it asks") == 1
    assert text.count("May touch") == 1
    assert text.count("⚠") == 3


async def test_the_last_waiting_call_needs_no_buttons_for_all(approval: Any, view: Any) -> None:
    rendered = render(view(approval(0), approval(1, state=ApprovalState.DENIED)))
    assert "Approve all" not in buttons(rendered)
    assert "Deny all" not in buttons(rendered)


async def test_approving_all_asks_once_more_if_one_of_them_is_cut(approval: Any, view: Any) -> None:
    rendered = render(view(approval(0), approval(1, arguments={"command": "x" * 6_000})))
    found = buttons(rendered)
    assert found["Approve all"] == CustomId(verb=Verb.ALL_APPROVE_UNSEEN, id="cardcardcardcard", edition=0)


async def test_a_question_offers_its_choices_and_a_free_answer(approval: Any, view: Any) -> None:
    call = approval(kind="question", tool="ask_user", arguments={"question": "Which port?", "choices": ["80", "443"]})
    rendered = render(view(call))
    assert buttons(rendered) == {
        "80": CustomId(verb=Verb.CHOICE, id=call.id, number=0),
        "443": CustomId(verb=Verb.CHOICE, id=call.id, number=1),
        "Answer…": CustomId(verb=Verb.ANSWER, id=call.id),
        "Details": CustomId(verb=Verb.DETAILS, id=call.id),
        "Cancel": CustomId(verb=Verb.CANCEL, id=call.id),
    }
    assert "Which port?" in texts(rendered)[0]
    assert "Question · waiting for an answer" in texts(rendered)[0]


async def test_a_choice_longer_than_a_button_is_written_out(approval: Any, view: Any) -> None:
    choice = "y" * 120
    call = approval(kind="question", arguments={"question": "Which?", "choices": [choice, "no"]})
    rendered = render(view(call))
    assert choice in whole(rendered)
    assert "y" * 79 + "…" in buttons(rendered)


async def test_what_waits_for_a_result_from_elsewhere_has_nothing_to_decide(approval: Any, view: Any) -> None:
    assert list(buttons(render(view(approval(kind="external"))))) == ["Details", "Cancel"]


EXTREMES: dict[str, dict[str, Any]] = {
    "one endless line": {"command": "x" * 50_000},
    "astral": {"command": "🙂" * 5_000},
    "escapes": {"command": "\u202e" * 5_000},
    "a thousand lines": {"command": "a\n" * 1_000},
    "many arguments": {f"name_{n}": "value " * n for n in range(60)},
    "long names": {"n" * 300: "v" * 300, "m" * 300: "w\n" * 300},
    "remarks": {"command": " ".join(f"https://раypal{n}.com сript{n} \u202e שלום" for n in range(50))},
    "nothing": {},
    "choices": {"question": "q" * 3_000, "choices": ["c" * 200 + str(n) for n in range(30)]},
}


def elsewhere(card: CardView) -> CardView:
    """The same as a copy at another place, posted once more: that takes room as well."""
    calls = tuple(replace(call, place=f"discord/{'1' * 19}/{'2' * 19}") for call in card.approvals)
    return replace(card, approvals=calls, card=replace(card.card, posts=1))


@pytest.mark.parametrize("kind", ["approval", "question"])
@pytest.mark.parametrize("state", [ApprovalState.PENDING, ApprovalState.INTERRUPTED, ApprovalState.NOTHING_RAN])
@pytest.mark.parametrize("extreme", EXTREMES.values(), ids=EXTREMES.keys())
async def test_discord_takes_the_most_extreme_card(
    approval: Any, view: Any, kind: str, state: ApprovalState, extreme: dict[str, Any]
) -> None:
    for count in (1, 2, 3, 5):
        calls = [
            approval(
                number,
                kind=kind,
                state=state,
                arguments=extreme,
                tool="t" * 100,
                reason="r" * 900,
                note="\u202e" * 900,
                requester="1" * 19,
                exit_code=255,
            )
            for number in range(count)
        ]
        ping = tuple(str(10**18 + n) for n in range(40))
        card: CardView = elsewhere(view(*calls, ping=ping, ping_roles=("1" * 19,) * 5, job="j" * 16))
        card.profiles["t" * 100] = "p" * 500
        for attached in (True, False):
            rendered = render(card, attached=attached)
            assert sum(map(limits.length, texts(rendered))) <= limits.CARD_TEXT
            assert rendered.view.total_children_count <= limits.COMPONENTS


async def test_a_call_that_is_asked_again_shows_what_changed_and_what_it_holds_on_to(approval: Any, view: Any) -> None:
    call = approval(bound={"files": {"deploy.sh": "5 bytes, sha256 " + "b" * 64}}, replaces="old")
    change = "deploy.sh changed: 4 bytes, sha256 aaaaaaaaaaaa → 5 bytes, sha256 bbbbbbbbbbbb"
    shown = whole(render(view(call, changed={call.id: (change,)})))
    assert "⚠ Asked again:" in shown
    assert "4 bytes, sha256 aaaaaaaaaaaa → 5 bytes, sha256 bbbbbbbbbbbb" in shown
    assert f"Counts only while `deploy.sh` stays as it is: 5 bytes, sha256 {'b' * 12}\n" in shown


@pytest.mark.parametrize("count", range(1, 6))
async def test_whatever_is_bound_and_changed_the_card_is_one_that_discord_takes(
    approval: Any, view: Any, count: int
) -> None:
    files = {f"{'`' * 50}{number}" * 3: "x" * 200 for number in range(9)}
    calls = [
        approval(number, bound={"files": files}, arguments={"command": "x y" * 4_000}, reason="`" * 900)
        for number in range(count)
    ]
    changed = {call.id: ("`" * 900,) * 9 for call in calls}
    render(view(*calls, changed=changed, job="j" * 16))


async def test_a_call_that_waits_for_a_result_shows_its_key_and_nothing_to_approve(approval: Any, view: Any) -> None:
    call = approval(kind="external", tool="build", reason="build #7 `x`")
    rendered = render(view(call))
    assert list(buttons(rendered)) == ["Details", "Cancel"]
    shown = whole(rendered)
    assert "waiting for a result" in shown
    assert "build #7" in shown
    assert f"`signoff resolve {call.id}`" in shown
    assert "Why it asks" not in shown


async def test_an_earlier_refusal_in_the_same_request_is_one_short_line(approval: Any, view: Any) -> None:
    denied = approval(1, tool="write_file", state=ApprovalState.DENIED)
    unheard = approval(2, state=ApprovalState.EXPIRED)
    shown = whole(render(view(approval(), earlier=(denied,))))
    assert "-# Earlier in this request: `write_file` was denied by <@100>\n" in shown
    shown = whole(render(view(approval(), earlier=(denied, denied, unheard))))
    assert "-# Earlier in this request: nobody answered about `shell`, and 2 more\n" in shown
    settled = whole(render(view(approval(state=ApprovalState.DENIED), earlier=(denied,))))
    assert "Earlier" not in settled


async def test_on_a_card_of_several_calls_the_earlier_refusal_is_said_once(approval: Any, view: Any) -> None:
    denied = approval(9, state=ApprovalState.DENIED)
    shown = whole(render(view(*(approval(number) for number in range(5)), earlier=(denied,))))
    assert shown.count("Earlier in this request") == 1


async def test_details_name_the_newest_refusals(approval: Any, view: Any) -> None:
    denied = tuple(approval(number, state=ApprovalState.DENIED, settled_by=str(number)) for number in range(1, 6))
    text, _ = details.compose(view(approval(), earlier=denied), approval().id)
    assert text.count("Earlier in this request") == 3
    assert "was denied by <@5>, and 2 more" in text


async def test_an_answered_question_shows_its_answer_inert(approval: Any, view: Any) -> None:
    call = approval(
        kind="question", tool="ask_user", arguments={"question": "Which?"}, state=ApprovalState.SUCCEEDED,
        result="**green** `x`",
    )  # fmt: skip
    shown = whole(render(view(call)))
    assert f"<@100> answered. {inert.line('**green** `x`')}" in shown


async def test_a_button_keeps_its_component_id_when_what_stands_before_it_goes(approval: Any, view: Any) -> None:
    """A press on `Approve` that meets an edit must never be taken for `Deny`, which has moved into its place."""

    def ids(*people: str) -> dict[str, int | None]:
        rendered = render(replace(view(approval()), ping=people))
        return {str(item.custom_id): item.id for item in rendered.view.walk_children() if isinstance(item, ui.Button)}

    posted, edited = ids("1"), ids()
    assert posted == edited
    assert len(set(posted.values())) == len(posted) > 3
    assert None not in posted.values()
