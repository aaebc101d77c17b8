"""Keeps every copy of every card as its calls stand, and looks to it when something happens to the place.

Copies are owed one by one: a slow or a forbidden place holds up no other. Whatever one copy comes to is one commit;
what that means for its card is decided in there (`bot.moving`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from bot.clock import Clock, NewId
from bot.deferral.authority import Authority
from bot.deferral.tool import ToolKind
from bot.errands import MOST_TRIES, back_off, delivering
from bot.errors import DeliveryError, Gone, Locked, Unreachable
from bot.lanes import Lanes
from bot.moving import PLACE_DELETED, Moving, waits
from bot.place import is_private, space_of
from bot.surface import CardView, Reply, Surface
from bot.texts.text import say
from bot.views import Views
from bot.where import MOST_PEOPLE, Whereabouts
from storage import approvals, cards, runs
from storage.approvals import Approval, ApprovalState
from storage.cards import Card, Pings, Shut
from storage.database import Database, Transaction
from storage.runs import Run

logger = logging.getLogger(__name__)

MOST_LOOKS = 50
"""Cards that are looked at again after a time without a connection: an edit each, of which Discord takes five in five
seconds and channel."""

LONGEST_WAIT_MS = 300_000
"""A place that makes a new card wait longer than that (slow mode) is no place for it."""

NO_MEMBER = say("moving.no_member")


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
        self._views = views
        self._where = where
        self._moving = Moving(clock=clock, new_id=new_id, authority=authority, where=where)
        self._replies = replies
        self._lanes = Lanes()
        self._surface: Surface | None = None

    def connect(self, surface: Surface) -> None:
        """From now on there is a face to show cards on."""
        self._surface = surface
        self._moving.connect(surface)

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
            # What a grant let through was never to be decided: its card is how people learn of it.
            shows = any(call.state is ApprovalState.PENDING or call.granted for call in view.approvals)
            if card.message is None and not shows:
                # Settled before anybody could see it: a live-looking card would be a lie.
                async with self._database.begin("drop card") as tx:
                    await cards.give_up(tx, id, version=card.version, error="settled before it was shown")
                return
            try:
                with delivering():
                    message = await self._post(surface, view) if card.message is None else card.message
                    if card.message is not None:
                        await surface.edit_card(await self._addressed(view))
                unseen = card.message is None and await self._is_unseen(surface, view)
            except DeliveryError as error:
                await self._failed(view, error)
                return
            # An edit that is forgotten in a power cut is made again; a card that is posted must not be.
            async with self._database.begin("card shown", durable=card.message is None) as tx:
                # A card that is posted late may be an earlier attempt's message, found again by its nonce, and show how
                # things stood then: it is owed an edit.
                late = card.message is None and not all(map(_is_new, view.approvals))
                await cards.shown(tx, id, version=card.version - late, message=message)
                if card.message is None:
                    await self._posted(tx, id, message, unseen=unseen)

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
        """Whom a new message notifies: everybody once, whatever number of copies there is. Edits name the same."""
        card, reader = view.card, self._database.reader
        places = await self._where.of(reader, view.approvals[0].place)
        quiet = places.quiet is not None and places.quiet.covers(self._clock.now())
        silent = quiet and any(call.kind == ToolKind.APPROVAL for call in view.approvals)
        silent = silent or all(call.granted for call in view.approvals)
        if card.pings is Pings.NOBODY or card.posts:
            return replace(view, ping=(), ping_roles=(), silent=silent)
        copies = await cards.copies(reader, card.root)
        own = {copy.person for copy in copies if card.pings is Pings.OTHERS or not copy.gone}
        return replace(view, ping=tuple(person for person in view.ping if person not in own), silent=silent)

    async def _is_unseen(self, surface: Surface, view: CardView) -> bool:
        """Whether nobody who may decide can see where the card is. Who holds a role is not known, so roles count."""
        card, asked = view.card, view.approvals[0]
        decided = any(call.kind == ToolKind.APPROVAL for call in view.approvals)
        if card.person is not None or is_private(asked.place) or not decided or view.ping_roles or not view.ping:
            return False
        with suppress(DeliveryError), delivering():
            for person in view.ping[:MOST_PEOPLE]:
                if await surface.hidden_from(person, card.place) is None:
                    return False
            return len(view.ping) <= MOST_PEOPLE
        return False  # not known

    async def _posted(self, tx: Transaction, id: str, message: str, *, unseen: bool) -> None:
        card = await cards.get_card(tx, id)
        if card is None:
            raise RuntimeError(f"card {id} has vanished")
        await self._moving.record(tx, "card_posted", card, message=message)
        # From here on the answer may take days: the message that points to the card must be found again.
        if (reply := self._replies.get(card.run)) is not None and reply.message is not None:
            await runs.set_reply(tx, card.run, reply.message)
        if unseen:
            await self._moving.shut(tx, card, Shut.UNSEEN)

    async def _failed(self, view: CardView, error: DeliveryError) -> None:
        card, now = view.card, self._clock.now()
        # What is there already must not go on looking alive: a permission that was taken away may be given back.
        never = isinstance(error, Unreachable) and (card.message is None or isinstance(error, Gone | Locked))
        final = never or card.tries + 1 >= MOST_TRIES
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
                await self._moving.leave(tx, card, str(error))
            else:
                fresh = await cards.get_card(tx, card.id)
                await cards.give_up(tx, card.id, version=fresh.version if fresh else card.version, error=str(error))
                if isinstance(error, Locked) and await waits(tx, card):
                    await self._moving.shut(tx, card, Shut.LOCKED)

    async def elsewhere(self, run: Run, *, pause: int) -> str:
        """What is said where it was asked of cards that go to other places; '' if one is there too."""
        calls = await approvals.of_pause(self._database.reader, run.id, pause)
        roots = dict.fromkeys(call.card for call in calls)
        copies = [copy for root in roots for copy in await cards.copies(self._database.reader, root)]
        if self._surface is None or any(copy.place == run.place for copy in copies):
            return ""
        channels = dict.fromkeys(copy.place for copy in copies if copy.person is None)
        links = ", ".join(link for place in channels if (link := self._surface.link(place, None)))
        return say("moving.card_in", places=links) if links else say("moving.card_direct")

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
            await self._moving.deleted(tx, fresh)

    async def waits_in(self, place: str) -> bool:
        """Whether a card stands there on which something waits."""
        return bool(await cards.waiting_in(self._database.reader, place))

    async def place_gone(self, place: str, *, above: str | None = None) -> bool:
        """A channel or a thread was deleted, and every card in it. `above`: see `Moving.shut`."""
        return await self._all_gone(await cards.waiting_in(self._database.reader, place), above)

    async def space_gone(self, space: str) -> bool:
        """The bot was put out of a guild (`space` as `discord/4711/`)."""
        calls = await approvals.listed(self._database.reader, space=space)
        roots = dict.fromkeys(call.card for call in calls)
        found = [copy for root in roots for copy in await cards.copies(self._database.reader, root)]
        return await self._all_gone([copy for copy in found if not is_private(copy.place)], None)

    async def _all_gone(self, there: Sequence[Card], above: str | None) -> bool:
        for card in there:
            async with self._database.begin("card place lost") as tx:
                fresh = await cards.get_card(tx, card.id)
                if fresh is None or fresh.gone or not await waits(tx, fresh):
                    continue
                await self._moving.leave(tx, fresh, PLACE_DELETED, above=above)
            await self.show(card.root)
        return bool(there)

    async def place_locked(self, place: str, *, above: str | None = None) -> bool:
        """Nobody can press anything in this thread any more: what waits in it is shown at another place as well."""
        there = [card for card in await cards.waiting_in(self._database.reader, place) if not card.locked]
        for card in there:
            async with self._database.begin("card locked in") as tx:
                await self._moving.shut(tx, card, Shut.LOCKED, above=above)
            await self.show(card.root)
        return bool(there)

    async def look_again(self) -> None:
        """Show once more what waits, the newest cards first and not all of them: what happened to them while nobody was
        connected comes out with the edit."""
        async with self._database.begin("look again", durable=False) as tx:
            await cards.doubt(tx, most=MOST_LOOKS)


def _is_new(call: Approval) -> bool:
    """Whether the call stands as it did when it was stored."""
    return call.state is (ApprovalState.APPROVED if call.granted else ApprovalState.PENDING)
