"""`Undo`: what a write replaced comes back, once, to the byte, and only while nobody has touched the file since."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.clock import new_id
from bot.deferral.tool import Tool
from bot.errors import AlreadySettled, DecisionRefused, NotAllowed
from bot.files.kept import UNDO_FOLDER
from bot.permits import PolicyRule
from bot.redact import Redactor
from bot.rules import ApproverRule
from bot.settings import Settings
from bot.surface import Actor
from bot.timeline import timeline
from bot.toolbox.editing import make_edit_file
from bot.toolbox.files import make_write_file
from storage import undo
from storage.undo import UndoState
from tests.house import ASKER, OWNER, STRANGER, Bench, House, Script, open_house

OTHER = Actor(id="4", guild="9")
WRITE = [("write_file", {"path": "notes.txt", "content": "new"})]
OLD = b"old \xff\x00 bytes"


@dataclass
class Desk(Bench):
    """A bench with the real tools that write."""

    workspace: Path = field(default_factory=Path)

    def tools(self) -> list[Tool]:
        return [
            *super().tools(),
            make_write_file(workspace=self.workspace, new_id=new_id),
            make_edit_file(workspace=self.workspace, new_id=new_id),
        ]


@asynccontextmanager
async def written(folder: Path, *steps: Any, before: bytes | None = OLD, **options: Any) -> AsyncIterator[House]:
    """A house in which Ben has asked for a write, and the owner has approved it."""
    workspace = folder / "workspace"
    if not workspace.exists():
        workspace.mkdir()
        if before is not None:
            (workspace / "notes.txt").write_bytes(before)
    script = Script(*(steps or (WRITE, "Done.", "Later.")))
    async with open_house(folder, script, bench=Desk(workspace=workspace), workspace=workspace, **options) as house:
        if not await house.rows("SELECT 1 FROM run"):
            await house.ask()
            if house.face.cards:
                await house.decide("approve")
        yield house


def notes(folder: Path) -> Path:
    return folder / "workspace" / "notes.txt"


def copies(folder: Path) -> list[Path]:
    return sorted((folder / UNDO_FOLDER).glob("*"))


async def press(house: House, actor: Actor = OWNER, row: int = 0) -> None:
    await house.app.upkeep.undoing.undo(house.press(actor, row))
    await house.app.background.idle()


async def refused(house: House, actor: Actor = OWNER, row: int = 0) -> DecisionRefused:
    with pytest.raises(DecisionRefused) as refusal:
        await press(house, actor, row)
    await house.app.background.idle()
    return refusal.value


async def state(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM undo ORDER BY kept_at, id")]


async def told(house: House) -> list[str]:
    """The story of the newest card's first call."""
    call = house.card[1].approvals[0]
    moments = await timeline(house.app.database.reader, call, who=lambda person: f"<{person}>", quote=str)
    return [moment.text for moment in moments]


# -- what comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [OLD, b"", b"text\r\nwithout an end", b"x" * 3_000_000])
async def test_exactly_the_earlier_bytes_come_back(tmp_path: Path, before: bytes) -> None:
    async with written(tmp_path, before=before) as house:
        assert notes(tmp_path).read_bytes() == b"new"
        await press(house)
        assert notes(tmp_path).read_bytes() == before
        assert await state(house) == ["undone"]


async def test_a_file_that_the_write_made_is_removed_and_its_neighbours_stay(tmp_path: Path) -> None:
    steps = [("write_file", {"path": "a/b/new.txt", "content": "new"})], "Done."
    async with written(tmp_path, *steps) as house:
        made = tmp_path / "workspace" / "a" / "b" / "new.txt"
        (made.parent / "neighbour").write_text("stays")
        await press(house)
        assert not made.exists()
        assert (made.parent / "neighbour").read_text() == "stays"
        assert notes(tmp_path).read_bytes() == OLD


async def test_an_edit_is_taken_back_as_well(tmp_path: Path) -> None:
    steps = [("edit_file", {"path": "notes.txt", "old": "two", "new": "2"})], "Done."
    async with written(tmp_path, *steps, before=b"one\ntwo\n") as house:
        assert notes(tmp_path).read_bytes() == b"one\n2\n"
        await press(house)
        assert notes(tmp_path).read_bytes() == b"one\ntwo\n"


async def test_the_permissions_stay(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        notes(tmp_path).chmod(0o640)
        await press(house)
        assert notes(tmp_path).stat().st_mode & 0o777 == 0o640


async def test_writes_on_top_of_each_other_are_taken_back_from_the_top(tmp_path: Path) -> None:
    both = [*WRITE, ("write_file", {"path": "notes.txt", "content": "newer"})]
    async with written(tmp_path, both[:1], both[1:], "Done.") as house:
        await house.decide("approve")
        first, second = (replace(house.press(OWNER, message=message)) for message in house.face.cards)
        first = replace(first, approval=next(iter(house.face.cards.values())).approvals[0].id)
        undoing = house.app.upkeep.undoing
        with pytest.raises(DecisionRefused, match="was changed after this write"):
            await undoing.undo(first)
        await undoing.undo(second)
        assert notes(tmp_path).read_bytes() == b"new"
        await undoing.undo(first)
        assert notes(tmp_path).read_bytes() == OLD


async def test_each_row_of_a_card_of_several_calls_has_its_own_undo(tmp_path: Path) -> None:
    both = [("write_file", {"path": "notes.txt", "content": "new"}), ("write_file", {"path": "b", "content": "b"})]
    async with written(tmp_path, both, "Done.") as house:
        await house.decide("approve", row=1)
        assert len(house.face.cards) == 1
        await press(house, row=1)
        assert not (tmp_path / "workspace" / "b").exists()
        assert notes(tmp_path).read_bytes() == b"new"
        await press(house, row=0)
        assert notes(tmp_path).read_bytes() == OLD


async def test_after_a_restart_it_still_counts(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        face = house.face
    async with written(tmp_path, face=face, ids="second") as house:
        await press(house)
        assert notes(tmp_path).read_bytes() == OLD


# -- what does not --------------------------------------------------------------------------------


async def test_a_file_that_was_changed_since_stays_as_it_is_and_the_refusal_says_what_it_holds(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        notes(tmp_path).write_text("somebody's work")
        refusal = await refused(house)
        assert "it holds 15 bytes now (sha256 `" in refusal.sentence
        assert "nothing was changed" in refusal.sentence
        assert notes(tmp_path).read_text() == "somebody's work"
        assert await state(house) == ["kept"]
        notes(tmp_path).write_text("new")  # as the write left it
        await press(house)
        assert notes(tmp_path).read_bytes() == OLD


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("removed", "not there any more"),
        ("a link", "links are not followed"),
        ("a directory", "is a directory"),
        ("two names", "more than one name"),
        ("as before", "already as it was"),
    ],
)
async def test_what_is_not_the_file_that_the_write_left_is_not_touched(tmp_path: Path, what: str, why: str) -> None:
    async with written(tmp_path) as house:
        file, outside = notes(tmp_path), tmp_path / "outside"
        outside.write_text("new")
        if what == "two names":
            os.link(file, tmp_path / "second")
        else:
            file.unlink()
        if what == "a link":
            file.symlink_to(outside)
        elif what == "a directory":
            file.mkdir()
        elif what == "as before":
            file.write_bytes(OLD)
        refusal = await refused(house)
        assert why in refusal.sentence
        assert refusal.code == "file_changed"
        assert outside.read_text() == "new"
        assert await state(house) == ["kept"]


async def test_a_directory_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    steps = [("write_file", {"path": "a/new.txt", "content": "new"})], "Done."
    async with written(tmp_path, *steps) as house:
        below = tmp_path / "workspace" / "a"
        below.rename(tmp_path / "moved")
        below.symlink_to(tmp_path / "moved")
        assert "links are not followed" in (await refused(house)).sentence
        assert (tmp_path / "moved" / "new.txt").read_text() == "new"


async def test_a_new_file_that_is_gone_already_is_told_as_such(tmp_path: Path) -> None:
    async with written(tmp_path, before=None) as house:
        notes(tmp_path).unlink()
        assert "already as it was before" in (await refused(house)).sentence


async def test_it_happens_once(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        await press(house)
        notes(tmp_path).write_text("new")
        refusal = await refused(house)
        assert isinstance(refusal, AlreadySettled)
        assert "undone already" in refusal.sentence
        assert notes(tmp_path).read_text() == "new"


async def test_of_two_presses_at_once_one_counts(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        both = await asyncio.gather(press(house), press(house), return_exceptions=True)
        assert sorted(str(type(one).__name__) for one in both) == ["AlreadySettled", "NoneType"]
        assert notes(tmp_path).read_bytes() == OLD
        assert len(await house.rows("SELECT 1 FROM audit WHERE event = 'undone'")) == 1


@pytest.mark.parametrize("actor", [STRANGER, ASKER, Actor(id="1", guild="8")])
async def test_who_may_not_decide_the_call_may_not_undo_it(tmp_path: Path, actor: Actor) -> None:
    async with written(tmp_path) as house:
        assert isinstance(await refused(house, actor), NotAllowed)
        assert notes(tmp_path).read_text() == "new"
        assert len(await house.rows("SELECT 1 FROM audit WHERE event = 'press_refused' AND actor = ?", actor.id)) == 1


async def test_where_four_eyes_are_wanted_the_requester_undoes_nothing_and_another_approver_does(
    tmp_path: Path,
) -> None:
    rule = ApproverRule(users=frozenset({OWNER.id, ASKER.id}), four_eyes=True)
    async with written(tmp_path, settings=Settings(approvers=(rule,))) as house:
        refusal = await refused(house, ASKER)
        assert refusal.code == "four_eyes"
        assert "for another approver" in refusal.sentence
        assert notes(tmp_path).read_text() == "new"
        await press(house, OWNER)
        assert notes(tmp_path).read_bytes() == OLD


async def test_any_approver_may_undo_not_only_who_approved(tmp_path: Path) -> None:
    async with written(tmp_path, settings=Settings(approver_users=frozenset({OWNER.id, OTHER.id}))) as house:
        await press(house, OTHER)
        assert notes(tmp_path).read_bytes() == OLD


async def test_what_still_waits_or_was_denied_has_nothing_to_undo(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    bench = Desk(workspace=workspace)
    async with open_house(tmp_path, Script(WRITE, "Well."), bench=bench, workspace=workspace) as house:
        await house.ask()
        assert (await refused(house)).code == "not_ended"
        await house.decide("deny")
        assert (await refused(house)).code == "nothing_kept"
        assert not notes(tmp_path).exists()


async def test_another_tool_has_nothing_to_undo(tmp_path: Path) -> None:
    async with written(tmp_path, [("act", {"what": "x"})], "Done.") as house:
        assert (await refused(house)).code == "nothing_kept"
        assert house.card[1].undos == {}


# -- the copies -----------------------------------------------------------------------------------


async def test_the_copy_is_for_the_bots_user_alone_and_goes_when_it_is_used(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        [copy] = copies(tmp_path)
        assert copy.read_bytes() == OLD
        assert copy.stat().st_mode & 0o777 == 0o600
        assert copy.parent.stat().st_mode & 0o777 == 0o700
        await press(house)
        assert copies(tmp_path) == []


async def test_the_bytes_are_in_no_row_no_card_and_no_answer(tmp_path: Path) -> None:
    secret = b"hunter2-hunter2-hunter2"
    async with written(tmp_path, before=secret, redactor=Redactor({"KEY": secret.decode()})) as house:
        await press(house)
        assert notes(tmp_path).read_bytes() == secret
        for table in await house.rows("SELECT name FROM sqlite_master WHERE type = 'table'"):
            assert secret.decode() not in str(await house.rows(f"SELECT * FROM {table['name']}"))
        assert secret.decode() not in str(house.face.cards)
    assert not [file for file in tmp_path.glob("house*") if secret in file.read_bytes()]


async def test_a_write_whose_copy_cannot_be_kept_does_not_happen(tmp_path: Path) -> None:
    (tmp_path / UNDO_FOLDER).write_text("in the way")
    async with written(tmp_path) as house:
        assert notes(tmp_path).read_bytes() == OLD
        [row] = await house.rows("SELECT state, note FROM approval")
        assert row["state"] == "nothing_ran"
        assert "could not be kept for an undo" in row["note"]


async def test_a_copy_that_is_too_old_is_dropped_and_the_button_says_so(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        await house.later(seconds=7 * 86_400 + 1)
        assert copies(tmp_path) == []
        assert (await refused(house)).code == "copy_gone"
        assert notes(tmp_path).read_text() == "new"


async def test_all_copies_together_stay_below_a_limit_and_the_oldest_go_first(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        house.app.upkeep.undoing._kept._most = 10  # less than two of them
        notes(tmp_path).write_bytes(b"12345678")
        house.script.steps[:] = [[("write_file", {"path": "notes.txt", "content": "newer"})], "Done."]
        await house.ask(request="r2")
        await house.decide("approve")
        assert [copy.read_bytes() for copy in copies(tmp_path)] == [b"12345678"]
        await press(house)
        assert notes(tmp_path).read_bytes() == b"12345678"


async def test_a_file_larger_than_is_kept_is_not_written_over(tmp_path: Path) -> None:
    async with written(tmp_path, before=b"") as house:
        os.truncate(notes(tmp_path), 32_000_001)
        house.script.steps[:] = [WRITE, "Done."]
        await house.ask(request="r2")
        assert "This write cannot be made" in house.card[1].approvals[0].bound["preview"]
        await house.decide("approve")
        assert notes(tmp_path).stat().st_size == 32_000_001


async def test_what_a_dead_process_left_without_a_row_is_swept_away(tmp_path: Path) -> None:
    async with written(tmp_path):
        (tmp_path / UNDO_FOLDER / "orphan").write_text("left over")
    async with written(tmp_path, ids="second"):
        assert [copy.read_bytes() for copy in copies(tmp_path)] == [OLD]


@pytest.mark.parametrize("column", ["path", "before", "after", "root", "call"])
async def test_a_row_that_somebody_changed_in_the_database_puts_nothing_anywhere(tmp_path: Path, column: str) -> None:
    async with written(tmp_path) as house:
        (tmp_path / "workspace" / "victim").write_text("new")
        async with house.app.database.begin("tamper") as tx:
            value = "victim" if column == "path" else "0" * 64
            await tx.execute(f"UPDATE undo SET {column} = ?", value)
        assert (await refused(house)).code == "not_genuine"
        assert (tmp_path / "workspace" / "victim").read_text() == "new"
        assert notes(tmp_path).read_text() == "new"


async def test_what_one_call_wrote_is_not_taken_back_by_the_button_of_another(tmp_path: Path) -> None:
    two = [*WRITE, ("write_file", {"path": "other.txt", "content": "new"})]
    async with written(tmp_path, two, "Done.") as house:
        await house.decide("approve", row=1)
        first, second = house.card[1].approvals
        async with house.app.database.begin("tamper") as tx:
            await tx.execute("DELETE FROM undo WHERE approval = ?", second.id)
            await tx.execute("UPDATE undo SET approval = ? WHERE approval = ?", second.id, first.id)
        assert (await refused(house, row=1)).code == "not_genuine"
        assert notes(tmp_path).read_text() == "new"


async def test_a_copy_that_somebody_changed_on_the_disk_is_not_put_back(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        copies(tmp_path)[0].write_text("forged")
        assert (await refused(house)).code == "not_genuine"
        assert notes(tmp_path).read_text() == "new"


async def test_a_write_that_a_rule_allowed_keeps_its_copy_too(tmp_path: Path) -> None:
    rule = PolicyRule(name="notes", tool="write_file", action="allow")
    async with written(tmp_path, settings=Settings(policy=(rule,), approver_users=frozenset({OWNER.id}))) as house:
        assert notes(tmp_path).read_text() == "new"
        assert [copy.read_bytes() for copy in copies(tmp_path)] == [OLD]
        assert house.face.cards == {}


# -- who is told ----------------------------------------------------------------------------------


async def test_the_card_the_story_and_the_trail_say_who_undid_it(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        assert next(iter(house.card[1].undos.values())).possible
        await press(house)
        [shown] = house.card[1].undos.values()
        assert (shown.state, shown.by, shown.at, shown.possible) == (
            UndoState.UNDONE,
            OWNER.id,
            house.clock.now(),
            False,
        )
        assert (await told(house))[-2:] == ["<1> pressed Undo", "The write was undone"]
        events = await house.rows("SELECT event, actor FROM audit WHERE event LIKE 'und%' ORDER BY n")
        assert events == [{"event": "undo_began", "actor": "1"}, {"event": "undone", "actor": "1"}]


async def test_the_model_is_told_in_its_next_turn_and_once(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        await press(house)
        await house.ask("and now?", request="r2")
        said = str(house.script.seen[-1])
        assert "People have taken back writes of yours." in said
        assert "- notes.txt: it has the content again that it had before your write." in said
        house.script.steps[:] = ["Again."]
        await house.ask("and now?", request="r3")
        assert str(house.script.seen[-1]).count("People have taken back writes") == 1  # as a part of the history


async def test_a_run_that_still_waits_is_told_with_its_results(tmp_path: Path) -> None:
    both = [*WRITE, ("act", {"what": "x"})]
    async with written(tmp_path, both, "Done.") as house:
        await press(house)
        await house.decide("approve", row=1)
        assert "People have taken back writes of yours." in str(house.script.seen[-1])


async def test_of_a_removed_file_the_model_is_told_that_it_is_gone(tmp_path: Path) -> None:
    async with written(tmp_path, before=None) as house:
        await press(house)
        await house.ask("and now?", request="r2")
        assert "- notes.txt: it was removed again; it did not exist before your write." in str(house.script.seen[-1])


# -- when it is cut short -------------------------------------------------------------------------


async def test_what_a_dead_process_had_claimed_is_unknown_and_never_tried_again(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        face = house.face
        [row] = await house.rows("SELECT id FROM undo")
        async with house.app.database.begin("claimed by a process that died") as tx:
            assert await undo.claim(tx, row["id"], by=OWNER.id, at=house.clock.now(), owner="dead")
    async with written(tmp_path, "Later.", face=face, ids="second") as house:
        assert await state(house) == ["unknown"]
        [shown] = house.card[1].undos.values()
        assert shown.state is UndoState.UNKNOWN
        assert "nobody knows whether the file was put back" in (await refused(house)).sentence
        assert notes(tmp_path).read_text() == "new"
        assert (await told(house))[-2] == "Something broke during the undo; nobody knows whether the file was put back"
        await house.ask("and now?", request="r2")
        assert "it is not known whether that took effect" in str(house.script.seen[-1])


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
async def test_a_folder_that_may_not_be_written_changes_nothing_and_the_button_still_counts(tmp_path: Path) -> None:
    async with written(tmp_path) as house:
        (tmp_path / "workspace").chmod(0o500)
        try:
            refusal = await refused(house)
        finally:
            (tmp_path / "workspace").chmod(0o700)
        assert refusal.code == "not_written"
        assert notes(tmp_path).read_text() == "new"
        await press(house)
        assert notes(tmp_path).read_bytes() == OLD
