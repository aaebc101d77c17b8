"""What a job made is offered with its ending: attached when it is small, else by name, and to fetch at its card."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.clock import new_id
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import NotAllowed
from bot.job_files import SMALL
from bot.surface import CardPress, Offered, TurnContext
from bot.toolbox.files import make_write_file
from bot.toolbox.made import changed
from tests.house import ASKER, OWNER, PLACE, STRANGER, Bench, CommandArguments, House, Script, open_house


class Writers(Bench):
    """`write_file` as it is, once more without a sign-off, and a shell that makes files."""

    def __init__(self, workspace: Path) -> None:
        super().__init__()
        self.workspace = workspace
        self.house: House | None = None

    def tools(self) -> list[Tool]:
        write = make_write_file(workspace=self.workspace, new_id=new_id)

        async def shell(arguments: CommandArguments, call: Call) -> ToolOutcome:
            name = arguments.command
            path = self.workspace / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"\xff\x00made")
            assert self.house is not None
            at = self.house.clock.now() / 1000
            os.utime(path, (at, at))
            return ToolOutcome(text="made")

        return [
            write,
            *(tool for tool in super().tools() if tool.name == "look"),
            Tool(name="shell", description="Runs.", arguments=CommandArguments, body=shell),
        ]


def write(path: str, content: str = "hunter2 was here") -> list[Any]:
    return [("write_file", {"path": path, "content": content})]


async def job(house: House, *, approve: int = 1) -> str:
    """A job of the asker's, whose calls are approved; its id."""
    ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="make it")
    run = await house.app.engine.start_job(ctx)
    await house.app.background.idle()
    for _ in range(approve):
        await house.decide("approve")
    await house.later(seconds=31)
    return run.id


def workspace(folder: Path) -> Path:
    (below := folder / "workspace").mkdir()
    return below


def house_of(folder: Path, below: Path, *steps: Any, **more: Any) -> Any:
    return open_house(
        folder,
        Script(*steps),
        bench=more.pop("bench", Writers(below)),
        workspace=below,
        mask=lambda text: text.replace("hunter2", "***"),
        **more,
    )


async def test_a_small_file_is_attached_to_the_ending_with_secrets_masked(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    async with house_of(tmp_path, below, write("out/report.md"), "Done.") as house:
        await job(house)
        [said] = house.face.said
        assert said.files == (Offered(path="out/report.md", size=16, body=b"*** was here"),)
        assert (below / "out/report.md").read_text() == "hunter2 was here"


async def test_what_changed_while_a_command_of_it_ran_is_offered_and_nothing_else(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    (below / "old.txt").write_text("older")
    os.utime(below / "old.txt", (1, 1))
    bench = Writers(below)
    async with house_of(tmp_path, below, [("shell", {"command": "image.png"})], "Done.", bench=bench) as house:
        bench.house = house
        await job(house)
        [said] = house.face.said
        assert said.files == (Offered(path="image.png", size=6, body=b"\xff\x00made"),)


async def test_many_or_large_files_are_named_and_fetched_at_the_card_by_those_who_may(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    async with house_of(tmp_path, below, write("big.txt", "x" * (SMALL + 1)), "Done.") as house:
        id = await job(house)
        [said] = house.face.said
        assert said.files == (Offered(path="big.txt", size=SMALL + 1),)
        [message] = house.face.jobs
        assert house.face.jobs[message].has_files
        press = CardPress(actor=ASKER, card=id, place=PLACE, message=message)
        [fetched] = await house.app.engine.desk.files(press)
        assert fetched.body == b"x" * (SMALL + 1)
        with pytest.raises(NotAllowed):
            await house.app.engine.desk.files(replace(press, actor=STRANGER))
        await house.app.engine.desk.files(replace(press, actor=OWNER))
        trail = await house.rows("SELECT actor FROM audit WHERE event = 'job_files'")
        assert [row["actor"] for row in trail] == [ASKER.id, OWNER.id]


async def test_a_job_that_made_nothing_offers_nothing(tmp_path: Path) -> None:
    async with house_of(tmp_path, workspace(tmp_path), [("look", {"what": "a"})], "Done.") as house:
        await job(house, approve=0)
        [said] = house.face.said
        assert said.files == ()
        assert not any(view.has_files for view in house.face.jobs.values())


async def test_what_was_denied_is_not_taken_for_made(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    (below / "there.md").write_text("somebody else's")
    async with house_of(tmp_path, below, write("there.md"), "Done.") as house:
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="make it")
        await house.app.engine.start_job(ctx)
        await house.app.background.idle()
        await house.decide("deny")
        await house.later(seconds=31)
        assert house.face.said[0].files == ()


@pytest.mark.parametrize("kind", ["link", "second name", "gone", "fifo"])
async def test_only_ordinary_files_below_the_workspace_are_read(tmp_path: Path, kind: str) -> None:
    below, outside = workspace(tmp_path), tmp_path / "secret"
    outside.write_text("the host's")
    async with house_of(tmp_path, below, write("report.md"), [("look", {"what": "a"})], "Done.") as house:
        id = await job(house)
        (below / "report.md").unlink()
        match kind:
            case "link":
                (below / "report.md").symlink_to(outside)
            case "second name":
                os.link(outside, below / "report.md")
            case "fifo":
                os.mkfifo(below / "report.md")
        [message] = house.face.jobs
        press = CardPress(actor=ASKER, card=id, place=PLACE, message=message)
        assert await house.app.engine.desk.files(press) == ()


def test_looking_for_what_changed_follows_no_link_and_leaves_hidden_names_out(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").write_text("x")
    (below / "link").symlink_to(tmp_path / "elsewhere")
    (below / ".git").mkdir()
    (below / ".git" / "x").write_text("x")
    (below / "a" / "b").mkdir(parents=True)
    (below / "a" / "b" / "c").write_text("c")
    ever = [(0, 10**14)]
    assert changed(below, ever, most=20) == ["a/b/c"]
    assert changed(below, [(0, 1)], most=20) == []
    for number in range(5):
        (below / f"{number}").write_text("")
    assert len(changed(below, ever, most=3)) == 3
