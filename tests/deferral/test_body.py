"""One body and what came of it: whatever a tool raises is its failure, and nothing else is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.deferral.body import Ran, run_body
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import ApprovalRequired, CallDeferred, NothingRan, RunCancelled, RunStopped

CALL = Call(id="c", run="r", conversation="t", place="p", requester="2", approved=False)


async def ran(ends: Any, *, timeout_seconds: float | None = None) -> Ran:
    async def body(arguments: Any, call: Call) -> Any:
        if isinstance(ends, BaseException):
            raise ends
        if ends == "forever":
            await asyncio.Event().wait()
        return ends

    tool = Tool(name="act", description="", arguments=Arguments, body=body)
    return await run_body(
        tool, Arguments(), CALL, timeout_seconds=timeout_seconds, mask=lambda text: text.replace("hunter2", "[masked]")
    )


async def test_what_a_body_says_is_told_plainly_and_masked() -> None:
    assert await ran(ToolOutcome(text="a hunter2")) == Ran(text="a [masked]", ok=True)
    assert await ran(ToolOutcome(text="b", ok=False)) == Ran(text="b", ok=False)


@pytest.mark.parametrize("given", ["a text", None, 7, ToolOutcome(text=None)])  # type: ignore[arg-type]
async def test_what_is_no_outcome_with_a_text_does_not_pass_for_one(given: Any) -> None:
    found = await ran(given)
    assert (found.ok, type(found.error)) == (False, TypeError)
    assert "act gave" in found.text
    assert "instead of an outcome" in found.text


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        (NothingRan("no hunter2"), "It could not start, so nothing ran: no [masked]"),
        (ValueError("hunter2 is wrong"), "The tool failed: ValueError: [masked] is wrong"),
        (TimeoutError("its own"), "The tool failed: TimeoutError: its own"),
        (asyncio.CancelledError("its own"), "The tool failed: RuntimeError: CancelledError: its own"),
        (SystemExit(3), "The tool failed: RuntimeError: SystemExit: 3"),
    ],
)
async def test_whatever_a_tool_raises_is_its_failure_in_words(ends: BaseException, text: str) -> None:
    found = await ran(ends, timeout_seconds=60)
    assert (found.text, found.ok) == (text, False)
    assert found.error is not None
    assert found.error is ends or not isinstance(ends, Exception)


async def test_a_body_that_takes_too_long_is_stopped_and_says_so() -> None:
    found = await ran("forever", timeout_seconds=0.01)
    assert found.text.startswith("The tool was stopped because it took longer than 0.01 seconds")
    assert (found.ok, type(found.error)) == (False, TimeoutError)


@pytest.mark.parametrize(
    "ends", [ApprovalRequired("ask"), CallDeferred("job"), RunStopped("stop"), KeyboardInterrupt(), GeneratorExit()]
)
async def test_signals_and_what_ends_the_program_get_past(ends: BaseException) -> None:
    with pytest.raises(type(ends)) as signal:
        await ran(ends)
    assert signal.value is ends


async def test_an_agent_inside_a_tool_that_was_stopped_stops_the_run() -> None:
    inner = RunCancelled("tool", "enough", messages=[], run_id="r", conversation_id="t")
    with pytest.raises(RunStopped, match="enough") as signal:
        await ran(inner)
    assert signal.value.__cause__ is inner


async def test_being_cancelled_from_outside_is_never_the_tools_failure() -> None:
    running = asyncio.ensure_future(ran("forever"))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
