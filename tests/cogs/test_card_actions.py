"""What can be done with a card beside approving and denying: a reason, an edit, cancelling, more time, once more."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cogs import forms
from tests.cogs.guild import Guild, custom_id, labels, open_guild, text_of
from tests.cogs.test_presses import forge, private, state
from tests.house import Bench, Script

SHELL = [("shell", {"command": "echo hello"})]
TWO = [("shell", {"command": "echo one"}), ("shell", {"command": "echo two"})]


@asynccontextmanager
async def asked(folder: Path, *steps: Any, bench: Bench | None = None) -> AsyncIterator[Guild]:
    """A guild in which Ben has asked, and a card waits."""
    async with open_guild(folder, Script(*(steps or (SHELL, "Done."))), bench=bench) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        yield here


# -- denying with a reason ----------------------------------------------------------------------


async def test_a_reason_reaches_the_model_the_card_and_the_trail(tmp_path: Path) -> None:
    async with asked(tmp_path, SHELL, "As you wish.") as here:
        form = await here.ana.click(here.card, label="Deny with reason…")
        await here.ana.submit_modal(form, {"text": "  not on a Friday\n"})
        await here.settle()
        assert here.bench.effects == []
        assert "denied this call: not on a Friday" in here.script.results()[0][1]
        assert "denied `shell`: `not on a Friday`" in text_of(here.card)
        [entry] = await here.rows("SELECT actor, detail FROM audit WHERE event = 'denied'")
        assert entry["actor"] == str(here.ana.id)
        assert json.loads(entry["detail"]) == {"note": "not on a Friday"}


async def test_a_reason_survives_a_restart_between_opening_and_submitting(tmp_path: Path) -> None:
    async with asked(tmp_path, SHELL, "As you wish.") as here:
        form = await here.ana.click(here.card, label="Deny with reason…")
        await here.restart()
        await here.ana.submit_modal(form, {"text": "not on a Friday"})
        await here.settle()
        assert "not on a Friday" in here.script.results()[0][1]


async def test_a_reason_that_comes_too_late_is_given_back(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Deny with reason…")
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        [told] = private(await here.ana.submit_modal(form, {"text": "not on a Friday"}))
        assert "already been settled" in told
        assert "not on a Friday" in told
        assert await state(here) == ["succeeded"]


async def test_a_blank_reason_denies_nothing(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Deny with reason…")
        assert private(await here.ana.submit_modal(form, {"text": "  "})) == [forms.NO_REASON]
        assert await state(here) == ["pending"]


@pytest.mark.parametrize("label", ["Deny with reason…", "Edit…"])
async def test_a_stranger_is_refused_before_a_form_is_shown(tmp_path: Path, label: str) -> None:
    async with asked(tmp_path) as here:
        result = await here.mallory.click(here.card, label=label)
        assert result.modal is None
        assert "not an approver" in private(result)[0]
        assert await here.rows("SELECT actor FROM audit WHERE event = 'press_refused'") == [
            {"actor": str(here.mallory.id)}
        ]


async def test_a_stranger_who_submits_somebody_elses_form_changes_nothing(tmp_path: Path) -> None:
    """Who lost the right while the form was open is refused at the submit, and gets the text back."""
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Deny with reason…")
        here.app.engine.set_owners(frozenset({str(here.mallory.id)}))
        [told] = private(await here.ana.submit_modal(form, {"text": "because"}))
        assert "not an approver" in told
        assert "because" in told
        assert await state(here) == ["pending"]


# -- editing ------------------------------------------------------------------------------------


async def test_the_form_of_a_tool_with_one_text_holds_that_text(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Edit…")
        text, file = form.modal["components"]
        assert (text["label"], text["component"]["value"]) == ("command", "echo hello")
        assert file["component"]["required"] is False


async def test_an_edit_is_a_new_action_that_waits_for_a_press_of_its_own(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        old = custom_id(here.card, "Approve")
        form = await here.ana.click(here.card, label="Edit…")
        result = await here.ana.submit_modal(form, {"text": "echo goodbye"})
        await here.settle()
        assert private(result) == [forms.CHANGED]
        assert here.bench.effects == []
        assert await here.rows("SELECT state FROM approval ORDER BY requested_at, replaces IS NOT NULL") == [
            {"state": "cancelled"},
            {"state": "pending"},
        ]
        assert len(here.cards) == 1
        shown = text_of(here.card)
        assert f"✎ <@{here.ana.id}> changed `echo hello` → `echo goodbye`" in shown
        assert custom_id(here.card, "Approve") != old

        [told] = private(await forge(here, here.ana, old))
        assert "has changed this call meanwhile" in told
        assert here.bench.effects == []

        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo goodbye"]
        assert "✎" in text_of(here.card)
        [(outcome, text)] = here.script.results()
        assert outcome == "success"
        assert "A person changed this call before it was decided" in text
        assert '{"command": "echo goodbye"}' in text
        assert here.texts[-1] == "Done."


async def test_the_rows_of_an_edit_know_each_other_and_the_trail_knows_both(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Edit…")
        await here.ana.submit_modal(form, {"text": "echo goodbye"})
        old, new = await here.rows("SELECT * FROM approval ORDER BY replaces IS NOT NULL")
        assert (new["replaces"], new["edited_by"], new["call_id"]) == (old["id"], str(here.ana.id), old["call_id"])
        assert json.loads(new["original"]) == {"command": "echo hello"}
        assert new["digest"] != old["digest"]
        assert new["seal"] != old["seal"]
        assert (old["note"], old["settled_by"]) == (f"edited by {here.ana.id}", str(here.ana.id))
        trail = await here.rows("SELECT event, approval FROM audit WHERE approval IS NOT NULL ORDER BY n")
        assert [(row["event"], row["approval"] == new["id"]) for row in trail] == [
            ("asked", False),
            ("asked", True),
            ("cancelled", False),
            ("edited", True),
        ]


async def test_what_does_not_fit_the_tool_is_told_and_given_back(tmp_path: Path) -> None:
    calls = [("ask_many", {"names": ["a"], "count": 1})]
    async with asked(tmp_path, calls, "Done.", bench=Many()) as here:
        for text, words in [
            ('{"names": ["a"], "count": 2,}', "not valid JSON"),
            ('{"names": ["a"], "count": "2"}', "count: Input should be a valid integer"),
            ('{"names": ["a"]}', "count: Field required"),
            ('{"names": ["a"], "count": 1, "more": 1}', "more: Extra inputs are not permitted"),
            ('{"names": ["a"], "count": 1, "count": 2}', "given twice"),
            ('{"names": ["a"], "count": NaN}', "NaN"),
            ('{"names": ["\\ud800"], "count": 1}', "cannot"),
            ("[1]", "JSON object"),
            ("", "not valid JSON"),
            ('{"count": 1, "names": ["a"]}', "shows already"),
        ]:
            form = await here.ana.click(here.card, label="Edit…")
            [told] = private(await here.ana.submit_modal(form, {"text": text}))
            assert words in told, text
            assert "nothing was changed" in told
            assert f"```text\n{text}" in told or not text or "\\" in text
        assert await state(here) == ["pending"]
        form = await here.ana.click(here.card, label="Edit…")
        await here.ana.submit_modal(form, {"text": '{"names": ["a", "b"], "count": 2}'})
        await here.settle()
        shown = text_of(here.card)
        assert '`names` `["a"]` → `["a", "b"]`' in shown
        assert "`count` `1` → `2`" in shown


async def test_an_edit_survives_a_restart_between_opening_and_submitting(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Edit…")
        await here.restart()
        await here.ana.submit_modal(form, {"text": "echo goodbye"})
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo goodbye"]


async def test_of_two_edits_at_once_the_second_is_given_back(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        mine, other = [await here.ana.click(here.card, label="Edit…") for _ in range(2)]
        await here.ana.submit_modal(mine, {"text": "echo mine"})
        [told] = private(await here.ana.submit_modal(other, {"text": "echo other"}))
        assert "has changed this call meanwhile" in told
        assert "echo other" in told
        assert "echo mine" in text_of(here.card)


async def test_an_edit_that_comes_too_late_is_given_back(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Edit…")
        await here.ana.click(here.card, label="Deny")
        await here.settle()
        [told] = private(await here.ana.submit_modal(form, {"text": "echo goodbye"}))
        assert "already been settled" in told
        assert "echo goodbye" in told


async def test_an_edit_back_to_the_first_wording_is_an_edit_too(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        for text in ("echo goodbye", "echo hello"):
            form = await here.ana.click(here.card, label="Edit…")
            await here.ana.submit_modal(form, {"text": text})
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]
        assert "✎" not in text_of(here.card)


async def test_an_edit_into_another_call_of_the_same_request_is_refused(tmp_path: Path) -> None:
    async with asked(tmp_path, TWO, "Done.") as here:
        form = await here.ana.click(here.card, custom_id=custom_id(here.card, "Edit…", 1))
        [told] = private(await here.ana.submit_modal(form, {"text": "echo one"}))
        assert "has that very call already" in told
        assert await state(here) == ["pending", "pending"]


async def test_the_model_that_asks_again_for_what_was_edited_gets_the_outcome_and_no_card(tmp_path: Path) -> None:
    """One request, one run: of the call as it was, and of the call as it became."""
    again = [("shell", {"command": "echo hello"}), ("shell", {"command": "echo goodbye"})]
    async with asked(tmp_path, SHELL, again, "Done.") as here:
        form = await here.ana.click(here.card, label="Edit…")
        await here.ana.submit_modal(form, {"text": "echo goodbye"})
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo goodbye"]
        assert len(here.cards) == 1
        assert all("Not run again" in text for _, text in here.script.results()[-2:])


async def test_a_long_call_is_edited_as_a_file(tmp_path: Path) -> None:
    command = "echo " + "x" * 5_000
    async with asked(tmp_path, [("shell", {"command": command})], "Done.") as here:
        details = await here.ana.click(here.card, label="Details")
        [edit] = [file for file in details.response.attachments if file.filename.startswith("edit-")]
        assert edit.filename.endswith(".txt")
        form = await here.ana.click(here.card, label="Edit…")
        [words, file] = form.modal["components"]
        assert "`Details` gives you" in words["content"]
        assert file["component"]["required"] is True
        await here.ana.submit_modal(form, {"file": ("changed.txt", b"echo short")})
        await here.settle()
        shown = text_of(here.card)
        assert "```text\necho short\n```" in shown
        assert here.card.attachments == []
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo short"]


async def test_a_short_call_that_becomes_long_brings_its_file_and_asks_once_more(tmp_path: Path) -> None:
    command = "echo " + "y" * 5_000
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Edit…")
        await here.ana.submit_modal(form, {"text": "echo hello", "file": ("changed.txt", command.encode())})
        await here.settle()
        assert [file.size for file in here.card.attachments] == [len(command)]
        form = await here.ana.click(here.card, label="Approve")
        assert form.modal is not None
        await here.ana.submit_modal(form, {"text": "approve"})
        await here.settle()
        assert here.bench.effects == [command]
        assert len(here.card.attachments) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\xff\xfe", "not text in UTF-8"), (b"x" * (forms.MOST_BYTES + 1), "256 KiB")],
    ids=["not text", "too large"],
)
async def test_a_file_that_cannot_be_read_changes_nothing(tmp_path: Path, content: bytes, words: str) -> None:
    async with asked(tmp_path) as here:
        form = await here.ana.click(here.card, label="Edit…")
        [told] = private(await here.ana.submit_modal(form, {"text": "", "file": ("changed.txt", content)}))
        assert words in told
        assert await state(here) == ["pending"]


async def test_a_press_for_all_does_not_count_for_a_call_that_was_changed_meanwhile(tmp_path: Path) -> None:
    async with asked(tmp_path, TWO, "Done.") as here:
        old = custom_id(here.card, "Approve all")
        form = await here.ana.click(here.card, custom_id=custom_id(here.card, "Edit…"))
        await here.ana.submit_modal(form, {"text": "echo changed"})
        [told] = private(await forge(here, here.ana, old))
        assert "changed meanwhile, so nothing was decided" in told
        assert here.bench.effects == []
        await here.ana.click(here.card, label="Approve all")
        await here.settle()
        assert sorted(here.bench.effects) == ["echo changed", "echo two"]


# -- cancelling ---------------------------------------------------------------------------------


async def test_the_person_who_asked_cancels_without_being_an_approver(tmp_path: Path) -> None:
    async with asked(tmp_path, SHELL, "I see.") as here:
        await here.ben.click(here.card, label="Cancel")
        await here.settle()
        assert await state(here) == ["cancelled"]
        assert "cancelled" in text_of(here.card)
        assert "taken back by the person who asked" in here.script.results()[0][1]
        assert here.texts[-1] == "I see."
        [entry] = await here.rows("SELECT actor FROM audit WHERE event = 'cancelled'")
        assert entry["actor"] == str(here.ben.id)


@pytest.mark.parametrize("who", ["ana", "mallory"])
async def test_nobody_else_cancels_not_even_an_approver(tmp_path: Path, who: str) -> None:
    async with asked(tmp_path) as here:
        [told] = private(await getattr(here, who).click(here.card, label="Cancel"))
        assert "Only the person who asked for this can cancel it" in told
        assert await state(here) == ["pending"]


async def test_a_press_after_a_cancellation_is_told_so(tmp_path: Path) -> None:
    """S-A14."""
    async with asked(tmp_path, SHELL, "I see.") as here:
        approve = custom_id(here.card, "Approve")
        await here.ben.click(here.card, label="Cancel")
        await here.settle()
        [told] = private(await forge(here, here.ana, approve))
        assert "was cancelled" in told
        assert here.bench.effects == []


async def test_all_of_a_card_is_cancelled_by_one_press(tmp_path: Path) -> None:
    async with asked(tmp_path, TWO, "I see.") as here:
        assert labels(here.card)[-4:] == ["Approve all", "Deny all", "Cancel all", "Extend"]
        await here.ben.click(here.card, label="Cancel all")
        await here.settle()
        assert await state(here) == ["cancelled", "cancelled"]


async def test_a_question_can_be_cancelled_too(tmp_path: Path) -> None:
    async with asked(tmp_path, [("ask_user", {"question": "Which port?"})], "I see.") as here:
        await here.ben.click(here.card, label="Cancel")
        await here.settle()
        assert await state(here) == ["cancelled"]


# -- once more ----------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["ana", "ben"])
@pytest.mark.parametrize("ending", ["Approve", "Deny"])
async def test_what_has_ended_is_asked_about_once_more_and_never_run_by_that(
    tmp_path: Path, who: str, ending: str
) -> None:
    async with asked(tmp_path, SHELL, "First.", "Second.") as here:
        await here.ana.click(here.card, label=ending)
        await here.settle()
        before = list(here.bench.effects)
        first, models = here.card, len(here.script.seen)
        await getattr(here, who).click(first, label="Run again")
        await here.settle()
        assert here.bench.effects == before
        assert len(here.cards) == 2
        assert len(here.script.seen) == models  # the model is not asked what to do: the call is given
        assert "echo hello" in text_of(here.card)
        assert f"Asked by <@{getattr(here, who).id}>" in text_of(here.card)
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == [*before, "echo hello"]
        assert here.texts[-1] == "Second."
        [entry] = await here.rows("SELECT actor, approval FROM audit WHERE event = 'run_again'")
        assert entry["actor"] == str(getattr(here, who).id)


async def test_a_stranger_cannot_ask_again(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        await here.ana.click(here.card, label="Deny")
        await here.settle()
        [told] = private(await here.mallory.click(here.card, label="Run again"))
        assert "not an approver" in told
        assert len(here.cards) == 1


async def test_what_still_waits_cannot_be_asked_about_once_more(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        again = custom_id(here.card, "Approve").replace("approve", "again")
        [told] = private(await forge(here, here.ana, again))
        assert "not ended yet" in told
        assert len(here.cards) == 1


async def test_once_more_means_what_ran_not_what_the_model_had_said(tmp_path: Path) -> None:
    async with asked(tmp_path, SHELL, "First.", "Second.") as here:
        form = await here.ana.click(here.card, label="Edit…")
        await here.ana.submit_modal(form, {"text": "echo goodbye"})
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        await here.ana.click(here.card, label="Run again")
        await here.settle()
        assert "```text\necho goodbye\n```" in text_of(here.card)


# -- more time ----------------------------------------------------------------------------------


def deadline(here: Guild) -> int:
    """The latest moment on the card, in seconds."""
    return max(map(int, re.findall(r"<t:(\d+)", text_of(here.card))))


async def test_an_approver_puts_the_deadline_off_by_one_lifetime_and_the_card_shows_it(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        first = deadline(here)
        result = await here.ana.click(here.card, label="Extend")
        await here.settle()
        assert deadline(here) == first + 86_400
        assert f"<t:{first + 86_400}:f>" in private(result)[0]
        here.clock.advance(seconds=86_400)
        await here.app.engine.sweep()
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]
        [entry] = await here.rows("SELECT actor, detail FROM audit WHERE event = 'extended'")
        assert entry["actor"] == str(here.ana.id)
        assert json.loads(entry["detail"]) == {"expires_at": (first + 86_400) * 1_000}


async def test_the_line_of_names_stays_through_an_edit_and_notifies_nobody_again(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        before = text_of(here.card).splitlines()
        await here.ana.click(here.card, label="Extend")
        await here.settle()
        after = text_of(here.card).splitlines()
        assert after[0] == before[0] == f"<@{here.ana.id}>"
        assert len(after) == len(before)
        about = here.requests("PATCH", "/messages")
        assert about
        assert all(not body["allowed_mentions"].get("users") for body in about)


@pytest.mark.parametrize("who", ["ben", "mallory"])
async def test_only_an_approver_puts_a_deadline_off(tmp_path: Path, who: str) -> None:
    async with asked(tmp_path) as here:
        first = deadline(here)
        [told] = private(await getattr(here, who).click(here.card, label="Extend"))
        assert "not an approver" in told
        assert deadline(here) == first


async def test_a_deadline_is_put_off_so_often_and_no_more(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        first = deadline(here)
        for _ in range(3):
            await here.ana.click(here.card, label="Extend")
        [told] = private(await here.ana.click(here.card, label="Extend"))
        assert "that is the most" in told
        assert deadline(here) == first + 3 * 86_400


async def test_approvers_are_reminded_once_under_the_card_before_each_deadline(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        card, first = here.card, deadline(here)
        here.clock.advance(seconds=86_400 - 600)
        for _ in range(3):
            await here.app.engine.sweep()
            await here.settle()
        [reminder] = [message for message in here.messages if "running out" in message.content]
        assert reminder.reference is not None
        assert reminder.reference.message_id == card.id
        assert f"<t:{first}:R>" in reminder.content
        [sent] = [body for body in here.requests("POST", "/messages") if "running out" in str(body.get("content"))]
        assert sent["allowed_mentions"]["parse"] == []
        assert sent["allowed_mentions"]["users"] == [here.ana.id]
        await here.ana.click(card, label="Extend")
        here.clock.advance(seconds=86_400)
        await here.app.engine.sweep()
        await here.settle()
        reminders = [message for message in here.messages if "running out" in message.content]
        assert len(reminders) == 2
        assert f"<t:{first + 86_400}:R>" in reminders[1].content
        assert await state(here) == ["pending"]


async def test_a_deadline_that_has_passed_cannot_be_put_off(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        extend = custom_id(here.card, "Extend")
        here.clock.advance(seconds=86_400)
        [told] = private(await forge(here, here.ana, extend))
        assert "nothing was changed" in told
        await here.app.engine.sweep()
        await here.settle()
        assert await state(here) == ["expired"]


# -- words decide nothing -----------------------------------------------------------------------


async def test_a_reaction_a_reply_and_a_word_decide_nothing(tmp_path: Path) -> None:
    """S-A09."""
    async with asked(tmp_path) as here:
        before = text_of(here.card)
        await here.ana.react(here.card, "👍")
        await here.ana.react(here.card, "✅")
        for words in ("approved", "/approve", f"approve {custom_id(here.card, 'Approve')}"):
            await here.ana.send(here.channel, words)
            await here.ana.send(here.channel, words, reply_to=here.card)
        await here.settle()
        assert await state(here) == ["pending"]
        assert text_of(here.card) == before
        assert here.bench.effects == []


class Many(Bench):
    """With a tool that takes more than one text."""

    def tools(self) -> list[Any]:
        from bot.deferral.tool import Arguments, Tool, ToolOutcome

        class ManyArguments(Arguments):
            names: list[str]
            count: int

        async def body(arguments: Any, call: Any) -> ToolOutcome:
            self.effects.append(f"{arguments.count} of {arguments.names}")
            return ToolOutcome(text="out")

        return [*super().tools(), Tool(name="ask_many", description="Acts.", arguments=ManyArguments, body=body)]
