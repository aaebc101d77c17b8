"""The composition root: every resource opened once, in one `async with`, and handed on by keyword."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from bot.accounts import Accounts
from bot.agent.build import Model, load_own, open_loop
from bot.agent.mcp_door import PinnedPolicy, open_door
from bot.asking import Asking
from bot.background import Background
from bot.budgets import check_costs
from bot.clippings import Clippings
from bot.clock import Clock, NewId
from bot.commands import Commands
from bot.decisions import Decisions
from bot.deferral.authority import Authority
from bot.deferral.executor import Executor
from bot.deferral.layers import LayeredPolicy
from bot.deferral.seal import Seal, load_key
from bot.deferral.tool import Tool
from bot.deferral.vault import Vault
from bot.delivery import Delivery
from bot.doctor import examine
from bot.drills import Drills
from bot.edits import Edits
from bot.engine import Engine
from bot.files.kept import UNDO_FOLDER, Kept
from bot.files.undo import Undoing
from bot.files.uploads import Uploads
from bot.granting import Granting
from bot.guild_book import GuildBook
from bot.holding import Holding
from bot.job_files import JobFiles
from bot.jobs.schedules import Schedules
from bot.jobs.tool import make_start_job
from bot.jobs.watch import JobWatch
from bot.limits import Crowding
from bot.missed import Missed
from bot.policing import Allowed, build_policy, check_approver_rules
from bot.policy_desk import PolicyDesk
from bot.progress import Progress
from bot.redact import Redactor
from bot.rehearsal import Rehearsals
from bot.reloading import Reloading
from bot.screening import Screening
from bot.settings import Settings, environment, known_secrets
from bot.settings_desk import GuildWhere, SettingsDesk, model_of
from bot.startup import Startup
from bot.toolbook import Toolbook
from bot.toolbox.detached import Detached
from bot.turns import Turns
from bot.upkeep import Upkeep, one_after_another
from bot.usage_desk import UsageDesk
from bot.where import Configured
from storage import meta
from storage.approvals import Approval
from storage.database import Database, Transaction, open_database
from storage.guarded import GuardedDatabase
from storage.head import Head
from storage.jobs import JobLimits
from storage.runs import Run

SWEEP_MS = 2_000
"""How often a running bot looks for what other processes wrote."""

STOP_GRACE_SECONDS = 8.0
"""How long running work may take to end by itself when the program stops."""


OpenDatabase = Callable[[str], AbstractAsyncContextManager[Database]]
"""Opens the database that a setting names; tests put one in its place that dies on cue."""


@dataclass(frozen=True, kw_only=True)
class App:
    """The opened house."""

    engine: Engine
    database: Database
    background: Background
    upkeep: Upkeep

    async def remember(self, key: str, value: str) -> None:
        """Keep a small fact across restarts."""
        async with self.database.begin("remember") as tx:
            await meta.put(tx, key, value)

    async def recall(self, key: str) -> str | None:
        """What was kept under `key`, or None."""
        return await meta.get(self.database.reader, key)


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    tools: Sequence[Tool],
    mask: Callable[[str], str],
    clock: Clock,
    new_id: NewId,
    model: Model | None = None,
    sweep_ms: int = SWEEP_MS,
    open_db: OpenDatabase = open_database,
    job_limits: JobLimits | None = None,
    detached: Detached | None = None,
    reread: Callable[[], Settings] | None = None,
    redactor: Redactor | None = None,
) -> AsyncIterator[App]:
    """Open everything below the faces. `model` stands in for the one that the settings name.

    `mask` goes over what tools give; `redactor` keeps its secrets out of the database and out of the model's answers.
    `detached` runs what `tools` run in the background; `reread` reads the settings anew, as `load_settings` does.

    Raises `DatabaseError`, `SettingsError`. The caller holds the single-process lock.
    """
    boot = new_id()
    background = Background()

    async def start_job(run_id: str, goal: str) -> Run:
        return await engine.start_job_from(run_id, goal)

    every_tool = [*tools, make_start_job(start_job)]
    by_name = {tool.name: tool for tool in every_tool}
    profiles = {tool.name: tool.profile for tool in every_tool}
    own = load_own(settings.agent, settings.agent_deps) if settings.agent else None
    file_policy = build_policy(settings.policy, every_tool)
    redactor = redactor or Redactor({})
    vault = Vault(settings.secrets or (), redactor=redactor)
    async with open_db(str(settings.database)) as opened:
        database = GuardedDatabase(opened, redactor.known)
        seal = Seal(load_key(settings.database.with_suffix(".key")))
        book = GuildBook(seal)
        await book.load(database.reader)
        authority = Authority(
            users=settings.approver_users,
            roles=settings.approver_roles,
            self_approval=settings.self_approval,
            rules=settings.approvers or (),
            ttl_ms=settings.approval_ttl_ms,
            ttl_binds="approval_ttl" in settings.model_fields_set,
            guild_rules=book.approvers,
        )
        accounts = Accounts(
            database=database,
            clock=clock,
            boot=boot,
            file=settings.budgets,
            turn=settings.turn_limits,
            of_guild=lambda guild: book.settings(guild).budgets,
        )
        crowding = Crowding(turn=settings.turn_limits, at_once=settings.at_once)
        await accounts.load(database.reader)
        policy = LayeredPolicy(file_policy, guild_rules=book.policy, reserved=authority.reserved)
        granting = Granting(
            database=database,
            clock=clock,
            new_id=new_id,
            authority=authority,
            seal=seal,
            tools=by_name,
            who=lambda person: delivery.who(person),
            enabled=settings.grants,
        )
        file_places = Configured(settings.places or ())
        where = GuildWhere(file_places, book)
        delivery = Delivery(
            files=JobFiles(database=database, clock=clock, workspace=settings.workspace, mask=mask),
            database=database,
            clock=clock,
            new_id=new_id,
            profiles=profiles,
            authority=authority,
            seal=seal,
            where=where,
            granting=granting,
        )

        async def ask_again(tx: Transaction, old: Approval, bound: Mapping[str, Any], problem: str) -> bool:
            return await asking.again(tx, old, bound, problem)

        kept = Kept(
            database=database,
            clock=clock,
            new_id=new_id,
            seal=seal,
            folder=settings.database.parent / UNDO_FOLDER,
            root=settings.workspace,
            for_ms=settings.undo_for // timedelta(milliseconds=1),
        )
        executor = Executor(
            database=database,
            clock=clock,
            boot=boot,
            tools=by_name,
            workspace=str(settings.workspace),
            seal=seal,
            mask=mask,
            policy=policy,
            ask_again=ask_again,
            recheck=authority.recheck,
            vault=vault,
            grants=granting,
            keep=kept.keep,
        )

        asking = Asking(
            clock=clock,
            new_id=new_id,
            executor=executor,
            lifetime=authority.lifetime,
            where=where,
            granting=granting,
            crowding=crowding,
        )

        decisions = Decisions(
            database=database, clock=clock, authority=authority, seal=seal, who=delivery.who, granting=granting
        )

        screening = Screening(reader=database.reader, delivery=delivery, authority=authority)

        async with (
            open_door(
                settings.mcp or (),
                environ=environment(),
                database=database,
                clock=clock,
                tools=by_name,
                profiles=profiles,
            ) as door,
            nullcontext(PinnedPolicy(policy, door)) as wary_policy,
            open_loop(
                model=model if model is not None else settings.model,
                timeout_seconds=settings.model_timeout.total_seconds(),
                streaming=settings.streaming,
                tools=by_name,
                policy=wary_policy,
                clock=clock,
                record=Allowed(database=database, clock=clock, mask=mask).record,
                screen=screening.screen,
                nobody_can_decide=screening.nobody_can_decide,
                mask=mask,
                own=own,
                images=settings.images,
                redactor=redactor,
                meter=accounts.meter,
                vault=vault,
                keep=kept.keep,
                others=settings.models or (),
                choose=lambda run: model_of(book, settings.models or (), run.place),
            ) as loop,
        ):
            check_approver_rules(settings, by_name)
            check_costs(settings, has_price=loop.prices_known)
            edits = Edits(
                database=database,
                clock=clock,
                new_id=new_id,
                authority=authority,
                executor=executor,
                asking=asking,
                policy=wary_policy,
                tools=by_name,
                decisions=decisions,
                vault=vault,
            )
            profiles.update({tool.name: tool.profile for tool in by_name.values()})
            watch = JobWatch(
                database=database,
                clock=clock,
                limits=job_limits or settings.job_limits,
                accounts=accounts,
                crowding=crowding,
            )
            holding = Holding(database=database, clock=clock, delivery=delivery, hold_ms=settings.hold_ms)
            turns = Turns(
                database=database,
                clock=clock,
                boot=boot,
                loop=loop,
                asking=asking,
                delivery=delivery,
                holding=holding,
                watch=watch,
                progress=Progress(database=database, delivery=delivery, spawn=background.spawn),
            )
            policy_desk = PolicyDesk(
                database=database,
                clock=clock,
                new_id=new_id,
                authority=authority,
                book=book,
                file=file_policy,
                tools=by_name,
                rehearse=Rehearsals(database=database, clock=clock, policy=policy, tools=by_name),
                mask=mask,
            )
            clippings = Clippings(database=database, clock=clock)
            head = Head(database.reader, settings.database)
            undoing = Undoing(
                database=database, clock=clock, boot=boot, kept=kept, root=settings.workspace, decisions=decisions
            )
            engine = Engine(
                database=database,
                clock=clock,
                new_id=new_id,
                boot=boot,
                authority=authority,
                executor=executor,
                decisions=decisions,
                edits=edits,
                delivery=delivery,
                turns=turns,
                holding=holding,
                background=background,
                sweep_ms=sweep_ms,
                watch=watch,
                most_waiting=settings.queue,
                tidy=one_after_another(clippings.tidy, undoing.tidy, kept.tidy, head.note),
                commands=None
                if detached is None
                else Commands(
                    detached, database=database, clock=clock, authority=authority, above=delivery.above, mask=mask
                ),
                schedules=Schedules(
                    database=database,
                    clock=clock,
                    new_id=new_id,
                    authority=authority,
                    limits=settings.schedule_limits,
                    above=delivery.above,
                ),
                policy_desk=policy_desk,
                settings_desk=SettingsDesk(
                    database=database,
                    clock=clock,
                    new_id=new_id,
                    book=book,
                    rules=policy_desk,
                    file=file_places,
                    file_budgets=settings.budgets,
                    model=settings.model or "offline",
                    models=() if own is not None else settings.models or (),
                    has_price=loop.has_price,
                    mask=mask,
                ),
            )
            upkeep = Upkeep(
                clock=clock,
                toolbook=Toolbook(tools=by_name, policy=wary_policy, door=door),
                reloading=Reloading(
                    settings=settings,
                    reread=reread or (lambda: settings),
                    database=database,
                    clock=clock,
                    authority=authority,
                    policy=file_policy,
                    door=door,
                    tools=by_name,
                    learn=lambda fresh: redactor.learn(known_secrets(fresh)),
                ),
                missed=Missed(database=database, clock=clock),
                clippings=clippings,
                undoing=undoing,
                uploads=Uploads(settings.workspace, settings.upload_megabytes, settings.uploads_megabytes, new_id),
                usage=UsageDesk(
                    reader=database.reader,
                    clock=clock,
                    accounts=accounts,
                    may_manage=engine.policy_desk.may_manage,
                    refused=partial(engine.policy_desk.refused, event="usage_refused"),
                ),
                drills=Drills(
                    database=database,
                    clock=clock,
                    new_id=new_id,
                    authority=authority,
                    background=background,
                    tools=lambda: tuple(by_name),
                    deliver=engine.sweep,
                ),
                startup=Startup(database=database, clock=clock, boot=boot, tell=settings.startup_report),
                examine=partial(examine, settings, Path.cwd()),
            )
            try:
                yield App(engine=engine, database=database, background=background, upkeep=upkeep)
            finally:
                upkeep.drills.stop()
                await engine.stop(grace=STOP_GRACE_SECONDS)
                await upkeep.startup.end()
                await head.note()
