"""What a card shows of a change is bound to it: approved is the difference that was seen, and no other."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.clock import new_id
from bot.deferral.tool import Tool
from bot.surface import CardView
from bot.texts.entry import Language
from bot.toolbox.editing import make_edit_file
from cogs.cards import render
from cogs.custom_ids import Verb
from cogs.speech import speaking
from tests.cogs.conftest import approval, view
from tests.cogs.test_cards import buttons, whole
from tests.house import Bench, Script, open_house

__all__ = ["approval", "view"]

EDIT = [("edit_file", {"path": "notes.txt", "old": "two", "new": "2"})]
DIFF = "--- notes.txt (now)\n+++ notes.txt (after)\n@@ -1 +1 @@\n-two\n+2\n"


@dataclass
class Editing(Bench):
    """A bench with the real `edit_file`."""

    folder: Path = field(default_factory=Path)

    def tools(self) -> list[Tool]:
        return [*super().tools(), make_edit_file(workspace=self.folder, new_id=new_id)]


async def test_the_card_has_the_difference_and_approving_makes_exactly_that(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("two\n")
    async with open_house(tmp_path, Script(EDIT, "done"), bench=Editing(folder=tmp_path)) as house:
        await house.ask()
        assert house.card[1].approvals[0].bound["preview"] == DIFF
        assert notes.read_text() == "two\n"
        await house.decide("approve")
        assert notes.read_text() == "2\n"


async def test_a_file_that_changed_after_the_card_is_asked_about_again_with_the_new_difference(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("two\n")
    async with open_house(tmp_path, Script(EDIT, "done"), bench=Editing(folder=tmp_path)) as house:
        await house.ask()
        notes.write_text("one\ntwo\n")
        await house.decide("approve")
        assert notes.read_text() == "one\ntwo\n"
        posted: CardView = house.card[1]
        (again,) = posted.approvals
        assert again.bound["preview"].endswith(" one\n-two\n+2\n")
        assert "what it would change changed" in posted.changed[again.id]
        await house.decide("approve")
        assert notes.read_text() == "one\n2\n"


async def test_the_difference_is_drawn_inert_beside_the_arguments(approval: Any, view: Any) -> None:
    preview = "--- a\n+++ a\n-old ``` @everyone\n+new \u202e\n"
    call = approval(tool="edit_file", arguments={"path": "a", "new": "x"}, bound={"preview": preview})
    drawn = whole(render(view(call)))
    assert "what it changes" in drawn
    assert "+++ a" in drawn
    assert "\u202e" not in drawn
    assert drawn.count("```") % 2 == 0


async def test_a_difference_that_does_not_fit_is_attached_whole_and_cannot_be_approved_unseen(
    approval: Any, view: Any
) -> None:
    preview = "".join(f"+line {number}\n" for number in range(2_000))
    call = approval(tool="edit_file", arguments={"path": "a"}, bound={"preview": preview})
    rendered = render(view(call))
    assert rendered.attachment is not None
    assert "+line 1999" in rendered.attachment.content
    approve = buttons(rendered)["Approve"]
    assert approve is not None
    assert approve.verb is Verb.APPROVE_UNSEEN


async def test_what_is_no_difference_is_told_in_the_language_of_the_place(approval: Any, view: Any) -> None:
    call = approval(tool="write_file", arguments={"path": "a"}, bound={"preview": "a is not there yet: this makes it."})
    with speaking(Language.DE):
        assert "`a gibt es noch nicht: Das legt sie an.`" in whole(render(view(call)))
