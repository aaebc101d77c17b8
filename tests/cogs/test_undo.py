"""The button `Undo` on the card of a write, as people see it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cogs.limits import COMPONENTS
from tests.cogs.guild import Guild, custom_id, labels, open_guild, text_of
from tests.cogs.test_presses import forge, private
from tests.house import Script
from tests.test_undo import Desk

WRITE = [("write_file", {"path": "notes.txt", "content": "new"})]
FIVE = [("write_file", {"path": f"{n}.txt", "content": "new"}) for n in range(5)]


@asynccontextmanager
async def written(folder: Path, *steps: Any, approve: str = "Approve", **options: Any) -> AsyncIterator[Guild]:
    """A guild in which Ben has asked for a write over a file, and Ana has approved it."""
    (folder / "notes.txt").write_text("old")
    bench = Desk(workspace=folder)
    async with open_guild(folder, Script(*(steps or (WRITE, "Done."))), bench=bench, **options) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.ana.click(here.card, label=approve)
        await here.settle()
        yield here


async def test_the_card_of_a_write_has_the_button_and_says_afterwards_who_pressed_it(tmp_path: Path) -> None:
    async with written(tmp_path) as here:
        assert labels(here.card) == ["Details", "Undo", "Run again"]
        result = await here.ana.click(here.card, label="Undo")
        await here.settle()
        assert private(result) == []
        assert (tmp_path / "notes.txt").read_text() == "old"
        at = here.clock.now() // 1000
        assert f"Undone by <@{here.ana.id}> at <t:{at}:f>: the file holds again what it held before." in text_of(
            here.card
        )
        assert labels(here.card) == ["Details", "Run again"]
        details = private(await here.ben.click(here.card, label="Details"))
        assert "Undone by" in details[0]


async def test_a_stranger_and_the_requester_are_refused_privately(tmp_path: Path) -> None:
    async with written(tmp_path) as here:
        for person in (here.mallory, here.ben):
            [told] = private(await person.click(here.card, label="Undo"))
            assert "You are not an approver here" in told
        assert (tmp_path / "notes.txt").read_text() == "new"


async def test_a_press_after_the_file_changed_is_told_what_is_the_case(tmp_path: Path) -> None:
    async with written(tmp_path) as here:
        (tmp_path / "notes.txt").write_text("somebody's work")
        [told] = private(await here.ana.click(here.card, label="Undo"))
        assert "it holds 15 bytes now" in told
        assert (tmp_path / "notes.txt").read_text() == "somebody's work"
        assert "Undo" in labels(here.card)


async def test_an_old_button_pressed_again_is_told_that_it_is_done(tmp_path: Path) -> None:
    async with written(tmp_path) as here:
        old = custom_id(here.card, "Undo")
        await here.ana.click(here.card, label="Undo")
        await here.settle()
        (tmp_path / "notes.txt").write_text("new")
        [told] = private(await forge(here, here.ana, old))
        assert "undone already" in told
        assert (tmp_path / "notes.txt").read_text() == "new"


async def test_it_works_after_a_restart(tmp_path: Path) -> None:
    async with written(tmp_path) as here:
        await here.restart()
        await here.ana.click(here.card, label="Undo")
        await here.settle()
        assert (tmp_path / "notes.txt").read_text() == "old"


async def test_on_a_card_of_five_each_row_is_undone_by_itself_and_everything_fits(tmp_path: Path) -> None:
    async with written(tmp_path, FIVE, "Done.", approve="Approve all") as here:
        assert labels(here.card).count("Undo") == 5
        await here.ana.click(here.card, custom_id=custom_id(here.card, "Undo", 3))
        await here.settle()
        assert sorted(file.name for file in tmp_path.glob("?.txt")) == ["0.txt", "1.txt", "2.txt", "4.txt"]
        assert text_of(here.card).count("the file is removed again") == 1
        assert labels(here.card).count("Undo") == 4
        assert _count(here.card.components) <= COMPONENTS


async def test_the_latest_moment_on_the_card_stays_its_deadline(tmp_path: Path) -> None:
    async with written(tmp_path) as here:
        here.clock.advance(seconds=2 * 86_400)
        await here.ana.click(here.card, label="Undo")
        await here.settle()
        assert f"Undone by <@{here.ana.id}> at 2023-11-16 22:13 UTC" in text_of(here.card)


async def test_it_is_said_in_german_where_german_is_spoken(tmp_path: Path) -> None:
    async with written(tmp_path, approve="Genehmigen", face={"language": "de"}) as here:
        await here.ana.click(here.card, label="Rückgängig machen")
        await here.settle()
        assert f"Rückgängig gemacht von <@{here.ana.id}>" in text_of(here.card)


async def test_other_calls_have_no_such_button(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script([("shell", {"command": "echo"})], "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert "Undo" not in labels(here.card)


async def test_the_story_tells_of_it(tmp_path: Path) -> None:
    async with written(tmp_path) as here:
        await here.ana.click(here.card, label="Undo")
        await here.settle()
        [call] = await here.rows("SELECT id FROM approval")
        story = private(await here.ben.slash(here.channel, "why", id=call["id"]))[0]
        assert f"<@{here.ana.id}> pressed Undo" in story
        assert "The write was undone" in story


def _count(components: Any) -> int:
    return sum(1 + _count(getattr(one, "children", [])) for one in components)
