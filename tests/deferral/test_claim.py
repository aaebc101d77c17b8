"""The executor alone, over real rows: what comes of an approved call between the decision and the record."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from bot.deferral.digest import action_digest
from bot.deferral.executor import Executor
from bot.deferral.policy import Verdict
from bot.deferral.references import reference
from bot.deferral.seal import Seal
from bot.deferral.tool import Arguments, Call, SecretUse, Tool, ToolOutcome
from bot.deferral.vault import Vault
from bot.errors import DeliveryError
from bot.secrets_file import NamedSecret
from storage import approvals
from storage.approvals import Approval, ApprovalState
from storage.database import Database
from storage.votes import Vote
from tests.faults import FaultyDatabase
from tests.house import ManualClock
from tests.storage.rows import AT, BOOT, DEADLINE, a_call, events, paused

SEAL = Seal(b"k" * 32)
USES = SecretUse(how="Write it.", in_arguments=True)


class Words(Arguments):
    what: str = Field(max_length=40)


class Lab:
    """One executor, its clock, and one tool that keeps what it was given."""

    def __init__(self, database: Database, *, ends: BaseException | ToolOutcome | None = None, **options: Any) -> None:
        self.database, self.clock = database, ManualClock(AT)
        self.got: list[tuple[Any, Call]] = []

        async def body(arguments: Any, call: Call) -> ToolOutcome:
            self.got.append((arguments, call))
            if isinstance(ends, BaseException):
                raise ends
            return ends or ToolOutcome(text="out")

        tool = Tool(name="act", description="Acts.", arguments=Words, body=body, secrets=USES)
        self.executor = Executor(
            database=database,
            clock=self.clock,
            boot=BOOT,
            tools={"act": tool},
            workspace="here",
            seal=SEAL,
            mask=lambda text: text.replace("hunter2", "[masked]"),
            **options,
        )

    async def approved(self, id: str = "call1", **changes: Any) -> Approval:
        """A call that somebody approved, as the bot would have stored it."""
        made = a_call(id, **changes)
        bound = await self.executor.bound("act", made.arguments, made.run)
        digest = action_digest(
            "act", made.arguments, bound, requester=made.requester, place=made.place, expires_at=made.expires_at
        )
        async with self.database.begin("ask") as tx:
            await paused(tx, a_call(id, **changes, bound=bound, digest=digest))
            seal = SEAL.approved(id, digest, "1", [])
            assert await approvals.settle(tx, id, ApprovalState.APPROVED, by="1", at=AT, seal=seal)
        return await self.row(id)

    async def row(self, id: str = "call1") -> Approval:
        found = await approvals.get(self.database.reader, id)
        assert found is not None
        return found

    async def to_the_end(self, id: str = "call1") -> Approval:
        claimed = await self.executor.claim(id)
        assert claimed is not None
        assert await self.executor.run(claimed) == await self.row(id)
        return await self.row(id)


def unknown(*, until: list[bool]) -> Callable[[Approval, Sequence[Vote]], Awaitable[str | None]]:
    """A look at those who approved that fails as long as `until` has nothing in it."""

    async def recheck(call: Approval, given: Sequence[Vote]) -> str | None:
        if not until:
            raise DeliveryError("Discord does not answer")
        return None

    return recheck


async def test_what_was_approved_runs_with_its_arguments_and_only_once(database: Database) -> None:
    lab = Lab(database)
    await lab.approved()
    ended = await lab.to_the_end()
    assert (ended.state, ended.result, ended.owner, ended.started_at) == ("succeeded", "out", BOOT, AT)
    assert await lab.executor.claim("call1") is None
    [(arguments, call)] = lab.got
    assert (arguments.what, call.approved, call.secrets) == ("x", True, {})


async def test_a_call_that_is_claimed_is_not_claimed_a_second_time_by_the_same_process(database: Database) -> None:
    lab = Lab(database)
    await lab.approved()
    both = await asyncio.gather(lab.executor.claim("call1"), lab.executor.claim("call1"))
    assert [one is not None for one in both] == [True, False]


@pytest.mark.parametrize("state", [ApprovalState.PENDING, ApprovalState.DENIED])
async def test_a_call_that_nobody_approved_is_not_claimed(database: Database, state: ApprovalState) -> None:
    lab = Lab(database)
    async with database.begin("ask") as tx:
        await paused(tx)
        if state is ApprovalState.DENIED:
            await approvals.settle(tx, "call1", state, by="1", at=AT)
    assert await lab.executor.claim("call1") is None
    assert await lab.executor.claim("unheard of") is None
    assert (await lab.row()).state is state


async def test_a_call_that_is_taken_back_while_it_is_looked_at_does_not_run(database: Database) -> None:
    async def recheck(call: Approval, given: Sequence[Vote]) -> str | None:
        async with database.begin("cancel") as tx:
            await approvals.settle(
                tx, call.id, ApprovalState.CANCELLED, by="2", at=AT, note="never mind", frm=ApprovalState.APPROVED
            )
        return None

    lab = Lab(database, recheck=recheck)
    await lab.approved()
    assert await lab.executor.claim("call1") is None
    assert ((await lab.row()).state, (await lab.row()).note) == ("cancelled", "never mind")


async def test_a_call_whose_approvers_are_not_known_now_waits_and_runs_once_they_are(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    known: list[bool] = []
    lab = Lab(database, recheck=unknown(until=known))
    await lab.approved()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await lab.executor.claim("call1") is None
    assert [one.message for one in caplog.records] == ["approvers not known"], "said once, however often it is tried"
    lab.clock.at = DEADLINE - 1
    assert await lab.executor.claim("call1") is None
    assert (await lab.row()).state == "approved"
    known.append(True)
    assert (await lab.to_the_end()).state == "succeeded"


async def test_a_call_whose_approvers_are_not_known_in_time_is_void_and_says_why(database: Database) -> None:
    lab = Lab(database, recheck=unknown(until=[]))
    await lab.approved()
    lab.clock.at = DEADLINE
    assert await lab.executor.claim("call1") is None
    ended = await lab.row()
    assert (ended.state, ended.settled_by, ended.settled_at) == ("void", "system", DEADLINE)
    assert "could not be found out in time (Discord does not answer)" in (ended.note or "")
    assert lab.got == []


async def test_a_secret_that_is_taken_away_after_the_claim_is_not_given_and_nothing_runs(database: Database) -> None:
    vault = Vault([NamedSecret(name="key", tools=("act",), value="hunter2")])
    lab = Lab(database, vault=vault)
    await lab.approved(arguments={"what": reference("key")})
    claimed = await lab.executor.claim("call1")
    assert claimed is not None
    vault.replace([])
    await lab.executor.run(claimed)
    ended = await lab.row()
    assert (ended.state, ended.result, lab.got) == ("nothing_ran", "", [])
    assert "key" in (ended.note or "")
    assert "act" in (ended.note or "")


async def test_a_secret_whose_value_does_not_fit_is_not_given_and_its_value_is_told_nobody(database: Database) -> None:
    vault = Vault([NamedSecret(name="key", tools=("act",), value="hunter2" * 10)])
    lab = Lab(database, vault=vault)
    await lab.approved(arguments={"what": reference("key")})
    ended = await lab.to_the_end()
    assert (ended.state, ended.result, lab.got) == ("nothing_ran", "", [])
    assert ended.note
    assert "hunter2" not in str(await database.reader.all("SELECT * FROM approval, audit"))


async def test_a_secret_is_put_into_the_arguments_and_handed_over_with_the_call(database: Database) -> None:
    lab = Lab(database, vault=Vault([NamedSecret(name="key", tools=("act",), value="hunter2")]))
    await lab.approved(arguments={"what": f"say {reference('key')}"})
    assert (await lab.to_the_end()).state == "succeeded"
    [(arguments, call)] = lab.got
    assert (arguments.what, call.secrets) == ("say hunter2", {"key": "hunter2"})


@pytest.mark.parametrize("ends", [KeyboardInterrupt(), GeneratorExit()])
async def test_what_ends_the_program_is_not_taken_for_the_tools_failure(
    database: Database, ends: BaseException
) -> None:
    lab = Lab(database, ends=ends)
    await lab.approved()
    claimed = await lab.executor.claim("call1")
    assert claimed is not None
    with pytest.raises(type(ends)):
        await lab.executor.run(claimed)
    assert (await lab.row()).state == "running", "nobody has recorded an outcome that there is not"


async def test_a_body_that_cannot_say_whether_it_acted_leaves_the_call_interrupted_with_its_words(
    database: Database,
) -> None:
    lab = Lab(database, ends=ToolOutcome(text="No answer; hunter2 was sent.", ok=False, unknown=True))
    await lab.approved()
    ended = await lab.to_the_end()
    assert (ended.state, ended.result, ended.note) == ("interrupted", "", "No answer; [masked] was sent.")


async def test_a_call_that_runs_in_nobodys_hands_is_owned_up_to(database: Database) -> None:
    lab = Lab(database)
    call = await lab.approved()
    async with database.begin("claim") as tx:
        assert await approvals.claim(tx, "call1", owner=BOOT, digest=call.digest, at=AT)
    await lab.executor.record_unrecorded()
    ended = await lab.row()
    assert (ended.state, ended.result, lab.got) == ("interrupted", "", [])
    assert await events(database) == ["asked", "approved", "running", "interrupted"]


async def test_what_changed_since_it_was_shown_is_void_where_nobody_can_be_asked_again(database: Database) -> None:
    lab = Lab(database)
    await lab.approved()
    moved = Lab(database)
    moved.executor._workspace = "elsewhere"
    assert await moved.executor.claim("call1") is None
    ended = await lab.row()
    assert (ended.state, moved.got) == ("void", [])
    assert "here → elsewhere" in (ended.note or "")


async def test_a_call_that_was_asked_again_is_left_to_whoever_asked(database: Database) -> None:
    asked: list[tuple[str, Mapping[str, Any], str]] = []

    async def ask_again(tx: Any, call: Approval, now: Mapping[str, Any], changes: str) -> bool:
        asked.append((call.id, now, changes))
        return True

    await Lab(database).approved()
    lab = Lab(database, ask_again=ask_again)
    lab.executor._workspace = "elsewhere"
    assert await lab.executor.claim("call1") is None
    [(id, now, changes)] = asked
    assert (id, now["workspace"]) == ("call1", "elsewhere")
    assert "here → elsewhere" in changes
    assert (await lab.row()).state == "approved"


async def test_what_a_call_would_change_is_bound_with_everything_around_it(database: Database) -> None:
    lab = Lab(database, vault=Vault([NamedSecret(name="key", tools=("act",), value="hunter2")]))
    tools = lab.executor._tools
    assert isinstance(tools, dict)
    tools["act"] = replace(
        tools["act"],
        binds=lambda arguments: {"a.sh": f"mark of {arguments.what}"},
        preview=lambda arguments: f"- {arguments.what}\ud800",
        environment=("B", "A"),
    )
    bound = await lab.executor.bound("act", {"what": reference("key")}, "run1")
    assert (bound["files"], bound["secrets"], bound["workspace"], bound["environment"]) == (
        {"a.sh": "mark of {{secret:key}}"},
        {"key": "act"},
        "here",
        ["A", "B"],
    )
    assert bound["preview"].startswith("- {{secret:key}}")
    assert bound["preview"].encode(), "half a character could not be stored"


async def test_an_outcome_that_could_not_be_stored_is_stored_later_and_masked(tmp_path: Path) -> None:
    faults = FaultyDatabase()
    async with faults.open(str(tmp_path / "rows.sqlite3")) as database:
        lab = Lab(database)
        await lab.approved(arguments={"what": "hunter2"})
        claimed = await lab.executor.claim("call1")
        assert claimed is not None
        faults.failing["record outcome"] = 1
        with pytest.raises(sqlite3.OperationalError):
            await lab.executor.run(claimed)
        assert (await lab.row()).state == "running"
        await lab.executor.record_unrecorded()
        assert ((await lab.row()).state, len(lab.got)) == ("succeeded", 1)
        await lab.executor.record_unrecorded()
        assert (await events(database)).count("succeeded") == 1


# -- cut short ------------------------------------------------------------------------------------


class Endless(Lab):
    """Whose body waits, and may come to its own end when it is told to stop."""

    def __init__(self, database: Database, *, stubborn: bool = False, deaf: bool = False) -> None:
        """`stubborn` comes to its own end when it is cancelled; `deaf` does not heed it the first time."""
        super().__init__(database)
        self.began, self.heard = asyncio.Event(), asyncio.Event()

        async def body(arguments: Any, call: Call) -> ToolOutcome:
            self.began.set()
            for heeds in (False, True) if deaf else (True,):
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.heard.set()
                    if heeds and not stubborn:
                        raise
            await asyncio.sleep(0)  # CPython 3.11 traces nothing of what comes right behind a thrown exception
            return ToolOutcome(text="whole")

        tools = self.executor._tools
        assert isinstance(tools, dict)
        tools["act"] = replace(tools["act"], body=body)

    async def at_work(self) -> asyncio.Future[Approval | None]:
        await self.approved()
        claimed = await self.executor.claim("call1")
        assert claimed is not None
        running = asyncio.ensure_future(self.executor.run(claimed))
        await self.began.wait()
        return running


async def test_a_call_that_is_cut_short_ends_as_interrupted_with_the_note_and_its_task_goes_on(
    database: Database,
) -> None:
    lab = Endless(database)
    running = await lab.at_work()
    lab.executor.cut_short(["nobody", "call1", "call1"], "Somebody stopped it.")
    ended = await running
    assert ended == await lab.row()
    assert (ended.state, ended.note) == ("interrupted", "Somebody stopped it.")
    assert not running.cancelled()
    lab.executor.cut_short(["call1"], "Again.")
    assert (await lab.row()).note == "Somebody stopped it."


async def test_a_call_that_ends_by_itself_as_it_is_cut_short_ended_as_it_did(database: Database) -> None:
    lab = Endless(database, stubborn=True)
    running = await lab.at_work()
    lab.executor.cut_short(["call1"], "Somebody stopped it.")
    ended = await running
    assert ended is not None
    assert (ended.state, ended.result, ended.note) == ("succeeded", "whole", None)


async def test_a_call_that_is_cut_short_while_the_program_stops_is_recorded_and_the_stop_goes_on(
    database: Database,
) -> None:
    lab = Endless(database)
    running = await lab.at_work()
    lab.executor.cut_short(["call1"], "Somebody stopped it.")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    ended = await lab.row()
    assert (ended.state, ended.note) == ("interrupted", "Somebody stopped it.")


async def test_a_stop_of_the_program_that_a_tool_did_not_heed_goes_on_once_the_call_is_cut_short(
    database: Database,
) -> None:
    lab = Endless(database, deaf=True)
    running = await lab.at_work()
    running.cancel()
    await lab.heard.wait()
    lab.executor.cut_short(["call1"], "Somebody stopped it.")
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await lab.row()).note == "Somebody stopped it."


async def test_a_call_that_has_run_by_the_trail_is_void_whatever_its_row_says(database: Database) -> None:
    """S-A50."""
    lab = Lab(database)
    await lab.approved()
    await lab.to_the_end()
    async with database.begin("put back") as tx:
        await tx.execute("UPDATE approval SET state = 'approved'")
    assert await lab.executor.claim("call1") is None
    row = await lab.row()
    assert (row.state, len(lab.got)) == ("void", 1)
    assert "has run already" in (row.note or "")


async def test_a_rule_that_gives_network_is_bound_as_long_as_it_gives_it(database: Database) -> None:
    class Networked:
        gives = "the mirror"

        def decide(self, tool: Tool, arguments: Mapping[str, Any], asking: Any) -> Verdict:
            return Verdict(action="ask", rule="net", network=self.gives)

    policy = Networked()
    lab = Lab(database, policy=policy)
    tools = lab.executor._tools
    assert isinstance(tools, dict)
    tools["act"] = replace(tools["act"], networked=True)
    assert "network" not in await lab.executor.bound("act", {"what": "x"}, "no such run")
    made = await lab.approved()
    assert (await lab.executor.bound("act", {"what": "x"}, made.run))["network"] == "the mirror"
    policy.gives = ""
    assert "network" not in await lab.executor.bound("act", {"what": "x"}, made.run)
