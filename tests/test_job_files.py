"""What a job wrote is offered with its ending, attached when it is small; what its commands changed only by name."""

from __future__ import annotations

import os
import threading
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


async def fetched(house: House, id: str) -> tuple[Offered, ...]:
    """What `Files` on the job's card gives to whom it works for."""
    [message] = house.face.jobs
    return await house.app.engine.desk.files(CardPress(actor=ASKER, card=id, place=PLACE, message=message))


def workspace(folder: Path) -> Path:
    (below := folder / "workspace").mkdir()
    return below


def house_of(folder: Path, below: Path, *steps: Any, **more: Any) -> Any:
    return open_house(
        folder,
        Script(*steps),
        bench=more.pop("bench", Writers(below)),
        workspace=below,
        mask=more.pop("mask", lambda text: text.replace("hunter2", "***")),
        **more,
    )


async def test_a_small_file_is_attached_to_the_ending_with_secrets_masked(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    async with house_of(tmp_path, below, write("out/report.md"), "Done.") as house:
        await job(house)
        [said] = house.face.said
        assert said.files == (Offered(path="out/report.md", size=16, body=b"*** was here"),)
        assert (below / "out/report.md").read_text() == "hunter2 was here"


async def test_what_changed_while_a_command_of_it_ran_is_named_and_given_in_private(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    (below / "old.txt").write_text("older")
    os.utime(below / "old.txt", (1, 1))
    bench = Writers(below)
    async with house_of(tmp_path, below, [("shell", {"command": "image.png"})], "Done.", bench=bench) as house:
        bench.house = house
        id = await job(house)
        [said] = house.face.said
        assert said.files == (Offered(path="image.png", size=6),)
        assert await fetched(house, id) == (Offered(path="image.png", size=6, body=b"\xff\x00made"),)


async def test_what_is_no_text_is_masked_too_and_no_other_byte_of_it_changes(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    async with house_of(tmp_path, below, write("latin.txt"), "Done.") as house:
        id = await job(house)
        (below / "latin.txt").write_bytes(b"caf\xe9 \x00 hunter2\xff")
        [file] = await fetched(house, id)
        assert file.body == b"caf\xe9 \x00 ***\xff"


async def test_a_file_whose_name_holds_a_secret_is_not_offered(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    bench = Writers(below)
    steps = [("shell", {"command": "index.html?key=hunter2"})], [("shell", {"command": "plain"})], "Done."
    async with house_of(tmp_path, below, *steps, bench=bench) as house:
        bench.house = house
        await job(house, approve=2)
        [said] = house.face.said
        assert [one.path for one in said.files] == ["plain"]


async def test_what_another_run_wrote_while_its_command_ran_is_not_its_own(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    bench = Writers(below)
    script = write("salaries.txt", "private"), "Kept.", [("shell", {"command": "image.png"})], "Done."
    async with house_of(tmp_path, below, *script, bench=bench) as house:
        bench.house = house
        await house.ask(request="other")
        await house.decide("approve")
        at = house.clock.now() / 1000
        os.utime(below / "salaries.txt", (at, at))
        await job(house)
        said = house.face.said[-1]
        assert [one.path for one in said.files] == ["image.png"]


async def test_what_another_run_wrote_over_is_not_its_own_any_more(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    async with house_of(tmp_path, below, write("a.md"), "Done.", write("./a.md", "private"), "Kept.") as house:
        id = await job(house)
        await house.ask(request="other")
        await house.decide("approve")
        assert (below / "a.md").read_text() == "private"
        assert await fetched(house, id) == ()


async def test_masking_does_not_hold_up_everything_else(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    threads: list[tuple[str, int]] = []

    def mask(text: str) -> str:
        threads.append((text, threading.get_ident()))
        return text

    async with house_of(tmp_path, below, write("a.md", "the whole file"), "Done.", mask=mask) as house:
        threads.clear()
        await job(house)
        [where] = {thread for text, thread in threads if text == "the whole file"}
        assert where != threading.get_ident()


async def test_many_or_large_files_are_named_and_fetched_at_the_card_by_those_who_may(tmp_path: Path) -> None:
    below = workspace(tmp_path)
    async with house_of(tmp_path, below, write("big.txt", "x" * (SMALL + 1)), "Done.") as house:
        id = await job(house)
        [said] = house.face.said
        assert said.files == (Offered(path="big.txt", size=SMALL + 1),)
        [message] = house.face.jobs
        assert house.face.jobs[message].has_files
        press = CardPress(actor=ASKER, card=id, place=PLACE, message=message)
        [given] = await house.app.engine.desk.files(press)
        assert given.body == b"x" * (SMALL + 1)
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
