"""Network for a command: only where a rule of the operator grants it, named on the card, bound, with nothing else."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.cli import policy as policy_command
from bot.deferral.layers import LayeredPolicy
from bot.deferral.policy import RulePolicy
from bot.errors import SettingsError
from bot.guild_rules import Body
from bot.permits import Asking
from bot.policing import build_policy
from bot.policy_file import policy_rules
from bot.settings import Settings
from bot.toolbox.bubblewrap import command_line
from bot.toolbox.sandbox import Sandbox
from cogs import card_words
from tests.house import OWNER, PLACE, House, Script, open_house
from tests.needs import needs
from tests.test_off import Commands

RULE = {"name": "package index", "tool": "shell", "action": "ask", "network": True}


@pytest.fixture
def server() -> Iterator[int]:
    """A server of this machine's that says hello."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"hello from outside\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def fetching(port: int) -> str:
    """A command line that prints what the server says, and what it may do beside that."""
    code = f"import socket; print(socket.create_connection(('127.0.0.1', {port}), 5).recv(99).decode())"
    return f'python3 -c "{code}"; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status; unshare -U true'


@asynccontextmanager
async def a_house(folder: Path, script: Script, *rules: dict[str, Any]) -> AsyncIterator[House]:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    settings = Settings(approver_users=frozenset({OWNER.id}), policy=policy_rules(list(rules)) if rules else None)
    bench = Commands(workspace=workspace)
    async with open_house(folder, script, bench=bench, settings=settings, workspace=workspace) as house:
        yield house


@needs("bwrap")
async def test_a_rule_grants_it_the_card_names_it_and_nothing_else_comes_with_it(tmp_path: Path, server: int) -> None:
    script = Script([("shell", {"command": fetching(server)})], "done")
    async with a_house(tmp_path, script, RULE) as house:
        await house.ask()
        _, view = house.card
        [call] = view.approvals
        assert call.bound["network"] == "package index"
        assert card_words.network(call) == ["⚠ Network: **on**, granted by the rule `package index`"]
        assert card_words.profile(view, call).startswith("bubblewrap, this machine's network")
        await house.decide("approve")
    [(_, result)] = script.results()
    assert "hello from outside" in result
    assert "CapEff:\t0000000000000000" in result
    assert "CapBnd:\t0000000000000000" in result
    assert "NoNewPrivs:\t1" in result
    assert "unshare failed" in result


@needs("bwrap")
async def test_a_program_is_given_it_and_a_command_that_no_rule_is_about_is_not(tmp_path: Path, server: int) -> None:
    code = f"import socket\nprint(socket.create_connection(('127.0.0.1', {server}), 5).recv(99).decode())"
    script = Script([("execute_code", {"code": code}), ("shell", {"command": fetching(server)})], "done")
    async with a_house(tmp_path, script, {**RULE, "tool": "execute_code"}) as house:
        await house.ask()
        _, view = house.card
        assert [call.bound.get("network", "") for call in view.approvals] == ["package index", ""]
        assert card_words.profile(view, view.approvals[1]).startswith("bubblewrap, no network")
        for row in (0, 1):
            await house.decide("approve", row=row)
    (_, program), (_, command) = script.results()
    assert "hello from outside" in program
    assert "ConnectionRefusedError" in command


@needs("bwrap")
async def test_one_in_the_background_is_given_it_too(tmp_path: Path, server: int) -> None:
    line = fetching(server) + "; echo > done"
    script = Script([("shell", {"command": line, "run_in_background": True})], "done")
    async with a_house(tmp_path, script, RULE) as house:
        await house.ask()
        await house.decide("approve")
        async with asyncio.timeout(20):
            while not (tmp_path / "workspace" / "done").exists():
                await asyncio.sleep(0.02)
        [log] = (tmp_path / "commands").glob("*/log")
        assert "hello from outside" in log.read_text()


async def test_a_rule_that_vanishes_between_card_and_claim_means_that_it_is_asked_again_without(tmp_path: Path) -> None:
    script = Script([("shell", {"command": "touch ran"})], "done")
    async with a_house(tmp_path, script, RULE) as house:
        await house.ask()
        first = house.card[1].approvals[0]
        house.app.upkeep.reloading._policy.replace(())
        await house.decide("approve")
        second = house.card[1].approvals[0]
        assert (first.bound["network"], second.bound.get("network")) == ("package index", None)
        assert (first.digest != second.digest, second.replaces) == (True, first.id)
        assert not (tmp_path / "workspace" / "ran").exists()
        [row] = await house.rows("SELECT note FROM approval WHERE id = ?", first.id)
        assert "the rule that gives it network changed: package index → none" in row["note"]


async def test_one_that_comes_between_card_and_claim_is_not_used_unseen(tmp_path: Path) -> None:
    script = Script([("shell", {"command": "touch ran"})], "done")
    async with a_house(tmp_path, script) as house:
        await house.ask()
        house.app.upkeep.reloading._policy.replace(policy_rules([RULE]) or ())
        await house.decide("approve")
        assert house.card[1].approvals[0].bound["network"] == "package index"
        assert not (tmp_path / "workspace" / "ran").exists()


@pytest.mark.parametrize(
    ("narrowed", "granted"),
    [
        ({}, True),
        ({"where": {"command": {"equals": "pip download x"}}}, True),
        ({"where": {"command": {"one_of": ["pip download y"]}}}, False),
        ({"where": {"command": {"argv": ["pip"]}}}, False),  # cannot be read, so nothing is given
        ({"users": ["2"]}, True),
        ({"users": ["3"]}, False),
        ({"guilds": ["9"]}, True),
        ({"guilds": ["8"]}, False),
        ({"channels": ["90"]}, True),
        ({"channels": ["91"]}, False),
        ({"roles": ["7"]}, False),
        ({"private": True}, False),
        ({"tool": "execute_code"}, False),
    ],
)
def test_it_is_for_the_calls_that_the_rule_is_about(tmp_path: Path, narrowed: dict[str, Any], granted: bool) -> None:
    shell = Commands(workspace=tmp_path).tools()[0]
    policy = RulePolicy(policy_rules([{**RULE, **narrowed}]) or ())
    call, asking = {"command": "pip download x"}, Asking(requester="2", place=PLACE, now=0)
    verdict = policy.decide(shell, call, asking)
    assert (verdict.action, bool(verdict.network)) == ("ask", granted)
    # What a server's people set may refuse the call, and never takes or gives its network otherwise.
    for inner, left in (("ask", granted), ("refuse", False)):
        rules = Body(policy=({"name": "own", "tool": "shell", "action": inner},)).rules().policy
        layered = LayeredPolicy(policy, guild_rules=lambda guild, rules=rules: rules, reserved=lambda asked: None)
        assert bool(layered.decide(shell, call, asking).network) is left


def test_a_rule_set_in_chat_cannot_give_it() -> None:
    with pytest.raises(ValueError, match="'network', which only the file can have"):
        Body(policy=({**RULE},)).rules()


@pytest.mark.parametrize("action", ["allow", "refuse"])
def test_it_goes_with_asking_alone(action: str) -> None:
    with pytest.raises(ValueError, match="gives network without asking"):
        policy_rules([{**RULE, "tool": "http_fetch", "action": action}])


def test_a_tool_that_takes_none_cannot_be_given_it(tmp_path: Path) -> None:
    rules = policy_rules([{**RULE, "tool": "careful"}])
    with pytest.raises(SettingsError, match="may not give network to careful"):
        build_policy(rules, Commands(workspace=tmp_path).tools())


def test_examples_can_expect_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tries = [{"arguments": {"command": "x"}, "expect": "ask", "network": wanted} for wanted in (True, False)]
    rules = policy_rules([{**RULE, "example": tries}])
    settings = Settings(policy=rules).model_copy(update={"database": tmp_path / "d", "workspace": tmp_path})
    arguments = type("Chosen", (), {"json": False})()
    assert policy_command.test(settings, arguments) == 1
    told = capsys.readouterr().out
    assert "ok    package index, example 1: shell -> ask with network" in told
    assert "FAIL  package index, example 2" in told


def test_without_a_rule_no_sandbox_shares_the_network(tmp_path: Path) -> None:
    def words(network: bool) -> list[str]:
        return command_line(
            ["true"], bwrap="bwrap", workspace=tmp_path, python=None, limits=Sandbox().limits, data={}, status_fd=9,
            staged=False, network=network,
        )  # fmt: skip

    assert "--share-net" not in words(False)
    assert [word for word in words(True) if word not in words(False)] == ["--share-net", *["/etc/resolv.conf"] * 2]
