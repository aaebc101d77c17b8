"""What policy rules say, as data: which call a rule is about, and what it demands of the arguments.

Pure. Whatever a condition cannot read with certainty is `UNREADABLE`, which never lets a call through: two readers
of one text (this one and the tool) must not be able to read it differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any, Literal

from bot.place import PRIVATE

Action = Literal["allow", "ask", "refuse"]

_NEXT_DAY = 24 * 60
# Nothing but what every reader of URLs agrees on: no user, no backslash, no blank, no escapes in the host.
_URL = re.compile(
    r"(https?)://([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?(?:[/?#][!-~]*)?", re.IGNORECASE
)
_PORTS = {"http": 80, "https": 443}


class Fit(Enum):
    """What a condition finds."""

    YES = "yes"
    NO = "no"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Who asks for a call, where and when: known by the program, never told by the model."""

    requester: str
    place: str
    now: int
    """Milliseconds since 1970-01-01 UTC."""
    within: str = ""
    """The channel that the place is a thread of, or ''."""
    roles: frozenset[str] = frozenset()
    """The roles that the requester held in that place's server when they asked."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What one argument has to be."""

    argument: str
    kind: Literal["argv", "below", "host_in", "equals", "one_of"]
    value: Any
    """argv: tuple of words; below: a path; host_in: tuple of hosts; equals: any JSON; one_of: tuple of any JSON."""

    def fit(self, arguments: Mapping[str, Any]) -> Fit:
        """Whether the argument is what it has to be. One that is missing cannot be read."""
        if self.argument not in arguments:
            return Fit.UNREADABLE
        given = arguments[self.argument]
        if self.kind == "equals":
            return _fit(_same(given, self.value))
        if self.kind == "one_of":
            return _fit(any(_same(given, one) for one in self.value))
        if self.kind == "argv":
            if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
                return Fit.UNREADABLE
            return _fit(tuple(given) == self.value)
        if not isinstance(given, str):
            return Fit.UNREADABLE
        return _host_in(given, self.value) if self.kind == "host_in" else _below(given, self.value)


@dataclass(frozen=True, kw_only=True)
class Hours:
    """A part of the day, on some days. One that goes past midnight belongs to the day on which it begins."""

    zone: tzinfo
    first: int = 0
    """Minutes since midnight."""
    last: int = _NEXT_DAY
    """Minutes since midnight; this one is outside."""
    days: frozenset[int] = frozenset(range(7))
    """0 is Monday."""

    def holds(self, at: int) -> bool:
        """Whether the moment, in milliseconds UTC, lies within."""
        moment = datetime.fromtimestamp(at / 1000, self.zone)
        minute = moment.hour * 60 + moment.minute
        if self.first < self.last:
            return moment.weekday() in self.days and self.first <= minute < self.last
        if minute >= self.first:
            return moment.weekday() in self.days
        return minute < self.last and (moment - timedelta(days=1)).weekday() in self.days


@dataclass(frozen=True, kw_only=True)
class Example:
    """A call that the operator expects something of; `signoff policy test` tries it."""

    name: str
    tool: str
    arguments: dict[str, Any]
    expect: Action
    asking: Asking
    expect_rule: str | None = None
    expect_network: bool | None = None


@dataclass(frozen=True, kw_only=True)
class PolicyRule:
    """One rule. None means: about everything."""

    name: str
    tool: str
    """A name; `*` stands for any characters."""
    action: Action
    where: tuple[Condition, ...] = ()
    guilds: frozenset[str] | None = None
    channels: frozenset[str] | None = None
    """A thread belongs to its channel, too."""
    private: bool | None = None
    """Only in direct messages (true), only elsewhere (false)."""
    users: frozenset[str] | None = None
    """People who ask."""
    roles: frozenset[str] | None = None
    """Roles of whoever asks: one of them is enough."""
    hours: Hours | None = None
    network: bool = False
    """Whether a call that the rule decides is given the machine's network, where its tool can be; only with `ask`."""
    examples: tuple[Example, ...] = field(default=(), compare=False)

    def about_tool(self, tool: str) -> bool:
        """Whether the rule is about this tool."""
        return fnmatchcase(tool, self.tool)

    def about(self, tool: str, asking: Asking) -> bool:
        """Whether the rule is about a call of this tool, of this person, here and now."""
        if not self.about_tool(tool):
            return False
        space, channel = _place(asking.place)
        private = space == PRIVATE
        if self.private is not None and self.private != private:
            return False
        if self.guilds is not None and (private or space not in self.guilds):
            return False
        if self.channels is not None and (private or self.channels.isdisjoint({channel, asking.within})):
            return False
        if self.users is not None and asking.requester not in self.users:
            return False
        # The role that is the server itself is everybody's, so it names nobody.
        if self.roles is not None and not self.roles & (asking.roles - {space}):
            return False
        return self.hours is None or self.hours.holds(asking.now)

    def fit(self, arguments: Mapping[str, Any], known: frozenset[str]) -> tuple[Fit, str]:
        """Whether the arguments are those the rule is about, and the argument that could not be read.

        `known` are the arguments that the tool can take at all: a rule for many tools is not about one that has
        nothing of the kind.
        """
        unread = ""
        for condition in self.where:
            if condition.argument not in known and condition.argument not in arguments:
                return Fit.NO, ""
            match condition.fit(arguments):
                case Fit.NO:
                    return Fit.NO, ""
                case Fit.UNREADABLE:
                    unread = condition.argument
                case Fit.YES:
                    pass
        return (Fit.UNREADABLE, unread) if unread else (Fit.YES, "")


def split_path(path: str) -> tuple[bool, tuple[str, ...]] | None:
    """Whether a path is absolute, and its names; None for one that could be read in more than one way."""
    if not path or not path.isprintable() or "\\" in path or path.startswith("~"):
        return None
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    return None if ".." in names else (path.startswith("/"), names)


def split_host(url: str) -> tuple[str, str] | None:
    """The host of an http(s) URL in lower case, and the same with its port; None for one not read with certainty.

    The first is '' where the port is not the scheme's own: then only an entry with that port names it.
    """
    found = _URL.fullmatch(url)
    if found is None:
        return None
    scheme, host = found[1].lower(), found[2].lower()
    port = int(found[3]) if found[3] else _PORTS[scheme]
    if ".." in host or port > 65535:
        return None
    return (host if port == _PORTS[scheme] else ""), f"{host}:{port}"


def _host_in(url: str, hosts: tuple[str, ...]) -> Fit:
    split = split_host(url)
    if split is None:
        return Fit.UNREADABLE
    host, with_port = split
    for entry in hosts:
        if entry in (host, with_port):
            return Fit.YES
        if entry.startswith("*.") and host.endswith(entry[1:]):
            return Fit.YES
    return Fit.NO


def _below(path: str, folder: str) -> Fit:
    given, wanted = split_path(path), split_path(folder)
    if given is None or wanted is None:
        return Fit.UNREADABLE
    return _fit(given[0] == wanted[0] and len(given[1]) > len(wanted[1]) and given[1][: len(wanted[1])] == wanted[1])


def _same(one: Any, other: Any) -> bool:
    """The same JSON: `1`, `1.0`, `true` and `"1"` are four different values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _fit(holds: bool) -> Fit:
    return Fit.YES if holds else Fit.NO


def _place(place: str) -> tuple[str, str]:
    parts = place.split("/")
    return (parts[1], parts[-1]) if len(parts) > 2 else ("", "")
