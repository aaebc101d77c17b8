"""Cards are owed until people see the newest state, whatever fails or crashes in between."""

from __future__ import annotations

from storage import cards, outbox
from storage.approvals import ApprovalState
from storage.database import Database
from tests.storage.rows import AT, a_run, add_run, bring, paused


async def _card(database: Database) -> cards.Card:
    card = await cards.get_card(database.reader, "card1")
    assert card is not None
    return card


async def _owed(database: Database, now: int = AT) -> list[str]:
    return [card.id for card in await cards.owed(database.reader, now=now)]


async def test_a_new_card_is_owed_at_once(database: Database) -> None:
    async with database.begin("open") as tx:
        await paused(tx)
    assert await _owed(database) == ["card1"]
    assert (await _card(database)).message is None


async def test_a_card_that_is_shown_is_owed_again_when_one_of_its_calls_moves(database: Database) -> None:
    async with database.begin("open") as tx:
        await paused(tx)
        await cards.shown(tx, "card1", version=1, message="m1")
    assert await _owed(database) == []
    async with database.begin("deny") as tx:
        await bring(tx, "call1", ApprovalState.DENIED)
    assert await _owed(database) == ["card1"]
    assert (await _card(database)).message == "m1"


async def test_a_move_during_the_posting_stays_owed(database: Database) -> None:
    async with database.begin("open") as tx:
        await paused(tx)
    seen = (await _card(database)).version
    async with database.begin("deny") as tx:
        await bring(tx, "call1", ApprovalState.DENIED)
    async with database.begin("shown") as tx:
        await cards.shown(tx, "card1", version=seen, message="m1")
    assert await _owed(database) == ["card1"]


async def test_an_older_picture_never_overwrites_what_a_newer_one_showed(database: Database) -> None:
    async with database.begin("open") as tx:
        await paused(tx)
        await cards.touch(tx, "card1")
        await cards.shown(tx, "card1", version=2, message="m1")
        await cards.shown(tx, "card1", version=1, message="m1")
    assert await _owed(database) == []


async def test_a_failed_attempt_waits_for_its_time_and_a_move_makes_it_due_at_once(database: Database) -> None:
    async with database.begin("open") as tx:
        await paused(tx)
        await cards.failed(tx, "card1", due_at=AT + 2000, error="503")
    assert await _owed(database, AT + 1999) == []
    assert await _owed(database, AT + 2000) == ["card1"]
    assert await outbox.next_due(database.reader) == AT + 2000
    assert (await _card(database)).tries == 1
    async with database.begin("deny") as tx:
        await bring(tx, "call1", ApprovalState.DENIED)
    assert await _owed(database, AT) == ["card1"]
    assert (await _card(database)).tries == 0


async def test_what_cannot_be_shown_is_not_owed_until_the_next_move(database: Database) -> None:
    async with database.begin("open") as tx:
        await paused(tx)
        await cards.give_up(tx, "card1", version=1, error="no such channel")
    assert await _owed(database) == []
    async with database.begin("touch") as tx:
        await cards.touch(tx, "card1")
    assert await _owed(database) == ["card1"]


async def test_a_card_that_is_up_to_date_sets_no_alarm(database: Database) -> None:
    async with database.begin("open") as tx:
        await add_run(tx, a_run())
        await cards.open_card(tx, id="card1", run="run1", place="p")
        await cards.shown(tx, "card1", version=1, message="m1")
    assert await outbox.next_due(database.reader) is None
