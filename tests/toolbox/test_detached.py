"""Background commands outlive the bot, and nothing outlives them (issue 6, point 6). Every process here is real."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.clock import SystemClock, new_id
from bot.deferral.tool import Call
from bot.errors import NothingRan
from bot.toolbox.background import make_command_output, make_stop_command
from bot.toolbox.bubblewrap import Limits
from bot.toolbox.command_files import Command, CommandState
from bot.toolbox.detached import Bounds, Detached
from bot.toolbox.sandbox import Sandbox
from bot.toolbox.shell import ShellArguments, make_shell
from tests.needs import needs
from tests.toolbox.conftest import CALL

pytestmark = needs("bwrap")

ROOT = Path(__file__).parents[2]
TREE = "sleep 987 & setsid sleep 987 & (setsid sh -c 'sleep 987 & sleep 987' &) ; echo $$; sleep 987"
Make = Callable[..., Detached]


@pytest.fixture
async def make(tmp_path: Path, workspace: Path, make_sandbox: Callable[..., Sandbox]) -> AsyncIterator[Make]:
    made: list[Detached] = []

    def one(bounds: Bounds | None = None, limits: Limits | None = None) -> Detached:
        made.append(
            Detached(
                folder=tmp_path / "commands",
                workspace=workspace,
                sandbox=make_sandbox(limits),
                clock=SystemClock(),
                new_id=new_id,
                bounds=bounds,
            )
        )
        return made[-1]

    yield one
    for command in made[0].every() if made else []:
        await made[0].stop(command)


async def ended(detached: Detached, command: Command, *, within: float = 10) -> Command:
    """The command when it has ended. Looks again and again: it is another process's file."""
    async with asyncio.timeout(within):
        while (found := detached.get(command.id)) is None or found.state is CommandState.RUNNING:
            await asyncio.sleep(0.02)
    return found


async def until_said(detached: Detached, command: Command, text: str) -> None:
    async with asyncio.timeout(10):
        while text not in detached.output(command, most=10_000):
            await asyncio.sleep(0.02)


async def gone(word: str) -> bool:
    """Whether nothing of it is left: waits for the keepers, which end a moment after they wrote its end down."""
    async with asyncio.timeout(20):
        while alive(word):
            await asyncio.sleep(0.02)
    return True


def alive(word: str) -> list[str]:
    """Processes of the machine whose command line has the word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


async def test_its_output_and_its_exit_code_are_on_disk(make: Make) -> None:
    detached = make()
    command = await detached.start("echo out; echo err >&2; exit 3", CALL)
    found = await ended(detached, command)
    assert (found.state, found.exit_code) == (CommandState.EXITED, 3)
    assert sorted(detached.output(found, most=1_000).split()) == ["err", "out"]


async def test_it_runs_in_the_workspace_with_all_of_the_sandboxs_limits(make: Make, workspace: Path) -> None:
    detached = make(limits=Limits(open_files=40))
    line = "echo here > made; pwd; ulimit -n; echo no > /usr/no; ls /proc/self/fd"
    found = await ended(detached, await detached.start(line, CALL))
    words = detached.output(found, most=5_000).split()
    assert (workspace / "made").read_text() == "here\n"
    assert words[:2] == [str(workspace), "40"]
    assert "Read-only" in detached.output(found, most=5_000)
    assert words[-4:-1] == ["0", "1", "2"]  # and the listing's own, which is 3


async def test_nothing_of_the_bots_environment_is_in_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "canary-987")
    detached = make()
    found = await ended(detached, await detached.start("cat /proc/*/environ | tr '\\0' '\\n'", CALL))
    assert "canary" not in detached.output(found, most=50_000)
    assert "HOME=" in detached.output(found, most=50_000)


async def test_stopping_it_leaves_no_process_of_it(make: Make) -> None:
    detached = make()
    line = TREE.replace("987", "98701")
    command = await detached.start(line, CALL)
    await until_said(detached, command, "\n")
    assert len(alive("sleep 98701")) >= 4
    stopped = await detached.stop(command)
    assert (stopped.state, stopped.exit_code) == (CommandState.STOPPED, None)
    assert await gone("98701")


async def test_its_lifetime_is_limited_and_its_end_says_so(make: Make) -> None:
    detached = make(Bounds(seconds=0.5))
    command = await detached.start(TREE.replace("987", "98702"), CALL)
    assert (await ended(detached, command)).state is CommandState.TIMED_OUT
    assert await gone("98702")


async def test_its_log_is_limited_and_keeps_the_newest(make: Make, tmp_path: Path) -> None:
    detached = make(Bounds(log_bytes=200_000))
    command = await detached.start("seq 1 200000; echo last", CALL)
    found = await ended(detached, command)
    files = list((tmp_path / "commands" / command.id).glob("log*"))
    assert sum(file.stat().st_size for file in files) <= 200_000
    assert detached.output(found, most=60_000).endswith("199999\n200000\nlast\n")
    assert len(detached.output(found, most=60_000)) == 60_000


async def test_no_more_than_so_many_run_at_once_and_room_comes_back(make: Make) -> None:
    detached = make(Bounds(at_once=2))
    first, _ = await asyncio.gather(detached.start("sleep 98703", CALL), detached.start("sleep 98703", CALL))
    with pytest.raises(NothingRan, match="2 commands run in the background already"):
        await detached.start("sleep 98703", CALL)
    await detached.stop(first)
    assert (await detached.start("sleep 98703", CALL)).state is CommandState.RUNNING


async def test_where_no_sandbox_can_be_made_nothing_runs(make: Make, workspace: Path) -> None:
    detached = make()
    detached._sandbox._python = workspace / "not there"  # so bubblewrap cannot show it
    with pytest.raises(NothingRan, match="could not be set up"):
        await detached.start("echo x > made", CALL)
    assert not (workspace / "made").exists()
    assert detached.untold() == []


async def test_without_a_sandbox_no_command_runs_in_the_background(tmp_path: Path, workspace: Path) -> None:
    bare = Sandbox(bare=True)
    detached = Detached(
        folder=tmp_path / "commands", workspace=workspace, sandbox=bare, clock=SystemClock(), new_id=new_id
    )
    with pytest.raises(NothingRan, match="only in the sandbox"):
        await detached.start("echo x > made", CALL)


async def test_cancelled_while_it_is_being_started_nothing_is_left(make: Make) -> None:
    detached = make()
    for moment in range(0, 60, 4):
        starting = asyncio.ensure_future(detached.start("sleep 98704", CALL))
        await asyncio.sleep(moment / 1_000)
        starting.cancel()
        await asyncio.wait([starting])
        if not starting.cancelled():
            await detached.stop(starting.result())
    assert [one for one in detached.every() if one.state is CommandState.RUNNING] == []
    assert await gone("sleep 98704")


async def test_what_has_to_be_stopped_before_it_began_is_not_waited_for_by_an_account_that_the_bot_holds_open(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    detached = make()
    held: list[tuple[int, ...]] = []
    prepared, stop = detached._sandbox.prepared, detached._stop

    @contextlib.asynccontextmanager
    async def watched(*words: Any, **more: Any) -> AsyncIterator[Any]:
        async with prepared(*words, **more) as (line, handed):

            async def stopping(command: Command) -> None:
                held.append(handed.status_writes)
                await stop(command)

            monkeypatch.setattr(detached, "_stop", stopping)
            yield line, handed

    monkeypatch.setattr(detached._sandbox, "prepared", watched)
    starting = asyncio.ensure_future(detached.start("sleep 98707", CALL))
    while not detached.every():  # its folder is there, and nothing runs yet
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.wait([starting])
    assert held == [()]
    assert await gone("sleep 98707")


# -- the bot dies -------------------------------------------------------------------------------

BOT = """
import asyncio, sys
from pathlib import Path
from bot.clock import SystemClock, new_id
from bot.deferral.tool import Call
from bot.toolbox.detached import Detached
from bot.toolbox.sandbox import Sandbox

async def main():
    folder, workspace, line = sys.argv[1:]
    detached = Detached(
        folder=Path(folder), workspace=Path(workspace), sandbox=Sandbox(), clock=SystemClock(), new_id=new_id
    )
    call = Call(id="a1", run="r1", conversation="c", place="p", requester="1", approved=True)
    print((await detached.start(line, call)).id, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def start_and_die(folder: Path, workspace: Path, line: str) -> str:
    """A bot of its own starts the command and is killed; the command's id."""
    environ = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", BOT, str(folder), str(workspace), line]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True, start_new_session=True) as bot:
        assert bot.stdout is not None
        id = bot.stdout.readline().strip()
        os.killpg(bot.pid, signal.SIGKILL)
    return id


async def test_a_kill_of_the_bot_does_not_end_it_and_the_next_one_has_its_output_and_exit_code(
    make: Make, tmp_path: Path, workspace: Path
) -> None:
    line = "echo before; while [ ! -e go ]; do sleep 0.02; done; echo after; exit 7"
    id = start_and_die(tmp_path / "commands", workspace, line)
    detached = make()
    [command] = detached.every()
    assert (command.id, command.state, command.command) == (id, CommandState.RUNNING, line)
    await until_said(detached, command, "before")
    (workspace / "go").touch()
    found = await ended(detached, command)
    assert (found.state, found.exit_code) == (CommandState.EXITED, 7)
    assert detached.output(found, most=100) == "before\nafter\n"


async def test_the_next_bot_can_stop_it(make: Make, tmp_path: Path, workspace: Path) -> None:
    id = start_and_die(tmp_path / "commands", workspace, TREE.replace("987", "98705"))
    detached = make()
    command = detached.get(id)
    assert command is not None
    assert (await detached.stop(command)).state is CommandState.STOPPED
    assert await gone("98705")


async def test_a_kill_of_its_keeper_ends_it_and_it_is_said_to_be_lost(make: Make, tmp_path: Path) -> None:
    detached = make()
    command = await detached.start(TREE.replace("987", "98706"), CALL)
    pid = json.loads((tmp_path / "commands" / command.id / "keeper.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    assert (await ended(detached, command)).state is CommandState.LOST
    await detached.stop(command)  # what bubblewrap had not come to bind to its life
    assert await gone("98706")


async def test_another_process_of_the_same_id_is_not_taken_for_it_and_not_touched(make: Make, tmp_path: Path) -> None:
    detached = make()
    command = await ended(detached, await detached.start("true", CALL))
    folder = tmp_path / "commands" / command.id
    keeper = json.loads((folder / "keeper.json").read_text())
    (folder / "end.json").unlink()
    with subprocess.Popen(["sleep", "60"]) as other:
        (folder / "keeper.json").write_text(json.dumps({**keeper, "pid": other.pid}))
        found = detached.get(command.id)
        assert found is not None
        assert found.state is CommandState.LOST
        await detached.stop(found)
        assert other.poll() is None
        other.kill()


async def test_one_that_was_never_really_started_is_lost_and_not_running(make: Make, tmp_path: Path) -> None:
    """The bot died between the folder and the keeper."""
    detached = make()
    command = await ended(detached, await detached.start("true", CALL))
    folder = tmp_path / "commands" / command.id
    for name in ("end.json", "keeper.json"):
        (folder / name).unlink()
    assert [one.state for one in detached.every()] == [CommandState.LOST]


# -- the tools ----------------------------------------------------------------------------------


async def test_the_shell_says_nothing_of_the_background_unless_it_is_meant() -> None:
    assert ShellArguments(command="x").model_dump(mode="json") == {"command": "x"}
    meant = ShellArguments(command="x", run_in_background=True).model_dump(mode="json")
    assert meant == {"command": "x", "run_in_background": True}


async def test_the_agent_starts_looks_and_stops(make: Make, workspace: Path, sandbox: Sandbox) -> None:
    detached = make()
    shell = make_shell(workspace=workspace, sandbox=sandbox, detached=detached)
    look, stop = make_command_output(detached), make_stop_command(detached)
    assert (shell.gated, look.gated, stop.gated) == (True, False, False)
    begun = await shell.body(ShellArguments(command="echo hello; sleep 98707", run_in_background=True), CALL)
    [command] = detached.every()
    assert f"as command {command.id}." in begun.text
    await until_said(detached, command, "hello")
    seen = await look.body(look.arguments(id=command.id), CALL)
    assert seen.text == f"hello\n[command {command.id} runs]"
    listed = await look.body(look.arguments(), CALL)
    assert listed.text == f"{command.id}: runs: echo hello; sleep 98707"
    stopped = await stop.body(stop.arguments(id=command.id), CALL)
    assert stopped.text == f"Command {command.id} was stopped, with everything that it had started."
    again = await stop.body(stop.arguments(id=command.id), CALL)
    assert not again.ok
    assert "Nothing to stop" in again.text


@pytest.mark.parametrize("foreign", [{"conversation": "d", "place": "q"}, {"conversation": "d", "requester": "2"}])
async def test_another_conversations_command_is_neither_shown_nor_stopped(make: Make, foreign: dict[str, str]) -> None:
    detached = make()
    command = await detached.start("echo secret; sleep 98708", CALL)
    other: Call = replace(CALL, **foreign)
    look, stop = make_command_output(detached), make_stop_command(detached)
    for tool in (look, stop):
        refused = await tool.body(tool.arguments(id=command.id), other)
        assert (refused.ok, "no background command" in refused.text) == (False, True)
    assert "No command" in (await look.body(look.arguments(), other)).text
    found = detached.get(command.id)
    assert found is not None
    assert found.state is CommandState.RUNNING


@pytest.mark.parametrize("id", ["..", "../commands", "/etc", ""])
async def test_an_id_that_is_a_path_finds_nothing(make: Make, id: str) -> None:
    detached = make()
    await ended(detached, await detached.start("true", CALL))
    assert detached.get(id) is None


async def test_of_ended_commands_only_the_newest_folders_are_kept(make: Make) -> None:
    detached = make(Bounds(kept=2))
    for _ in range(4):
        await ended(detached, await detached.start("true", CALL))
    for command in detached.untold():
        detached.told(command)
    assert (len(detached.every()), detached.untold()) == (2, [])
