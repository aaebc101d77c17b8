"""The world around a house that dies on cue: time, a wall where people read, a database and a face with moments.

A *moment* is a label such as `after claim#2`: before or after the second commit that the code itself names "claim".
`#57` is the fifty-seventh moment of a life, whatever it is.
Nothing in the program knows of it: the commits are seen from around the database, the face and the model from inside
the stand-ins for them. What must outlive the process is in files.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.errors import DeliveryError, Unreachable
from bot.surface import Announcement, CardView, JobView, Reply
from storage.database import Database, Reader, Transaction, open_database

EPOCH_MS = 1_700_000_000_000


class Fate:
    """Knows the moment to die at, and writes down every moment that comes."""

    def __init__(self, folder: Path, moment: str | None) -> None:
        self._moment = moment
        self._met: Counter[str] = Counter()
        self._diary = os.open(folder / "moments", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def meet(self, label: str) -> None:
        """The moment `label` has come, for the first or for another time."""
        self._met[label] += 1
        times = self._met[label]
        moment = label if times == 1 else f"{label}#{times}"
        os.write(self._diary, (moment + "\n").encode())
        if self._moment in {moment, f"#{self._met.total()}"}:
            os.kill(os.getpid(), signal.SIGKILL)


class FileClock:
    """Time that goes on where the last life left it, and only when somebody lets it pass."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "clock"
        self._at = int(self._path.read_text()) if self._path.exists() else EPOCH_MS

    def now(self) -> int:
        return self._at

    def advance(self, *, seconds: float) -> None:
        self.reach(self._at + int(seconds * 1000))

    def reach(self, at: int) -> None:
        """Let it be at least `at`."""
        self._at = max(self._at, at)
        # In one step: a death in the middle must not stop time for good.
        (aside := self._path.with_suffix(".new")).write_text(str(self._at))
        aside.replace(self._path)


class MortalDatabase:
    """The real database, with a moment before and after every commit."""

    def __init__(self, inner: Database, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    @property
    def reader(self) -> Reader:
        return self._inner.reader

    @asynccontextmanager
    async def begin(self, step: str, *, durable: bool = True) -> AsyncIterator[Transaction]:
        async with self._inner.begin(step, durable=durable) as tx:
            yield tx
            self._fate.meet(f"before {step}")
        self._fate.meet(f"after {step}")

    async def data_version(self) -> int:
        return await self._inner.data_version()


@asynccontextmanager
async def open_mortal(url: str, fate: Fate, *, read_only: bool = False) -> AsyncIterator[Database]:
    """Stands in for `open_database`."""
    async with open_database(url, read_only=read_only) as database:
        yield MortalDatabase(database, fate)


class Log:
    """Lines of JSON that outlive the process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, **fields: object) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(fields) + "\n")

    def read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._path.read_text().splitlines()] if self._path.exists() else []


class Wall:
    """A face: what people see. Like Discord it does not put up a message whose nonce it has seen."""

    def __init__(self, folder: Path, fate: Fate, faults: dict[str, list[DeliveryError]]) -> None:
        self._log = Log(folder / "wall")
        self._fate = fate
        self._faults = faults
        self.running: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """By call: that people have seen it running."""

    def put(self, kind: str, message: str, *, new: bool, **what: object) -> str:
        if self._faults.get(kind):
            raise self._faults[kind][0] if isinstance(self._faults[kind][0], Unreachable) else self._faults[kind].pop(0)
        self._fate.meet(f"before {kind}")
        if not (new and any(line["message"] == message for line in self._log.read())):
            self._log.write(kind=kind, message=message, new=new, **what)
        self._fate.meet(f"after {kind}")
        return message

    async def open_place(self, view: CardView) -> str:
        return view.card.place if view.card.person is None else f"wall/@me/{view.card.person}"

    async def post_card(self, view: CardView) -> str:
        again = f"-{view.card.posts}" if view.card.posts else ""
        kind = "card" if view.card.person is None else "card dm"
        return self._card(kind, f"card-{view.card.id}{again}", view, new=True)

    async def edit_card(self, view: CardView) -> None:
        assert view.card.message is not None
        self._card("edit", view.card.message, view, new=False)

    def _card(self, kind: str, message: str, view: CardView, *, new: bool) -> str:
        calls = {call.id: str(call.state) for call in view.approvals}
        self.put(kind, message, new=new, card=view.card.id, calls=calls)
        for id, state in calls.items():
            if state == "running":
                self.running[id].set()
        return message

    async def announce(self, announcement: Announcement) -> str:
        return self.put(
            "say",
            f"say-{announcement.key}",
            new=True,
            text=announcement.text,
            ping=list(announcement.ping),
            repeated=announcement.repeated,
        )

    async def tell(self, person: str, announcement: Announcement) -> str:
        return self.put(
            "dm", f"dm-{announcement.key}", new=True, text=announcement.text, to=person, repeated=announcement.repeated
        )

    async def post_job(self, view: JobView) -> str:
        return self.put("job", f"job-{view.run.id}-{view.job.posted_at or 0}", new=True, state=str(view.run.state))

    async def edit_job(self, view: JobView) -> None:
        assert view.job.message is not None
        self.put("job edit", view.job.message, new=False, state=str(view.run.state))

    async def retire_job(self, place: str, message: str, to: str) -> None:
        self.put("job moved", message, new=False, to=to)

    def above(self, place: str) -> str | None:
        return None

    async def hidden_from(self, person: str, place: str) -> str | None:
        return None

    async def closed(self, place: str) -> str | None:
        return str(self._faults["place"][0]) if "place" in self._faults else None

    def reopen(self, place: str, message: str, *, key: str) -> Reply:
        return Sheet(self, message, posted=True)

    async def mark_moved(self, place: str, message: str, to: str) -> None:
        self.put("moved", message, new=False, text=f"(the answer is in {to})")

    async def roles_of(self, guild: str, person: str) -> frozenset[str] | None:
        return frozenset()

    def who(self, person: str) -> str:
        return person

    def group(self, role: str) -> str:
        return role

    def link(self, place: str, message: str | None) -> str:
        return ""


class Sheet:
    """A reply on the wall. It has a message from the first text on."""

    def __init__(self, wall: Wall, message: str, *, posted: bool = False) -> None:
        self._wall = wall
        self._message = message
        self._posted = posted

    @property
    def message(self) -> str | None:
        return self._message if self._posted else None

    def belongs_to(self, run: str) -> None: ...

    def lasts(self) -> None: ...

    async def show(self, text: str) -> None:
        self._wall.put("reply", self._message, new=False, text=text)
        self._posted = True

    async def rest(self, text: str) -> None:
        await self.show(text)

    async def finish(self, text: str, *, key: str | None = None) -> str:
        if self._posted or key is None:
            await self.show(text)
        else:
            self._message = self._wall.put("say", f"say-{key}", new=True, text=text, ping=[], repeated=False)
            self._posted = True
        return self._message
