"""The place where people read, with weather: Discord's own refusals, cut connections, places that close and open again.

As in Discord, a nonce is good for a few minutes only: whoever tries again after that posts a second message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import discord

from bot.errors import DeliveryError
from bot.surface import Announcement, CardView, JobView
from cogs import faults
from tests.crash.world import Fate, FileClock, Wall
from tests.histories.plot import ALONE, CHANNEL, THREAD, Op

NONCE_MS = 300_000
"""How long a message is known by its nonce."""

STATUS = {"429": 429, "500": 500, "503": 503, "500 after": 500, "50083": 400, "160005": 400, "10003": 404, "10004": 404}


def refusal(name: str) -> DeliveryError:
    """What the face makes of an answer of Discord's, or of a connection that was cut."""
    try:
        with faults.delivering():
            if name.startswith("cut"):
                raise aiohttp.ServerDisconnectedError
            response = cast(Any, SimpleNamespace(status=STATUS.get(name, 403), reason=name))
            raise discord.HTTPException(response, {"code": int(name) if len(name) > 3 and name.isdigit() else 0})
    except DeliveryError as error:
        return error


class Weather:
    """What is wrong with Discord now. Outlives the house, as it does."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "weather"
        kept = json.loads(self._path.read_text()) if self._path.exists() else {}
        self.strikes: dict[str, list[str]] = kept.get("strikes", {})
        """By errand: what becomes of the next ones."""
        self.closed: dict[str, str] = kept.get("closed", {})
        self.left: dict[str, bool] = kept.get("left", {})
        """Who has left the server: the bot, the person."""

    def keep(self) -> None:
        """In one step, so that a death in the middle leaves it as it was."""
        (aside := self._path.with_suffix(".new")).write_text(
            json.dumps({"strikes": self.strikes, "closed": self.closed, "left": self.left})
        )
        aside.replace(self._path)

    def clear(self) -> None:
        """Nothing goes wrong by itself any more; what is closed stays closed."""
        self.strikes = {}
        self.keep()

    def next(self, errand: str) -> str | None:
        """What becomes of this one."""
        if not (waiting := self.strikes.get(errand)):
            return None
        name = waiting.pop(0)
        self.keep()
        return name

    def turn(self, op: Op) -> None:
        """A change of it, as plots have them."""
        match op:
            case ("strike", errand, fault, times):
                self.strikes.setdefault(errand, []).extend([fault] * times)
            case ("close", place, code):
                self.closed[place] = code
            case ("open", place):
                self.closed.pop(place, None)
            case ("leave", who):
                self.left[who] = True
            case ("return",):
                self.left.clear()
            case _:
                raise ValueError(op)
        self.keep()

    def shut(self, place: str) -> str | None:
        """The code with which a place refuses everything."""
        if self.left.get("the bot") and not place.startswith("discord/@me"):
            return "10004"
        return self.closed.get(place)


def happen(folder: Path, ops: Sequence[Op]) -> None:
    """What happens in the world while nobody lives."""
    for op in ops:
        if op[0] == "pass":
            FileClock(folder).advance(seconds=op[1])
        else:
            Weather(folder).turn(op)


class Street(Wall):
    """A wall with weather. Every line says where, when, and whether the person may see the place."""

    def __init__(self, folder: Path, fate: Fate, clock: FileClock) -> None:
        super().__init__(folder, fate, {})
        self.weather = Weather(folder)
        self._clock = clock

    def through(self, errand: str, place: str, put: Callable[[], str]) -> str:
        """Do an errand in this weather."""
        if (code := self.weather.shut(place)) is not None:
            raise refusal(code)
        strike = self.weather.next(errand)
        if strike is not None and not strike.endswith("after"):
            raise refusal(strike)
        message = put()
        if strike is not None:
            raise refusal(strike)
        return message

    def stand(self, kind: str, key: str, place: str, **what: object) -> str:
        """A new message, unless its nonce is still known."""
        now = self._clock.now()
        there = [line for line in self._log.read() if line.get("key") == key and line.get("in") == place]
        if there and now - there[-1]["at"] < NONCE_MS:
            return self.put(kind, str(there[-1]["message"]), new=True)
        message = f"{key}@{place}" + (f"+{len(there)}" if there else "")
        return self.put(kind, message, new=True, key=key, at=now, **{"in": place}, **what)

    def hidden(self) -> str | None:
        """Why the person may not see any place of the server."""
        if self.weather.left.get("the bot"):
            return "I am not in that server any more."
        return "They have left that server." if self.weather.left.get("the person") else None

    async def post_card(self, view: CardView) -> str:
        kind, place = ("card", view.card.place) if view.card.person is None else ("card dm", ALONE)
        return self.through(kind, place, lambda: self._post_card(view))

    def _post_card(self, view: CardView) -> str:
        again = f"-{view.card.posts}" if view.card.posts else ""
        kind = "card" if view.card.person is None else "card dm"
        return self._card(kind, f"card-{view.card.id}{again}", view, new=True)

    async def edit_card(self, view: CardView) -> None:
        assert view.card.message is not None
        message, place = view.card.message, view.card.place if view.card.person is None else ALONE
        self.through("edit", place, lambda: self._card("edit", message, view, new=False))

    async def announce(self, announcement: Announcement) -> str:
        return self.through("say", announcement.place, lambda: self._say("say", announcement.place, announcement))

    async def tell(self, person: str, announcement: Announcement) -> str:
        return self.through("dm", f"discord/@me/{person}", lambda: self._say("dm", f"@{person}", announcement))

    def _say(self, kind: str, place: str, said: Announcement) -> str:
        return self.stand(
            kind,
            said.key,
            place,
            hidden=None if said.place == ALONE else self.hidden(),
            text=said.text,
            repeated=said.repeated,
            ping=list(said.ping),
        )

    async def post_job(self, view: JobView) -> str:
        key = f"job-{view.run.id}-{view.job.posted_at or 0}"
        return self.through("job", view.run.place, lambda: self.stand("job", key, view.run.place))

    async def edit_job(self, view: JobView) -> None:
        assert view.job.message is not None
        message, state = view.job.message, str(view.run.state)
        self.through("job edit", view.run.place, lambda: self.put("job edit", message, new=False, state=state))

    def above(self, place: str) -> str | None:
        return CHANNEL if place == THREAD else None

    async def hidden_from(self, person: str, place: str) -> str | None:
        return None if place == ALONE else self.hidden()
