"""Eight houses on one file, which all act on the same call at the same moment: `python -m tests.proof.racers FOLDER`.

On stdin a line per round, a call's id and then a verb for each house; on stdout what each came to, `won` or `lost`.
The houses are forks of one warm process, each with its own engine, connections and boot id. Outside tests only one
process works on a database; that even eight cannot do a thing twice is what makes a second one harmless.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from bot.app import App, open_app
from bot.clock import new_id
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import DecisionRefused
from bot.settings import Settings
from bot.surface import Press
from storage import approvals, audit
from storage.approvals import ApprovalState
from tests.house import OWNER, DoArguments, Face, ManualClock, Script

HOUSES = 8
EARLY_MS, LATE_MS = 1_700_000_000_000, 1_700_000_000_000 + 86_400_000
"""When calls are asked for, and when they expire."""


def log(folder: Path, **fields: object) -> None:
    """A line that every house may write."""
    with (folder / "effects").open("a") as file:
        file.write(json.dumps(fields) + "\n")


def act(folder: Path) -> Tool:
    """Has one effect: a line in the shared file."""

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        log(folder, call=call.id)
        return ToolOutcome(text="out")

    return Tool(name="act", description="Acts.", arguments=DoArguments, body=body)


def settings(folder: Path) -> Settings:
    """Of every house on the folder."""
    return Settings(approver_users=frozenset({OWNER.id})).model_copy(
        update={"database": folder / "house.sqlite3", "workspace": folder, "streaming": False}
    )


async def attempt(app: App, id: str, verb: str) -> bool:
    """Act on a call; whether that counted. People press; the clock and the command line settle as theirs do."""
    if verb in {"approve", "deny"}:
        call = await approvals.get(app.database.reader, id)
        assert call is not None
        press = Press(actor=OWNER, approval=id, place=call.place, message=None)
        try:
            await app.engine.decide(press, verb)  # type: ignore[arg-type]
        except DecisionRefused:
            return False
        return True
    to, at = (ApprovalState.EXPIRED, LATE_MS) if verb == "expire" else (ApprovalState.CANCELLED, EARLY_MS)
    async with app.database.begin(verb) as tx:
        return await approvals.settle(tx, id, to, by=audit.SYSTEM, at=at) is not None


async def house(folder: Path, rounds: Iterator[str], answers: TextIO) -> None:
    """One house: do what comes in until nothing does any more."""
    async with open_app(
        settings(folder),
        tools=[act(folder)],
        mask=lambda text: text,
        clock=ManualClock(EARLY_MS),
        new_id=new_id,
        model=Script(*["The end."] * 100_000).model,
        sweep_ms=3_600_000,
    ) as app:
        app.engine.connect(Face())
        for line in rounds:
            id, verb = line.split()
            answers.write("won\n" if await attempt(app, id, verb) else "lost\n")
            answers.flush()
            await app.background.idle()


def fork(folder: Path) -> tuple[TextIO, TextIO]:
    """Start a house. Where its rounds go in, and where its answers come out."""
    rounds_in, rounds_out = os.pipe()
    answers_in, answers_out = os.pipe()
    if os.fork():
        os.close(rounds_in)
        os.close(answers_out)
        return os.fdopen(rounds_out, "w"), os.fdopen(answers_in)
    code = 1
    try:
        os.close(rounds_out)
        with os.fdopen(rounds_in) as rounds, os.fdopen(answers_out, "w") as answers:
            asyncio.run(house(folder, rounds, answers))
        code = 0
    finally:
        os._exit(code)


def main(folder: Path) -> None:
    """Hand every round to all houses at once."""
    logging.disable(logging.CRITICAL)
    houses = [fork(folder) for _ in range(HOUSES)]
    for line in sys.stdin:
        id, *verbs = line.split()
        for (rounds, _), verb in zip(houses, verbs, strict=True):
            rounds.write(f"{id} {verb}\n")
            rounds.flush()
        sys.stdout.write(" ".join(answers.readline().strip() for _, answers in houses) + "\n")
        sys.stdout.flush()
    for rounds, _ in houses:
        rounds.close()
    for _ in houses:
        _, status = os.wait()
        if status:
            raise SystemExit(f"a house ended with status {status}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
