"""`calculate` with the real interpreter: what it computes, what it cannot reach, and where it is stopped.

The probes are those of the research, run anew: seven ways out and eleven ways to use everything up (section 3 there).
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.deferral.policy import RulePolicy, rule_problems
from bot.deferral.tool import Tool, ToolOutcome
from bot.errors import NothingRan
from bot.permits import Asking
from bot.policy_file import policy_rules
from bot.toolbox import calculate
from bot.toolbox.calculate import MIB, Bounds, CalculateArguments, interpreter, make_calculate
from bot.toolbox.sandbox import Sandbox
from bot.toolbox.shell import make_shell
from tests.toolbox.conftest import CALL, Mark

pytestmark = pytest.mark.skipif(interpreter() is None, reason="the interpreter is not installed")
SHORT = Bounds(seconds=0.3, memory=16 * MIB, output=200_000)


async def run(code: str, tool: Tool | None = None) -> ToolOutcome:
    return await (tool or make_calculate()).body(CalculateArguments(code=code), CALL)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("print(sum(range(1, 101)))", "5050"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("x = 6\nx * 7", "42"),
        ("print('a', end='')\n5", "a\n5"),
        ("None", "(no output)"),
        ("'1.5ms ❯ not a time'", "1.5ms ❯ not a time"),
        ("import math, json\njson.dumps({'pi': round(math.pi, 3)})", '{"pi": 3.142}'),
        ("from datetime import date\n(date(2026, 12, 24) - date(2026, 12, 1)).days", "23"),
        ("import sys\nprint('to stderr', file=sys.stderr)\n1", "to stderr\n1"),
    ],
)
async def test_what_is_printed_and_what_the_last_line_comes_to_is_shown(code: str, text: str) -> None:
    outcome = await run(code)
    assert (outcome.ok, outcome.text) == (True, text)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("1 / 0", 'File "program.py", line 1'),
        ("1 / 0", "ZeroDivisionError"),
        ("x = = 1", "SyntaxError"),
        ("print('before')\nnonsense", "before\n"),
    ],
)
async def test_a_mistake_is_a_failure_in_pythons_words(code: str, says: str) -> None:
    outcome = await run(code)
    assert not outcome.ok
    assert says in outcome.text


@pytest.mark.parametrize(
    "code",
    ["import numpy", "import statistics", "open('notes.txt')", "import os\nos.listdir('.')", "input()",
     "def numbers():\n    yield 1", "import sys\nsys.exit()", "import os\nos.environ['HOME']"],
)  # fmt: skip
async def test_what_it_does_not_have_is_told_with_where_it_is(code: str) -> None:
    outcome = await run(code)
    assert not outcome.ok
    assert outcome.text.endswith("what needs it is for execute_code, which a person has to approve.")


async def test_a_mistake_of_the_program_is_not_taken_for_that() -> None:
    assert "execute_code" not in (await run("[].nothing")).text


ESCAPES = {
    "a file is read": "print(open('/etc/passwd').read())",
    "a file is found by its path": "from pathlib import Path\nprint(Path('/etc/passwd').read_text())",
    "the environment is read": "import os\nprint(os.environ)",
    "a variable is read": "import os\nprint(os.getenv('DISCORD_TOKEN'))",
    "a socket is made": "import socket\nsocket.create_connection(('127.0.0.1', 80))",
    "a program is started": "import subprocess\nsubprocess.run(['id'])",
    "a shell is started": "import os\nos.system('id')",
    "the machine's library is loaded": "import ctypes\nctypes.CDLL(None)",
    "classes are walked": "print(().__class__.__bases__[0].__subclasses__())",
    "a frame is walked": "(lambda: 0).__globals__['__builtins__']",
    "a module is imported by its name": "__import__('os').system('id')",
    "bytes are unpickled": "import pickle\npickle.loads(b'cos\\nsystem\\n(S\"id\"\\ntR.')",
    "a file is written": "with open('/tmp/escaped', 'w') as f:\n    f.write('x')",
    "a folder is listed": "import os\nprint(os.listdir('/'))",
    "something is asked of the person": "print(input('token? '))",
}


@pytest.mark.parametrize("code", ESCAPES.values(), ids=ESCAPES)
async def test_nothing_outside_can_be_reached(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "a-token-that-nobody-may-see")
    outcome = await run(code)
    assert "root:" not in outcome.text
    assert "uid=" not in outcome.text
    assert "a-token" not in outcome.text
    assert not outcome.ok
    assert not Path("/tmp/escaped").exists()


GREEDY = {
    "a loop without an end": "while True:\n    pass",
    "a list without an end": "x = []\nwhile True:\n    x.append('a' * 100_000)",
    "a long text at once": "'a' * 10 ** 10",
    "a large number": "10 ** 10 ** 8",
    "a number that grows": "x = 3\nwhile True:\n    x = x * x",
    "calls without an end": "def f():\n    return f()\nf()",
    "a deep expression": "(" * 5000 + "1" + ")" * 5000,
    "a deep list": "x = []\nfor i in range(10 ** 7):\n    x = [x]\nprint(x)",
    "a dictionary that grows": "d = {}\ni = 0\nwhile True:\n    d[i] = i\n    i += 1",
    "a list of a list": "x = [0] * 10 ** 9",
    "a sum over everything": "sum(range(10 ** 12))",
    "a sort that grows": "x = [3, 1, 2]\nwhile True:\n    x = sorted(x + x)",
    "text without an end": "while True:\n    print('x' * 10_000)",
    "a text that doubles": "x = 'ab'\nwhile True:\n    x = x.replace('a', 'aa')",
    "a number told in digits": "print(7 ** 3_000_000)",
}


LONG = ("a number that grows", "a number told in digits")
"""One step of these takes longer than the limit, and nothing stops it before its end."""


@pytest.mark.parametrize(
    "code",
    [pytest.param(code, id=name, marks=pytest.mark.slow if name in LONG else ()) for name, code in GREEDY.items()],
)
async def test_nothing_can_be_used_up(code: str) -> None:
    outcome = await run(code, make_calculate(bounds=SHORT))
    assert not outcome.ok
    assert len(outcome.text) < 2 * SHORT.kept_output + 1000


async def test_a_pattern_that_takes_forever_elsewhere_takes_no_longer_than_anything_else() -> None:
    code = "import re\nprint(re.match(r'(a+)+$', 'a' * 60 + 'b'))"
    assert len((await run(code, make_calculate(bounds=SHORT))).text) < 1000


async def test_nobody_sleeps_in_it() -> None:
    assert (await run("import time\ntime.sleep(3600)\nprint('awake')", make_calculate(bounds=SHORT))).text == "awake"


async def test_the_process_gets_no_variable_of_the_bot_and_ends_when_it_is_cancelled(
    mark: Mark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "a-token-that-nobody-may-see")
    tool = make_calculate(bounds=Bounds(seconds=float(mark.seconds)))
    running = asyncio.ensure_future(run("while True:\n    pass", tool))
    pid = await at_work(mark)
    assert Path(f"/proc/{pid}/environ").read_bytes() == b"LANG=C.UTF-8\0"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert mark.alive() == []


async def at_work(mark: Mark) -> int:
    """Wait until the interpreter itself runs, and not yet what starts it."""
    async with asyncio.timeout(30):
        while True:
            for pid in mark.alive():
                if Path(f"/proc/{pid}/comm").read_text() == "monty\n":
                    return pid
            await asyncio.sleep(0.01)


@pytest.mark.wire
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="takes prctl(2)")
async def test_no_process_of_it_outlives_a_bot_that_is_killed(mark: Mark) -> None:
    program = (
        "import asyncio\nfrom bot.toolbox.calculate import *\nfrom tests.toolbox.conftest import CALL\n"
        f"tool = make_calculate(bounds=Bounds(seconds={mark.seconds}.0))\n"
        "asyncio.run(tool.body(CalculateArguments(code='while True: pass'), CALL))\n"
    )
    bot = subprocess.Popen([sys.executable, "-c", program], env=dict(os.environ), cwd=Path(__file__).parents[2])
    try:
        await at_work(mark)
    finally:
        bot.send_signal(signal.SIGKILL)
        bot.wait()
    assert mark.all_end_within(30)


async def test_one_that_breaks_breaks_alone(tmp_path: Path) -> None:
    broken = tmp_path / "monty"
    broken.write_text("#!/bin/sh\necho half\nkill -SEGV $$\n")
    broken.chmod(0o755)
    outcome = await run("1", make_calculate(find=lambda: broken))
    assert (outcome.ok, outcome.text) == (False, "half\nThe calculator broke (signal 11).")
    assert (await run("1")).ok


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="takes RLIMIT_CPU")
async def test_one_that_heeds_no_limit_is_ended_by_the_kernel(tmp_path: Path) -> None:
    broken = tmp_path / "monty"
    broken.write_text("#!/bin/sh\nwhile :; do :; done\n")
    broken.chmod(0o755)
    outcome = await run("1", make_calculate(bounds=SHORT, find=lambda: broken))
    assert (outcome.ok, outcome.text) == (False, "(no output)\nIt took longer than 0.3 s and was stopped.")


async def test_an_interpreter_that_does_not_know_a_limit_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bounds, "words", lambda self: ["--max-something=1"])
    with pytest.raises(NothingRan, match="does not take its limits"):
        await run("1")


async def test_where_the_interpreter_is_missing_nothing_runs_and_tools_say_so() -> None:
    tool = make_calculate(find=lambda: None)
    assert "pydantic-monty-runtime" in tool.missing()
    with pytest.raises(NothingRan, match="pydantic-monty-runtime"):
        await run("1", tool)
    assert make_calculate().missing() == ""


async def test_no_more_than_two_work_at_the_same_time(mark: Mark) -> None:
    tool = make_calculate(bounds=Bounds(seconds=float(mark.seconds)))
    running = [asyncio.ensure_future(run("while True:\n    pass", tool)) for _ in range(4)]
    await at_work(mark)
    assert (await run("1", make_calculate(bounds=SHORT))).ok  # so long they have had to start
    assert len(mark.alive()) == calculate.AT_ONCE
    for one in running:
        one.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    assert mark.alive() == []


@pytest.mark.parametrize("code", ["", "  \n", "a\0b", "x" * 20_001])
def test_what_is_no_program_is_refused(code: str) -> None:
    with pytest.raises(ValidationError):
        CalculateArguments(code=code)


def test_it_asks_unless_a_rule_lets_it_run_and_the_full_tier_asks_all_the_same(tmp_path: Path) -> None:
    rules = policy_rules([{"name": "arithmetic", "tool": "*", "action": "allow"}])
    assert rules is not None
    here = Asking(requester="1", place="discord/1/2", now=0)
    calculator, shell = make_calculate(), make_shell(workspace=tmp_path, sandbox=Sandbox())
    assert RulePolicy(()).decide(calculator, {"code": "1"}, here).action == "ask"
    assert RulePolicy(rules).decide(calculator, {"code": "1"}, here).action == "allow"
    assert RulePolicy(rules).decide(shell, {"command": "true"}, here).action == "ask"
    assert list(rule_problems(rules, [calculator])) == []
