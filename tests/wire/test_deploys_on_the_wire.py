"""A deploy in the middle of five jobs in five states, and of a background command: killed, and stopped in order.

Issue 6, point 6, on the real program with a model behind a real socket: who waits for a person and whose last step is
recorded goes on; who was inside a model call repeats only that call; who was inside a gated tool is told `interrupted`;
who waited in the queue starts; and the command is a process of its own that knows of none of it.
"""

from __future__ import annotations

import asyncio

import pytest

from bot.playground.twin import Twin
from tests.needs import needs
from tests.wire.conftest import Signoff
from tests.wire.provider import Provider, begin, told

pytestmark = [pytest.mark.wire, needs("bwrap")]

ENDED = "SELECT count(*) FROM run WHERE kind = 'job' AND ended_at IS NOT NULL"


def shell(command: str, **more: object) -> list[tuple[str, dict[str, object]]]:
    return [("shell", {"command": command, **more})]


async def state(signoff: Signoff, goal: str, wanted: str) -> None:
    await signoff.until("SELECT state FROM run WHERE prompt = ?", wanted, goal)


async def approve(signoff: Signoff, text: str) -> None:
    card = await signoff.card(text)
    await signoff.twin.people["ana"].click(card, "Approve")


@pytest.mark.parametrize("how", ["killed", pytest.param("stopped in order", marks=pytest.mark.slow)])
async def test_five_jobs_in_five_states_and_a_command_come_through_a_deploy(
    working: Signoff, twin: Twin, provider: Provider, how: str
) -> None:
    signoff = working
    provider.scripts = {
        "waits": [shell("echo waits >> log"), "It was worth the wait."],
        "recorded": [[("list_files", {})], "It looked once."],
        "thinks": [[("list_files", {})], shell("echo thinks >> log"), "It thought."],
        "acts": [shell("echo acts >> log; sleep 60; echo twice >> log"), "It was cut short."],
        "busy": ["Nothing of note."],
        "queues": ["Its turn came."],
        "command": [
            shell("echo before; while [ ! -e go ]; do sleep 0.1; done; echo after; exit 3", run_in_background=True),
            "It runs by itself.",
        ],
    }
    await begin(signoff, "command")
    await approve(signoff, "echo before")
    await state(signoff, "command", "done")
    await begin(signoff, "waits")
    await signoff.card("echo waits")
    await begin(signoff, "acts")
    await approve(signoff, "echo acts")
    await signoff.until_logged(1)
    for goal in ("recorded#1", "thinks#1", "busy#0"):
        provider.hold(goal)  # what came before is recorded, and the model is at this answer
        await begin(signoff, goal.partition("#")[0])
        await provider.until_asked(goal)
    await begin(signoff, "queues")
    assert signoff.row("SELECT state FROM run WHERE prompt = 'queues'") == "queued"

    assert signoff.process is not None
    if how == "killed":
        await signoff.kill()
    else:
        async with asyncio.timeout(20):
            assert await signoff.process.stop(grace=20) == 0
        assert "Traceback" not in signoff.output
    for step in ("recorded#1", "thinks#1", "busy#0"):
        provider.let_go(step)
    (signoff.workspace / "go").touch()
    await signoff.start()

    await approve(signoff, "echo thinks")
    await approve(signoff, "echo waits")
    async with asyncio.timeout(40):
        await signoff.until(ENDED, 7)
        await twin.wait_for(lambda: len(told(twin, "Job `")) == 7 and told(twin, "exit code 3"), timeout=30)
    assert sorted(signoff.logged()) == ["acts", "thinks", "waits"]
    # The model is asked again for what it had not answered, and for nothing else.
    asked = {step: times for step, times in provider.asked.items() if times > 1 and not step.startswith("[event")}
    assert asked == {"recorded#1": 2, "thinks#1": 2, "busy#0": 2}
    assert "unknown whether it took effect" in provider.seen["acts#1"]
    for words in ("It was worth the wait.", "It looked once.", "It thought.", "It was cut short.", "Its turn came."):
        assert len(told(twin, words)) == 1
    assert len(told(twin, "exit code 3")) == 1
    [output] = [path for path in (signoff.folder / "data").rglob("log") if path.parent != signoff.workspace]
    assert output.read_bytes().split() == [b"before", b"after"]
    await signoff.kill()  # nothing is left to be put aside
