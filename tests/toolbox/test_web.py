"""`http_fetch` against a real server on this machine, and against names that lead where they must not."""

from __future__ import annotations

import asyncio
import gzip
import resource
import zlib
from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError

from bot.deferral.tool import Tool, ToolOutcome
from bot.errors import NothingRan
from bot.toolbox import addresses
from bot.toolbox.request import FetchArguments
from bot.toolbox.web import MOST_CHARACTERS, UNTRUSTED, make_http_fetch
from tests.toolbox.conftest import CALL
from tests.toolbox.served import Names, Server, unused_port


def local(**more: Any) -> Tool:
    """The tool, able to reach the server on this machine under any name."""
    return make_http_fetch(resolver=Names("127.0.0.1"), allow_private=True, **more)


async def fetch(url: str, tool: Tool | None = None) -> ToolOutcome:
    return await (tool or local()).body(FetchArguments(url=url), CALL)


async def test_a_page_comes_as_text_with_its_address_and_a_warning(server: Server) -> None:
    url = server.serves("/", text="<p>one <b>two</b></p><script>x</script>", content_type="text/html")
    outcome = await fetch(url)
    assert outcome.text == f"status 200\naddress: {url}\ntype: text/html\n{UNTRUSTED}\n\none two"
    assert outcome.ok


async def test_a_missing_page_is_a_failure_that_is_still_shown(server: Server) -> None:
    outcome = await fetch(server.serves("/", text="no such page", status=404))
    assert outcome.text.startswith("status 404")
    assert outcome.text.endswith("no such page")
    assert not outcome.ok


async def test_only_what_a_get_needs_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await fetch(server.serves("/x", text="", headers={"Set-Cookie": "a=b"}))
    (request,) = server.requests
    assert request.method == "GET"
    assert set(request.headers) == {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
     "64:ff9b::a9fe:a9fe", "2002:7f00:1::"],
)  # fmt: skip
async def test_a_name_that_leads_inside_is_never_connected_to(server: Server, address: str) -> None:
    """S-A87: refused at connect, whatever the name looked like."""
    tool = make_http_fetch(resolver=Names(address))
    with pytest.raises(NothingRan, match="not on the public internet"):
        await fetch(server.serves("/", text="secret"), tool)
    assert server.requests == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "0.0.0.0"]
)
async def test_an_address_of_this_machine_is_never_connected_to(server: Server, host: str) -> None:
    server.serves("/", text="secret")
    with pytest.raises(NothingRan, match="not on the public internet"):
        await fetch(f"http://{host}:{server.port}/", make_http_fetch())
    assert server.requests == []


@pytest.mark.parametrize("host", ["2130706433", "127.1", "0x7f.1", "0177.0.0.1", "localhost.", "127.0.0.1%2f.example",
     "①②⑦.⓪.⓪.①", "１２７.0.0.1", "127。0。0。1", "localhost。", "ⓛocalhost", "[::127.0.0.1]", "[64:ff9b::7f00:1]"],
)  # fmt: skip
async def test_an_address_in_disguise_is_never_connected_to(server: Server, host: str) -> None:
    server.serves("/", text="secret")
    try:
        outcome = await fetch(f"http://{host}:{server.port}/", make_http_fetch())
    except (NothingRan, ValidationError):
        pass
    else:
        assert not outcome.ok
    assert server.requests == []


async def test_a_name_is_resolved_once_per_request(server: Server) -> None:
    """Otherwise it could pass the check and then lead elsewhere."""
    names = Names("127.0.0.1")
    await fetch(server.serves("/", text="x"), make_http_fetch(resolver=names, allow_private=True))
    assert names.asked == ["page.example"]


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/latest/meta-data/", "https://other.example/", "//other.example/x", "file:///etc/passwd",
     "http://page.example:1/", "http://user:pw@page.example/", "http://[/"],
)  # fmt: skip
async def test_a_redirect_to_another_place_is_reported_and_not_followed(server: Server, target: str) -> None:
    """S-A87 by way of a redirect."""
    outcome = await fetch(server.serves("/", status=302, headers={"Location": target}))
    assert "redirects to " in outcome.text
    assert target.split("/")[2] in outcome.text
    assert "not followed" in outcome.text
    assert len(server.requests) == 1


async def test_a_redirect_on_the_same_host_is_followed(server: Server) -> None:
    url = server.serves("/old", status=301, headers={"Location": "new?x=1"})
    server.serves("/new", text="here")
    outcome = await fetch(url)
    assert outcome.text.endswith("here")
    assert "/new?x=1\n" in outcome.text
    assert [request.path for request in server.requests] == ["/old", "/new"]


async def test_a_name_that_changes_its_mind_between_two_hops_is_not_followed_inside(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: each hop is resolved anew, and what counts is the address that it would connect to."""
    monkeypatch.setattr(addresses, "is_public", lambda address: str(address) == "127.0.0.1")
    names = Names("127.0.0.1")

    async def away(request: web.Request) -> web.Response:
        names.addresses = ("127.0.0.2",)
        raise web.HTTPFound("/secret")

    server.serves("/secret", text="secret")
    outcome = await fetch(server.handles("/", away), make_http_fetch(resolver=names))
    assert "leads to 127.0.0.2, which is not on the public internet" in outcome.text
    assert (outcome.ok, names.asked, len(server.requests)) == (False, ["page.example"] * 2, 1)


async def test_of_several_addresses_only_the_public_one_is_connected_to(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "is_public", lambda address: str(address) == "127.0.0.1")
    tool = make_http_fetch(resolver=Names("10.0.0.1", "169.254.169.254", "127.0.0.1"))
    assert (await fetch(server.serves("/", text="here"), tool)).text.endswith("here")


async def test_redirects_without_an_end_are_given_up(server: Server) -> None:
    outcome = await fetch(server.serves("/", status=302, headers={"Location": "/"}))
    assert "redirects more than" in outcome.text
    assert not outcome.ok
    assert len(server.requests) < 10


async def test_a_body_without_an_end_is_cut(server: Server) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        try:
            while True:
                await response.write(b"0123456789" * 1000)
        except ConnectionError:
            return response

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = await fetch(server.handles("/", endless))
    assert outcome.text.endswith("[... cut here ...]")
    assert len(outcome.text) < MOST_CHARACTERS + 1000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_body_that_swells_when_unpacked_is_cut(server: Server, encoding: str) -> None:
    """S-A82's kind: real bytes count, headers do not."""
    zeros = b"0" * 200_000_000
    packed = gzip.compress(zeros, 9) if encoding == "gzip" else zlib.compress(zeros, 9)
    del zeros
    url = server.serves("/", body=packed, headers={"Content-Encoding": encoding, "Content-Type": "text/plain"})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = await fetch(url)
    assert outcome.text.endswith("0\n[... cut here ...]")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024


async def test_a_packed_body_that_was_not_asked_for_is_read_all_the_same(server: Server) -> None:
    packed = gzip.compress(b"hello")
    outcome = await fetch(
        server.serves("/", body=packed, headers={"Content-Encoding": "gzip"}, content_type="text/plain")
    )
    assert outcome.text.endswith("\n\nhello")


@pytest.mark.parametrize(
    ("encoding", "body"), [("br", b"x"), ("gzip, gzip", b"x"), ("gzip", b"this is not packed"), ("zstd", b"x")]
)
async def test_a_body_that_cannot_be_unpacked_is_a_failure(server: Server, encoding: str, body: bytes) -> None:
    url = server.serves("/", body=body, headers={"Content-Encoding": encoding, "Content-Type": "text/plain"})
    outcome = await fetch(url)
    assert "could not be fetched" in outcome.text
    assert not outcome.ok


async def test_all_of_a_fetch_has_one_time_limit(server: Server) -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"begun")
        await asyncio.Event().wait()
        return response

    outcome = await fetch(server.handles("/", slow), local(timeout=0.2))
    assert outcome.text.endswith("did not answer completely within 0.2 s.")
    assert not outcome.ok


async def test_a_server_that_is_not_there_is_a_failure_in_words(server: Server) -> None:
    server.port = unused_port()
    outcome = await fetch(server.serves("/", text=""))
    assert "could not be fetched" in outcome.text
    assert not outcome.ok


async def test_what_is_not_text_is_not_shown(server: Server) -> None:
    outcome = await fetch(server.serves("/", body=b"\x89PNG", content_type="image/png"))
    assert outcome.text.endswith("type: image/png\n(not text: 4 bytes, not shown)")


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/plain; charset=iso-8859-1", "é".encode("latin-1"), "é"),
        ("text/html", b'<meta charset="windows-1252"><p>\x80', "€"),
        ("text/plain; charset=nonsense", "é".encode(), "é"),
        ("text/plain; charset=punycode", b"Mnchen-3ya", "Mnchen-3ya"),
        ("text/plain; charset=bz2", b"x\0y", "x\ufffdy"),
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("application/atom+xml", b"<a/>", "<a/>"),
    ],
)
async def test_texts_are_read_in_their_encoding(server: Server, kind: str, body: bytes, text: str) -> None:
    outcome = await fetch(server.serves("/", body=body, headers={"Content-Type": kind}))
    assert outcome.text.endswith(f"\n\n{text}")


@pytest.mark.parametrize(
    "url",
    ["ftp://x.example/", "file:///etc/passwd", "javascript:alert(1)", "x.example", "http://", "http:///x", "",
     "http://user@x.example/", "http://u:p@x.example/", "http://x.example/a b", "http://x.example/\n", "http://[::1",
     "http://x.example:99999/", "http://x.example:25/",
     "http://x.example:0/", "https://x.example:6667/", "http://x.example/" + "a" * 2000],
)  # fmt: skip
def test_what_is_no_web_address_is_refused_before_a_card(url: str) -> None:
    with pytest.raises(ValidationError):
        FetchArguments(url=url)


def test_it_asks_somebody() -> None:
    assert make_http_fetch().gated
