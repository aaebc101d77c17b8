"""Background jobs: what a run of kind job has beside its run, and who comes next.

A job's card is owed to people like an approval card: `version` counts what there is to see, `shown` is the version
that the posted message shows. Unlike there, a newer version does not make the edit due sooner: `due_at` keeps the
pace, so that however much happens only the newest state is shown, and not too often.

A queued job may start when its person, its guild and the bot have room for it; among those, first come first served.
A job that waits for people takes up no room. One that waited keeps its old place, so it comes before younger ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from storage import runs
from storage.database import Reader, Row, Transaction
from storage.runs import Run

_QUEUED = "SELECT run.id, run.requester, job.space FROM run JOIN job ON job.run = run.id WHERE run.state = 'queued'"


@dataclass(frozen=True, kw_only=True)
class JobLimits:
    """How many jobs may work at once, and how often people may be shown how they go."""

    person: int = 2
    space: int = 6
    """In one guild, or in the direct messages with one person."""
    bot: int = 12
    depth: int = 3
    """A job that a person or a turn starts is one deep, a job of it two deep: so deep may they go."""
    edit_ms: int = 5_000
    """A card is edited no more often than this; all the cards of one place together, five times as often."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a job has beside its run. Times are milliseconds UTC."""

    run: str
    space: str
    depth: int
    """1: started by a person or a turn; a job that a job starts is one deeper."""
    above: str | None = None
    """The channel of the thread it was asked in: where its ending goes if the thread is gone."""
    background: str = ""
    """What was said before in the conversation it came from."""
    origin: str = ""
    """The conversation it came from: there its ending is told. '' if that is not known."""
    anchor: str | None = None
    """The request it came from."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int | None = 0
    """Millionths of a US dollar; None as soon as the price of one answer is not known."""
    stop_by: str | None = None
    """Who pressed Stop once, and when: a second press of theirs counts."""
    stop_at: int | None = None
    message: str | None = None
    posted_at: int | None = None
    version: int = 1
    shown: int = 0
    tries: int = 0
    due_at: int = 0
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing that a job did."""

    at: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a person wanted a job to know."""

    id: int
    run: str
    person: str
    text: str
    at: int
    taken_at: int | None


async def create(tx: Transaction, job: Job) -> None:
    """Store a new job, in the commit that stores its run."""
    await tx.execute(
        "INSERT INTO job (run, space, depth, above, background, origin, anchor) VALUES (?, ?, ?, ?, ?, ?, ?)",
        job.run,
        job.space,
        job.depth,
        job.above,
        job.background,
        job.origin,
        job.anchor,
    )


async def get(reader: Reader, run: str) -> Job | None:
    """One job, or None."""
    row = await reader.one("SELECT * FROM job WHERE run = ?", run)
    return _job(row) if row else None


async def owner_of(reader: Reader, conversation: str) -> Run | None:
    """The job that a conversation belongs to, or None."""
    row = await reader.one("SELECT id FROM run WHERE kind = 'job' AND conversation = ?", conversation)
    return await runs.get(reader, row["id"]) if row else None


# -- who comes next -----------------------------------------------------------------------------


async def startable(reader: Reader, limits: JobLimits) -> list[str]:
    """The queued jobs that there is room for now, in the order in which they may start."""
    people: Counter[str] = Counter()
    spaces: Counter[str] = Counter()
    for row in await reader.all(
        "SELECT run.requester, job.space FROM run JOIN job ON job.run = run.id WHERE run.state = 'running'"
    ):
        people[row["requester"]] += 1
        spaces[row["space"]] += 1
    busy = people.total()
    found: list[str] = []
    for row in await reader.all(f"{_QUEUED} ORDER BY run.created_at, run.id"):
        if busy >= limits.bot:
            break
        person, space = row["requester"], row["space"]
        if people[person] < limits.person and spaces[space] < limits.space:
            found.append(row["id"])
            busy += 1
            people[person] += 1
            spaces[space] += 1
    return found


async def place_in_queue(reader: Reader, run: str) -> int | None:
    """Which place a queued job has among those of its guild (1: the next); None if it is not queued."""
    row = await reader.one(
        f"SELECT count(*) AS place FROM ({_QUEUED} AND job.space = (SELECT space FROM job WHERE run = ?)"
        " AND (run.created_at, run.id) <= (SELECT created_at, id FROM run WHERE id = ? AND state = 'queued'))",
        run,
        run,
    )
    return int(row["place"]) or None if row else None


async def queue_moved(tx: Transaction, run: str) -> None:
    """A job of the queue has left it: those behind it have a new place, and their cards say another."""
    await tx.execute(
        "UPDATE job SET version = version + 1 WHERE space = (SELECT space FROM job WHERE run = ?)"
        " AND run IN (SELECT id FROM run WHERE state = 'queued')",
        run,
    )


# -- what it did, what it used, what it was told -------------------------------------------------


async def put_steps(tx: Transaction, run: str, steps: Sequence[Step], *, after: int) -> None:
    """Keep what a job did, behind its first `after` steps. What is there already is written over."""
    for n, step in enumerate(steps, after + 1):
        await tx.execute(
            "INSERT INTO job_step (run, n, at, text) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (run, n) DO UPDATE SET at = excluded.at, text = excluded.text",
            run,
            n,
            step.at,
            step.text,
        )


async def count_steps(reader: Reader, run: str) -> int:
    """How many steps are kept."""
    row = await reader.one("SELECT coalesce(max(n), 0) AS n FROM job_step WHERE run = ?", run)
    return int(row["n"]) if row else 0


async def steps_of(reader: Reader, run: str, *, last: int) -> list[Step]:
    """The newest `last` steps, oldest first."""
    rows = await reader.all("SELECT at, text FROM job_step WHERE run = ? ORDER BY n DESC LIMIT ?", run, last)
    return [Step(at=row["at"], text=row["text"]) for row in reversed(rows)]


async def set_usage(
    tx: Transaction, run: str, *, input_tokens: int, output_tokens: int, cost_micros: int | None
) -> None:
    """What the job has used in all. It only ever grows; a cost that is not known stays unknown."""
    await tx.execute(
        "UPDATE job SET input_tokens = max(input_tokens, ?), output_tokens = max(output_tokens, ?),"
        " cost_micros = max(cost_micros, ?) WHERE run = ?",  # of NULL and a number the greater is NULL
        input_tokens,
        output_tokens,
        cost_micros,
        run,
    )


async def add_note(tx: Transaction, run: str, *, person: str, text: str, at: int) -> None:
    """Keep a note until the job takes it up."""
    await tx.execute("INSERT INTO job_note (run, person, text, at) VALUES (?, ?, ?, ?)", run, person, text, at)


async def notes_of(reader: Reader, run: str, *, every: bool = False) -> list[Note]:
    """Notes that the job has not taken up, oldest first; with `every`, all of them."""
    condition = "" if every else " AND taken_at IS NULL"
    rows = await reader.all(f"SELECT * FROM job_note WHERE run = ?{condition} ORDER BY id", run)
    return [Note(**dict(row)) for row in rows]


async def take_notes(tx: Transaction, notes: Sequence[Note], *, at: int) -> None:
    """The model has been told, in the commit that stores that."""
    for note in notes:
        await tx.execute("UPDATE job_note SET taken_at = ? WHERE id = ?", at, note.id)


async def ask_stop(tx: Transaction, run: str, *, person: str, at: int) -> None:
    """Somebody pressed Stop once."""
    await tx.execute("UPDATE job SET stop_by = ?, stop_at = ? WHERE run = ?", person, at, run)


# -- the card -----------------------------------------------------------------------------------


async def touch(tx: Transaction, run: str) -> None:
    """There is something new to see. It is shown when the card's next edit is due. Nothing for a turn."""
    await tx.execute("UPDATE job SET version = version + 1, tries = 0 WHERE run = ?", run)


async def owed(reader: Reader, *, now: int) -> list[tuple[str, str]]:
    """Run and place of the jobs whose card lags behind and may be shown now, longest due first."""
    rows = await reader.all(
        "SELECT job.run, run.place FROM job JOIN run ON run.id = job.run"
        " WHERE job.shown < job.version AND job.due_at <= ? ORDER BY job.due_at, run.created_at, run.id",
        now,
    )
    return [(row["run"], row["place"]) for row in rows]


async def next_due(reader: Reader) -> dict[str, int]:
    """By place, when the next card that lags behind may be shown."""
    rows = await reader.all(
        "SELECT run.place AS place, min(job.due_at) AS at FROM job JOIN run ON run.id = job.run"
        " WHERE job.shown < job.version GROUP BY run.place"
    )
    return {row["place"]: row["at"] for row in rows}


async def posted(tx: Transaction, run: str, *, message: str, at: int) -> None:
    """The job has a (new) card: presses count on it, and on no other."""
    await tx.execute("UPDATE job SET message = ?, posted_at = ? WHERE run = ?", message, at, run)


async def shown(tx: Transaction, run: str, *, version: int, due_at: int) -> None:
    """People see `version`; the next edit may be made at `due_at`."""
    await tx.execute(
        "UPDATE job SET shown = max(shown, ?), due_at = ?, tries = 0, error = NULL WHERE run = ?", version, due_at, run
    )


async def failed(tx: Transaction, run: str, *, due_at: int, error: str) -> None:
    """The card could not be shown; the next try is due at `due_at`."""
    await tx.execute("UPDATE job SET tries = tries + 1, due_at = ?, error = ? WHERE run = ?", due_at, error, run)


async def give_up(tx: Transaction, run: str, *, version: int, due_at: int, error: str) -> None:
    """The card cannot be shown at all (deleted, locked): nothing is owed until something new happens, nor before
    `due_at`."""
    await tx.execute(
        "UPDATE job SET shown = max(shown, ?), due_at = ?, error = ? WHERE run = ?", version, due_at, error, run
    )


def _job(row: Row) -> Job:
    return Job(**dict(row))
