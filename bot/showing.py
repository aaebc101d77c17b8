"""Keeps every copy of every card as its calls stand, and finds another place for a card that has none left.

Copies are owed one by one: a slow or a forbidden place holds up no other. Whatever one copy comes to is one commit, in
which the rows say what becomes of the card: as long as a copy is up, or may still come up, it waits; the next place is
tried when there is none; when no place is left the calls are `undeliverable`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.clock import Clock, NewId
from bot.deferral.authority import Authority
from bot.deferral.tool import ToolKind
from bot.errands import MOST_TRIES, back_off, delivering
from bot.errors import DeliveryError, Gone, Unreachable
from bot.lanes import Lanes
from bot.place import is_private, space_of
from bot.surface import CardView, Reply, Surface
from bot.views import Views
from bot.where import Places, Target, Whereabouts, instead
from storage import approvals, audit, cards, outbox, runs
from storage.approvals import Approval, ApprovalState
from storage.cards import Card, Pings
from storage.database import Database, Transaction
from storage.runs import Run

logger = logging.getLogger(__name__)

MOST_POSTS = 1
"""How often a deleted card is posted anew at its place."""

LONGEST_WAIT_MS = 300_000
"""A place that makes a new card wait longer than that (slow mode) is no place for it."""

NO_MEMBER = "They are no member of the server where it was asked."
DELETED = "The card was deleted there."
STANDS_IN = "I could not show this {where}: {problem} It waits for a decision here."


class Showing:
    """Shows the cards of one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        views: Views,
        authority: Authority,
        where: Whereabouts,
        replies: Mapping[str, Reply],
    ) -> None:
        """`replies`: messages of runs in which an answer still grows, by run."""
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._views = views
        self._authority = authority
        self._where = where
        self._replies = replies
        self._lanes = Lanes()
        self._surface: Surface | None = None

    def connect(self, surface: Surface) -> None:
        """From now on there is a face to show cards on."""
        self._surface = surface

    def is_busy(self, copy: str) -> bool:
        """Whether somebody is bringing out that copy at this moment."""
        return self._lanes.waiting(copy) > 0

    async def show(self, card: str) -> None:
        """Make people see the card as its calls stand, wherever it stands, and wherever else it has to go now."""
        tried: set[tuple[str, int]] = set()
        while self._surface is not None:
            behind = [copy for copy in await cards.copies(self._database.reader, card) if copy.shown < copy.version]
            fresh = [copy for copy in behind if (copy.id, copy.posts) not in tried]
            if not fresh:
                return
            tried.update((copy.id, copy.posts) for copy in fresh)
            endings = await asyncio.gather(*(self.show_copy(copy.id) for copy in fresh), return_exceptions=True)
            for ending in endings:
                if ending is not None:
                    raise ending

    async def show_copy(self, id: str) -> None:
        """Make one copy show the newest state. One at a time per copy."""
        surface = self._surface
        if surface is None:
            return
        async with self._lanes.enter(id):
            card = await cards.get_card(self._database.reader, id)
            if card is None or card.gone or card.shown >= card.version:
                return
            view = await self._views.of(card)
            if card.message is None and not any(call.state is ApprovalState.PENDING for call in view.approvals):
                # Settled before anybody could see it: a live-looking card would be a lie.
                async with self._database.begin("drop card") as tx:
                    await cards.give_up(tx, id, version=card.version, error="settled before it was shown")
                return
            try:
                with delivering():
                    message = await self._post(surface, view) if card.message is None else card.message
                    if card.message is not None:
                        await surface.edit_card(view)
            except DeliveryError as error:
                await self._failed(view, error)
                return
            # An edit that is forgotten in a power cut is made again; a card that is posted must not be.
            async with self._database.begin("card shown", durable=card.message is None) as tx:
                await cards.shown(tx, id, version=card.version, message=message)
                if card.message is None:
                    await self._posted(tx, id, message)

    async def _post(self, surface: Surface, view: CardView) -> str:
        card, asked = view.card, view.approvals[0]
        if card.person is not None and await surface.roles_of(space_of(asked.place), card.person) is None:
            raise Unreachable(NO_MEMBER)
        place = await surface.open_place(view)
        if place != card.place:
            # Stored before anybody can press there: a press is matched by its place.
            async with self._database.begin("place opened") as tx:
                await cards.opened(tx, card.id, place=place)
            view = replace(view, card=replace(card, place=place))
        return await surface.post_card(await self._addressed(view))

    async def _addressed(self, view: CardView) -> CardView:
        """Whom a new message notifies: everybody once, whatever number of copies there is."""
        card, reader = view.card, self._database.reader
        places = await self._where.of(reader, view.approvals[0].place)
        quiet = places.quiet is not None and places.quiet.covers(self._clock.now())
        silent = quiet and any(call.kind == ToolKind.APPROVAL for call in view.approvals)
        if card.pings is Pings.NOBODY or card.posts:
            return replace(view, ping=(), ping_roles=(), silent=silent)
        copies = await cards.copies(reader, card.root)
        own = {copy.person for copy in copies if card.pings is Pings.OTHERS or not copy.gone}
        return replace(view, ping=tuple(person for person in view.ping if person not in own), silent=silent)

    async def _posted(self, tx: Transaction, id: str, message: str) -> None:
        card = await cards.get_card(tx, id)
        if card is None:
            raise RuntimeError(f"card {id} has vanished")
        await self._record(tx, "card_posted", card, message=message)
        # From here on the answer may take days: the message that points to the card must be found again.
        if (reply := self._replies.get(card.run)) is not None and reply.message is not None:
            await runs.set_reply(tx, card.run, reply.message)

    async def _failed(self, view: CardView, error: DeliveryError) -> None:
        card, now = view.card, self._clock.now()
        final = isinstance(error, Unreachable) or card.tries + 1 >= MOST_TRIES
        # A new card is better at another place now than here much later.
        final = final or (card.message is None and error.after_ms > LONGEST_WAIT_MS)
        logger.warning(
            "card not shown", extra={"action": "card_failed", "card": card.id, "final": final, "problem": str(error)}
        )
        if isinstance(error, Gone) and card.message is not None:
            await self._lost(card, card.message)
            return
        async with self._database.begin("card failed") as tx:
            if not final:
                await cards.failed(tx, card.id, due_at=now + back_off(card.tries, error), error=str(error))
            elif card.message is None:
                await self._leave(tx, card, str(error))
            else:
                fresh = await cards.get_card(tx, card.id)
                await cards.give_up(tx, card.id, version=fresh.version if fresh else card.version, error=str(error))

    async def elsewhere(self, run: Run, *, pause: int) -> str:
        """What is said where it was asked of cards that go to other places; '' if one is there too."""
        calls = await approvals.of_pause(self._database.reader, run.id, pause)
        roots = dict.fromkeys(call.card for call in calls)
        copies = [copy for root in roots for copy in await cards.copies(self._database.reader, root)]
        if self._surface is None or any(copy.place == run.place for copy in copies):
            return ""
        channels = dict.fromkeys(copy.place for copy in copies if copy.person is None)
        links = ", ".join(link for place in channels if (link := self._surface.link(place, None)))
        return f"the card is in {links}" if links else "the card went directly to those who decide"

    # -- what is not where it was ---------------------------------------------------------------

    async def lost(self, place: str, message: str) -> bool:
        """A message was deleted. If it was a card on which something waits, it is posted anew, once.

        Here and below: whether any card was concerned.
        """
        if (card := await cards.posted_as(self._database.reader, place, message)) is None:
            return False
        await self._lost(card, message)
        await self.show(card.root)
        return True

    async def _lost(self, card: Card, message: str) -> None:
        async with self._database.begin("card lost") as tx:
            fresh = await cards.get_card(tx, card.id)
            if fresh is None or fresh.message != message or fresh.gone:
                return  # somebody has seen to it meanwhile
            await self._record(tx, "card_deleted", fresh, message=message)
            if not await _waits(tx, fresh):
                await cards.leave(tx, fresh.id, error=DELETED)
            elif fresh.posts < MOST_POSTS:
                await cards.post_anew(tx, fresh.id)
            else:
                await self._leave(tx, fresh, DELETED)

    async def waits_in(self, place: str) -> bool:
        """Whether a card stands there on which something waits."""
        return bool(await cards.waiting_in(self._database.reader, place))

    async def place_gone(self, place: str) -> bool:
        """A channel or a thread was deleted, and every card in it."""
        return await self._all_lost(await cards.waiting_in(self._database.reader, place))

    async def space_gone(self, space: str) -> bool:
        """The bot was put out of a guild (`space` as `discord/4711/`)."""
        calls = await approvals.listed(self._database.reader, space=space)
        roots = dict.fromkeys(call.card for call in calls)
        found = [copy for root in roots for copy in await cards.copies(self._database.reader, root)]
        return await self._all_lost([copy for copy in found if not is_private(copy.place)])

    async def _all_lost(self, there: Sequence[Card]) -> bool:
        for card in there:
            if card.message is not None:
                await self.lost(card.place, card.message)
        return bool(there)

    async def place_locked(self, place: str) -> bool:
        """Nobody can press anything in this thread any more: what waits in it is shown at another place as well."""
        moved = [card for card in await cards.waiting_in(self._database.reader, place) if not card.locked]
        for card in moved:
            async with self._database.begin("card locked in") as tx:
                await cards.lock(tx, card.id)
                await self._record(tx, "card_locked_in", card, message=card.message)
                copies = await cards.copies(tx, card.root)
                if not any(copy.person is None and not copy.gone and not copy.locked for copy in copies):
                    await self._next_place(tx, copies)
            await self.show(card.root)
        return bool(moved)

    async def _leave(self, tx: Transaction, card: Card, problem: str) -> None:
        """The copy has no place any more; what that means for its card."""
        await cards.leave(tx, card.id, error=problem)
        await self._record(tx, "card_not_posted", card, problem=problem)
        copies = await cards.copies(tx, card.root)
        live = [copy for copy in copies if not copy.gone]
        if any(copy.person is None for copy in live):
            if card.person is not None or card.pings is not Pings.NOBODY:
                await self._owe_ping(tx, card, problem)
            return
        if card.person is not None and live:
            return  # others have it directly, and somebody of them can still decide
        if not await self._next_place(tx, copies) and not live:
            await self._undeliverable(tx, copies)

    async def _next_place(self, tx: Transaction, copies: Sequence[Card]) -> bool:
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
            above=surface.above(place) if surface is not None else None,
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
        where = "directly" if card.person is not None else "where it should be"
        await outbox.owe(
            tx,
            key=f"instead:{card.id}:{card.posts}",
            run=card.run,
            place=calls[0].place,
            body={
                "text": STANDS_IN.format(where=where, problem=problem),
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
        return f"Directly to {self._surface.who(copy.person)}: {copy.error}"

    async def _record(self, tx: Transaction, event: str, card: Card, **more: object) -> None:
        detail = {"card": card.root, "place": card.place, **more}
        if card.person is not None:
            detail["person"] = card.person
        await audit.record(tx, at=self._clock.now(), actor=audit.SYSTEM, event=event, run=card.run, detail=detail)


async def _waits(tx: Transaction, card: Card) -> bool:
    calls: Sequence[Approval] = await approvals.of_card(tx, card.root)
    return any(call.state is ApprovalState.PENDING for call in calls)
