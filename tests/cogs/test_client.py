"""The connection: least intents, commands synced when they changed, a start that does not give up (issue 2, 2)."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
import pytest
import yarl
from aiohttp import web

from bot.errors import StartError
from cogs.client import hopeless, least_intents, owners_of, run_client
from tests.cogs.guild import open_guild
from tests.house import Script


def test_no_privileged_intent_is_asked_for() -> None:
    intents = least_intents()
    assert not any((intents.message_content, intents.members, intents.presences))
    assert {name for name, on in intents if on} == {"guilds", "guild_messages", "dm_messages"}


async def test_commands_are_synced_once_and_not_again(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        assert len(here.requests("PUT", "/commands")) == 1
        await here.restart()
        assert len(here.requests("PUT", "/commands")) == 1
        assert (await here.ben.slash(here.channel, "ask", prompt="hello")).acknowledged


async def test_commands_are_synced_again_when_discord_has_others(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        await here.env.bot.http.bulk_upsert_global_commands(here.env.bot.application_id, [])
        await here.restart()
        assert (await here.ben.slash(here.channel, "ask", prompt="hello")).acknowledged


async def test_a_failed_sync_does_not_stop_the_bot(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        await here.app.remember("discord commands", "older")
        here.env.inject_error("PUT", "/applications/*/commands", status=403, code=50001)
        await here.restart()
        assert "commands not synced" in caplog.text
        await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> hello")
        await here.settle()
        assert here.texts[-1] == "Hello."


async def test_slash_commands_are_for_servers_and_direct_messages_only(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        [commands] = here.requests("PUT", "/commands")
        assert {command["name"] for command in commands} >= {"ask", "job", "approvals", "help"}
        for command in commands:
            assert command["integration_types"] == [0]
            assert command["contexts"] in ([0], [0, 1])  # what is about a server has no place elsewhere


async def test_the_proxy_reaches_discord_py(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        from cogs.client import SignoffClient

        client = SignoffClient(
            engine=here.app.engine,
            background=here.app.background,
            remember=here.app.remember,
            recall=here.app.recall,
            upkeep=here.app.upkeep,
            proxy="http://proxy.example:3128",
        )
        assert client.http.proxy == "http://proxy.example:3128"
        assert client.allowed_mentions is not None
        assert client.allowed_mentions.to_dict()["parse"] == []


def test_the_owner_decides_when_nobody_is_configured() -> None:
    application: Any = SimpleNamespace(team=None, owner=SimpleNamespace(id=5))
    assert owners_of(application) == {"5"}


def test_of_a_team_only_those_decide_who_joined_and_may_change_it() -> None:
    accepted, invited = discord.TeamMembershipState.accepted, discord.TeamMembershipState.invited
    roles = discord.TeamMemberRole
    members = [
        SimpleNamespace(id=1, membership_state=accepted, role=roles.admin),
        SimpleNamespace(id=2, membership_state=accepted, role=roles.developer),
        SimpleNamespace(id=3, membership_state=accepted, role=roles.read_only),
        SimpleNamespace(id=4, membership_state=invited, role=roles.admin),
    ]
    application: Any = SimpleNamespace(team=SimpleNamespace(members=members), owner=SimpleNamespace(id=9))
    assert owners_of(application) == {"1", "2"}


def answer(body: dict[str, Any], *, status: int = 200) -> web.Response:
    """JSON under exactly the content type that discord.py reads."""
    return web.Response(body=json.dumps(body).encode(), content_type="application/json", status=status)


class Enough(Exception):
    """The test has seen enough tries."""


class Tries:
    """A sleep that only counts."""

    def __init__(self, most: int) -> None:
        self.slept: list[float] = []
        self._most = most

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) == self._most:
            raise Enough


@asynccontextmanager
async def discord_at_home(monkeypatch: pytest.MonkeyPatch, me: Callable[[], web.Response]) -> AsyncIterator[None]:
    """A REST server on loopback that knows one bot, and a gateway address where nobody listens."""

    async def users_me(request: web.Request) -> web.Response:
        return me()

    async def application(request: web.Request) -> web.Response:
        user = {"id": "1", "username": "signoff", "discriminator": "0", "avatar": None}
        return answer(
            {
                "id": "1", "name": "signoff", "description": "", "icon": None, "bot_public": False,
                "bot_require_code_grant": False, "verify_key": "", "owner": user, "flags": 0, "summary": "",
                "interactions_endpoint_url": None,
            }
        )  # fmt: skip

    app = web.Application()
    app.router.add_get("/api/v10/users/@me", users_me)
    app.router.add_get("/api/v10/oauth2/applications/@me", application)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = free.getsockname()[1]
    monkeypatch.setattr(discord.http.Route, "BASE", f"http://{host}:{port}/api/v10")
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(f"ws://127.0.0.1:{nobody}"))
    try:
        yield
    finally:
        await runner.cleanup()


def known() -> web.Response:
    return answer({"id": "1", "username": "signoff", "discriminator": "0", "avatar": None, "bot": True})


async def test_a_failed_first_connection_is_tried_again_with_growing_patience(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """discord.py 2.7.1 dies there with an AttributeError."""
    tries = Tries(3)
    async with discord_at_home(monkeypatch, known):
        with pytest.raises(Enough):
            await run_client(discord.Client(intents=discord.Intents.none()), "token", sleep=tries)
    assert tries.slept == [1, 2, 4]
    assert "Discord cannot be reached" in caplog.text


async def test_an_unreachable_login_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = Tries(3)
    async with discord_at_home(monkeypatch, lambda: answer({}, status=503)):
        with pytest.raises(Enough):
            await run_client(discord.Client(intents=discord.Intents.none()), "token", sleep=tries)
    assert len(tries.slept) == 3


async def test_a_login_that_works_at_last_goes_on_to_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([answer({}, status=503), known()])
    tries = Tries(2)
    client = discord.Client(intents=discord.Intents.none())
    async with discord_at_home(monkeypatch, lambda: next(answers)):
        with pytest.raises(Enough):
            await run_client(client, "token", sleep=tries)
    assert client.application_id == 1


async def test_a_wrong_token_is_one_sentence_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    async with discord_at_home(monkeypatch, lambda: answer({"message": "401", "code": 0}, status=401)):
        with pytest.raises(StartError, match=r"DISCORD_TOKEN.*Reset Token"):
            await run_client(discord.Client(intents=discord.Intents.none()), "token")


async def test_a_forbidden_application_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    async with discord_at_home(monkeypatch, lambda: answer({"message": "no", "code": 0}, status=403)):
        with pytest.raises(StartError, match="403"):
            await run_client(discord.Client(intents=discord.Intents.none()), "token")


def test_a_refused_intent_is_one_sentence_with_the_fix() -> None:
    sentence = hopeless(discord.PrivilegedIntentsRequired(None))
    assert sentence is not None
    assert "Bot" in sentence


@pytest.mark.parametrize("error", [OSError(), aiohttp.ClientError(), TimeoutError(), discord.GatewayNotFound()])
def test_everything_else_may_pass(error: Exception) -> None:
    assert hopeless(error) is None


async def test_an_error_of_ours_is_not_mistaken_for_a_lost_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(discord.Client):
        async def setup_hook(self) -> None:
            raise AttributeError("a typo of ours")

    async with discord_at_home(monkeypatch, known):
        with pytest.raises(AttributeError, match="typo"):
            await run_client(Broken(intents=discord.Intents.none()), "token", sleep=Tries(1))
