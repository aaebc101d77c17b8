"""The two addresses that make an ordinary bot talk to the twin, and the guard that keeps real tokens away.

Needs discord.py only, so that the bot does not pull in the playground's own dependencies.
"""

from __future__ import annotations

import ipaddress
import re
import secrets

import discord.gateway
import discord.http
import yarl
from discord.asset import Asset

from bot.errors import StartError

_TOKEN = re.compile(r"playground\.[A-Za-z0-9_-]{20,}")
"""No real token has this shape: those are three parts, the first of which is a number in base64."""


def new_playground_token() -> str:
    """A fresh token that only a twin accepts."""
    return "playground." + secrets.token_urlsafe(24)


def is_playground_token(token: str) -> bool:
    """Whether `token` is one that only a twin accepts."""
    return _TOKEN.fullmatch(token.strip()) is not None


def refuse_playground_token(token: str) -> None:
    """Raise `StartError` if `token` belongs to a playground: it must not be sent to Discord."""
    if is_playground_token(token):
        raise StartError(
            "DISCORD_TOKEN holds a playground token, which Discord does not know; "
            "unset it to open the playground, or set the token of your own application."
        )


def point_discord_at(url: str, token: str) -> None:
    """Make this process's discord.py talk to the twin at `url` (`http://127.0.0.1:PORT`) and to nobody else.

    To be called before a client connects. Interaction callbacks and follow-ups use the same `Route`; a
    resume uses the address which the twin's READY names; pictures come from the twin as well.

    Raises `StartError` for an address that is not this machine's loopback, and for any token that is not a
    playground's: a real token is never sent over plain HTTP.
    """
    base = _loopback(url)
    if not is_playground_token(token):
        raise StartError(
            "SIGNOFF_TWIN is set, but DISCORD_TOKEN is not a playground token; a real token is never given "
            "to a twin. Unset SIGNOFF_TWIN to run on Discord."
        )
    discord.http.Route.BASE = f"{base}/api/v10"
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = base.with_scheme("ws") / "gateway"
    Asset.BASE = f"{base}/cdn"


def _loopback(url: str) -> yarl.URL:
    try:
        parsed = yarl.URL(url)
        loopback = ipaddress.ip_address(parsed.host or "").is_loopback
    except ValueError:
        loopback = False
    if not loopback or parsed.scheme != "http" or parsed.explicit_port is None or parsed.user is not None:
        raise StartError(f"SIGNOFF_TWIN must be a loopback address such as http://127.0.0.1:8484, not {url!r}.")
    return parsed.origin()
