"""All that the mind knows of faces: intents, never widgets.

Discord is one face, a terminal another. A face turns rows into something a person can see, and says with
a receipt (the message id) that it really did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from bot.rules import Standing
from storage.approvals import Approval
from storage.attachments import Attached
from storage.cards import Card
from storage.grants import Grant
from storage.jobs import Job, Step
from storage.runs import Run
from storage.schedules import Schedule
from storage.undo import Undo
from storage.votes import Vote


@dataclass(frozen=True, kw_only=True)
class TurnClock:
    """What holds a clock over a turn (the transport decides, never the channel)."""

    refires: bool = False
    """The caller re-sends the same turn when it goes quiet: nothing may wait in place."""
    deadline: int | None = None
    """The turn must have answered by then, in milliseconds UTC."""

    @property
    def binds(self) -> bool:
        """Whether anybody outside holds a clock at all."""
        return self.refires or self.deadline is not None


@dataclass(frozen=True, kw_only=True)
class TurnContext:
    """One request of one person, as a face hands it in."""

    conversation: str
    place: str
    requester: str
    request: str | None
    """The occurrence: the interaction's or message's id. None turns the re-emission guard off."""
    prompt: str
    notify: str = "channel"
    clock: TurnClock = TurnClock()
    budget_ms: int | None = None
    """Compute time that was wished for a job: less than it would get, never more."""
    within: str = ""
    """The channel that the place is a thread of, or ''."""
    roles: frozenset[str] = frozenset()
    """Role ids that the requester holds in the place's guild, from the request's own payload."""
    attached: tuple[Attached, ...] = ()
    """What came with the prompt, within the limits of `bot.attachments`."""
    left_out: str = ""
    """What of it did not, in a sentence for people."""
    about: str = ""
    """Where people find the message that the person asks about, if that is how they asked: for the trail."""


@dataclass(frozen=True, kw_only=True)
class Actor:
    """A person who presses, answers or commands, as the face knows them: ids only."""

    id: str
    guild: str | None = None
    """The guild the act came from; None in direct messages."""
    roles: frozenset[str] = frozenset()
    """Role ids the person holds in that guild, from the act's own payload."""
    manages: bool = False
    """Whether they may manage that guild, likewise."""


@dataclass(frozen=True, kw_only=True)
class Press:
    """A decision on its way in, with everything needed to refuse it."""

    actor: Actor
    approval: str
    place: str
    message: str | None
    """The message it was pressed on; None when it did not come from a card."""


@dataclass(frozen=True, kw_only=True)
class CardView:
    """Everything a card shows. A card is a pure function of this; the face invents nothing."""

    card: Card
    approvals: tuple[Approval, ...]
    profiles: dict[str, str]
    """Tool name to what its body may touch."""
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of calls that are asked again, by id: what is different from what was approved."""
    job: str | None = None
    """The background job that asks, if it is one."""
    schedule: Schedule | None = None
    """The schedule that this job comes from."""
    earlier: tuple[Approval, ...] = ()
    """Calls of the same request that were denied before, or that nobody answered; oldest first."""
    standings: Mapping[str, Standing] = field(default_factory=dict)
    """Of calls that wait for consent or had it, by id: who has approved, and what is missing."""
    votes: Mapping[str, tuple[Vote, ...]] = field(default_factory=dict)
    """The same calls' votes, in order."""
    deciders: Mapping[str, str] = field(default_factory=dict)
    """Of the same calls: which rule says who decides, in a sentence."""
    ping: tuple[str, ...] = ()
    """People to notify when the card is first posted, and to name as long as it waits; exact user ids."""
    ping_roles: tuple[str, ...] = ()
    """Roles to notify likewise; exact role ids."""
    silent: bool = False
    """Nobody's device is to make a sound when it is posted."""
    grants: Mapping[str, Grant] = field(default_factory=dict)
    """By call: the grant that let it through, or that was made with it."""
    grantable: frozenset[str] = frozenset()
    """Calls with which one can be made."""
    undos: Mapping[str, Undo] = field(default_factory=dict)
    """By call that has ended: what it wrote over, and whether somebody has taken that back."""


@dataclass(frozen=True, kw_only=True)
class JobView:
    """Everything a job's card shows."""

    run: Run
    job: Job
    steps: tuple[Step, ...]
    """The newest ones, oldest first."""
    place_in_queue: int | None
    """1: the next in its guild. None while it is not queued."""
    working_since: int | None
    """When the stretch that goes on now began, in milliseconds UTC; None while nothing is computed."""
    spent_before_ms: int
    """The compute time of the stretches before that one."""
    asks: tuple[str, ...] = ()
    """Links to the cards that it waits for."""
    notes: int = 0
    """Notes that it has not taken up yet."""
    has_files: bool = False
    """Whether there may be files that it made."""
    before: str = ""
    """A link to its card before this one, if that grew too old; else ''."""
    schedule: Schedule | None = None
    """The schedule that it comes from."""


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A file that a job made."""

    path: str
    """Relative to the workspace."""
    size: int
    """Bytes of it on disk."""
    body: bytes | None = None
    """What it holds, if it is handed over; None if it is only named."""


@dataclass(frozen=True, kw_only=True)
class Announcement:
    """Something a person is owed, said once."""

    key: str
    """Names the logical message: the same for every attempt, so that a retry cannot post it twice."""
    place: str
    text: str
    ping: tuple[str, ...] = ()
    """People to notify; exact user ids, almost always one or none."""
    ping_roles: tuple[str, ...] = ()
    """Roles to notify likewise."""
    silent: bool = False
    """Their devices are to make no sound."""
    deadline: int | None = None
    """The moment the text is about, in milliseconds UTC; the face writes it as it writes times."""
    reply_to: str | None = None
    """A message in that place that this one answers."""
    repeated: bool = False
    """An earlier attempt may have got through; say so."""
    remarks: tuple[str, ...] = ()
    """Small print that follows the text."""
    files: tuple[Offered, ...] = ()
    """What the job made whose ending this is."""


class Reply(Protocol):
    """The message in which a turn's answer grows."""

    @property
    def message(self) -> str | None:
        """Its id, once there is one."""
        ...

    def belongs_to(self, run: str) -> None:
        """Whose answer it is: what people can do about that run while it goes on is shown beside it from now on."""
        ...

    def lasts(self) -> None:
        """It takes long: from the next time it is shown, people can send that run into the background."""
        ...

    async def show(self, text: str) -> None:
        """Show the answer so far. May be skipped when it comes too often; never raises for the face's sake."""
        ...

    async def rest(self, text: str) -> None:
        """Show `text` and stop looking busy: people are waited for. `show` or `finish` may still follow."""
        ...

    def drop(self) -> None:
        """Nothing will be said in it."""
        ...

    async def finish(self, text: str, *, key: str | None = None) -> str:
        """Show the whole, last text. Returns the message id; raises `DeliveryError`.

        `key` is that of the announcement which is made if this has to be tried again from another process. When the
        reply has no message yet, the one that it makes is known by it, so that it is not said a second time.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class CardPress:
    """A decision about every call of a card that still waits."""

    actor: Actor
    card: str
    place: str
    message: str
    edition: int | None = None
    """The edition that the pressed message showed; another one by now, and nothing is decided."""


class People(Protocol):
    """What a face knows of people."""

    async def roles_of(self, guild: str, person: str) -> frozenset[str] | None:
        """Role ids that the person holds in the guild, at most seconds ago; None if they are no member.

        Raises `DeliveryError` when that cannot be told.
        """
        ...

    def who(self, person: str) -> str:
        """How this face writes a person's name, so that nobody is notified by it."""
        ...

    def group(self, role: str) -> str:
        """How this face writes a role's name, likewise."""
        ...


class Surface(People, Protocol):
    """A face."""

    async def open_place(self, view: CardView) -> str:
        """Where the card that is to be posted goes: `view.card.place`, or what has to be opened for it first.

        That is the direct messages with `view.card.person`, and in a forum a post of its own. Gives the same place
        again when it is asked again; raises as `post_card`.
        """
        ...

    async def post_card(self, view: CardView) -> str:
        """Post a card as an ordinary message. Returns its message id; raises `DeliveryError`, `Unreachable`."""
        ...

    async def edit_card(self, view: CardView) -> None:
        """Make the posted card show `view`. Raises `DeliveryError`, `Unreachable`."""
        ...

    async def announce(self, announcement: Announcement) -> str:
        """Post a new message in a place. Returns the (first) message id; raises as `post_card`."""
        ...

    async def tell(self, person: str, announcement: Announcement) -> str:
        """Write to one person directly. Returns the message id; raises as `post_card`."""
        ...

    async def post_job(self, view: JobView) -> str:
        """Post a job's card. Returns its message id; raises as `post_card`."""
        ...

    async def edit_job(self, view: JobView) -> None:
        """Make the posted card of a job show `view`. Raises as `edit_card`."""
        ...

    async def retire_job(self, place: str, message: str, to: str) -> None:
        """Take the buttons off a job's card and point to its new one. Best effort."""
        ...

    def above(self, place: str) -> str | None:
        """The channel that a place is a thread of, as far as the face knows; None if it is no thread."""
        ...

    async def hidden_from(self, person: str, place: str) -> str | None:
        """Why a person may not see what was said in a place (any more), or None. Raises `DeliveryError`."""
        ...

    async def closed(self, place: str) -> str | None:
        """Why nothing can be said in a place (any more), as a sentence, or None. Raises `DeliveryError`."""
        ...

    def reopen(self, place: str, message: str, *, key: str) -> Reply:
        """A reply that goes on in a message which is already there."""
        ...

    async def mark_moved(self, place: str, message: str, to: str) -> None:
        """Point a reply that will not grow any more to the message that goes on. Best effort."""
        ...

    def link(self, place: str, message: str | None) -> str:
        """Where a person finds a message, or '' if this face has no links."""
        ...
