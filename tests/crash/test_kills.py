"""Killed at any moment, started again: nothing approved is lost, nothing runs twice, everything is said once.

The moments are not listed by hand: a life without a death writes down every one that comes, and then there is one
story for each of them, with a real SIGKILL in it. See `tests.crash.world` for what a moment is.
"""

from __future__ import annotations

import ast
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.crash.invariants import broken
from tests.crash.lives import ROOT, Server, fresh_life, rows
from tests.crash.scenarios import SCENARIOS

WORKERS = 2

EVERYWHERE = ("approve", "deny", "expire", "batch", "question", "job", "undeliverable")
"""Stories that are cut short at each of their moments; the others at moments of their own, in the slow run at all."""

UNREACHED = {
    "requeue": "only after a commit that failed: tests/test_engine_faults.py",
    "refuse": "what could not be shown under a clock gets its card in the next life: tests/test_holding.py",
    "look again": "done at each new connection: tests/cogs/test_where_cards_go.py",
    "reveal": "a look, repeated by whoever looks again: tests/cogs/test_covered.py",
    "pin": "made again when the server is seen again: tests/mcp",
    "undo lost": "only after a death in the middle of one, in the second lives of the story `undone`",
    "drop undo copies": "only after days, and again with the next sweep: tests/test_undo.py",
    "files fetched": "the record of a look, made again with the next one: tests/test_job_files.py",
    # What people press on a job's card is pressed again when it was forgotten, and starts nothing by itself.
    "ask stop": "tests/test_jobs.py",
    "extend": "tests/test_jobs.py",
    "note": "tests/test_jobs.py",
    "set notify": "tests/cogs/test_job_cards.py",
    "inbox read": "shown again when it was forgotten: tests/cogs/test_job_cards.py",
    # A job's card is drawn from its rows; what is owed is found by the next sweep.
    "job progress": "tests/test_jobs.py",
    "job card seen": "tests/test_jobs.py",
    "job card failed": "tests/test_jobs.py",
    "drop job card": "tests/test_jobs.py",
    "command ended": "the folder is marked after it, and until then it is owed again: tests/test_commands.py",
    "stop command": "a person's press, made again when it was forgotten: tests/test_commands.py",
    "drop steps": "only where somebody spoke before it was taken up: tests/test_steps.py",
    "put off schedule": "tried again when it was forgotten: tests/test_schedules.py",
    "count usage": "only what a commit did not take along: tests/test_usage.py",
    "forget usage": "only after weeks: tests/test_usage.py",
    "put back": "only in a stop in order: tests/test_stopping.py, tests/wire/test_jobs_on_the_wire.py",
    # What a person does by a command or a button is one commit, and is done again when it was forgotten.
    "fork": "tests/test_forking.py",
    "keep clipping": "the form opens only after it: tests/cogs/test_ask_about.py",
    "forget clippings": "done again by the next sweep: tests/cogs/test_ask_about.py",
    "begin draft": "tests/cogs/test_policy.py, tests/cogs/test_settings.py",
    "change draft": "the same",
    "save draft": "the same",
    "reload": "tests/mcp/test_reloading.py",
    "refused reload": "tests/mcp/test_reloading.py",
    "doctor": "tests/cogs/test_doctor_command.py",
    # A drill runs nothing: its presses are rows, and what is owed of it is found by the next sweep.
    "start drill": "tests/cogs/test_drill.py",
    "refused drill": "tests/cogs/test_drill.py",
    "drill shown": "tests/cogs/test_drill.py",
    "drill reached": "tests/cogs/test_drill.py",
    "drill press": "tests/cogs/test_drill.py",
    "drill failed": "tests/cogs/test_drill.py",
    "end drill": "tests/cogs/test_drill.py",
    "startup": "how the last process ended, a note for people: tests/test_startup.py",
    "end process": "the same: tests/test_startup.py",
    "start job at the command line": "another process's only commit: tests/test_cli_jobs.py",
    "cancel job at the command line": "another process's only commit: tests/test_cli_jobs.py",
}
"""Commits that no story meets, and who else tries them."""

Servers = SimpleQueue[Server]


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    idle: Servers = SimpleQueue()
    with Server() as one, Server() as other:
        idle.put(one)
        idle.put(other)
        yield idle


@pytest.fixture(scope="module")
def whole_lives(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The moments of each story when nothing dies, in order."""

    def tell(scenario: str) -> list[str]:
        folder = tmp_path_factory.mktemp("whole")
        server = servers.get()
        try:
            assert server.life(folder, scenario) == 0
        finally:
            servers.put(server)
        assert broken(folder, SCENARIOS[scenario], []) == [], f"{scenario}, without any death"
        return (folder / "moments").read_text().splitlines()

    with ThreadPoolExecutor(WORKERS) as workers:
        return dict(zip(SCENARIOS, workers.map(tell, SCENARIOS), strict=True))


def killed_at(servers: Servers, folder: Path, scenario: str, moment: str) -> list[str]:
    """Die at a moment, live again; what is not as it must be."""
    folder.mkdir()
    server = servers.get()
    try:
        if server.life(folder, scenario, moment=moment) != -signal.SIGKILL:
            return ["the moment never came"]
        death = rows(folder)
        server.life(folder, scenario)
    except AssertionError as error:
        return [str(error)]
    finally:
        servers.put(server)
    return broken(folder, SCENARIOS[scenario], [death])


def killed_at_each(servers: Servers, folder: Path, scenario: str, moments: list[str]) -> dict[str, list[str]]:
    """One story for each moment; what is not as it must be, by the moment of death."""
    with ThreadPoolExecutor(WORKERS) as workers:
        tell = workers.map(lambda n: killed_at(servers, folder / str(n), scenario, moments[n]), range(len(moments)))
        return {moment: problems for moment, problems in zip(moments, tell, strict=True) if problems}


def label(moment: str) -> str:
    """A moment without its number."""
    return moment.partition("#")[0]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_killed_at_a_moment_and_started_again(
    scenario: str, servers: Servers, whole_lives: dict[str, list[str]], tmp_path: Path
) -> None:
    moments = whole_lives[scenario]
    if scenario not in EVERYWHERE:
        met = {label(moment) for name in EVERYWHERE for moment in whole_lives[name]}
        moments = [moment for moment in moments if label(moment) not in met]
    assert killed_at_each(servers, tmp_path, scenario, moments) == {}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in EVERYWHERE])
def test_killed_at_any_other_moment_and_started_again(
    scenario: str, servers: Servers, whole_lives: dict[str, list[str]], tmp_path: Path
) -> None:
    assert killed_at_each(servers, tmp_path, scenario, whole_lives[scenario]) == {}


@pytest.mark.parametrize(
    ("moment", "state"), [("after decide", "succeeded"), ("after effect", "interrupted"), ("after finish", "succeeded")]
)
def test_a_freshly_started_program_mends_what_another_left(moment: str, state: str, tmp_path: Path) -> None:
    """Without the warm server: two interpreters of their own."""
    assert fresh_life(tmp_path, "approve", moment=moment) == -signal.SIGKILL
    death = rows(tmp_path)
    assert fresh_life(tmp_path, "approve") == 0
    assert broken(tmp_path, SCENARIOS["approve"], [death]) == []
    assert [call["state"] for call in rows(tmp_path).approvals] == [state]


def test_a_run_whose_process_dies_twice_is_lost_and_said_to_be(servers: Servers, tmp_path: Path) -> None:
    server = servers.get()
    try:
        deaths = []
        for moment in ("after take up", "model"):
            assert server.life(tmp_path, "question", moment=moment) == -signal.SIGKILL
            deaths.append(rows(tmp_path))
        assert server.life(tmp_path, "question") == 0
    finally:
        servers.put(server)
    assert broken(tmp_path, SCENARIOS["question"], deaths) == []
    assert [run["state"] for run in rows(tmp_path).runs] == ["lost"]


def commits() -> set[str]:
    """The names of all commits in the program: every text that is handed to a `begin`."""
    names = set()
    for storey in ("bot", "cogs"):
        for path in (ROOT / storey).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "begin":
                    names |= {
                        part.value
                        for argument in node.args
                        for part in ast.walk(argument)
                        if isinstance(part, ast.Constant) and isinstance(part.value, str)
                    }
    return names


def test_no_commit_of_the_program_is_without_its_moments(whole_lives: dict[str, list[str]]) -> None:
    met = {label(moment) for moments in whole_lives.values() for moment in moments}
    assert {name for name in commits() if f"before {name}" not in met} == set(UNREACHED)
    assert len(met) >= 40
