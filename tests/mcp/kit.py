"""What the tests of MCP share: a server process with a plan, and a house that knows it."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.outside import McpServer
from bot.policy_file import policy_rules
from bot.settings import Settings
from tests.house import OWNER, House, Script, open_house

SERVER = Path(__file__).with_name("server.py")
TEXT = {"type": "string"}


def tool(name: str, description: str = "Does it.", /, **properties: Any) -> dict[str, Any]:
    properties = properties or {"what": TEXT}
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": sorted(properties)},
    }


class Probe:
    """One server process's plan, and what it noted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "probe"
        self.folder.mkdir()

    def plan(self, *tools: dict[str, Any], **more: Any) -> None:
        part = self.folder / "plan.part"
        part.write_text(json.dumps({"tools": list(tools), **more}))
        part.replace(self.folder / "plan.json")

    def server(self, name: str = "probe", **more: Any) -> McpServer:
        return McpServer(name=name, command=sys.executable, args=("-I", str(SERVER), str(self.folder)), **more)

    def noted(self, key: str) -> list[Any]:
        path = self.folder / "asked.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [line[key] for line in lines if key in line]


def ruled(*servers: McpServer, rules: list[dict[str, Any]] | None = None) -> Settings:
    return Settings(
        approver_users=frozenset({OWNER.id}), mcp=servers, policy=policy_rules(rules) if rules is not None else None
    )


@asynccontextmanager
async def house_with(
    folder: Path, script: Script, *servers: McpServer, rules: list[dict[str, Any]] | None = None, **options: Any
) -> AsyncIterator[House]:
    async with open_house(folder, script, settings=ruled(*servers, rules=rules), **options) as house:
        yield house


class Heard(logging.Handler):
    """What the program said about its servers, as it says it."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.actions: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.actions.append(str(getattr(record, "action", "")))

    async def wait(self, action: str, times: int = 1) -> None:
        """Wait until something was said so many times."""
        async with asyncio.timeout(20):
            while self.actions.count(action) < times:
                await asyncio.sleep(0.01)
