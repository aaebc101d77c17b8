"""What becomes of a card that cannot stay, or cannot be, where it should: always inside the commit that finds out.

As long as a copy is up that helps somebody to decide, or may still come up, the card waits. When there is none, the
next place is tried; when no place is left, the calls are `undeliverable`, and people and model are told why.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.clock import Clock, NewId
from bot.deferral.authority import Authority
from bot.deferral.tool import ToolKind
from bot.surface import Surface
from bot.texts.recall import recall
from bot.texts.text import say, worded
from bot.where import Places, Target, Whereabouts, instead
from storage import approvals, audit, cards, outbox
from storage.approvals import ApprovalState
from storage.cards import Card, Pings, Shut
from storage.database import Transaction

MOST_POSTS = 1
"""How often a deleted card is posted anew at its place."""

DELETED = say("moving.deleted")
PLACE_DELETED = say("moving.place_deleted")
_SHUT = {
    Shut.LOCKED: say("moving.locked"),
    Shut.UNSEEN: say("moving.nobody_sees"),
}


class Moving:
    """Finds places for the cards of one process."""

    def __init__(self, *, clock: Clock, new_id: NewId, authority: Authority, where: Whereabouts) -> None:
        self._clock = clock
        self._new_id = new_id
        self._authority = authority
        self._where = where
        self._surface: Surface | None = None

    def connect(self, surface: Surface) -> None:
        """From now on there is a face, which knows threads and names."""
        self._surface = surface

    async def deleted(self, tx: Transaction, card: Card) -> None:
        """The copy's message was deleted: it is posted anew, once, as long as something waits on it."""
        await self.record(tx, "card_deleted", card, message=card.message)
        if not await waits(tx, card):
            await cards.leave(tx, card.id, error=DELETED)
        elif card.posts < MOST_POSTS:
            await cards.post_anew(tx, card.id)
        else:
            await self.leave(tx, card, DELETED)

    async def leave(self, tx: Transaction, card: Card, problem: str, *, above: str | None = None) -> None:
        """The copy has no place any more, because of `problem`. `above`: see `shut`."""
        await cards.leave(tx, card.id, error=problem)
        await self.record(tx, "card_not_posted", card, problem=problem)
        if not await waits(tx, card):
            return  # nobody has to see it for anything
        copies = await cards.copies(tx, card.root)
        live = [copy for copy in copies if _counts(copy)]
        if any(copy.person is None for copy in live):
            if card.person is not None or card.pings is not Pings.NOBODY:
                await self._owe_ping(tx, card, problem)
            return
        if card.person is not None and live:
            return  # others have it directly, and somebody of them can still decide
        if not await self._next_place(tx, copies, above) and not live:
            await self._undeliverable(tx, copies)

    async def _next_place(self, tx: Transaction, copies: Sequence[Card], above: str | None) -> bool:
        """Have the card posted at the first place where it has not been yet; whether there is one."""
        lead = copies[0]
        calls = await approvals.of_card(tx, lead.id)
        asks = [call for call in calls if call.kind == ToolKind.APPROVAL]
        if all(call.kind == ToolKind.EXTERNAL for call in calls):
            return False  # it waits for nobody who would have to see it
        place, surface = calls[0].place, self._surface
        steps = instead(
            await self._where.of(tx, place) if asks else Places(),
            place,
            above=above or (surface.above(place) if surface is not None else None),
            people=sorted(self._authority.approvers(asks)[0]) if asks else [calls[0].requester],
        )
        before = {copy.person or copy.place for copy in copies}
        for step in steps:
            if fresh := [target for target in step if (target.person or target.place) not in before]:
                await self._add(tx, lead, fresh)
                return True
        return False

    async def _add(self, tx: Transaction, lead: Card, targets: Sequence[Target]) -> None:
        for one in targets:
            await cards.add_copy(
                tx, id=self._new_id(), lead=lead.id, place=one.place, person=one.person, pings=one.pings
            )

    async def _owe_ping(self, tx: Transaction, card: Card, problem: str) -> None:
        """Those whom this copy would have notified are told where the others are."""
        calls = await approvals.of_card(tx, card.root)
        where = say("moving.where_directly") if card.person is not None else say("moving.where_it_should")
        await outbox.owe(
            tx,
            key=f"instead:{card.root}:{card.id}:{card.posts}",
            run=card.run,
            place=calls[0].place,
            body={
                **worded(say("moving.instead", where=where, problem=recall(problem))),
                "while_pending": card.root,
                "kind": str(ToolKind.APPROVAL),
                **({"ping": [card.person]} if card.person is not None else {}),
            },
            at=self._clock.now(),
        )

    async def _undeliverable(self, tx: Transaction, copies: Sequence[Card]) -> None:
        problems = dict.fromkeys(self._problem(copy) for copy in copies if copy.error)
        for call in await approvals.of_card(tx, copies[0].id):
            if call.kind == ToolKind.EXTERNAL:
                continue
            await approvals.settle(
                tx,
                call.id,
                ApprovalState.UNDELIVERABLE,
                by=audit.SYSTEM,
                at=self._clock.now(),
                note=" ".join(problems),
            )

    def _problem(self, copy: Card) -> str:
        if copy.person is None or self._surface is None:
            return str(copy.error)
        return say("moving.directly", who=self._surface.who(copy.person), problem=copy.error)

    async def record(self, tx: Transaction, event: str, card: Card, **more: object) -> None:
        """Put on the trail what happened to a copy."""
        detail = {"card": card.root, "place": card.place, **more}
        if card.person is not None:
            detail["person"] = card.person
        await audit.record(tx, at=self._clock.now(), actor=audit.SYSTEM, event=event, run=card.run, detail=detail)

    async def shut(self, tx: Transaction, card: Card, why: Shut, *, above: str | None = None) -> None:
        """The copy helps nobody where it is: another one is made, unless there is one that does.

        `above`: the channel that its place is a thread of, from somebody who knows better than the face, which forgets
        threads that are closed.
        """
        if card.locked:
            return
        await cards.shut(tx, card.id, why, error=_SHUT[why])
        await self.record(tx, "card_shut", card, why=why.name.lower())
        copies = await cards.copies(tx, card.root)
        if any(not copy.gone and not copy.locked for copy in copies) or await self._next_place(tx, copies, above):
            return
        if not any(_counts(copy) for copy in copies):
            await self._undeliverable(tx, copies)


def _counts(copy: Card) -> bool:
    """Whether somebody can still decide because of this copy. What is locked in is decided from `/approvals`."""
    return not copy.gone and copy.locked is not Shut.UNSEEN


async def waits(tx: Transaction, card: Card) -> bool:
    """Whether something on the card still waits."""
    calls = await approvals.of_card(tx, card.root)
    return any(call.state is ApprovalState.PENDING for call in calls)
