"""`signoff doctor`: each fault is found, named, and comes with what to do. Discord is the twin on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import sysconfig
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.doctor import Finding, Level, examine
from bot.playground.faults import Fault
from bot.playground.twin import Twin
from bot.secrets_file import NamedSecret
from bot.settings import Settings
from bot.single import data_lock, hold
from cogs.inspection import INSTALL_PERMISSIONS, install_link
from storage.database import open_database
from tests.needs import needs
from tests.test_cli import signoff


async def examined(folder: Path, **settings: Any) -> dict[str, Finding]:
    """The findings about `folder` by their ids."""
    made = Settings(**{"database": folder / "data" / "a.db", "workspace": folder / "work", **settings})
    return {finding.id: finding async for finding in examine(made, folder)}


def checked(folder: Path, **env: str) -> tuple[int, dict[str, dict[str, str]]]:
    """Exit code and findings of the program itself."""
    done = signoff(folder, "doctor", "--json", **env)
    assert done.stderr == ""
    return done.returncode, {one["id"]: one for one in json.loads(done.stdout)}


@needs("bwrap")
async def test_an_empty_folder_is_fine(tmp_path: Path) -> None:
    found = await examined(tmp_path)
    assert {finding.level for finding in found.values()} == {Level.OK}
    assert "offline model" in found["model"].text
    assert list(tmp_path.iterdir()) == []


async def test_a_database_in_use_is_named_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "data" / "a.db"
    async with open_database(str(path)):
        with hold(data_lock(path), what="it", advice="wait"):
            found = await examined(tmp_path)
    assert found["database"].level is Level.OK
    assert f"process {os.getpid()}" in found["database"].text


async def test_a_damaged_database_fails(tmp_path: Path) -> None:
    path = tmp_path / "data" / "a.db"
    async with open_database(str(path)):
        pass
    whole = bytearray(path.read_bytes())
    whole[4096 : 4096 * 3] = b"\x5a" * (4096 * 2)
    path.write_bytes(whole)
    found = await examined(tmp_path)
    assert found["database"].level is Level.FAIL
    assert found["database"].advice


async def test_a_database_that_others_can_open_is_a_warning_with_the_command(tmp_path: Path) -> None:
    path = tmp_path / "data" / "a.db"
    async with open_database(str(path)):
        pass
    path.chmod(0o644)
    found = await examined(tmp_path)
    assert found["database-mode"].level is Level.WARN
    assert found["database-mode"].advice == f"chmod 600 {path}"


async def test_a_secret_that_others_can_read_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("")
    (tmp_path / ".env").chmod(0o640)
    assert (await examined(tmp_path))["settings"].level is Level.WARN


async def test_a_file_where_a_folder_should_be_fails(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("")
    found = await examined(tmp_path)
    assert found["workspace"].level is Level.FAIL
    assert "SIGNOFF_WORKSPACE" in found["workspace"].advice


async def test_a_workspace_that_holds_our_own_files_fails(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("")
    found = await examined(tmp_path, workspace=tmp_path)
    assert found["workspace-holds-ours"].level is Level.FAIL
    assert str(tmp_path / ".env") in found["workspace-holds-ours"].text


async def test_the_calculator_is_tried_out_and_works_without_a_sandbox(tmp_path: Path) -> None:
    found = (await examined(tmp_path, sandbox="none"))["calculator"]
    assert (found.level, found.text) == (Level.OK, "calculate works; it needs no sandbox")


async def test_a_calculator_that_is_missing_is_a_warning_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    found = (await examined(tmp_path, sandbox="none"))["calculator"]
    assert found.level is Level.WARN
    assert "pydantic-monty-runtime" in found.text
    assert found.advice.startswith("pip install pydantic-monty-runtime")


async def test_the_key_for_searches_counts_as_a_secret_file_and_its_packages_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = tmp_path / "work" / "tavily"
    held.parent.mkdir()
    held.write_text("tvly-5f0b7c1e9a2d4486")
    held.chmod(0o644)
    more: dict[str, Any] = {"tavily_key_file": str(held), "workspace": held.parent, "sandbox": "none"}
    found = await examined(tmp_path, **more)
    assert (found["search"].level, found["search"].text) == (Level.OK, "web_search has a key and its packages")
    assert str(held) in found["settings"].text
    assert str(held) in found["workspace-holds-ours"].text
    monkeypatch.setitem(sys.modules, "tavily", None)
    monkeypatch.delitem(sys.modules, "pydantic_ai.common_tools.tavily", raising=False)
    lacking = (await examined(tmp_path, **more))["search"]
    assert lacking.level is Level.FAIL
    assert "pip install 'signoff[search]'" in lacking.text
    assert "search" not in await examined(tmp_path, sandbox="none")


async def test_running_without_a_sandbox_is_a_warning(tmp_path: Path) -> None:
    assert (await examined(tmp_path, sandbox="none"))["sandbox"].level is Level.WARN


@needs("bwrap")
async def test_a_sandbox_that_holds_says_what_it_keeps(tmp_path: Path) -> None:
    found = (await examined(tmp_path))["sandbox"]
    assert found.level is Level.OK
    for promise in (
        "there is no network",
        "only the workspace is writable",
        "a stopped command leaves no process behind",
    ):
        assert promise in found.text


async def test_a_budget_in_dollars_that_cannot_be_kept_fails_and_names_the_one_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    found = await examined(tmp_path, model="openai-chat:my-own", cost_per_person="2.50")
    assert found["model"].level is Level.FAIL
    assert "SIGNOFF_COST_PER_PERSON: cannot be kept" in found["model"].text
    assert "Set SIGNOFF_TOKENS_PER_PERSON in its place." in found["model"].text
    found = await examined(tmp_path, model="openai-chat:gpt-4o", cost_per_person="2.50")
    assert found["model"].level is Level.OK
    assert "its price is known" in found["model"].text


async def test_a_model_that_cannot_be_made_fails_with_advice(tmp_path: Path) -> None:
    found = await examined(tmp_path, model="no-such-provider:anything")
    assert found["model"].level is Level.FAIL
    assert found["model"].advice


def test_settings_that_make_no_sense_are_findings_too(tmp_path: Path) -> None:
    done = signoff(tmp_path, "doctor", SIGNOFF_APPROVER_USERS="", SIGNOFF_STREAMING="perhaps")
    assert done.returncode == 1
    assert done.stdout.count("FAIL  settings: ") == 2
    assert "2 of 2 checks failed." in done.stdout


@pytest.fixture
async def twin() -> AsyncIterator[Twin]:
    async with Twin.open(state_dir=None) as twin:
        yield twin


async def inspected(twin: Twin, folder: Path, **env: str) -> tuple[int, dict[str, dict[str, str]]]:
    told = {"DISCORD_TOKEN": twin.token, "SIGNOFF_TWIN": twin.url, "SIGNOFF_SANDBOX": "none", **env}
    return await asyncio.to_thread(lambda: checked(folder, **told))


@pytest.mark.wire
async def test_an_application_in_order_is_named_with_its_owner_and_install_link(twin: Twin, tmp_path: Path) -> None:
    code, found = await inspected(twin, tmp_path)
    assert code == 0
    assert found["login"]["level"] == "ok"
    assert str(twin.world.owner_id) in found["login"]["text"]
    assert install_link(twin.world.backend.application_id) in found["servers"]["text"]


@pytest.mark.wire
async def test_an_endpoint_and_a_public_bot_are_found(twin: Twin, tmp_path: Path) -> None:
    """S-A67, its second half: so is an application that people can add to their own account."""
    twin.rest.application |= {"interactions_endpoint_url": "https://example.org/i", "bot_public": True}
    twin.rest.application |= {"integration_types_config": {"0": {}, "1": {}}}
    code, found = await inspected(twin, tmp_path)
    assert code == 1
    assert found["interactions-endpoint"]["level"] == "FAIL"
    assert found["public-bot"]["level"] == "warn"
    assert found["user-install"]["level"] == "warn"


@pytest.mark.wire
async def test_a_token_that_discord_refuses_is_a_failure_with_the_fix(twin: Twin, tmp_path: Path) -> None:
    code, found = await inspected(twin, tmp_path, DISCORD_TOKEN="playground.aaaaaaaaaaaaaaaaaaaaaaaa")
    assert code == 1
    assert found["login"]["level"] == "FAIL"
    assert "Reset Token" in found["login"]["advice"]


@pytest.mark.wire
async def test_a_network_that_does_not_answer_is_a_failure_not_a_crash(twin: Twin, tmp_path: Path) -> None:
    twin.faults.add(Fault(kind="cut_before", times=None))
    code, found = await inspected(twin, tmp_path)
    assert code == 1
    assert "cannot be reached" in found["login"]["text"]


def test_the_install_link_asks_for_the_least() -> None:
    assert INSTALL_PERMISSIONS.value == 274878024704
    assert "scope=bot+applications.commands" in install_link(1)


async def test_named_secrets_are_listed_and_their_files_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "work" / "key"
    file.parent.mkdir()
    file.write_text("hunter2hunter2")
    file.chmod(0o644)
    secret = NamedSecret(name="deploy", tools=("shell",), file=file, value="hunter2hunter2")
    found = await examined(tmp_path, secrets=(secret,))
    assert found["secrets"].text == "named secrets: deploy for shell"
    assert str(file) in found["settings"].text
    assert str(file) in found["workspace-holds-ours"].text
    assert "hunter2" not in " ".join(finding.text for finding in found.values())
