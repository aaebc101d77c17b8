"""The executor: exactly what was approved, at most once, and its row says what became of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import ApprovalRequired, CallDeferred, NothingRan
from storage import approvals, audit
from storage.approvals import Approval
from tests.faults import FaultyDatabase
from tests.house import OWNER, Bench, DoArguments, House, Script, open_house

ACT = [("act", {"what": "x"})]
Change = Callable[[Tool], Tool]


class One(Bench):
    """A single gated tool whose body, arguments and surroundings a test may choose."""

    def __init__(self, *, ends: Any = None, change: Change = lambda tool: tool) -> None:
        super().__init__()
        self.ends = ToolOutcome(text="out") if ends is None else ends
        self.change = change
        self.calls: list[Call] = []
        self.began, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    def tools(self) -> list[Tool]:
        async def body(arguments: Any, call: Call) -> ToolOutcome:
            self.calls.append(call)
            self.began.set()
            await self.go_on.wait()
            if isinstance(self.ends, BaseException):
                raise self.ends
            assert isinstance(self.ends, ToolOutcome)
            return self.ends

        return [self.change(Tool(name="act", description="Acts.", arguments=DoArguments, body=body))]


async def the_call(house: House) -> Approval:
    [row] = await house.rows("SELECT id FROM approval ORDER BY requested_at LIMIT 1")
    call = await approvals.get(house.app.database.reader, row["id"])
    assert call is not None
    return call


async def ended(folder: Path, bench: Bench, **opening: Any) -> tuple[Approval, str]:
    """Ask, approve, and see the call to its end: its row and what the model was told."""
    script = Script(ACT, "Done.")
    async with open_house(folder, script, bench=bench, **opening) as house:
        await house.ask()
        await house.decide("approve")
        [(_, text)] = script.results()
        return await the_call(house), text


class Quits(BaseException):
    """What some library raises and no `except Exception` sees."""


@pytest.mark.parametrize(
    ("ends", "state", "exit_code", "told"),
    [
        (SystemExit(2), "failed", None, "The tool failed after it had started: SystemExit: 2"),
        (Quits("out"), "failed", None, "The tool failed after it had started: Quits: out"),
        (ToolOutcome(text="out"), "succeeded", None, "ran after a person approved it.\nout"),
        (ToolOutcome(text="out", exit_code=0), "succeeded", 0, "ran (exit code 0)"),
        (ToolOutcome(text="no such file", ok=False, exit_code=2), "failed", 2, "failed (exit code 2).\nno such file"),
        (ToolOutcome(text="timed out", ok=False, exit_code=124), "failed", 124, "failed (exit code 124)"),
        (ToolOutcome(text="Error: it all went wrong", ok=True), "succeeded", None, "Error: it all went wrong"),
        (ToolOutcome(text="I ran it fine", ok=False), "failed", None, "failed.\nI ran it fine"),
        (ToolOutcome(text="nothing ran, sorry", ok=True), "succeeded", None, "nothing ran, sorry"),
        (NothingRan("the sandbox is not there"), "nothing_ran", None, "nothing ran: the sandbox is not there"),
        (NothingRan(), "nothing_ran", None, "it could not start, so nothing ran"),
        (RuntimeError("bang"), "failed", None, "failed after it had started: RuntimeError: bang"),
        (TimeoutError(), "failed", None, "failed after it had started: TimeoutError"),
        (ApprovalRequired("again?"), "failed", None, "deferred again after it was approved (again?)"),
        (CallDeferred("job 7"), "failed", None, "deferred again after it was approved (job 7)"),
    ],
)
async def test_the_word_comes_from_what_happened_and_never_from_prose(
    tmp_path: Path, ends: object, state: str, exit_code: int | None, told: str
) -> None:
    bench = One(ends=ends)
    call, text = await ended(tmp_path, bench)
    assert (call.state, call.exit_code) == (state, exit_code)
    assert told in text
    assert len(bench.calls) == 1


async def test_the_body_is_told_that_it_was_approved_and_for_whom(tmp_path: Path) -> None:
    bench = One()
    call, _ = await ended(tmp_path, bench)
    assert bench.calls == [
        Call(
            id=call.id,
            run=call.run,
            conversation=call.conversation,
            place=call.place,
            requester=call.requester,
            approved=True,
        )
    ]


async def test_the_claim_is_committed_before_the_bodys_first_line(tmp_path: Path) -> None:
    class Looks(One):
        """Its body looks at its own row, as another process would see it."""

        house: House

        def tools(self) -> list[Tool]:
            async def body(arguments: Any, call: Call) -> ToolOutcome:
                row = await the_call(self.house)
                return ToolOutcome(text=f"{row.state} {row.owner}")

            return [Tool(name="act", description="Acts.", arguments=DoArguments, body=body)]

    bench, script = Looks(), Script(ACT, "Done.")
    async with open_house(tmp_path, script, bench=bench) as bench.house:
        await bench.house.ask()
        await bench.house.decide("approve")
        assert script.results()[0][1].endswith("\nrunning id0001")


@pytest.mark.parametrize(
    "ends", [ToolOutcome(text="the key is s3cret"), RuntimeError("key s3cret"), NothingRan("no s3cret")], ids=str
)
async def test_secrets_are_masked_in_the_row_and_for_the_model(tmp_path: Path, ends: object) -> None:
    call, text = await ended(tmp_path, One(ends=ends), mask=lambda text: text.replace("s3cret", "[masked]"))
    assert "[masked]" in text
    assert "s3cret" not in f"{text}{call.result}{call.note}"


# -- what is no longer what was shown -----------------------------------------------------------


class Other(Arguments):
    what: str
    force: bool


class Narrower(Arguments):
    what: str = Field(max_length=0)


def bound_to(mark: str) -> Change:
    return lambda tool: replace(tool, binds=lambda arguments: {"script.sh": mark})


CHANGES: dict[str, Change] = {
    "description": lambda tool: replace(tool, description="Acts otherwise."),
    "profile": lambda tool: replace(tool, profile="bubblewrap, with network"),
    "environment": lambda tool: replace(tool, environment=("HOME",)),
    "arguments": lambda tool: replace(tool, arguments=Other),
    "narrower arguments": lambda tool: replace(tool, arguments=Narrower),
    "another name": lambda tool: replace(tool, name="act2"),
    "a file": bound_to("1 byte"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
async def test_what_changed_between_the_decision_and_the_run_is_void_and_does_not_run(
    tmp_path: Path, change: Change
) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT), bench=One(), open_db=database.open) as house:
        await house.ask()
        database.failing["claim"] = 1
        await house.decide("approve")
        assert (await the_call(house)).state == "approved"
    bench = One(change=change)
    async with open_house(tmp_path, Script("I see."), bench=bench, ids="later") as house:
        call = await the_call(house)
        assert call.state == "void"
        assert call.note
        assert bench.calls == []
        assert [e.actor for e in await audit.entries(house.app.database.reader) if e.event == "void"] == [audit.SYSTEM]


ALTERATIONS = {
    "arguments": """arguments = '{"what": "y"}'""",
    "tool": "tool = 'look'",
    "requester": "requester = '3'",
    "place": "place = 'discord/9/91'",
    "deadline": "expires_at = expires_at + 1",
    "digest": "digest = printf('%064d', 1)",
    "seal": "seal = printf('%064d', 1)",
    "who approved": "settled_by = '3'",
    "who edited": "edited_by = '3'",
    "the thread's channel": "within = '91'",
    "not even a seal": "seal = 'é'",
}


@pytest.mark.parametrize("alteration", ALTERATIONS.values(), ids=ALTERATIONS.keys())
async def test_an_approved_row_that_was_altered_behind_our_back_does_not_run(tmp_path: Path, alteration: str) -> None:
    database = FaultyDatabase()
    bench, script = Bench(), Script(ACT, "Done.")
    async with open_house(tmp_path, script, bench=bench, open_db=database.open) as house:
        await house.ask()
        database.failing["claim"] = 1
        await house.decide("approve")
        async with house.app.database.begin("alter") as tx:
            await tx.execute(f"UPDATE approval SET {alteration}")
        await house.later(seconds=2)
        assert (await the_call(house)).state == "void"
        assert bench.effects == []


async def test_a_row_that_was_moved_to_approved_behind_our_back_does_not_run(tmp_path: Path) -> None:
    bench = Bench()
    async with open_house(tmp_path, Script(ACT, "Done."), bench=bench) as house:
        await house.ask()
        async with house.app.database.begin("forge") as tx:
            await tx.execute("UPDATE approval SET state = 'approved', settled_by = '1', settled_at = 1")
        await house.later(seconds=2)
        assert (await the_call(house)).state == "void"
        assert bench.effects == []


async def test_a_call_whose_files_cannot_even_be_looked_at_does_not_run_and_does_not_hang(tmp_path: Path) -> None:
    broken = False

    def look(arguments: Any) -> Mapping[str, str]:
        if broken:
            raise PermissionError(13, "Permission denied")
        return {"script.sh": "1 byte"}

    bench, script = One(change=lambda tool: replace(tool, binds=look)), Script(ACT, "I see.")
    async with open_house(tmp_path, script, bench=bench) as house:
        page = await house.ask()
        broken = True
        await house.decide("approve")
        assert (await the_call(house)).state == "void"
        assert "Permission denied" in str((await the_call(house)).note)
        assert bench.calls == []
        assert page.finished == "I see."


# -- being stopped ------------------------------------------------------------------------------


async def test_stopping_the_program_stops_the_tool_and_its_row_says_interrupted(tmp_path: Path) -> None:
    bench = One()
    bench.go_on.clear()
    async with open_house(tmp_path, Script(ACT), bench=bench) as house:
        await house.ask()
        await house.app.engine.decide(house.press(OWNER), "approve")
        await bench.began.wait()
        await house.app.engine.stop(grace=0)
        assert (await the_call(house)).state == "interrupted"
    bench, script = One(), Script("Nobody knows.")
    async with open_house(tmp_path, script, bench=bench, ids="later") as house:
        assert bench.calls == []
        [(outcome, text)] = script.results()
        assert (outcome, "unknown whether" in text) == ("failed", True)
        assert house.face.said[0].text == "Nobody knows."


async def test_a_program_that_stops_starts_nothing_any_more_and_what_was_approved_runs_after_the_next_start(
    tmp_path: Path,
) -> None:
    bench = One()
    bench.go_on.clear()
    script = Script([("act", {"what": "x"}), ("act", {"what": "y"})])
    async with open_house(tmp_path, script, bench=bench) as house:
        await house.ask()
        await house.app.engine.decide(house.press(OWNER, 0), "approve")
        await bench.began.wait()
        stopping = asyncio.ensure_future(house.app.engine.stop(grace=60))
        await asyncio.sleep(0)
        await house.app.engine.decide(house.press(OWNER, 1), "approve")
        bench.go_on.set()
        await stopping
        rows = await house.rows("SELECT state FROM approval ORDER BY position")
        assert [row["state"] for row in rows] == ["succeeded", "approved"]
        assert len(bench.calls) == 1
        assert len(script.seen) == 1
    bench = One()
    async with open_house(tmp_path, Script("Both ran."), bench=bench, ids="later") as house:
        assert len(bench.calls) == 1
        assert house.face.said[0].text == "Both ran."


async def test_an_outcome_that_is_being_stored_when_the_program_stops_is_stored_to_the_end(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT), bench=One(), open_db=database.open) as house:
        await house.ask()
        reached, go_on = database.hold("record outcome")
        await house.app.engine.decide(house.press(OWNER), "approve")
        await reached.wait()
        stopping = asyncio.ensure_future(house.app.engine.stop(grace=0))
        for _ in range(5):
            await asyncio.sleep(0)
        go_on.set()
        await stopping
        assert (await the_call(house)).state == "succeeded"


async def test_a_call_that_this_process_runs_is_not_taken_for_stranded(tmp_path: Path) -> None:
    bench = One()
    bench.go_on.clear()
    async with open_house(tmp_path, Script(ACT, "Done."), bench=bench) as house:
        await house.ask()
        await house.app.engine.decide(house.press(OWNER), "approve")
        await bench.began.wait()
        for _ in range(3):
            await house.app.engine.sweep()
        assert (await the_call(house)).state == "running"
        bench.go_on.set()
        await house.app.background.idle()
        assert (await the_call(house)).state == "succeeded"
        assert len(bench.calls) == 1


async def test_a_sweep_at_the_very_moment_of_the_claim_does_not_take_the_call_for_stranded(tmp_path: Path) -> None:
    class Sweeping(FaultyDatabase):
        """Sweeps right behind the claim's commit, before the claimer hears of it."""

        house: House

        @contextlib.asynccontextmanager
        async def begin(self, step: str, *, durable: bool = True) -> Any:
            async with super().begin(step, durable=durable) as tx:
                yield tx
            if step == "claim":
                await self.house.app.engine.sweep()

    database, bench = Sweeping(), One()
    async with open_house(tmp_path, Script(ACT, "Done."), bench=bench, open_db=database.open) as database.house:
        house = database.house
        await house.ask()
        await house.decide("approve")
        assert (await the_call(house)).state == "succeeded"
        assert len(bench.calls) == 1
