"""One request, one run, read from the rows: it holds after a restart, and it can only ever suppress a card."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.deferral import registry
from bot.deferral.intent import action_key, intent_key
from storage.approvals import OPEN, Approval, ApprovalState
from storage.database import Database
from tests.storage.rows import a_call, bring, open_at, paused

ARGUMENTS = {"command": "ls -l"}


def shell(command: str = "ls -l", *, conversation: str = "talk", request: str | None = "r1") -> dict[str, str | None]:
    """The two keys of one call."""
    return {
        "intent": intent_key(conversation, request, "shell", {"command": command}),
        "action": action_key("shell", {"command": command}),
    }


async def store(database: Database, state: ApprovalState, **keys: str | None) -> None:
    async with database.begin("store") as tx:
        await paused(tx, a_call(tool="shell", arguments=ARGUMENTS, **(keys or shell())))
        await bring(tx, "call1", state)


async def screen(
    database: Database, *, requester: str = "2", conversation: str = "talk", **keys: str | None
) -> Approval | None:
    keys = keys or shell()
    return await registry.screen(
        database.reader,
        intent=keys["intent"],
        action=str(keys["action"]),
        conversation=conversation,
        requester=requester,
    )


@pytest.mark.parametrize("state", sorted(ApprovalState))
async def test_the_same_call_of_the_same_request_is_answered_whatever_became_of_it(
    tmp_path: Path, state: ApprovalState
) -> None:
    async with open_at(tmp_path) as database:
        await store(database, state)
    async with open_at(tmp_path) as database:  # and in another life
        found = await screen(database, **shell("ls   -l"))
    assert found is not None
    assert found.state is state
    text = registry.answer(found, intent=found.intent, link="")
    assert text.startswith("Not run again") is (state not in OPEN)


@pytest.mark.parametrize("state", sorted(ApprovalState))
async def test_a_new_request_is_a_new_ask_unless_the_same_one_still_waits(tmp_path: Path, state: ApprovalState) -> None:
    async with open_at(tmp_path) as database:
        await store(database, state)
        found = await screen(database, **shell(request="r2"))
    assert (found is not None) is (state is ApprovalState.PENDING)


async def test_a_waiting_call_is_linked_only_for_the_same_person_conversation_and_action(database: Database) -> None:
    await store(database, ApprovalState.PENDING)
    new = shell(request="r2")
    assert await screen(database, **new) is not None
    assert await screen(database, requester="3", **new) is None
    assert await screen(database, conversation="other", **shell(request="r2", conversation="other")) is None
    assert await screen(database, **shell("ls -a", request="r2")) is None


async def test_a_linked_call_is_told_of_its_card_and_not_of_an_outcome(database: Database) -> None:
    await store(database, ApprovalState.PENDING)
    found = await screen(database, **shell(request="r2"))
    assert found is not None
    text = registry.answer(found, intent=shell(request="r2")["intent"], link="https://example/1")
    assert "no second one was made" in text
    assert "https://example/1" in text


async def test_without_a_request_an_ended_call_suppresses_nothing(database: Database) -> None:
    await store(database, ApprovalState.SUCCEEDED, **shell(request=None))
    assert await screen(database, **shell(request=None)) is None


@pytest.mark.parametrize(
    "other",
    [
        {"conversation": "other"},
        {"request": "r2"},
        {"command": "ls -a"},
    ],
)
def test_the_key_is_of_the_conversation_the_request_and_the_action(other: dict[str, str]) -> None:
    assert shell(**other)["intent"] != shell()["intent"]


def test_the_key_is_not_fooled_by_parts_that_run_together() -> None:
    assert intent_key("a", "b", "shell", {}) != intent_key("ab", "", "shell", {})
    assert intent_key("a", "b", "c", {}) != intent_key("a", "b,c", "", {})
    assert intent_key("a", None, "shell", {}) is None
    assert intent_key("a", "", "shell", {}) is not None
