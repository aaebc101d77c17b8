"""What `http_fetch` may be asked to send, and what a card says of it: strict, because all of it goes out as it stands.

A request that says more than an address (another method, a header, a body) can change things elsewhere, or carry
something out. So it always asks, whatever a rule for the host says: see `more_than_a_read`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote, quote_plus

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from yarl import URL

from bot.deferral.references import put_in
from bot.deferral.tool import Arguments
from bot.errors import NothingRan
from bot.secrets_file import NamedSecret
from bot.texts.text import say

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
MOST_BODY = 100_000
"""Characters of a body. It is on the card's file in full, and somebody is meant to read it."""
MOST_HEADERS = 16
DEFAULT_TYPE = "text/plain; charset=utf-8"

BAD_PORTS = frozenset(
    map(
        int,
        """
        0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119
        123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990
        993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
        """.split(),  # noqa: SIM905 - so many numbers are easier to read like this
    )
)
"""Where something listens that is no web server and may take a request for its own language (Fetch, 2.9)."""

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}", re.ASCII)
"""A token (RFC 9110, section 5.6.2)."""
_VALUE = re.compile(r"[!-~](?:[ !-~]*[!-~])?", re.ASCII)
"""Visible characters and inner blanks: no line break, nothing that two readers could decode differently."""
_NOT_YOURS = frozenset(
    """
    host content-length transfer-encoding content-encoding connection keep-alive te trailer upgrade expect cookie
    cookie2 set-cookie accept-encoding http2-settings x-http-method x-http-method-override x-method-override
    """.split()  # noqa: SIM905 - as above
)
"""What frames the message, what belongs to a browser's session, and what makes another method of the one shown."""
_NOT_YOURS_BEGIN = ("proxy-", "sec-")


def fetchable(url: str) -> str:
    """`url`, if it is one that can be fetched. Raises ValueError with a sentence."""
    try:
        parsed = URL(url)
        host, port = parsed.host, parsed.port
    except ValueError:
        raise ValueError("This is not a URL.") from None
    if parsed.scheme not in ("http", "https"):
        raise ValueError("Only http:// and https:// can be fetched.")
    if not host or port is None:
        raise ValueError("The URL names no host.")
    if port in BAD_PORTS:
        raise ValueError(f"Port {port} is not one for web pages.")
    if parsed.user is not None or parsed.password is not None:
        raise ValueError("The URL carries a user name or password; that is not allowed.")
    if not url.isprintable() or " " in url:
        raise ValueError("The URL contains blanks or unprintable characters; encode them.")
    return url


def sendable_headers(headers: dict[str, str]) -> dict[str, str]:
    """`headers`, if each can be sent as it stands. Raises ValueError with a sentence."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:80]!r} is not the name of a header.")
        if name.lower() in _NOT_YOURS or name.lower().startswith(_NOT_YOURS_BEGIN):
            raise ValueError(f"The header {name} is not yours to set.")
        if not _VALUE.fullmatch(value):
            raise ValueError(f"The value of the header {name} must be visible ASCII characters, in one line.")
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("A header is there twice.")
    return headers


def sendable_body(body: str) -> str:
    """`body`, if it is text that can be sent and stored. Raises ValueError with a sentence."""
    if "\0" in body:
        raise ValueError("The body contains a NUL character.")
    body.encode()  # UnicodeEncodeError, for half a character, is a ValueError
    return body


class FetchArguments(Arguments):
    """What `http_fetch` takes."""

    url: Annotated[str, Field(max_length=2000), AfterValidator(fetchable)]
    method: Method = "GET"
    headers: Annotated[
        dict[str, Annotated[str, Field(max_length=4000)]],
        Field(max_length=MOST_HEADERS),
        AfterValidator(sendable_headers),
    ] = {}
    body: Annotated[str, Field(max_length=MOST_BODY), AfterValidator(sendable_body)] = ""

    @model_validator(mode="after")
    def _nothing_in_a_read(self) -> FetchArguments:
        if self.body and self.method == "GET":
            raise ValueError("A GET has no body; use another method, or the query.")
        return self

    @model_serializer(mode="wrap")
    def _short(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what is empty: a card has nothing to show of it. The method always stays, for rules to look at."""
        whole: dict[str, Any] = handler(self)
        return {name: value for name, value in whole.items() if value or name in ("url", "method")}


def more_than_a_read(arguments: Mapping[str, Any]) -> str:
    """Why the call always asks, as half a sentence about it; '' for a plain GET. What is unclear is no plain GET."""
    method = arguments.get("method", "GET")
    if method != "GET":
        return say("rules.sends_with", method=str(method)[:20])
    if arguments.keys() - {"url", "method"} and any(
        arguments.get(name) for name in arguments.keys() - {"url", "method"}
    ):
        return say("rules.sends_more")
    return ""


def sends(arguments: FetchArguments) -> dict[str, Any]:
    """What the card says of what would go out; {} for a plain GET, whose address says it all."""
    if not more_than_a_read(arguments.model_dump()):
        return {}
    url = URL(arguments.url)
    raw = arguments.body.encode()
    return {
        "method": arguments.method,
        "host": f"{url.raw_host}:{url.port}",
        "path": url.raw_path_qs,
        "headers": list(_with_type(arguments)),
        "bytes": len(raw),
        "sha256": hashlib.sha256(raw).hexdigest(),
    }


def filled(arguments: FetchArguments, secrets: Mapping[str, str]) -> tuple[URL, dict[str, str], bytes]:
    """Address, headers and body as they go out, with the secrets in them. Raises `NothingRan`, never with a value."""
    headers = put_in(_with_type(arguments), secrets)
    try:
        sendable_headers(headers)
    except ValueError:
        raise NothingRan("a header cannot hold the value of its secret") from None
    kind = headers.get(_type_of(headers) or "", "").partition(";")[0].strip().lower()
    spell = _in_json if kind == "application/json" or kind.endswith("+json") else str
    body = put_in(arguments.body, secrets, quote_plus if kind == "application/x-www-form-urlencoded" else spell)
    return URL(put_in(arguments.url, secrets, _in_url)), headers, body.encode()


def secret_problem(arguments: FetchArguments, secrets: Mapping[str, NamedSecret]) -> str:
    """A secret goes to a host that it is for. In the host's name it could not stand: that takes no braces."""
    url = URL(arguments.url)
    for name, secret in secrets.items():
        if not secret.goes_to(url.scheme, url.host or "", url.port or 0):
            where = ", ".join(secret.hosts) or "no host"
            return f"The secret {name} may be sent to {where} only (a bare host means https)."
    return ""


def _with_type(arguments: FetchArguments) -> dict[str, str]:
    headers = dict(arguments.headers)
    if arguments.body and _type_of(headers) is None:
        headers["Content-Type"] = DEFAULT_TYPE
    return headers


def _type_of(headers: Mapping[str, str]) -> str | None:
    return next((name for name in headers if name.lower() == "content-type"), None)


def _in_url(value: str) -> str:
    return quote(value, safe="")


def _in_json(value: str) -> str:
    """So that it stays one value there."""
    return json.dumps(value)[1:-1]
