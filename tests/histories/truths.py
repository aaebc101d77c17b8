"""What must be true of any history of jobs, seen from the rows and files that its lives have left.

The two invariants of issue 6 above all: each ending is delivered exactly once or lies in the inbox, and no gated effect
comes twice. What may have come twice says so.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bot.turns import MOST_LOSSES
from storage import audit
from storage.database import open_database
from tests.crash.lives import DATABASE, Rows, rows
from tests.crash.world import Log
from tests.histories.plot import Plot

Line = dict[str, Any]

READ = "about this job:]\nonly the red ones"
"""A note as a job is told it; the gist that a job of its own begins with has it on one line."""
GAVE_UP = "I stopped this turn"
"""After too many refusals the breaker ends a job."""

ENDED = {"done", "failed", "timed_out", "lost", "cancelled"}
RAN = {"succeeded", "failed", "interrupted"}
SETTLED = RAN | {"denied", "expired", "cancelled", "undeliverable", "void", "nothing_ran"}


def untrue(folder: Path, story: Plot, deaths: Sequence[Rows]) -> list[str]:
    """What is not as it must be after the last life; `deaths` are the rows as each killed life left them."""
    end = rows(folder)
    wall = Log(folder / "wall").read()
    return [
        *_endings(wall, end),
        *_effects(folder, end, deaths),
        *_jobs(folder, story, end, deaths),
        *_notes(folder, end),
        *_moved(folder, end),
        *_trail(folder),
    ]


def _endings(wall: Sequence[Line], end: Rows) -> Iterator[str]:
    """Each ending is one obligation; it is there exactly once, or in the inbox, or says that it may be a repeat."""
    seen: dict[str, list[Line]] = defaultdict(list)
    for line in wall:
        if line["kind"] in {"say", "dm"} and "key" in line:
            seen[line["key"]].append(line)
            if line["kind"] == "dm" and line["hidden"]:
                yield f"{line['key']} was told to somebody who may not see its place: {line['hidden']}"
    kinds = {run["id"]: run["kind"] for run in end.runs}
    looked = {line["key"] for line in wall if line["kind"] == "inbox"}
    owed = {row["key"]: row for row in end.outbox}
    for run in end.runs:
        if run["kind"] == "job" and f"answer:{run['id']}" not in owed:
            yield f"the job {run['prompt']!r} owes nobody its ending"
    for key, row in owed.items():
        lines = seen[key]
        if key.startswith("remind:"):
            continue
        if row["person"] is None and row["state"] == "undeliverable":
            continue  # a turn's answer and a copy by direct message have no inbox
        if row["state"] == "delivered":
            from_inbox = row["receipt"] == f"inbox {key}"
            in_a_reply = kinds[row["run"]] == "turn" or row["via"] is not None
            if not (from_inbox or in_a_reply) and row["receipt"] not in {line["message"] for line in lines}:
                yield f"{key} has the receipt {row['receipt']}, and stands in {[line['message'] for line in lines]}"
            if from_inbox and key not in looked:
                yield f"{key} was handed over in the inbox, and nobody was shown it"
        elif row["state"] != "inbox":
            yield f"{key} is {row['state']}"
        elif len(json.loads(row["failures"])) < len(json.loads(row["body"])["ladder"]):
            yield f"{key} lies in the inbox, and not every way was tried: {row['failures']}"
        for line in lines[1:]:
            if not line["repeated"]:
                yield f"{key} was said in {[line['message'] for line in lines]}, and not called a possible repeat"
        if run := next((one for one in end.runs if key == f"answer:{one['id']}" and one["kind"] == "job"), None):
            for line in lines:
                if run["id"] not in line["text"]:
                    yield f"{key} does not say which job it is about"
                if line["kind"] == "say" and line["ping"] != [run["requester"]]:
                    yield f"{key} notifies {line['ping']}"


def _effects(folder: Path, end: Rows, deaths: Sequence[Rows]) -> Iterator[str]:
    """No gated call has an effect without consent, and none has two: neither the row nor what it was to do."""
    effects = Log(folder / "effects").read()
    by_call, by_what = Counter(line["call"] for line in effects), Counter(line["what"] for line in effects)
    for what, times in by_what.items():
        if times > 1:
            yield f"{what!r} took effect {times} times"
    calls = {row["id"]: row for row in end.approvals}
    for call in by_call:
        if calls[call]["state"] not in RAN or not calls[call]["settled_by"]:
            yield f"{_what(calls[call])!r} is {calls[call]['state']} and took effect"
    for id, call in calls.items():
        if call["state"] not in SETTLED:
            yield f"{_what(call)!r} is still {call['state']}"
        died_running = any(death.state(id) == "running" for death in deaths)
        if died_running and call["state"] != "interrupted":
            yield f"{_what(call)!r} was running when the process died, and is called {call['state']}"
        if call["state"] == "succeeded" and by_call[id] != 1:
            yield f"{_what(call)!r} succeeded without its effect"
    for what, times in Counter(_what(call) for call in calls.values() if not call["replaces"]).items():
        if times > 1:
            yield f"{what!r} was asked about {times} times"
    for line in Log(folder / "acknowledged").read():
        if "call" in line and (line["verdict"] == "deny") != (calls[line["call"]]["state"] == "denied"):
            state = calls[line["call"]]["state"]
            if line["verdict"] == "deny" or state not in RAN | {"nothing_ran", "cancelled", "void"}:
                yield f"{_what(calls[line['call']])!r}: a person's {line['verdict']} became {state}"


def _jobs(folder: Path, story: Plot, end: Rows, deaths: Sequence[Rows]) -> Iterator[str]:
    """Each job is there once, has ended, and ended as it may."""
    for prompt, times in Counter(run["prompt"] for run in end.runs if run["announces"] is None).items():
        if times > 1:
            yield f"{prompt!r} was begun {times} times"
    for job, times in Counter(run["announces"] for run in end.runs if run["announces"]).items():
        if times > 1:
            yield f"the ending of {job} was announced in {times} turns"
    for run in end.runs:
        name = run["prompt"] or f"the announcement of {run['announces']}"
        if run["state"] not in ENDED:
            yield f"{name!r} is {run['state']} for ever"
        died = sum(any(one["id"] == run["id"] and one["state"] == "running" for one in death.runs) for death in deaths)
        if run["losses"] > died:
            yield f"{name!r} counts {run['losses']} deaths in it, of {died}"
        if (run["state"] == "lost") != (run["losses"] > MOST_LOSSES):
            yield f"{name!r} is {run['state']} after {run['losses']} losses"
        script = story.scripts.get(run["prompt"], [])
        broke = None in script or str(run["result"]).startswith(GAVE_UP) or (run["announces"] and story.news == "fails")
        if run["state"] == "failed" and not broke:
            yield f"{name!r} failed: {run['result']}"
        if run["state"] == "done" and None in script and run["result"] != "And one more word.":
            yield f"{name!r} is done, and its model had failed: {run['result']}"
        if any(one["id"] == run["parent"] and one["announces"] for one in end.runs):
            yield f"{name!r} was started by an announcement"
    for death in deaths:
        for was in death.runs:
            now = next((run for run in end.runs if run["id"] == was["id"]), None)
            if now is None:
                yield f"{was['prompt']!r} has vanished"
            elif was["state"] in ENDED and (now["state"], now["result"]) != (was["state"], was["result"]):
                yield f"{was['prompt']!r} was {was['state']}, and is {now['state']} now"


def _moved(folder: Path, end: Rows) -> Iterator[str]:
    """What was sent into the background is a job, of the same id."""
    kinds = {run["id"]: run["kind"] for run in end.runs}
    for line in Log(folder / "acknowledged").read():
        if "moved" in line and kinds[line["moved"]] != "job":
            yield f"{line['moved']} was sent into the background, and is a {kinds[line['moved']]}"


def _notes(folder: Path, end: Rows) -> Iterator[str]:
    """What a person was told that the job would read, it read; unless it ended before."""
    states = {run["id"]: run["state"] for run in end.runs}
    kept = Counter(note["run"] for note in end.notes if note["person"])
    for job, times in Counter(line["note"] for line in Log(folder / "acknowledged").read() if "note" in line).items():
        if kept[job] < times:
            yield f"a note to {job} is lost"
    for note in end.notes:
        if note["taken_at"] is None and states[note["run"]] == "done":
            yield f"{note['run']} is done, and a note to it was not read"
    told: Counter[str] = Counter()
    for row in end.messages:
        body = json.loads(row["body"])
        told.update(row["conversation"] for part in body["parts"] if READ in str(part.get("content", "")))
    for run in end.runs:
        if told[run["conversation"]] > kept[run["id"]] and run["kind"] == "job":
            yield f"a note to {run['id']} was read twice"


def _trail(folder: Path) -> Iterator[str]:
    async def verify() -> int | None:
        async with open_database(str(folder / DATABASE)) as database:
            return await audit.verify(database.reader)

    if (number := asyncio.run(verify())) is not None:
        yield f"the trail is broken at {number}"


def _what(call: dict[str, Any]) -> str:
    return str(next(iter(json.loads(call["arguments"]).values())))
