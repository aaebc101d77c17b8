"""The two ways to an MCP server, each with an end to what it may send: its own process, or HTTP.

The SDK's own stdio transport keeps a line without an end until memory is gone, and hands on parts of our environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from bot.background import to_the_end
from bot.outside import McpServer

logger = logging.getLogger(__name__)

MOST_MESSAGE = 16 * 1024 * 1024
"""Bytes of one message; a server that sends more is cut off."""
_STDERR_KEPT = 2_000
_GRACE_SECONDS = 2.0
_PATH = "/usr/local/bin:/usr/bin:/bin"

Streams = tuple[Any, Any]
"""What the SDK's session reads from and writes to."""


@asynccontextmanager
async def wire(server: McpServer, *, environ: Mapping[str, str], ended: asyncio.Event) -> AsyncIterator[Streams]:
    """A connection; `ended` is set when the other side ends it. Raises OSError and what the SDK raises."""
    if not server.url:
        async with _process(server, environ=environ, ended=ended) as streams:
            yield streams
        return
    limits = _Capped(httpx2.AsyncHTTPTransport())
    async with (
        httpx2.AsyncClient(
            transport=limits, headers=dict(server.headers), trust_env=False, timeout=httpx2.Timeout(server.timeout)
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MOST_MESSAGE) as streams,
    ):
        yield streams


@asynccontextmanager
async def _process(server: McpServer, *, environ: Mapping[str, str], ended: asyncio.Event) -> AsyncIterator[Streams]:
    process = await asyncio.create_subprocess_exec(
        server.command,
        *server.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(server, environ),
        cwd=server.cwd,
        start_new_session=True,
        limit=MOST_MESSAGE,
    )
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise OSError("it has no pipes")
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    from_session, to_server = anyio.create_memory_object_stream[SessionMessage](0)
    reader = asyncio.ensure_future(_read(server.name, stdout, to_session))
    writer = asyncio.ensure_future(_write(stdin, to_server))
    errors = asyncio.ensure_future(_last_words(stderr))
    reader.add_done_callback(lambda task: ended.set())
    try:
        yield from_server, from_session
    finally:
        for task in (reader, writer):
            task.cancel()
        await to_the_end(_stop(process, stdin, stdout, [reader, writer]))  # halfway, it would leave the program behind
        errors.cancel()
        await to_the_end(_ended([errors]))
        said = "" if errors.cancelled() else errors.result()
        logger.info(
            "MCP server ended",
            extra={"action": "mcp_ended", "server": server.name, "exit": process.returncode, "said": said},
        )
        for stream in (to_session, from_server, from_session, to_server):
            stream.close()


def _environment(server: McpServer, environ: Mapping[str, str]) -> dict[str, str]:
    """Nothing of ours but what the operator named: our environment may hold the token and the keys."""
    plain = {
        "PATH": environ.get("PATH", _PATH),
        "LANG": environ.get("LANG", "C.UTF-8"),
        "HOME": environ.get("HOME", "/"),
    }
    passed = {name: environ[name] for name in server.pass_env if name in environ}
    return {**plain, **passed, **server.env}


async def _read(name: str, stdout: asyncio.StreamReader, to_session: Any) -> None:
    """Hand on line by line until the end, or until a line is longer than any message may be."""
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with to_session:
            while True:
                try:
                    line = await stdout.readline()
                except ValueError:
                    logger.warning("MCP server flooded", extra={"action": "mcp_flooded", "server": name})
                    return
                if not line:
                    return
                try:
                    message: SessionMessage | Exception = SessionMessage(jsonrpc_message_adapter.validate_json(line))
                except ValueError as error:
                    message = error  # noise on stdout is common; the session drops it
                await to_session.send(message)


async def _write(stdin: asyncio.StreamWriter, to_server: Any) -> None:
    with contextlib.suppress(OSError, anyio.ClosedResourceError):
        async with to_server:
            async for one in to_server:
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(text.encode() + b"\n")
                await stdin.drain()


async def _last_words(stderr: asyncio.StreamReader) -> str:
    """The end of what it wrote to stderr: most often the reason why it ended."""
    kept = b""
    while chunk := await stderr.read(65_536):
        kept = (kept + chunk)[-_STDERR_KEPT:]
    return kept.decode("utf-8", "replace")


async def _stop(
    process: asyncio.subprocess.Process,
    stdin: asyncio.StreamWriter,
    stdout: asyncio.StreamReader,
    tasks: list[asyncio.Future[None]],
) -> None:
    """Close its stdin, wait a moment, then end it and all it started (MCP lifecycle, shutdown over stdio)."""
    await _ended(tasks)
    stdin.close()
    drain = asyncio.ensure_future(_drain(stdout))  # asyncio sees no end of a process whose output nobody reads
    for kill in (False, True):
        if kill:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
    drain.cancel()
    await _ended([drain])


async def _drain(stdout: asyncio.StreamReader) -> None:
    while await stdout.read(65_536):
        pass


async def _ended(tasks: Iterable[asyncio.Future[Any]]) -> None:
    await asyncio.wait(tuple(tasks))


class _Capped(httpx2.AsyncBaseTransport):
    """Ends an answer that is longer than any message may be."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream) and not response.headers.get(
            "content-type", ""
        ).startswith("text/event-stream"):
            response.stream = _CappedStream(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_MESSAGE
        async for chunk in self._inner:
            left -= len(chunk)
            if left < 0:
                raise httpx2.ReadError("the answer is longer than any message may be")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
