"""Cards: messages with buttons for the calls of one pause.

One card may stand at several places: each is a row, a *copy*. Calls refer to the first copy, the lead, and so do the
other copies; whatever happens to the calls happens to all of them.

A card is owed to people like an announcement: `version` counts the moves of its calls, `shown` is the
version that the posted message shows. Whatever crashes in between, a card with shown < version is still
found, and its edit made, after the next start.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum

from storage.database import Reader, Row, Transaction


class Pings(IntEnum):
    """Whom a copy notifies when it is posted."""

    NOBODY = 0
    OTHERS = 1
    """Approvers who were not to have a copy of their own."""
    MISSED = 2
    """Approvers who have no copy of their own now: it stands in for one that could not be posted."""


class Shut(IntEnum):
    """Why a copy that stands there helps nobody to decide."""

    NO = 0
    LOCKED = 1
    """Its buttons cannot be pressed there."""
    UNSEEN = 2
    """Nobody who may decide can see the place."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """One copy of a card as stored."""

    id: str
    run: str
    place: str
    message: str | None
    version: int
    shown: int
    tries: int
    due_at: int
    error: str | None
    edition: int = 0
    """How often one of its calls was edited: a button for all of them counts for the edition that it was shown on."""
    extended: int = 0
    """How often its deadline was put off."""
    lead: str | None = None
    """The first copy; None: this one."""
    person: str | None = None
    """Whose direct messages it belongs in. Until they are open, `place` is ''."""
    pings: Pings = Pings.OTHERS
    posts: int = 0
    """How often it was posted anew, because it was deleted."""
    gone: bool = False
    """Nothing will be shown there any more."""
    locked: Shut = Shut.NO

    @property
    def root(self) -> str:
        """What calls and buttons know the card by, whichever copy this is."""
        return self.lead or self.id


async def open_card(
    tx: Transaction, *, id: str, run: str, place: str, person: str | None = None, pings: Pings = Pings.OTHERS
) -> None:
    """A card that is to be posted: its first copy."""
    await tx.execute(
        "INSERT INTO card (id, run, place, person, pings) VALUES (?, ?, ?, ?, ?)", id, run, place, person, pings
    )


async def add_copy(
    tx: Transaction, *, id: str, lead: str, place: str, person: str | None = None, pings: Pings = Pings.NOBODY
) -> None:
    """The card is to be posted at one more place."""
    await tx.execute(
        "INSERT INTO card (id, lead, run, place, person, pings, edition, extended)"
        " SELECT ?, id, run, ?, ?, ?, edition, extended FROM card WHERE id = ?",
        id,
        place,
        person,
        pings,
        lead,
    )


async def copies(reader: Reader, lead: str) -> list[Card]:
    """Every copy of a card, the first one first."""
    rows = await reader.all("SELECT * FROM card WHERE id = ? OR lead = ? ORDER BY lead IS NOT NULL, id", lead, lead)
    return [_card(row) for row in rows]


def visible(copies: Sequence[Card]) -> Card | None:
    """The copy to point people to: where several can see it rather than in somebody's direct messages, unless it
    helps nobody there."""
    posted = [copy for copy in copies if copy.message is not None and not copy.gone]
    return min(posted, key=lambda copy: (bool(copy.locked), copy.person is not None), default=None)


async def posted_as(reader: Reader, place: str, message: str) -> Card | None:
    """The copy that this message is, or None."""
    row = await reader.one("SELECT * FROM card WHERE message = ? AND place = ?", message, place)
    return _card(row) if row else None


async def waiting_in(reader: Reader, place: str) -> list[Card]:
    """Copies posted in a place on which something still waits."""
    rows = await reader.all(
        "SELECT * FROM card WHERE place = ? AND gone = 0 AND message IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM approval WHERE card = coalesce(card.lead, card.id) AND state = 'pending') ORDER BY id",
        place,
    )
    return [_card(row) for row in rows]


async def get_card(reader: Reader, id: str) -> Card | None:
    """One card, or None."""
    row = await reader.one("SELECT * FROM card WHERE id = ?", id)
    return _card(row) if row else None


async def found_at(reader: Reader, leads: Collection[str]) -> dict[str, Card]:
    """By card: the copy to point people to, see `visible`. A card that is nowhere has none."""
    marks = ", ".join("?" * len(leads))
    asked = f"SELECT * FROM card WHERE id IN ({marks}) UNION ALL SELECT * FROM card WHERE lead IN ({marks})"
    by_lead: dict[str, list[Card]] = {}
    for row in await reader.all(asked, *leads, *leads) if leads else []:
        card = _card(row)
        by_lead.setdefault(card.root, []).append(card)
    found = {lead: visible(of_card) for lead, of_card in by_lead.items()}
    return {lead: card for lead, card in found.items() if card is not None}


async def owed(reader: Reader, *, now: int) -> list[Card]:
    """Cards whose message lags behind their calls and whose next try is due."""
    rows = await reader.all("SELECT * FROM card WHERE shown < version AND due_at <= ? ORDER BY due_at, id", now)
    return [_card(row) for row in rows]


async def touch(tx: Transaction, id: str) -> None:
    """One of the card's calls moved: what people see is out of date from now on, in every copy that there still is."""
    await tx.execute(
        "UPDATE card SET version = version + 1, shown = CASE gone WHEN 0 THEN shown ELSE version + 1 END, tries = 0,"
        " due_at = 0 WHERE id = ? OR lead = ?",
        id,
        id,
    )


async def edited(tx: Transaction, id: str) -> None:
    """One of the card's calls is another one now."""
    await tx.execute("UPDATE card SET edition = edition + 1 WHERE id = ? OR lead = ?", id, id)


async def extended(tx: Transaction, id: str) -> None:
    """The card's deadline was put off; people are to see that."""
    await tx.execute("UPDATE card SET extended = extended + 1 WHERE id = ? OR lead = ?", id, id)
    await touch(tx, id)


async def shown(tx: Transaction, id: str, *, version: int, message: str) -> None:
    """The copy's message shows `version`. A newer version stays owed."""
    await tx.execute(
        "UPDATE card SET message = ?, shown = max(shown, ?), tries = 0,"
        " error = CASE locked WHEN 0 THEN NULL ELSE error END WHERE id = ?",
        message,
        version,
        id,
    )


async def seen(tx: Transaction, id: str, *, place: str, message: str) -> None:
    """Somebody pressed a button on the message `message`: that copy is there, even if its posting never came back."""
    await tx.execute(
        "UPDATE card SET message = ? WHERE (id = ? OR lead = ?) AND place = ? AND message IS NULL AND gone = 0",
        message,
        id,
        id,
        place,
    )


async def opened(tx: Transaction, id: str, *, place: str) -> None:
    """Where the copy goes is known: the direct messages are open, or the forum has a post for it."""
    await tx.execute("UPDATE card SET place = ? WHERE id = ?", place, id)


async def post_anew(tx: Transaction, id: str) -> None:
    """The copy's message is not there any more: it is owed once more, as another message."""
    await tx.execute(
        "UPDATE card SET message = NULL, posts = posts + 1, shown = 0, tries = 0, due_at = 0 WHERE id = ?", id
    )


async def doubt(tx: Transaction, *, most: int) -> None:
    """The newest `most` copies on which something waits may not be what people see: they are owed an edit."""
    await tx.execute(
        "UPDATE card SET version = version + 1, tries = 0, due_at = 0 WHERE id IN"
        " (SELECT copy.id FROM approval JOIN card AS copy ON copy.id = approval.card OR copy.lead = approval.card"
        " WHERE approval.state = 'pending' AND copy.message IS NOT NULL AND copy.gone = 0"
        " ORDER BY approval.expires_at DESC LIMIT ?)",
        most,
    )


async def shut(tx: Transaction, id: str, why: Shut, *, error: str) -> None:
    """The copy stays where it is, but helps nobody to decide there."""
    await tx.execute("UPDATE card SET locked = ?, error = ? WHERE id = ?", why, error, id)


async def leave(tx: Transaction, id: str, *, error: str) -> None:
    """Nothing will be shown at the copy's place any more."""
    await tx.execute("UPDATE card SET gone = 1, shown = version, error = ? WHERE id = ?", error, id)


async def failed(tx: Transaction, id: str, *, due_at: int, error: str) -> None:
    """An attempt to show the card failed; the next one is due at `due_at`."""
    await tx.execute("UPDATE card SET tries = tries + 1, due_at = ?, error = ? WHERE id = ?", due_at, error, id)


async def give_up(tx: Transaction, id: str, *, version: int, error: str) -> None:
    """The message cannot be shown at all any more (deleted, locked): nothing is owed until the next move."""
    await tx.execute("UPDATE card SET shown = max(shown, ?), error = ? WHERE id = ?", version, error, id)


def _card(row: Row) -> Card:
    fields = dict(row)
    flags = {"pings": Pings(fields["pings"]), "gone": bool(fields["gone"]), "locked": Shut(fields["locked"])}
    return Card(**{**fields, **flags})
