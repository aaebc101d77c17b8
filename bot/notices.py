"""What is said about a card beside it: the reminder before its deadline, and where it stands instead.

Such a notice is owed for as long as something on the card waits. Where it goes and whom it notifies is looked up when
it is sent: under the card that people can press, to those who can still help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.clock import Clock
from bot.deferral.tool import ToolKind
from bot.errands import FIRST_BACK_OFF_MS
from bot.surface import Announcement
from bot.views import Views
from bot.where import Whereabouts
from storage import approvals, cards, outbox
from storage.approvals import ApprovalState
from storage.cards import Card
from storage.database import Database, Transaction
from storage.outbox import Owed


class Notices:
    """Sends what is owed about cards where the cards are."""

    def __init__(self, *, database: Database, clock: Clock, views: Views, where: Whereabouts) -> None:
        self._database = database
        self._clock = clock
        self._views = views
        self._where = where

    async def still_true(self, tx: Transaction, owed: Owed) -> Owed | None:
        """The message as it is owed still; what is not goes. Those who have a card of their own are told there."""
        if (lead := owed.body.get("while_pending")) is None:
            return owed
        kind = owed.body["kind"]
        calls = await approvals.of_card(tx, lead)
        waits = any(call.state is ApprovalState.PENDING and call.kind == kind for call in calls)
        copies = [copy for copy in await cards.copies(tx, lead) if not copy.gone]
        if waits and "copy" not in owed.body and "ping" not in owed.body:
            for copy in copies:
                if copy.person is not None and copy.message is not None:
                    await self._owe_directly(tx, owed, copy)
        candidates = _candidates(owed, copies)
        if not waits or not candidates or not await self._concerns_anybody(owed, copies):
            await outbox.drop(tx, owed.id)
        elif cards.visible(candidates) is None:
            await outbox.postpone(tx, owed, due_at=self._clock.now() + FIRST_BACK_OFF_MS)  # there will be one soon
        else:
            return owed
        return None

    async def _concerns_anybody(self, owed: Owed, copies: Sequence[Card]) -> bool:
        """Whether somebody is to be told there who is not told in direct messages."""
        if "ping" in owed.body or "copy" in owed.body:
            return True
        due = await self._views.due(owed.body["while_pending"])
        return bool(due.roles or set(due.users) - _told_directly(copies))

    async def _owe_directly(self, tx: Transaction, owed: Owed, copy: Card) -> None:
        await outbox.owe(
            tx,
            key=f"{owed.key}:{copy.id}",
            run=owed.run,
            place=copy.place,
            body={**owed.body, "copy": copy.id},
            at=self._clock.now(),
        )

    async def about_card(self, announcement: Announcement, owed: Owed) -> Announcement:
        """Under the card, about its deadline, to those who can still help."""
        reader, lead = self._database.reader, owed.body["while_pending"]
        copies = [copy for copy in await cards.copies(reader, lead) if not copy.gone]
        card = cards.visible(_candidates(owed, copies))
        due = await self._views.due(lead)
        places = await self._where.of(reader, due.place)
        quiet = places.quiet is not None and places.quiet.covers(self._clock.now())
        told = _told_directly(copies)
        users: Sequence[str] = owed.body.get("ping") or [user for user in due.users if user not in told]
        direct = card is not None and card.person is not None
        return replace(
            announcement,
            place=card.place if card is not None else announcement.place,
            ping=() if direct else tuple(users),
            ping_roles=() if direct or "ping" in owed.body else due.roles,
            silent=quiet and owed.body["kind"] == ToolKind.APPROVAL,
            deadline=due.deadline,
            reply_to=card.message if card is not None else None,
        )


def _candidates(owed: Owed, copies: Sequence[Card]) -> list[Card]:
    """The copies under which it may be said."""
    copy = owed.body.get("copy")
    return [one for one in copies if (one.person is None if copy is None else one.id == copy)]


def _told_directly(copies: Sequence[Card]) -> set[str]:
    return {copy.person for copy in copies if copy.person is not None and copy.message is not None}
