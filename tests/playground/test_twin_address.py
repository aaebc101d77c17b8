"""A real token never reaches a twin, and a playground token never reaches Discord."""

from __future__ import annotations

import discord.gateway
import discord.http
import pytest
from discord.asset import Asset

from bot.errors import StartError
from bot.playground.twin_address import (
    is_playground_token,
    new_playground_token,
    point_discord_at,
    refuse_playground_token,
)

REAL_SHAPE = "MTE4NzU0MzIxMDk4NzY1NDMyMQ.GxYz12.abcdefghijklmnopqrstuvwxyz0123456789AB"


@pytest.fixture(autouse=True)
def _addresses_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discord.http.Route, "BASE", discord.http.Route.BASE)
    monkeypatch.setattr(
        discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY
    )
    monkeypatch.setattr(Asset, "BASE", Asset.BASE)


def test_a_playground_token_leads_every_address_to_the_twin() -> None:
    point_discord_at("http://127.0.0.1:8484", new_playground_token())
    assert discord.http.Route("GET", "/users/@me").url == "http://127.0.0.1:8484/api/v10/users/@me"
    assert str(discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY) == "ws://127.0.0.1:8484/gateway"
    assert Asset.BASE.startswith("http://127.0.0.1:8484/")


def test_a_real_token_is_refused_and_changes_no_address() -> None:
    before = discord.http.Route.BASE
    with pytest.raises(StartError, match="DISCORD_TOKEN is not a playground token"):
        point_discord_at("http://127.0.0.1:8484", REAL_SHAPE)
    assert before == discord.http.Route.BASE


@pytest.mark.parametrize(
    "url",
    [
        "http://discord.com:80",
        "http://localhost:8484",
        "https://127.0.0.1:8484",
        "http://127.0.0.1",
        "http://10.0.0.1:8484",
        "http://127.0.0.1.example.org:8484",
        "http://user@127.0.0.1:8484",
        "127.0.0.1:8484",
        "",
    ],
)
def test_only_a_loopback_address_is_taken_for_a_twin(url: str) -> None:
    with pytest.raises(StartError, match="SIGNOFF_TWIN must be a loopback address"):
        point_discord_at(url, new_playground_token())


def test_a_playground_token_is_not_sent_to_discord() -> None:
    with pytest.raises(StartError, match="playground token"):
        refuse_playground_token(new_playground_token())
    refuse_playground_token(REAL_SHAPE)


def test_no_two_playground_tokens_are_alike_and_none_looks_real() -> None:
    tokens = {new_playground_token() for _ in range(20)}
    assert len(tokens) == 20
    assert all(is_playground_token(token) for token in tokens)
    assert not is_playground_token(REAL_SHAPE)
