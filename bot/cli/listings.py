"""`signoff approvals`, `jobs` and `audit`: the rows as tables for people or JSON for programs.

Reading works while the bot runs, and before there is anything to read: no database is an empty list.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, TypeVar

from bot.clock import Clock
from bot.console import block, fields, local_time, one_line, table, visible
from bot.deferral import sentences
from bot.deferral.endings import ran_nothing
from bot.errors import SignoffError
from bot.settings import Settings
from bot.timeline import timeline
from storage import approvals, audit, head, runs
from storage.approvals import Approval, ApprovalState
from storage.audit import AuditEntry
from storage.database import Reader, open_database
from storage.runs import Run, RunKind

_EVERYTHING = 10_000_000
"""A limit for "all": whoever asks for it gets it."""

T = TypeVar("T")

_WIDE = 60
"""Characters of a free text in a table."""


class NotFound(SignoffError):
    """No row, or more than one, fits what was typed."""


@asynccontextmanager
async def reading(settings: Settings) -> AsyncIterator[Reader | None]:
    """What is stored, or None if there is no database yet. Raises `DatabaseError`."""
    if not settings.database.exists():
        yield None
        return
    async with open_database(str(settings.database), read_only=True) as database:
        yield database.reader


async def list_approvals(settings: Settings, chosen: Namespace) -> None:
    """`signoff approvals list`."""
    async with reading(settings) as reader:
        found = await approvals.listed(reader, every=chosen.all, limit=_EVERYTHING) if reader else []
    if chosen.json:
        _print_json([_record(one) for one in found])
    elif not found:
        print("Nothing has been asked yet." if chosen.all else "Nothing waits for a decision.")
    else:
        rows = [
            (one.id, one.state, one.tool, _arguments(one, _WIDE), one.requester, local_time(one.expires_at))
            for one in found
        ]
        print(table(("ID", "STATE", "TOOL", "ARGUMENTS", "ASKED BY", "DEADLINE"), rows))


async def show_approval(settings: Settings, chosen: Namespace) -> None:
    """`signoff approvals show ID`."""
    async with reading(settings) as reader:
        one = await find_approval(reader, chosen.id)
    if chosen.json:
        _print_json(_record(one))
        return
    pairs = [
        ("id", one.id),
        ("state", str(one.state)),
        ("tool", one.tool),
        *((f"  {name}", block(_plain(value))) for name, value in one.arguments.items()),
        ("asked by", one.requester),
        ("in", one.place),
        ("key" if one.kind == "external" else "why it was asked", visible(one.reason)),
        ("asked at", local_time(one.requested_at)),
        ("deadline", local_time(one.expires_at)),
    ]
    if one.settled_at is not None:
        pairs.append(("settled", f"{local_time(one.settled_at)} by {one.settled_by}"))
    if one.note:
        pairs.append(("note", visible(one.note)))
    if one.started_at is not None:
        pairs += [("started", local_time(one.started_at)), ("ended", local_time(one.finished_at))]
    if one.exit_code is not None:
        pairs.append(("exit code", str(one.exit_code)))
    if one.result:
        pairs.append(("result", block(one.result)))
    pairs += [("run", one.run), ("digest", one.digest)]
    print(fields(pairs))


async def cancel_approval(settings: Settings, chosen: Namespace, clock: Clock) -> None:
    """`signoff approvals cancel ID`: a running bot notices within its next sweep and tells the people."""
    async with reading(settings) as reader:
        one = await find_approval(reader, chosen.id)
    async with open_database(str(settings.database)) as database:
        async with database.begin("cancel at the command line") as tx:
            done = await approvals.settle(
                tx, one.id, ApprovalState.CANCELLED, by=audit.SYSTEM, at=clock.now(), note="at the command line"
            )
        now = await approvals.get(database.reader, one.id)
    if done is None:
        raise NotFound(f"{one.id} is {now.state if now else 'gone'} already; nothing was changed.")
    print(f"{one.id} is cancelled; it will not run.")


async def list_jobs(settings: Settings, chosen: Namespace) -> None:
    """`signoff jobs list`."""
    async with reading(settings) as reader:
        found = await runs.of_kind(reader, RunKind.JOB, every=chosen.all, limit=_EVERYTHING) if reader else []
    if chosen.json:
        _print_json([asdict(one) for one in found])
    elif not found:
        print("No job has been started yet." if chosen.all else "No job is open.")
    else:
        rows = [
            (one.id, one.state, one_line(one.prompt, _WIDE), one.requester, local_time(one.created_at)) for one in found
        ]
        print(table(("ID", "STATE", "GOAL", "ASKED BY", "STARTED"), rows))


async def show_job(settings: Settings, chosen: Namespace) -> None:
    """`signoff jobs show ID`."""
    async with reading(settings) as reader:
        one = await find_job(reader, chosen.id)
    if chosen.json:
        _print_json(asdict(one))
        return
    print(
        fields(
            [
                ("id", one.id),
                ("state", str(one.state)),
                ("goal", block(one.prompt)),
                ("asked by", one.requester),
                ("in", one.place),
                ("started", local_time(one.created_at)),
                ("ended", local_time(one.ended_at)),
                ("computed", f"{one.spent_ms / 1000:g} s"),
                ("result", block(one.result or "-")),
            ]
        )
    )


async def list_audit(settings: Settings, chosen: Namespace) -> None:
    """`signoff audit list`."""
    found: deque[AuditEntry] = deque(maxlen=None if chosen.all else max(chosen.limit, 0))
    async with reading(settings) as reader:
        approval = (await find_approval(reader, chosen.approval)).id if chosen.approval else None
        if reader is not None:
            async for entry in _entries(reader, approval):
                found.append(entry)
    if chosen.json:
        _print_json([_audit_object(entry) for entry in found])
    elif not found:
        print("Nothing is on the trail yet.")
    else:
        rows = [
            (
                str(one.n),
                local_time(one.at),
                one.actor,
                one.event,
                one.approval or "-",
                one_line(_plain(one.detail), _WIDE),
            )
            for one in found
        ]
        print(table(("N", "TIME", "ACTOR", "EVENT", "APPROVAL", "DETAIL"), rows))


async def show_timeline(settings: Settings, chosen: Namespace) -> None:
    """`signoff audit show ID`."""
    async with reading(settings) as reader:
        call = await find_approval(reader, chosen.id)
        moments = await timeline(reader, call, who="user {}".format, quote=visible) if reader is not None else []
    if chosen.json:
        _print_json([_audit_object(moment.entry) | {"text": moment.text} for moment in moments])
        return
    print(f"{call.id}  {call.tool} {_arguments(call, 2 * _WIDE)}\n")
    print("\n".join(f"{local_time(moment.entry.at)}  {moment.text}" for moment in moments))
    print(f"\n{visible(sentences.person(call, 'user {}'.format))}")


async def export_audit(settings: Settings) -> None:
    """`signoff audit export`."""
    async with reading(settings) as reader:
        if reader is not None:
            async for entry in _entries(reader, None):
                print(json.dumps(_audit_object(entry)))


async def verify_audit(settings: Settings, chosen: Namespace) -> int:
    """`signoff audit verify`; returns the exit code."""
    broken, count, told = None, 0, ""
    outside = head.path_of(settings.database)
    async with reading(settings) as reader:
        if reader is not None:
            broken = await audit.verify(reader)
            try:
                if broken is None and (broken := await head.broken_at(reader, outside)) is not None:
                    told = f" By {outside} it was another trail, or went on."
            except head.HeadUnreadable as error:
                told = f"How far the trail goes is not known: {error}."
            async for _entry in _entries(reader, None):
                count += 1
    whole = broken is None and not told
    if chosen.json:
        _print_json({"whole": whole, "row": broken, "entries": count})
    elif whole:
        print(f"The trail is whole: {count} entr{'y' if count == 1 else 'ies'}.")
    elif broken is None:
        print(told)
    else:
        print(f"The trail is broken at row {broken}: it was altered, or a row before it is missing.{told}")
    return 0 if whole else 1


async def _entries(reader: Reader, approval: str | None) -> AsyncIterator[AuditEntry]:
    after = 0
    while some := await audit.entries(reader, approval=approval, after=after):
        for entry in some:
            yield entry
        after = some[-1].n


async def find_approval(reader: Reader | None, prefix: str) -> Approval:
    """The one call whose id begins with `prefix`. Raises `NotFound`."""
    return _only(await approvals.find(reader, prefix) if reader else [], "request", prefix)


async def find_job(reader: Reader | None, prefix: str) -> Run:
    """The one job whose id begins with `prefix`. Raises `NotFound`."""
    every = await runs.of_kind(reader, RunKind.JOB, every=True, limit=_EVERYTHING) if reader else []
    return _only([job for job in every if job.id.startswith(prefix.lower())], "job", prefix)


def _only(found: list[T], what: str, prefix: str) -> T:
    if not found:
        raise NotFound(f"There is no {what} whose id begins with {prefix!r}.")
    if len(found) > 1:
        raise NotFound(f"More than one {what} has an id that begins with {prefix!r}; type more of it.")
    return found[0]


def _record(call: Approval) -> dict[str, Any]:
    """A row, and what no program should have to conclude from its state: whether it is certain that nothing ran."""
    return {**asdict(call), "ran_nothing": ran_nothing(call)}


def _audit_object(entry: AuditEntry) -> dict[str, Any]:
    return {"id": entry.n, **asdict(entry)}


def _arguments(one: Approval, width: int) -> str:
    values = list(one.arguments.values())
    return one_line(_plain(values[0] if len(values) == 1 else one.arguments), width)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _print_json(value: Any) -> None:
    # ASCII: what strangers wrote cannot steer a terminal.
    print(json.dumps(value, indent=2, default=str))
