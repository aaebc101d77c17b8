"""Reads attached files from Discord piece by piece: how large one is shows while it comes, whatever was said of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import aiohttp
import discord

Download = Callable[[discord.Attachment], AsyncGenerator[bytes, None]]
"""Gives a file's bytes in pieces. Raises what a request to Discord may raise."""

_PIECE = 65_536
_SILENT_SECONDS = 15.0
"""So long may nothing come."""


def from_discord(proxy: str | None) -> Download:
    """Downloads by the address in the event, which is Discord's own: no redirect is followed, nothing is unpacked."""

    async def download(file: discord.Attachment) -> AsyncGenerator[bytes, None]:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_SILENT_SECONDS, sock_read=_SILENT_SECONDS)
        headers = {"Accept-Encoding": "identity"}
        async with (
            aiohttp.ClientSession(auto_decompress=False, timeout=timeout, headers=headers) as session,
            session.get(file.url, proxy=proxy, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise aiohttp.ClientResponseError(response.request_info, (), status=response.status)
            async for piece in response.content.iter_chunked(_PIECE):
                yield piece

    return download
