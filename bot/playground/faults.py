"""What can go wrong on the way to Discord, on order, and what was sent: the wire tests' two hands.

In the playground nothing is ordered, and of the requests only the newest are kept.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

_KEPT = 2000

FaultKind = Literal["status", "status_after", "429", "cut_before", "cut_after", "delay"]


@dataclass
class Fault:
    """One thing to go wrong, for requests whose method and path match.

    `path` is a regular expression for the whole path below `/api/v10`, for instance
    `/channels/\\d+/messages`; the WebSocket's own request has the path `/gateway`.

    - `status`: answer `status` with `code` and `message`; nothing happens.
    - `status_after`: it happens, then the same is answered.
    - `429`: as Discord limits: `Retry-After`, the JSON body, `Via`; `status` is ignored. Nothing happens.
    - `cut_before`: the connection is cut, nothing happens.
    - `cut_after`: it happens, then the connection is cut before the answer.
    - `delay`: it happens `seconds` later.
    """

    kind: FaultKind
    method: str = "*"
    path: str = ".*"
    times: int | None = 1
    """How many requests it strikes; None: all, until removed."""
    skip: int = 0
    """How many matching requests pass before."""
    status: int = 500
    code: int = 0
    message: str = "ordered by a test"
    seconds: float = 0.0
    retry_after: float = 0.1
    """Seconds, for `429`."""
    everywhere: bool = False
    """Whether a `429` is the global limit."""
    struck: int = field(default=0, init=False)
    """How many requests it has struck so far."""

    def matches(self, method: str, path: str) -> bool:
        """Whether this fault speaks of such a request."""
        return self.method in ("*", method) and re.fullmatch(self.path, path) is not None


class Faults:
    """The faults on order, in the order in which they were added."""

    def __init__(self) -> None:
        self._ordered: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        """Put one on order; returns it, so that a test can look at `struck`."""
        self._ordered.append(fault)
        return fault

    def clear(self) -> None:
        """Everything works again."""
        self._ordered.clear()

    def strike(self, method: str, path: str) -> tuple[float, Fault | None]:
        """What a request meets now: seconds of delay, and then at most one other fault."""
        delay = 0.0
        for fault in tuple(self._ordered):
            if not fault.matches(method, path):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.struck += 1
            if fault.times is not None and fault.struck >= fault.times:
                self._ordered.remove(fault)
            if fault.kind != "delay":
                return delay, fault
            delay += fault.seconds
        return delay, None


@dataclass
class Recorded:
    """One request as the twin received it."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    """The JSON (with files: the `payload_json`); None without one."""
    files: tuple[str, ...] = ()
    """Names of the files that came along."""
    status: int | None = None
    """What was answered; None while it is under way, and when the connection was cut."""


class Record:
    """The newest requests, oldest first."""

    def __init__(self) -> None:
        self.all: deque[Recorded] = deque(maxlen=_KEPT)

    def add(self, recorded: Recorded) -> Recorded:
        """Keep one; returns it."""
        self.all.append(recorded)
        return recorded

    def of(self, method: str, path: str = ".*") -> list[Recorded]:
        """Those with this method whose whole path matches the regular expression."""
        return [r for r in self.all if r.method == method and re.fullmatch(path, r.path)]

    def clear(self) -> None:
        """Forget them all."""
        self.all.clear()
