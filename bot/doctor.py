"""`signoff doctor`, the part that is about this machine: each thing that must be right, and what to do if it is not.

What Discord says about the application is looked up in `cogs.inspection`; the front door puts the two together.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bot.agent import searching
from bot.agent.metering import has_price
from bot.agent.models import build_model, close_model
from bot.budgets import check_costs
from bot.errors import ModelError, SettingsError, StartError
from bot.settings import ENV_FILE, TOML_FILE, Settings
from bot.single import data_lock, holder, token_lock
from bot.texts.recall import recall
from bot.texts.text import joined, say
from bot.toolbox import calculate
from bot.toolbox.command_files import COMMANDS_FOLDER, CommandFiles, CommandState
from bot.toolbox.sandbox import Sandbox
from storage.database import DatabaseError, open_database
from storage.health import damage

_ROOM_BYTES = 200 * 1024 * 1024
"""Less free space than this and the log of a busy database may fill the disk."""


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARN = "warn"
    """It runs, but somebody should know."""
    FAIL = "FAIL"
    """Something that people expect will not work."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the doctor's report."""

    id: str
    level: Level
    text: str
    advice: str = ""
    """What to do about it; empty when there is nothing to do."""


def from_settings_error(error: SettingsError) -> list[Finding]:
    """The findings when the settings themselves make no sense; nothing else can be looked at then."""
    return [
        Finding(id="settings", level=Level.FAIL, text=line, advice=say("checkup.see_example"))
        for line in str(error).splitlines()
    ]


async def examine(settings: Settings, folder: Path) -> AsyncIterator[Finding]:
    """Look at everything that needs no network, in the order in which a start needs it."""
    yield _settings(settings, folder)
    for finding in _approvers(settings):
        yield finding
    if settings.secrets:
        names = "; ".join(f"{one.name} for {one.allowed}" for one in settings.secrets)
        yield Finding(id="secrets", level=Level.OK, text=say("secrets.named", names=names))
    yield _folder(settings.database.parent, "data", "SIGNOFF_DATABASE")
    async for finding in _database(settings):
        yield finding
    for finding in _token(settings):
        yield finding
    yield _folder(settings.workspace, "workspace", "SIGNOFF_WORKSPACE")
    for finding in within_reach(settings, folder):
        yield finding
    yield await _sandbox(settings)
    yield await _calculator()
    for finding in _search(settings):
        yield finding
    for finding in _commands(settings):
        yield finding
    yield await _model(settings)


def _settings(settings: Settings, folder: Path) -> Finding:
    read = [name for name in (ENV_FILE, TOML_FILE) if (folder / name).exists()]
    secret = [folder / name for name in read]
    secret += _key_files(settings)
    exposed = [str(path) for path in secret if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    text = say("checkup.read_from", more=joined((say("checkup.and_file", name=name) for name in read), by=""))
    if exposed:
        return Finding(
            id="settings",
            level=Level.WARN,
            text=say("checkup.exposed", text=text, files=", ".join(exposed)),
            advice=f"chmod 600 {' '.join(exposed)}",
        )
    return Finding(id="settings", level=Level.OK, text=text)


def _key_files(settings: Settings) -> list[Path]:
    """Files that hold a token, a key or a named secret, and nothing else."""
    files = [one.path for one in (settings.discord_token_file, settings.tavily_key_file) if one is not None]
    return files + [one.file for one in settings.secrets or () if one.file is not None]


def _approvers(settings: Settings) -> list[Finding]:
    users, roles = settings.approver_users, settings.approver_roles
    if users is None and roles is None:
        text = say("checkup.owner_decides")
        return [Finding(id="approvers", level=Level.OK, text=text)]
    text = say("checkup.by_id", users=len(users or ()), roles=len(roles or ()))
    if roles is not None:
        return [
            Finding(
                id="approvers",
                level=Level.WARN,
                text=say("checkup.roles_decide", text=text),
                advice=say("checkup.users_alone"),
            )
        ]
    return [Finding(id="approvers", level=Level.OK, text=text)]


def _folder(folder: Path, id: str, setting: str) -> Finding:
    """Whether a folder is, or can become, one that we can write in."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        return Finding(
            id=id,
            level=Level.FAIL,
            text=say("checkup.no_folder", path=existing),
            advice=say("checkup.other_place", setting=setting),
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        return Finding(
            id=id,
            level=Level.FAIL,
            text=say("checkup.not_writable", path=existing),
            advice=say("checkup.give_right", setting=setting),
        )
    if shutil.disk_usage(existing).free < _ROOM_BYTES:
        return Finding(
            id=id, level=Level.WARN, text=say("checkup.disk_full", path=folder), advice=say("checkup.make_room")
        )
    made = "" if folder.exists() else say("checkup.made_at_start")
    return Finding(id=id, level=Level.OK, text=joined([str(folder), made], by=""))


async def _database(settings: Settings) -> AsyncIterator[Finding]:
    path = settings.database
    if not path.exists():
        yield Finding(id="database", level=Level.OK, text=say("checkup.no_database", path=path))
        return
    try:
        async with open_database(str(path), read_only=True) as database:
            broken = await damage(database.reader)
    except DatabaseError as error:
        yield Finding(id="database", level=Level.FAIL, text=str(error), advice=say("checkup.sentence_says"))
        return
    if broken:
        yield Finding(
            id="database",
            level=Level.FAIL,
            text=say("checkup.damaged", path=path, problems="; ".join(broken)),
            advice=say("checkup.bring_back"),
        )
    else:
        who = holder(data_lock(path))
        use = say("checkup.in_use", who=who) if who else say("checkup.not_in_use")
        yield Finding(id="database", level=Level.OK, text=say("checkup.sound", path=path, use=use))
    files = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    files.append(path.with_suffix(".key"))
    open_to_others = [file for file in files if file.exists() and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    if open_to_others:
        names = " ".join(map(str, open_to_others))
        yield Finding(
            id="database-mode",
            level=Level.WARN,
            text=say("checkup.others_can_open"),
            advice=f"chmod 600 {names}",
        )


def _token(settings: Settings) -> list[Finding]:
    """Who runs on the token, as far as this machine knows."""
    if settings.token is None:
        return []
    try:
        who = holder(token_lock(settings.token.get_secret_value()))
    except StartError as error:
        return [Finding(id="token", level=Level.FAIL, text=str(error))]
    text = say("checkup.token_in_use", who=who) if who else say("checkup.token_free")
    return [Finding(id="token", level=Level.OK, text=text)]


def within_reach(settings: Settings, folder: Path) -> list[Finding]:
    """Files of ours that the tools could read or write because they lie in the tools' folder."""
    ours = [settings.database, folder / ENV_FILE, folder / TOML_FILE, *_key_files(settings)]
    workspace = settings.workspace.resolve()
    inside = [str(path) for path in ours if path.exists() and path.resolve().is_relative_to(workspace)]
    if not inside:
        return []
    return [
        Finding(
            id="workspace-holds-ours",
            level=Level.FAIL,
            text=say("checkup.in_reach", files=", ".join(inside)),
            advice=say("checkup.own_folder"),
        )
    ]


async def _sandbox(settings: Settings) -> Finding:
    bare = settings.sandbox == "none"
    report = await Sandbox(bare=bare).self_test()
    if not report.works:
        return Finding(
            id="sandbox",
            level=Level.FAIL,
            text=say("checkup.will_not_run"),
            advice=report.reason,
        )
    if bare:
        return Finding(
            id="sandbox",
            level=Level.WARN,
            text=say("checkup.no_sandbox"),
            advice=say("checkup.install"),
        )
    kept = joined((recall(check.name) for check in report.checks), by="; ")
    return Finding(id="sandbox", level=Level.OK, text=say("checkup.keeps", kept=kept))


async def _calculator() -> Finding:
    """The small tier, which works where the sandbox does not."""
    problem = await calculate.works(calculate.make_calculate())
    if not problem:
        return Finding(id="calculator", level=Level.OK, text=say("checkup.calculator"))
    return Finding(
        id="calculator",
        level=Level.WARN,
        text=say("checkup.no_calculator", problem=problem),
        advice=say("checkup.install_calculator"),
    )


def _search(settings: Settings) -> list[Finding]:
    """Whether what `web_search` takes is there; nobody is asked anything."""
    if settings.search_key is None:
        return []
    try:
        searching.search_tools(settings.search_key)
    except SettingsError as error:
        return [Finding(id="search", level=Level.FAIL, text=str(error))]
    return [Finding(id="search", level=Level.OK, text=say("checkup.search"))]


def _commands(settings: Settings) -> list[Finding]:
    """The commands that run in the background, if any do."""
    running = [
        f"{one.id} ({' '.join(one.command.split())[:80]})"
        for one in CommandFiles(settings.database.parent / COMMANDS_FOLDER).every()
        if one.state is CommandState.RUNNING
    ]
    if not running:
        return []
    return [
        Finding(
            id="commands",
            level=Level.OK,
            text=say("checkup.in_background", n=len(running), commands="; ".join(running)),
        )
    ]


async def _model(settings: Settings) -> Finding:
    if settings.model is None:
        return Finding(
            id="model",
            level=Level.OK,
            text=say("checkup.offline"),
        )
    try:
        model = build_model(settings.model, timeout_seconds=settings.model_timeout.total_seconds())
    except (ModelError, SettingsError) as error:
        return Finding(
            id="model",
            level=Level.FAIL,
            text=say("checkup.unusable", model=settings.model, problem=error),
            advice=error.advice if isinstance(error, ModelError) else say("checkup.see_model"),
        )
    await close_model(model)
    price = say("checkup.price_known") if has_price(model) else say("checkup.price_unknown")
    try:
        check_costs(settings, has_price=has_price(model))
    except SettingsError as error:
        return Finding(id="model", level=Level.FAIL, text=f"{settings.model}: {error}", advice=say("checkup.see_usage"))
    return Finding(id="model", level=Level.OK, text=say("checkup.model", model=settings.model, price=price))
