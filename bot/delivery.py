"""Brings to people what the rows say they are owed: cards as they should look, and messages said once.

Rows are the truth here as well: whatever is interrupted, the next sweep finds what is still owed. An attempt
is committed before the face is asked; `delivered` needs the message id that the face gave back.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

from bot.clock import Clock, NewId
from bot.deferral.authority import Authority
from bot.deferral.seal import Seal
from bot.errands import MOST_TRIES, back_off, delivering
from bot.errors import DeliveryError, Unreachable
from bot.granting import Granting
from bot.job_files import JobFiles
from bot.lanes import Lanes
from bot.notices import Notices
from bot.showing import Showing
from bot.surface import Announcement, CardView, Offered, Reply, Surface
from bot.texts.recall import recall
from bot.texts.text import Text, say, told, worded, words_of
from bot.views import Views
from bot.where import Whereabouts
from bot.wishes import Wishes
from storage import audit, cards, outbox, runs
from storage.approvals import Approval
from storage.cards import Card
from storage.database import Database, Transaction
from storage.outbox import Owed

logger = logging.getLogger(__name__)

MOST_UNASKED = 2
"""Endings of jobs that one place is told in a row. Discord takes about five messages in five seconds there."""
ATTEMPT_MS = 60_000
"""How long an attempt may take before a sweep takes the row up again."""


async def show_progress(reply: Reply, text: str, *, resting: bool = False) -> bool:
    """Show what is not owed: whether that worked. A face that cannot do it costs nothing."""
    try:
        with delivering():
            await (reply.rest(text) if resting else reply.show(text))
    except DeliveryError as error:
        logger.info("progress not shown", extra={"action": "progress_failed", "problem": str(error)})
        return False
    return True


async def say_at_once(reply: Reply, text: str) -> None:
    """Say what is no run's answer and is owed to nobody, such as a refusal. A face that cannot do it is logged."""
    try:
        with delivering():
            await reply.finish(text)
    except DeliveryError as error:
        logger.warning("not said", extra={"action": "say_failed", "problem": str(error)})


def _instead(owed: Owed, error: DeliveryError) -> Text:
    return say("delivery.instead", what=told(owed.body["instead"]), why=error.problem)


def _is_unasked(owed: Owed) -> bool:
    """Whether it is the ending of a job: news, and no answer that somebody waits for."""
    return "ladder" in owed.body and not owed.body.get("answer")


def _remark(failure: dict[str, Any]) -> str:
    """Why this comes another way than it should."""
    if "person" in failure["way"]:
        return say("delivery.not_directly", why=recall(failure["error"]))
    return say("delivery.not_in_place", why=recall(failure["error"]))


class Delivery:
    """The post office of one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        profiles: dict[str, str],
        authority: Authority,
        seal: Seal,
        where: Whereabouts,
        files: JobFiles,
        granting: Granting,
    ) -> None:
        self._database = database
        self._clock = clock
        self._views = Views(database=database, profiles=profiles, authority=authority, seal=seal, granting=granting)
        self.files = files
        """Those that jobs made."""
        self._lanes = Lanes()
        self._surface: Surface | None = None
        self.replies: dict[str, Reply] = {}
        """Messages of runs in which an answer still grows in place, by run."""
        self.showing = Showing(
            database=database,
            clock=clock,
            new_id=new_id,
            views=self._views,
            authority=authority,
            where=where,
            replies=self.replies,
        )
        self.wishes = Wishes(database=database, clock=clock)
        self._notices = Notices(database=database, clock=clock, views=self._views, where=where)

    def connect(self, surface: Surface) -> None:
        """From now on there is a face to deliver to."""
        self._surface = surface
        self.showing.connect(surface)

    def who(self, person: str) -> str:
        """A person's name as the face writes it."""
        return self._surface.who(person) if self._surface is not None else f"user {person}"

    async def link(self, approval: Approval) -> str:
        """Where people find a call's card, or ''."""
        card = cards.visible(await cards.copies(self._database.reader, approval.card))
        return self._surface.link(card.place, card.message) if self._surface is not None and card is not None else ""

    def link_to(self, place: str, message: str | None) -> str:
        """Where people find a message, or ''."""
        return self._surface.link(place, message) if self._surface is not None else ""

    def above(self, place: str) -> str | None:
        """The channel that a place is a thread of, if anybody knows."""
        return self._surface.above(place) if self._surface is not None else None

    async def deliver(self) -> None:
        """Bring out everything that is due. Whatever fails stays owed.

        What somebody else is bringing out at this moment is left to them: a stuck face must not gather a queue.
        Raises the first error that is not the face's, after everything else was tried.
        """
        if self._surface is None:
            return
        seen: set[str] = set()
        while await self._round(self._surface, seen):
            pass  # what went out may have made something else due: a fallback, an ending

    async def _round(self, surface: Surface, seen: set[str]) -> bool:
        """Try everything that is due and not `seen` yet; whether there was anything."""
        now = self._clock.now()
        fresh_cards = [
            card
            for card in await cards.owed(self._database.reader, now=now)
            if f"card {card.id} {card.version} {card.posts}" not in seen and not self.showing.is_busy(card.id)
        ]
        seen.update(f"card {card.id} {card.version} {card.posts}" for card in fresh_cards)
        by_place: dict[str, list[int]] = {}
        unasked: Counter[str] = Counter()
        # What people wait for comes first. Of the endings that nobody sits and waits for, a place takes a few in a
        # round: however many jobs end at once, the next answer there waits behind no more than those.
        for owed in sorted(await outbox.due(self._database.reader, now=now), key=_is_unasked):
            if (mark := f"outbox {owed.id} {owed.rung}") not in seen and not self._lanes.waiting(f"place {owed.place}"):
                if _is_unasked(owed):
                    unasked[owed.place] += 1
                    if unasked[owed.place] > MOST_UNASKED:
                        continue
                seen.add(mark)
                by_place.setdefault(owed.place, []).append(owed.id)
        # A card or a place that is slow (rate limits) or fails must not hold up the others.
        endings = await asyncio.gather(
            *(self.showing.show_copy(card.id) for card in fresh_cards),
            *(self._say_in_order(place, ids, surface) for place, ids in by_place.items()),
            return_exceptions=True,
        )
        for ending in endings:
            if ending is not None:
                raise ending
        return bool(fresh_cards or by_place)

    async def _say_in_order(self, place: str, ids: list[int], surface: Surface) -> None:
        async with self._lanes.enter(f"place {place}"):
            for id in ids:
                await self._say(id, surface)

    async def view(self, card: Card) -> CardView:
        """What the card shows now."""
        return await self._views.of(card)

    async def show_card(self, id: str) -> None:
        """Make people see the card as its calls stand, wherever it stands."""
        await self.showing.show(id)

    async def _say(self, id: int, surface: Surface) -> None:
        owed = await outbox.get_due(self._database.reader, id, now=self._clock.now())
        if owed is None:
            return
        try:
            receipt = await self._in_place(owed, surface)
            in_place = receipt is not None
            if receipt is None:
                attempted = await self._attempt(id)
                if attempted is None:
                    return
                owed = attempted
                receipt = await self._send(owed, surface)
        except DeliveryError as error:
            await self._say_failed(owed, error)
            return
        async with self._database.begin("delivered", durable=not in_place) as tx:
            await outbox.delivered(tx, id, receipt=receipt)
            await audit.record(
                tx,
                at=self._clock.now(),
                actor=audit.SYSTEM,
                event="announced",
                run=owed.run,
                detail={"key": owed.key, "place": owed.place, "message": receipt},
            )
        self._forget_reply(owed)

    async def _in_place(self, owed: Owed, surface: Surface) -> str | None:
        """Put an answer where it grew; None if it did not, or that message is gone.

        No attempt is stored: whatever happens, the same edit can be made again and nothing is said twice.
        """
        if owed.via is None or owed.run is None:
            return None
        reply = self.replies.get(owed.run) or surface.reopen(owed.place, owed.via, key=owed.key)
        return await self._finish(reply, owed.run, words_of(owed.body), owed.key)

    async def _finish(self, reply: Reply, run: str, text: str, key: str) -> str | None:
        try:
            with delivering():
                return await reply.finish(text, key=key)
        except Unreachable:
            logger.warning("reply is gone", extra={"action": "reply_gone", "key": key})
            self.replies.pop(run, None)
            return None

    async def _attempt(self, id: int) -> Owed | None:
        """Store that a message may be out from now on; None if it is not owed any more."""
        now = self._clock.now()
        async with self._database.begin("attempt") as tx:
            owed = await outbox.attempt(tx, id, next_due=now + ATTEMPT_MS, now=now)
            return None if owed is None else await self._notices.still_true(tx, owed)

    def _forget_reply(self, owed: Owed) -> None:
        """Not before its ending is stored: until then the answer may have to go into the same message again."""
        if owed.run is not None and owed.body.get("answer"):
            self.replies.pop(owed.run, None)

    async def _send(self, owed: Owed, surface: Surface) -> str:
        way = owed.body["ladder"][owed.rung] if "ladder" in owed.body else owed.body
        announcement = Announcement(
            key=owed.key,
            place=way.get("place", owed.place),
            text=words_of(owed.body),
            ping=tuple(owed.body.get("ping", ())),
            repeated=owed.state == "attempting",
            remarks=tuple(_remark(failure) for failure in owed.failures),
        )
        if _is_unasked(owed) and owed.key.startswith("answer:"):
            announcement = replace(announcement, files=await self._made_by(owed.run))
        if "while_pending" in owed.body:
            announcement = await self._notices.about_card(announcement, owed)
        else:
            announcement = await self.wishes.honoured(announcement, person=way.get("person"))
        if owed.run is not None and owed.body.get("answer") and "person" not in way:
            return await self._answer(owed, owed.run, announcement, surface)
        with delivering():
            if (person := way.get("person")) is None:
                return await surface.announce(announcement)
            if (hidden := await surface.hidden_from(person, owed.place)) is not None:
                raise Unreachable(hidden)
            return await surface.tell(person, announcement)

    async def _made_by(self, run_id: str | None) -> tuple[Offered, ...]:
        """The files that an ended job offers. Whatever is wrong with them, its ending is told."""
        run = await runs.get(self._database.reader, run_id) if run_id is not None else None
        if run is None:
            return ()
        try:
            return await self.files.with_ending(run)
        except OSError as error:
            logger.warning("files not offered", extra={"action": "files_failed", "run": run.id, "problem": repr(error)})
            return ()

    async def _answer(self, owed: Owed, run_id: str, announcement: Announcement, surface: Surface) -> str:
        """A run's answer that has no message yet: its reply's first one, or else a new one."""
        reply = self.replies.get(run_id)
        if reply is not None:
            receipt = await self._finish(reply, run_id, announcement.text, announcement.key)
            if receipt is not None:
                return receipt
        with delivering():
            receipt = await surface.announce(announcement)
        run = await runs.get(self._database.reader, run_id)
        if run is not None and run.reply is not None:
            # The answer is out: whatever becomes of this pointer, it must not be said a second time.
            with suppress(DeliveryError), delivering():
                await surface.mark_moved(run.place, run.reply, receipt)
        return receipt

    async def _climb(self, tx: Transaction, owed: Owed, error: DeliveryError, *, at: int) -> None:
        """An ending could not be told this way: the next way is tried, and the failure is on the trail."""
        # A refusal says only that this attempt came to nothing: an earlier one may have got through.
        unsure = owed.state == "attempting" or not isinstance(error, Unreachable)
        more = await outbox.climb(tx, owed, at=at, error=str(error), unsure=unsure)
        await audit.record(
            tx,
            at=at,
            actor=audit.SYSTEM,
            event="way_failed" if more else "left_in_inbox",
            run=owed.run,
            detail={"key": owed.key, "way": owed.body["ladder"][owed.rung], "problem": str(error)},
        )

    async def _say_failed(self, owed: Owed, error: DeliveryError) -> None:
        now = self._clock.now()
        final = isinstance(error, Unreachable) or owed.tries + 1 >= MOST_TRIES
        logger.warning(
            "message not delivered",
            extra={"action": "announce_failed", "key": owed.key, "final": final, "problem": str(error)},
        )
        async with self._database.begin("not delivered") as tx:
            if not final:
                await outbox.failed(
                    tx, owed.id, tries=owed.tries + 1, due_at=now + back_off(owed.tries, error), error=str(error)
                )
                return
            self._forget_reply(owed)
            if "ladder" in owed.body:
                await self._climb(tx, owed, error, at=now)
                return
            await outbox.undeliverable(tx, owed.id, error=str(error))
            await audit.record(
                tx,
                at=now,
                actor=audit.SYSTEM,
                event="not_delivered",
                run=owed.run,
                detail={"key": owed.key, "place": owed.place, "problem": str(error)},
            )
            if "person" in owed.body:
                await outbox.owe(
                    tx,
                    key=f"{owed.key}:instead",
                    run=owed.run,
                    place=owed.place,
                    body={**worded(_instead(owed, error)), "ping": [owed.body["person"]]},
                    at=now,
                )
