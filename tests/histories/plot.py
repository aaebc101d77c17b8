"""One history of background jobs, made up from a seed: jobs, people, weather, and where it is cut short.

The same seed gives the same plot. What comes of it is for the house to say; `tests.histories.truths` knows what must be
true of any.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.house import ASKER, OWNER

THREAD, CHANNEL, ALONE = "discord/9/90", "discord/9/80", f"discord/@me/{ASKER.id}"
PLACES = (THREAD, CHANNEL, ALONE)
PEOPLE = (ASKER.id, OWNER.id)

Step = str | list[tuple[str, dict[str, Any]]] | None
"""What a model does: say something, call tools, or (None) fail."""
Op = tuple[Any, ...]
"""What somebody does, or what happens to them: its name and its arguments."""

PASSING = ("429", "500", "503", "cut before", "cut after", "500 after")
"""Faults that strike one request."""
LASTING = {THREAD: ("50083", "160005", "10003", "50001"), CHANNEL: ("50001", "50013", "10003"), ALONE: ("50007",)}
"""Refusals that hold for a place until it is open again."""
ERRANDS = ("say", "dm", "card", "card dm", "edit", "job", "job edit", "reply")

DEATHS = (
    *("take up", "keep step", "pause", "finish", "fail", "put back"),
    *(
        "decide",
        "claim",
        "record outcome",
        "expire",
        "cancel",
        "note",
        "extend",
        "ask stop",
        "inbox read",
        "background",
    ),
    *("attempt", "delivered", "not delivered", "job card posted", "job card shown", "job progress", "recover"),
)
"""Commits that a history is cut short at, before or after."""
DELIVERING = ("after attempt", "before say", "after say", "before dm", "after dm", "before delivered")


@dataclass(frozen=True)
class Death:
    """A moment to be killed at, and what happens in the world before the next life."""

    moment: str
    meanwhile: tuple[Op, ...] = ()


@dataclass
class Plot:
    """One history."""

    seed: int
    scripts: dict[str, list[Step]] = field(default_factory=dict)
    """By a job's goal or a person's prompt: what the model does, one step after the other."""
    ops: list[Op] = field(default_factory=list)
    deaths: list[Death] = field(default_factory=list)
    """How its lives end, one after the other; some of those moments never come."""
    news: str = ""
    """What the model has to say when it is told that a job has ended."""


def plot(seed: int) -> Plot:
    """The history of a seed."""
    chance = random.Random(seed)
    story = Plot(seed)
    _jobs(story, chance)
    story.ops += [_something(story, chance) for _ in range(chance.randint(3, 9))]
    story.deaths = [_death(chance) for _ in range(chance.choice((0, 1, 1, 2, 2, 3)))]
    story.news = chance.choice(("nothing to add", "There is more to it.", "", "fails"))
    return story


def _jobs(story: Plot, chance: random.Random) -> None:
    for number in range(chance.randint(1, 3)):
        goal = f"goal {number}"
        _script(story, chance, goal, depth=1)
        notify, place = chance.choice(("channel", "dm", "both")), chance.choice((THREAD, THREAD, CHANNEL, ALONE))
        if chance.random() < 0.25:
            # The agent starts it, in a turn of its own.
            story.scripts[prompt := f"ask {number}"] = [[("start_job", {"goal": goal})], "I'll get on it."]
            story.ops.append(("ask", prompt, notify, place))
        else:
            story.ops.append(("start", goal, notify, place, chance.choice((None, None, 60_000))))


def _script(story: Plot, chance: random.Random, goal: str, *, depth: int) -> None:
    steps: list[Step] = []
    for number in range(chance.randint(0, 3)):
        calls: list[tuple[str, dict[str, Any]]] = []
        for place in range(chance.randint(1, 2)):
            kind = chance.choice(("act", "act", "act", "look", "look", "job"))
            what = f"{goal}/{number}{place}"
            if kind == "job":
                # One deeper than is allowed is refused, and the model is told.
                if depth <= 3:
                    _script(story, chance, child := f"{what} child", depth=depth + 1)
                    calls.append(("start_job", {"goal": child}))
            elif kind == "act":
                calls.append(("act", {"what": f"{what} {chance.choice(('ok', 'ok', 'ok', 'fails', 'cannot'))}"}))
            else:
                calls.append(("look", {"what": f"{what} {chance.choice(('quick', 'quick', 'slow', 'for ever'))}"}))
        if calls:
            steps.append(calls)
    ending: Step = chance.choice((f"The end of {goal}.", f"The end of {goal}.", f"The end of {goal}.", "", None))
    story.scripts[goal] = [*steps, ending]


def _something(story: Plot, chance: random.Random) -> Op:
    which = chance.randrange(8)
    match chance.choice(
        ("decide",) * 6
        + ("expire", "stop", "extend", "note", "note", "cancel", "inbox", "pass", "pass", "restart")
        + ("ask", "ask", "background", "background")
        + ("strike",) * 4
        + ("storm", "storm", "worse", "worse", "worse", "open", "return")
    ):
        case "decide":
            return ("decide", which, chance.choice(("approve", "approve", "deny")))
        case "expire" | "stop" | "extend" | "note" | "cancel" as name:
            return (name, which)
        case "ask" | "background" as name:
            prompt = f"talk {len(story.scripts)}"
            asks = name == "background" or chance.random() < 0.5
            acts: list[Step] = [[("act", {"what": f"{prompt} ok"})]] if asks else []
            story.scripts[prompt] = [*acts, "Good morning to you."]
            return (name, prompt, "channel", chance.choice(PLACES))
        case "pass":
            return ("pass", chance.choice((1, 6, 40, 400, 4_000)))
        case "strike":
            return ("strike", chance.choice(ERRANDS[:2] * 2 + ERRANDS), chance.choice(PASSING), chance.randint(1, 3))
        case "storm":
            return ("strike", chance.choice(ERRANDS[:2]), chance.choice(("cut after", "cut before", "500")), 12)
        case "worse":
            return _turn_for_the_worse(chance)
        case "open":
            return ("open", chance.choice(PLACES))
        case other:
            return (other,)


def _death(chance: random.Random) -> Death:
    meanwhile: list[Op] = []
    if chance.random() < 0.5:
        meanwhile.append(("pass", chance.choice((5, 400, 4_000))))
    if chance.random() < 0.5:
        meanwhile.append(_turn_for_the_worse(chance))
    return Death(_moment(chance), tuple(meanwhile))


def _turn_for_the_worse(chance: random.Random) -> Op:
    if chance.random() < 0.25:
        return ("leave", chance.choice(("the bot", "the person")))
    place = chance.choice(PLACES)
    return ("close", place, chance.choice(LASTING[place]))


def _moment(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.3:
        return f"#{chance.randint(1, 160)}"
    if kind < 0.6:
        moment = chance.choice(DELIVERING)
    elif kind < 0.8:
        moment = chance.choice(("model", "before effect", "after effect", "look"))
    else:
        moment = f"{chance.choice(('before', 'after'))} {chance.choice(DEATHS)}"
    times = chance.choice((1, 1, 2, 3))
    return moment if times == 1 else f"{moment}#{times}"


def goals(story: Plot) -> Sequence[str]:
    """All that a job may be about."""
    return [text for text in story.scripts if text.startswith("goal")]
