"""`http_fetch` with more than an address: what it takes, what really goes out, once, and what is known afterwards."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from aiohttp import web
from pydantic import ValidationError

from bot.deferral.grants import inexact
from bot.deferral.layers import LayeredPolicy
from bot.deferral.policy import RulePolicy
from bot.deferral.tool import Tool, ToolOutcome
from bot.errors import NothingRan
from bot.permits import Asking
from bot.policy_file import policy_rules
from bot.toolbox.request import BAD_PORTS, FetchArguments, more_than_a_read, sends
from bot.toolbox.web import make_http_fetch
from tests.toolbox.conftest import CALL
from tests.toolbox.served import Names, Server, unused_port

METHODS = ("POST", "PUT", "PATCH", "DELETE")


def local(**more: Any) -> Tool:
    return make_http_fetch(resolver=Names("127.0.0.1"), allow_private=True, **more)


async def send(url: str, method: str = "POST", *, tool: Tool | None = None, **more: Any) -> ToolOutcome:
    arguments = FetchArguments.model_validate({"url": url, "method": method, **more})
    return await (tool or local()).body(arguments, CALL)


@pytest.mark.parametrize("method", METHODS)
async def test_what_was_asked_for_goes_out_and_nothing_else(server: Server, method: str) -> None:
    seen: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        seen.append(await request.read())
        return web.Response(text="taken", status=201)

    headers = {"Content-Type": "application/json", "X-Key": "a b"}
    outcome = await send(server.handles("/things", take), method, headers=headers, body='{"ä": 1}')
    (request,) = server.requests
    assert (outcome.ok, outcome.text.splitlines()[0], seen) == (True, "status 201", ['{"ä": 1}'.encode()])
    assert request.method == method
    assert dict(request.headers) == {
        "Host": request.host, "User-Agent": "Signoff", "Accept": "text/html, text/*;q=0.9, */*;q=0.5",
        "Content-Type": "application/json", "X-Key": "a b", "Accept-Encoding": "identity", "Content-Length": "9",
        "Connection": "close",
    }  # fmt: skip


async def test_a_body_of_no_stated_type_is_text_and_none_at_all_is_not_sent(server: Server) -> None:
    await send(server.serves("/", text=""), body="x")
    await send(server.serves("/", text=""), "DELETE")
    assert [request.headers.get("Content-Type") for request in server.requests] == ["text/plain; charset=utf-8", None]
    assert [request.headers.get("Content-Length") for request in server.requests] == ["1", "0"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("target", ["/elsewhere", "https://other.example/", "http://169.254.169.254/"])
async def test_a_redirect_of_what_was_sent_is_reported_and_never_followed(
    server: Server, status: int, target: str
) -> None:
    server.serves("/elsewhere", text="no")
    outcome = await send(server.serves("/", status=status, headers={"Location": target}), body="secret")
    assert f"redirects to {target} (only a plain GET is followed" in outcome.text
    assert len(server.requests) == 1


async def test_a_get_with_headers_of_its_own_is_not_sent_on_either(server: Server) -> None:
    server.serves("/elsewhere", text="no")
    url = server.serves("/", status=302, headers={"Location": "/elsewhere"})
    assert "not followed" in (await send(url, "GET", headers={"Authorization": "Bearer x"})).text
    assert len(server.requests) == 1


@pytest.mark.parametrize("method", METHODS)
async def test_a_connection_that_ends_without_an_answer_leaves_it_unknown_and_is_not_tried_again(
    server: Server, method: str
) -> None:
    async def vanish(request: web.Request) -> web.Response:
        await request.read()
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    outcome = await send(server.handles("/", vanish), method, body="pay")
    assert (outcome.ok, outcome.unknown) == (False, True)
    assert outcome.text == "The request was sent, but the connection ended before an answer came."
    assert len(server.requests) == 1


async def test_an_answer_that_never_comes_leaves_it_unknown(server: Server) -> None:
    async def silent(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    outcome = await send(server.handles("/", silent), tool=local(timeout=0.3))
    assert outcome.unknown


@pytest.mark.parametrize(("status", "ok"), [(200, True), (500, False)])
async def test_an_answer_that_breaks_off_still_says_that_the_request_was_taken(
    server: Server, status: int, ok: bool
) -> None:
    async def half(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"half")
        assert request.transport is not None
        request.transport.close()
        return response

    outcome = await send(server.handles("/", half))
    assert (outcome.unknown, outcome.ok) == (False, ok)
    assert outcome.text.startswith(f"status {status}\n")
    assert "The request was taken; its answer broke off" in outcome.text


TRICKY = 'pass"word & \\ more'


@pytest.mark.parametrize(
    ("kind", "body", "sent"),
    [
        ("application/json", '{"key": "{{secret:web}}"}', json.dumps({"key": TRICKY})),
        ("application/vnd.api+json; charset=utf-8", '["{{secret:web}}"]', json.dumps([TRICKY])),
        ("application/x-www-form-urlencoded", "key={{secret:web}}&a=b", urlencode({"key": TRICKY, "a": "b"})),
        ("text/plain", "key: {{secret:web}}", f"key: {TRICKY}"),
    ],
)
async def test_a_secret_is_written_into_headers_and_body_as_they_take_it(
    server: Server, kind: str, body: str, sent: str
) -> None:
    seen: list[str] = []

    async def take(request: web.Request) -> web.Response:
        seen.append(await request.text())
        return web.Response()

    headers = {"content-type": kind, "Authorization": "Bearer {{secret:web}}"}
    arguments = FetchArguments(url=server.handles("/", take), method="POST", headers=headers, body=body)
    await local().body(arguments, replace(CALL, secrets={"web": TRICKY}))
    assert seen == [sent]
    assert server.requests[0].headers["Authorization"] == f"Bearer {TRICKY}"


async def test_a_secret_that_would_break_a_header_is_not_sent_and_not_named(server: Server) -> None:
    arguments = FetchArguments(url=server.serves("/"), method="POST", headers={"X-Key": "{{secret:web}}"})
    with pytest.raises(NothingRan) as raised:
        await local().body(arguments, replace(CALL, secrets={"web": "line one\nHost: evil"}))
    assert "evil" not in str(raised.value)
    assert server.requests == []


async def test_where_nobody_listens_nothing_was_sent(server: Server) -> None:
    server.port = unused_port()
    with pytest.raises(NothingRan, match="cannot be reached"):
        await send(server.serves("/", text=""), body="x")


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "::1"]
)
async def test_nothing_is_sent_to_a_name_that_leads_inside(server: Server, address: str) -> None:
    """S-A87 for what acts."""
    with pytest.raises(NothingRan, match="not on the public internet"):
        await send(server.serves("/", text=""), tool=make_http_fetch(resolver=Names(address)), body="x")
    assert server.requests == []


async def test_a_certificate_that_nobody_vouches_for_ends_it_before_anything_is_sent(server: Server) -> None:
    with pytest.raises(NothingRan, match="cannot be reached"):
        await send(server.serves("/", text="").replace("http:", "https:"), body="x")
    assert server.requests == []


@pytest.mark.parametrize(
    "headers",
    [{"Host": "other.example"}, {"content-length": "5"}, {"Transfer-Encoding": "chunked"}, {"CONNECTION": "upgrade"},
     {"Cookie": "session=1"}, {"Upgrade": "h2c"}, {"TE": "trailers"}, {"Expect": "100-continue"},
     {"Proxy-Authorization": "x"}, {"Sec-Fetch-Site": "none"}, {"X-HTTP-Method-Override": "DELETE"},
     {"Accept-Encoding": "br"}, {"Content-Encoding": "gzip"},
     {"X-A": "a\r\nHost: other.example"}, {"X-A": "a\nb"}, {"X-A": "a\0"}, {"X-A": "ü"}, {"X-A": ""}, {"X-A": " a"},
     {"X-A": "a\t"}, {"X-A": "a\x7f"}, {"X A": "a"}, {"X-A:": "a"}, {"": "a"}, {"X-A\r\nHost": "a"}, {"Ⅹ-A": "a"},
     {"X-A": "1", "x-a": "2"}, {"x" * 65: "a"}, {"X-A": "a" * 4001}, {f"X-{n}": "a" for n in range(17)}, {"X-A": 1}],
)  # fmt: skip
def test_a_header_that_could_be_read_in_two_ways_or_frames_the_message_is_refused(headers: dict[str, Any]) -> None:
    """T88: nothing is smuggled past the card."""
    with pytest.raises(ValidationError):
        FetchArguments.model_validate({"url": "https://x.example/", "method": "POST", "headers": headers})


@pytest.mark.parametrize(
    "arguments",
    [{"method": "post"}, {"method": "TRACE"}, {"method": "CONNECT"}, {"method": "POST / HTTP/1.1\r\nX:"},
     {"method": "GET", "body": "x"}, {"body": "x"}, {"method": "POST", "body": "a\0b"},
     {"method": "POST", "body": "x" * 100_001}, {"method": "POST", "body": {"a": 1}}, {"method": "POST", "data": "x"}],
)  # fmt: skip
def test_what_cannot_be_sent_as_it_stands_is_refused_before_a_card(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        FetchArguments.model_validate({"url": "https://x.example/", **arguments})


def test_only_what_says_something_is_kept_of_the_arguments() -> None:
    assert FetchArguments(url="https://x.example/").model_dump(mode="json") == {
        "url": "https://x.example/",
        "method": "GET",
    }


def test_the_card_is_told_method_place_headers_and_body_and_nothing_of_a_plain_read() -> None:
    """S-A35 on the way: the host is spelled as the network spells it."""
    arguments = FetchArguments(
        url="https://раypal.com:8443/a?b=c", method="PUT", headers={"X-Key": "1"}, body="ä" * 25_000
    )
    assert sends(arguments) == {
        "method": "PUT",
        "host": "xn--ypal-43d9g.com:8443",
        "path": "/a?b=c",
        "headers": ["X-Key", "Content-Type"],
        "bytes": 50_000,
        "sha256": hashlib.sha256("ä".encode() * 25_000).hexdigest(),
    }
    assert sends(FetchArguments(url="https://x.example/")) == {}


RULES = policy_rules(
    [
        {"name": "the shop", "tool": "http_fetch", "action": "allow", "where": {"url": {"host_in": ["shop.example"]}}},
        {"name": "everything", "tool": "*", "action": "allow"},
    ]
)
HERE = Asking(requester="1", place="discord/1/2", now=0)


@pytest.mark.parametrize(
    "more",
    [*({"method": method} for method in METHODS), {"method": "POST", "body": "x"}, {"headers": {"X-A": "1"}},
     {"method": "GET", "headers": {"Authorization": "x"}}, {"method": "get"}, {"method": None}, {"method": ["GET"]},
     {"body": "x"}, {"something": "else"}],
)  # fmt: skip
def test_no_rule_and_no_grant_lets_anything_but_a_plain_get_through(more: dict[str, Any]) -> None:
    """A rule for a host was written for reading; arguments that nobody knows count as more than that."""
    tool, arguments = make_http_fetch(), {"url": "https://shop.example/", **more}
    assert RULES is not None
    verdict = RulePolicy(RULES).decide(tool, arguments, HERE)
    assert verdict.action == "ask"
    assert "the shop would let it run, but it sends" in verdict.rule
    in_chat = LayeredPolicy(RulePolicy(()), guild_rules=lambda guild: RULES or (), reserved=lambda asked: None)
    assert in_chat.decide(tool, arguments, HERE).action == "ask"
    assert inexact(tool, arguments) is not None


def test_a_plain_get_is_let_through_by_the_same_rule() -> None:
    tool, arguments = make_http_fetch(), {"url": "https://shop.example/", "method": "GET"}
    assert RULES is not None
    assert RulePolicy(RULES).decide(tool, arguments, HERE).action == "allow"
    in_chat = LayeredPolicy(RulePolicy(()), guild_rules=lambda guild: RULES or (), reserved=lambda asked: None)
    assert in_chat.decide(tool, arguments, HERE).action == "allow"
    assert more_than_a_read({"url": "https://shop.example/"}) == ""
    assert inexact(tool, arguments) is None


def test_a_rule_can_refuse_a_method() -> None:
    rules = policy_rules(
        [
            {
                "name": "read only",
                "tool": "http_fetch",
                "action": "refuse",
                "where": {"method": {"one_of": list(METHODS)}},
            }
        ]
    )
    assert rules is not None
    refusing = RulePolicy(rules)
    tool = make_http_fetch()
    for method, action in (("GET", "ask"), ("DELETE", "refuse")):
        assert refusing.decide(tool, {"url": "https://x.example/", "method": method}, HERE).action == action


@pytest.mark.parametrize("port", sorted(BAD_PORTS))
def test_a_port_where_something_else_listens_is_refused(port: int) -> None:
    with pytest.raises(ValidationError, match="not one for web pages"):
        FetchArguments(url=f"http://x.example:{port}/", method="POST", body="HELO me")
