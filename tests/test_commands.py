"""The end of a background command is announced once, whichever life of the bot notices it (issue 6, point 6)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.clock import SystemClock, new_id
from bot.commands import Commands, ending
from bot.deferral.tool import Call
from bot.errors import AlreadySettled, NotAllowed
from bot.surface import Actor
from bot.toolbox.command_files import Command, CommandState
from bot.toolbox.detached import Detached
from bot.toolbox.sandbox import Sandbox
from tests.house import ASKER, OWNER, PLACE, STRANGER, House, Script, open_house
from tests.needs import needs

pytestmark = needs("bwrap")


def of(folder: Path) -> Detached:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    return Detached(
        folder=folder / "commands", workspace=workspace, sandbox=Sandbox(), clock=SystemClock(), new_id=new_id
    )


def watching(house: House, detached: Detached) -> Commands:
    return Commands(
        detached,
        database=house.app.database,
        clock=house.clock,
        authority=house.app.engine.authority,
        above=lambda place: None,
        mask=lambda text: text.replace("hunter2", "***"),
    )


async def started(house: House, detached: Detached, line: str) -> Command:
    await house.ask()
    [run] = await house.rows("SELECT id FROM run")
    call = Call(id="a1", run=run["id"], conversation=PLACE, place=PLACE, requester=ASKER.id, approved=True)
    return await detached.start(line, call)


async def until_ended(detached: Detached) -> None:
    async with asyncio.timeout(10):
        while not detached.untold():
            await asyncio.sleep(0.02)


async def test_its_end_is_said_once_with_a_ping_and_stands_on_the_trail(tmp_path: Path) -> None:
    detached = of(tmp_path)
    async with open_house(tmp_path, Script("Hello.")) as house:
        command = await started(house, detached, "echo hunter2; exit 3")
        await until_ended(detached)
        for _ in range(3):
            await watching(house, detached).announce()
            await house.later(seconds=2)
        [said] = [one for one in house.face.said if one.key.startswith("command:")]
        assert (said.place, said.ping) == (PLACE, (ASKER.id,))
        assert f"`echo ***; exit 3` ({command.id}) has ended with exit code 3 after" in said.text
        trail = await house.rows("SELECT event FROM audit WHERE event LIKE 'command%'")
        assert trail == [{"event": "command_exited"}]


async def test_of_one_that_runs_nothing_is_said(tmp_path: Path) -> None:
    detached = of(tmp_path)
    async with open_house(tmp_path, Script("Hello.")) as house:
        command = await started(house, detached, "sleep 60")
        await watching(house, detached).announce()
        await house.later(seconds=2)
        assert house.face.said == []
        await detached.stop(command)


async def test_killed_between_the_promise_and_the_mark_it_is_still_said_once(tmp_path: Path) -> None:
    detached = of(tmp_path)
    async with open_house(tmp_path, Script("Hello.")) as house:
        command = await started(house, detached, "true")
        await until_ended(detached)
        await watching(house, detached).announce()
        (tmp_path / "commands" / command.id / "told").unlink()  # as if it had not come to that
        await watching(house, of(tmp_path)).announce()
        await house.later(seconds=2)
        assert [one.key for one in house.face.said] == [f"command:{command.id}"]


@pytest.mark.parametrize("who", [ASKER, OWNER])
async def test_who_asked_and_approvers_can_stop_one_and_it_is_on_the_trail(tmp_path: Path, who: Actor) -> None:
    detached = of(tmp_path)
    async with open_house(tmp_path, Script("Hello.")) as house:
        command = await started(house, detached, "sleep 60; echo hunter2")
        desk = watching(house, detached)
        assert [one.command for one in await desk.running()] == ["sleep 60; echo ***"]
        with pytest.raises(NotAllowed, match="Only the person this command was started for"):
            await desk.stop(command.id, STRANGER)
        with pytest.raises(NotAllowed, match="another server"):
            await desk.stop(command.id, Actor(id=ASKER.id, guild="8"))
        assert [one.state for one in await desk.running()] == [CommandState.RUNNING]
        assert (await desk.stop(command.id, who)).state is CommandState.STOPPED
        assert await desk.running() == []
        with pytest.raises(AlreadySettled, match="was stopped; your press changed nothing"):
            await desk.stop(command.id, who)
        await desk.announce()
        await house.later(seconds=2)
        assert [one.text.partition(") ")[2][:11] for one in house.face.said] == ["was stopped"]
        trail = await house.rows("SELECT actor, event FROM audit WHERE event LIKE 'command%' ORDER BY n")
        assert [(row["actor"], row["event"]) for row in trail] == [
            (STRANGER.id, "command_stop_refused"),
            (ASKER.id, "command_stop_refused"),
            (who.id, "command_stop"),
            (who.id, "command_stop_refused"),
            ("system", "command_stopped"),
        ]


def test_each_way_to_end_has_words_of_its_own() -> None:
    command = Command(
        id="c1", command="make `all`\nmore", call="a", run="r", conversation="c", place="p", requester="1", started_at=0
    )
    ends = [state for state in CommandState if state is not CommandState.RUNNING]
    said = {ending(replace(command, state=state, exit_code=0, ended_at=65_000)) for state in ends}
    assert len(said) == len(ends)
    assert all(text.startswith("The background command `make 'all' more` (c1) ") for text in said)
