"""What must be true of every story, wherever it was cut short, seen from the files and rows that it left.

None of it looks at the moment of death: what is ambiguous is told by what the rows said when the process died.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bot.asking import CALLS_PER_CARD
from bot.files.kept import UNDO_FOLDER
from bot.turns import MOST_LOSSES
from storage import audit
from storage.approvals import MOVES, ApprovalState
from storage.database import open_database
from tests.crash.lives import DATABASE, Rows, rows
from tests.crash.scenarios import Scenario
from tests.crash.stage import NOTES
from tests.crash.world import Log
from tests.house import OWNER

RAN = {"succeeded", "failed"}
OPEN = {"pending", "approved", "running"}


STANDING = {"press_refused", "voted", "edited", "extended", "run_again", "grant_made", "grant_used", "grant_ended"}
STANDING |= {"undo_began", "undone", "undo_failed", "undo_unknown"}
"""What is on a call's trail and moves it nowhere."""


def broken(folder: Path, scenario: Scenario, deaths: Sequence[Rows]) -> list[str]:
    """What is not as it must be after the last life; `deaths` are the rows as each killed life left them."""
    end = rows(folder)
    wall = Log(folder / "wall").read()
    return [
        *_calls(folder, scenario, deaths, end),
        *_decisions(folder, end),
        *_trail(folder, end),
        *_runs(scenario, deaths, end),
        *_answers(end),
        *_announcements(wall, end),
        *_cards(wall, deaths, end),
        *_grants(end),
        *_undos(folder, deaths, end),
        *_usage(end),
    ]


def _calls(folder: Path, scenario: Scenario, deaths: Sequence[Rows], end: Rows) -> Iterator[str]:
    """Each call ends as it must, and has at most one effect."""
    effects = Counter(line["call"] for line in Log(folder / "effects").read())
    expected = Counter(scenario.ends.keys())
    found = Counter(_name(call) for call in end.approvals)
    if found != expected and not (_lost(end) and found <= expected):
        yield f"calls are lost or invented: {dict(found)}, not {dict(expected)}"
    for call in end.approvals:
        id, name, state = call["id"], _name(call), call["state"]
        died_running = any(death.state(id) == "running" for death in deaths)
        if died_running and state != "interrupted":
            yield f"{name} was running when the process died, and is called {state}"
        elif not died_running and state != scenario.ends.get(name):
            yield f"{name} ended as {state}, not as {scenario.ends.get(name)}"
        if effects[id] > 1:
            yield f"{name} had {effects[id]} effects"
        ran_fully = state in RAN and call["kind"] == "approval"
        if ran_fully and effects[id] != 1:
            yield f"{name} is {state} without an effect"
        if not ran_fully and state != "interrupted" and effects[id]:
            yield f"{name} is {state} and had an effect"
        for death in deaths:
            before = death.state(id)
            if before is not None and before not in OPEN and before != state:
                yield f"{name} was {before} when the process died, and is {state} now"
    for death in deaths:
        gone = {call["id"] for call in death.approvals} - {call["id"] for call in end.approvals}
        if gone:
            yield f"calls vanished: {gone}"


def _decisions(folder: Path, end: Rows) -> Iterator[str]:
    """What a person was told had counted, counts."""
    for line in Log(folder / "acknowledged").read():
        call = next(row for row in end.approvals if row["id"] == line["call"])
        decided = {"approve": RAN | {"nothing_ran", "interrupted"}, "deny": {"denied"}, "answer": {"succeeded"}}
        decided["deliver"] = decided["answer"]
        if call["state"] not in decided[line["verdict"]] or not call["settled_by"]:
            yield f"{_name(call)}: a person's {line['verdict']} became {call['state']}"
    for call in end.approvals:
        decider = audit.SYSTEM if call["granted"] else OWNER.id
        if call["kind"] == "approval" and call["state"] in RAN | {"nothing_ran"} and call["settled_by"] != decider:
            yield f"{_name(call)} ran, and {call['settled_by']} decided it"


def _trail(folder: Path, end: Rows) -> Iterator[str]:
    """The trail is whole, and tells each call's way from the question to its state, move by move."""

    async def verify() -> int | None:
        async with open_database(str(folder / DATABASE)) as database:
            return await audit.verify(database.reader)

    if (number := asyncio.run(verify())) is not None:
        yield f"the trail is broken at {number}"
    for call in end.approvals:
        told = [row["event"] for row in end.audit if row["approval"] == call["id"] and row["event"] not in STANDING]
        if told[0] != "asked" or told[-1] != call["state"]:
            yield f"{_name(call)} is {call['state']}, and the trail says {told}"
            continue
        states = [ApprovalState.PENDING, *map(ApprovalState, told[1:])]
        for before, after in itertools.pairwise(states):
            if after not in MOVES.get(before, frozenset()):
                yield f"{_name(call)}: the trail has a move {before} -> {after}"


def _runs(scenario: Scenario, deaths: Sequence[Rows], end: Rows) -> Iterator[str]:
    """Each run has its ending; one whose process died twice may be lost."""
    prompts = Counter(run["prompt"] for run in end.runs if run["announces"] is None)
    if prompts != Counter(scenario.says.keys()) and not (_lost(end) and prompts <= Counter(scenario.says.keys())):
        yield f"runs are lost or doubled: {dict(prompts)}"
    for run in end.runs:
        died_running = sum(
            any(one["id"] == run["id"] and one["state"] == "running" for one in death.runs) for death in deaths
        )
        lost = run["losses"] > MOST_LOSSES
        if run["losses"] > died_running:
            yield f"the run of {run['prompt']!r} counts {run['losses']} deaths in it, of {died_running}"
        if run["state"] != ("lost" if lost else scenario.run_ends.get(run["prompt"], "done")):
            yield f"the run of {run['prompt']!r} ended as {run['state']} after {run['losses']} deaths in it"


def _answers(end: Rows) -> Iterator[str]:
    """In what the model is shown every call has one result, and every result one call."""
    by_conversation: dict[str, list[Any]] = defaultdict(list)
    for row in end.messages:
        by_conversation[row["conversation"]].extend(json.loads(row["body"])["parts"])
    for conversation, parts in by_conversation.items():
        calls = Counter(part["tool_call_id"] for part in parts if part["part_kind"] == "tool-call")
        results = Counter(part["tool_call_id"] for part in parts if part["part_kind"] == "tool-return")
        lost = any(run["conversation"] == conversation and run["state"] in {"lost", "cancelled"} for run in end.runs)
        if results - calls or max(results.values(), default=0) > 1 or (calls != results and not lost):
            yield f"in {conversation} the calls {dict(calls)} have the results {dict(results)}"


def _announcements(wall: Sequence[dict[str, Any]], end: Rows) -> Iterator[str]:
    """Every ending is said once: one message has it as its last text."""
    last = {line["message"]: line for line in wall if "text" in line}
    for row in end.outbox:
        if row["key"].startswith("remind:") and row["state"] == "pending":
            continue  # its moment has not come, and its card is settled
        text = json.loads(row["body"])["text"]
        if row["state"] != "delivered" and not (row["key"].startswith("dm:") and row["state"] == "undeliverable"):
            yield f"{row['key']} is {row['state']}"
            continue
        direct = row["key"].startswith("dm:") and not row["key"].endswith(":instead")
        said = [line["message"] for line in last.values() if text in line["text"] and (line["kind"] == "dm") == direct]
        if row["key"].startswith("remind:"):  # said in the same words under each copy
            said = [message for message in said if message == f"say-{row['key']}"]
        if len(said) != (row["state"] == "delivered"):
            yield f"{row['key']} was said in {said}"
        elif said and row["receipt"] != said[0]:
            yield f"{row['key']} was said in {said[0]}, and its receipt is {row['receipt']}"
    for run in end.runs:
        if run["announces"] is not None:
            continue  # its words, if any, are in the answer of the job that it announces
        if [row["key"] for row in end.outbox].count(f"answer:{run['id']}") != 1:
            yield f"the run of {run['prompt']!r} owes no answer, or several"


def _cards(wall: Sequence[dict[str, Any]], deaths: Sequence[Rows], end: Rows) -> Iterator[str]:
    """One card per pause (and five calls), each posted once, and its last look is how its calls ended."""
    per_pause: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for call in end.approvals:
        if not call["replaces"]:  # what is asked again has a card of its own
            per_pause[call["run"], call["pause"]].append(call)
    for calls in per_pause.values():
        if len({call["card"] for call in calls}) != -(-len(calls) // CALLS_PER_CARD):
            yield "a pause has more cards than it needs"
    posted = Counter(line["message"] for line in wall if line["kind"] in {"card", "card dm"})
    if any(times > 1 for times in posted.values()):
        yield f"a card was posted twice: {dict(posted)}"
    looks = {line["card"]: line["calls"] for line in wall if "calls" in line}
    for card in end.cards:
        if card["shown"] < card["version"]:
            yield f"card {card['id']} is owed for ever"
        edited = {call["replaces"] for call in end.approvals if call["edited_by"]}
        lead = card["lead"] or card["id"]
        on_it = [call for call in end.approvals if call["card"] == lead and call["id"] not in edited]
        states = {call["id"]: call["state"] for call in on_it}
        if card["gone"] or (card["message"] is None and card["id"] not in looks):
            continue  # nobody can be shown it there
        if looks.get(card["id"]) != states:
            yield f"a card shows {looks.get(card['id'])}, and its calls are {states}"


def _usage(end: Rows) -> Iterator[str]:
    """Each answer of the model that is kept is counted once, and the sums are those of the calls."""
    answers: Counter[str] = Counter()
    for row in end.messages:
        if json.loads(row["body"]).get("model_name"):  # the call of "Run again" is a person's, and has none
            answers[row["run"]] += 1
    counted = Counter(row["run"] for row in end.usage)
    for run in end.runs:
        kept, paid = answers[run["id"]], counted[run["id"]]
        if paid < kept or (paid > kept and run["state"] == "done"):
            yield f"the run of {run['prompt']!r} has {kept} answers of the model, and {paid} are counted"
    for name in ("input_tokens", "output_tokens"):
        calls, days = (sum(row[name] for row in rows) for rows in (end.usage, end.usage_days))
        if calls != days:
            yield f"{name}: the calls took {calls}, and by day it is {days}"


def _grants(end: Rows) -> Iterator[str]:
    """A use is counted for each call that was claimed by a grant, and on the trail; none is counted twice."""
    for grant in end.grants:
        claimed = [call["id"] for call in end.approvals if call["granted"] == grant["id"] and call["started_at"]]
        recorded = [row["approval"] for row in end.audit if row["event"] == "grant_used"]
        if grant["used"] != len(claimed) or sorted(recorded) != sorted(claimed):
            yield f"a grant was used {grant['used']} times, for {claimed}, and the trail says {recorded}"


def _undos(folder: Path, deaths: Sequence[Rows], end: Rows) -> Iterator[str]:
    """What was undone is undone, once; of what was cut short nobody claims to know; no write is without a copy."""
    there = {file.name for file in (folder / UNDO_FOLDER).glob("*")}
    held = {row["id"] for row in end.undos if row["holds"]}
    if there != held:
        yield f"copies of {there} are kept, and the rows hold {held}"
    for call in end.approvals:
        if call["tool"] != "write":
            continue
        [row] = [row for row in end.undos if row["approval"] == call["id"]] or [None]
        if row is None:
            if call["state"] == "succeeded" or (folder / NOTES).read_text() != "old":
                yield "it wrote and kept nothing"
            continue
        before = [one["state"] for death in deaths for one in death.undos if one["id"] == row["id"]]
        text, story = (folder / NOTES).read_text(), [one["event"] for one in end.audit if one["approval"] == call["id"]]
        if ("undoing" in before) is not (row["state"] == "unknown"):
            yield f"the undo is {row['state']}, and was {before} when the process died"
        if row["state"] == "undone" and text != "old":
            yield f"it is undone, and the file holds {text!r}"
        if row["state"] == "kept" and text != "old":
            yield f"somebody pressed, and the file holds {text!r}"
        ends = [event for event in story if event in {"undone", "undo_unknown"}]
        if len(ends) != (row["state"] in {"undone", "unknown"}):
            yield f"the undo is {row['state']}, and the trail says {ends}"


def _lost(end: Rows) -> bool:
    """Whether a run was given up: what it would have asked later was never asked."""
    return any(run["state"] == "lost" for run in end.runs)


def _name(call: dict[str, Any]) -> str:
    again = " again" if call["replaces"] and not call["edited_by"] else ""
    again = " by a grant" if call["granted"] else again
    return str(next(iter(json.loads(call["arguments"]).values()))) + again
