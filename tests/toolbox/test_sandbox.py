"""The walls: what a sandboxed command can see, reach and use up."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.errors import NothingRan
from bot.toolbox import sandbox as sandbox_module
from bot.toolbox.bubblewrap import MIB, Limits
from bot.toolbox.sandbox import Sandbox, SandboxResult
from tests.needs import needs
from tests.toolbox.conftest import Mark

pytestmark = needs("bwrap")

ROOT = Path(__file__).parents[2]
SITE = Path(pytest.__file__).parents[1]
CANARY = "canary-token-5c1f"
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="about a bot that runs as root")


async def sh(sandbox: Sandbox, workspace: Path, command: str, timeout: float = 20.0) -> SandboxResult:
    return await sandbox.run(["/bin/sh", "-c", command], workspace=workspace, timeout=timeout)


def drive(
    workspace: Path, command: str, *, before: tuple[str, ...] = (), python: str = sys.executable, **more: Any
) -> dict[str, Any]:
    """Run the driver, as a process with the canary in its environment."""
    done = subprocess.run(
        [*before, python, "-B", "-m", "tests.toolbox.driver",
         json.dumps({"command": command, "workspace": str(workspace), **more})],
        cwd=ROOT, env={"PYTHONPATH": f"{ROOT}:{SITE}", "DISCORD_TOKEN": CANARY, "OPENAI_API_KEY": CANARY,
                       "PATH": os.defpath, "HOME": "/"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_no_process_in_sight_has_the_token_in_its_environment(workspace: Path) -> None:
    """S-A47, first half. `/proc/1` is bubblewrap itself, which `--clearenv` would not have cleaned."""
    told = drive(workspace, "cat /proc/*/environ | tr '\\0' '\\n'; env")
    assert told["output"].count("PATH=") >= 3
    assert CANARY not in told["output"]


async def test_a_command_sees_only_its_own_processes_and_three_descriptors(sandbox: Sandbox, workspace: Path) -> None:
    """S-A47, second half."""
    count = "print(len([p for p in os.listdir('/proc') if p.isdigit()]), flush=True)"
    code = f"import os; {count}; os.execvp('ls', ['ls', '/proc/self/fd'])"
    result = await sandbox.run([sandbox.python, "-c", code], workspace=workspace, timeout=20)
    processes, *descriptors = result.output.split()
    assert int(processes) == 2
    assert descriptors == ["0", "1", "2", "3"]  # 3 is the directory that ls reads.


async def test_the_machines_own_servers_are_out_of_reach(sandbox: Sandbox, workspace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        result = await sandbox.run([sandbox.python, "-c", code], workspace=workspace, timeout=20)
    assert result.exit_code == 1
    assert "ConnectionRefusedError" in result.output


async def test_the_internet_is_out_of_reach(sandbox: Sandbox, workspace: Path) -> None:
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 2)"
    result = await sandbox.run([sandbox.python, "-c", code], workspace=workspace, timeout=20)
    assert "Network is unreachable" in result.output


@pytest.mark.parametrize("path", ["/etc/shadow", "/root/.profile", "/home", "/etc/ssl/private", "/var/log", "/sys"])
async def test_what_is_private_to_the_machine_is_not_there(sandbox: Sandbox, workspace: Path, path: str) -> None:
    result = await sh(sandbox, workspace, f"ls {path}")
    assert result.exit_code == 2
    assert "No such file" in result.output


@pytest.mark.parametrize("path", ["/x", "/usr/x", "/etc/x", "/dev/x", "/run/x", "/var/x", "/proc/sys/kernel/hostname"])
async def test_only_the_workspace_can_be_written(sandbox: Sandbox, workspace: Path, path: str) -> None:
    result = await sh(sandbox, workspace, f"mkdir -p $(dirname {path}); echo x > {path}")
    assert result.exit_code == 2
    assert "Read-only file system" in result.output or "Permission denied" in result.output


async def test_what_lies_beside_the_workspace_is_not_there(sandbox: Sandbox, workspace: Path) -> None:
    (workspace.parent / "beside").write_text("mine")
    result = await sh(sandbox, workspace, "ls ..; echo x > ../beside; echo x > ../new")
    assert result.output == "workspace\n"
    assert (workspace.parent / "beside").read_text() == "mine"
    assert not (workspace.parent / "new").exists()


async def test_no_capability_and_no_further_namespace_can_be_had(sandbox: Sandbox, workspace: Path) -> None:
    result = await sh(sandbox, workspace, "grep -E '^(Cap|NoNew)' /proc/self/status; unshare -U true")
    values = dict(line.split(":\t") for line in result.output.splitlines()[:6])
    assert values.pop("NoNewPrivs") == "1"
    assert {int(value, 16) for value in values.values()} == {0}
    assert "unshare failed" in result.output


async def test_a_command_works_in_the_workspace_at_its_own_path(sandbox: Sandbox, workspace: Path) -> None:
    result = await sh(sandbox, workspace, "pwd; echo $HOME; echo made > made; mkdir -p a/b")
    assert result.output.split() == [str(workspace)] * 2
    assert (workspace / "made").read_text() == "made\n"
    assert (workspace / "a" / "b").is_dir()


async def test_ordinary_programs_work(sandbox: Sandbox, workspace: Path) -> None:
    result = await sh(sandbox, workspace, "date +%Y; whoami; hostname; git init -q . && git status --short | wc -l")
    assert result.output.split()[1:] == ["signoff", "sandbox", "0"]
    assert result.exit_code == 0


async def test_the_time_zone_is_the_settings(workspace: Path, sandbox: Sandbox) -> None:
    tokyo = Sandbox(timezone="Asia/Tokyo")
    tokyo.report = sandbox.report
    assert (await sh(tokyo, workspace, "date +%z")).output == "+0900\n"
    assert "TZ" in tokyo.environment_names
    assert "TZ" not in sandbox.environment_names


async def test_a_program_gets_its_files_and_its_stdin(sandbox: Sandbox, workspace: Path) -> None:
    result = await sandbox.run(
        ["/bin/sh", "-c", "cat /run/a.txt -; echo x > /run/a.txt"],
        workspace=workspace, timeout=20, stdin_data=b"from stdin\n", files={"/run/a.txt": b"from a file\n"},
    )  # fmt: skip
    assert result.output.startswith("from a file\nfrom stdin\n")
    assert "Read-only" in result.output
    assert list(workspace.iterdir()) == []


async def test_nothing_waits_for_a_terminal(sandbox: Sandbox, workspace: Path) -> None:
    """S-A79."""
    result = await sh(sandbox, workspace, "read line; echo $?; cat < /dev/tty; echo $?; sudo -S id; ssh h", timeout=5)
    assert not result.timed_out
    assert result.output.startswith("1\n")
    assert "No such device" in result.output


async def test_memory_is_bounded(make_sandbox: Callable[..., Sandbox], workspace: Path) -> None:
    small = make_sandbox(Limits(memory=512 * MIB))
    code = "b'x' * (1 << 30)"
    result = await small.run([small.python, "-c", code], workspace=workspace, timeout=20)
    assert result.exit_code == 1
    assert "MemoryError" in result.output


async def test_every_writable_place_has_a_size(make_sandbox: Callable[..., Sandbox], workspace: Path) -> None:
    """S-A77."""
    small = make_sandbox(Limits(temporary=MIB, shared_memory=MIB, file=MIB))
    fill = "for f in /tmp/x /dev/shm/x x /x /dev/x; do head -c 3M /dev/zero > $f; stat -c %s $f; done; true"
    result = await sh(small, workspace, fill)
    sizes = [int(line) for line in result.output.splitlines() if line.isdigit()]
    assert len(sizes) == 3
    assert max(sizes) <= MIB


@pytest.mark.parametrize("root", [pytest.param(True, marks=only_root), False])
def test_a_fork_bomb_hits_the_limit_and_is_gone(workspace: Path, root: bool, mark: Mark) -> None:
    """S-A76: also when the bot runs as root, whom limits on processes do not bind."""
    bomb = f"sleep {mark.seconds} & i=0; while [ $i -lt 400 ]; do sleep {mark.seconds} & i=$((i+1)); done; echo all"
    told = drive(workspace, bomb) if root or os.geteuid() != 0 else as_nobody(workspace, bomb)
    assert "annot fork" in told["output"]
    assert "all" not in told["output"]
    assert mark.alive() == []


def as_nobody(workspace: Path, command: str) -> dict[str, Any]:
    """The driver as an ordinary user, by the machine's own Python: the tests' may lie where nobody may look."""
    python = Path(f"/usr/bin/python3.{sys.version_info.minor}")
    if not python.exists() or not os.stat(SITE).st_mode & 0o005 or not os.stat(ROOT).st_mode & 0o005:
        pytest.skip("nothing here that an ordinary user could run these tests with")
    for path in (workspace, *workspace.parents):
        if path.stat().st_uid == 0 and path not in (Path("/"), Path("/tmp")):
            path.chmod(0o755)
    os.chown(workspace, 65_534, 65_534)
    drop = ("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    return drive(workspace, command, before=drop, python=str(python))


@only_root
def test_an_ordinary_users_bot_has_the_same_sandbox(workspace: Path) -> None:
    told = as_nobody(workspace, "id -u; echo mine > mine; cat /proc/*/environ")
    assert told["exit_code"] == 0
    assert told["output"].startswith("1000\n")
    assert CANARY not in told["output"]
    assert (workspace / "mine").stat().st_uid == 65_534


@only_root
async def test_commands_of_a_bot_that_is_root_run_as_somebody_else(sandbox: Sandbox, workspace: Path) -> None:
    result = await sh(sandbox, workspace, "cat /proc/self/uid_map; touch mine")
    assert result.output.split() == ["1000", "0", "1"]  # 0 is how the sandbox's own parent sees that user.
    assert (workspace / "mine").stat().st_uid not in (0, 65_534)


@only_root
async def test_what_root_owns_in_the_workspace_can_be_worked_with(sandbox: Sandbox, tmp_path: Path) -> None:
    """Also when nobody but root can reach the workspace."""
    tmp_path.chmod(0o700)
    inner = tmp_path / "workspace" / "private"
    inner.mkdir(parents=True, mode=0o700)
    (inner / "seed").write_text("seed\n")
    (inner / "seed").chmod(0o600)
    result = await sh(sandbox, tmp_path / "workspace", "cat private/seed && echo more >> private/seed")
    assert result.exit_code == 0
    assert (inner / "seed").read_text() == "seed\nmore\n"


@only_root
async def test_a_file_with_a_name_outside_the_workspace_is_not_given_away(sandbox: Sandbox, workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.write_text("mine")
    os.link(outside, workspace / "inside")
    (workspace / "link").symlink_to(outside)
    (workspace / "deeper").mkdir()
    (workspace / "deeper" / "link").symlink_to(workspace.parent)
    await sh(sandbox, workspace, "true")
    assert outside.stat().st_uid == 0
    assert workspace.parent.stat().st_uid == 0
    assert workspace.stat().st_uid != 0


@pytest.mark.parametrize("path", ["/", "/etc", "/usr", "/tmp", "/root", "/proc/self", "/dev/shm"])
async def test_a_directory_of_the_system_cannot_be_the_workspace(sandbox: Sandbox, path: str) -> None:
    with pytest.raises(NothingRan, match="belongs to the system"):
        await sh(sandbox, Path(path), "true")


async def test_memory_of_the_bot_stays_small_whatever_a_command_prints(sandbox: Sandbox, workspace: Path) -> None:
    """S-A75."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await sh(sandbox, workspace, "echo first; exec yes")
    assert result.flooded
    assert result.exit_code is None
    assert result.output.startswith("first\ny\n")
    assert f"{result.dropped_bytes} bytes left out" in result.output
    assert len(result.output) < sandbox.limits.kept_output + 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


async def test_the_end_of_a_long_output_is_kept(sandbox: Sandbox, workspace: Path) -> None:
    result = await sh(sandbox, workspace, "seq 1 100000; exit 3")
    assert result.exit_code == 3
    assert result.output.startswith("1\n2\n")
    assert result.output.endswith("\n99999\n100000\n")
    whole = sum(len(f"{n}\n") for n in range(1, 100_001))
    assert result.dropped_bytes == whole - sandbox.limits.kept_output


async def test_output_that_is_not_text_is_made_readable(sandbox: Sandbox, workspace: Path) -> None:
    result = await sh(sandbox, workspace, r"printf 'a\377\000b'")
    assert result.output == "a\ufffd\ufffdb"


async def test_what_the_bot_is_made_of_cannot_be_written_or_is_not_there(sandbox: Sandbox, tmp_path: Path) -> None:
    """S-A96: settings, database, key, the trail's head, code, and what starts it; also through a link and by `..`."""
    data = tmp_path / "data"
    workspace = data / "workspace"
    workspace.mkdir(parents=True)
    unit = Path("/etc/systemd/system/signoff-of-a-test.service")
    ours = [tmp_path / "signoff.toml", tmp_path / ".env", tmp_path / "token", data / "signoff.sqlite3",
            data / "signoff.sqlite3-wal", data / "signoff.key", data / "signoff.head"]  # fmt: skip
    for path in ours:
        path.write_text("as it was")
    (workspace / "link").symlink_to(data / "signoff.sqlite3")
    code = Path(sandbox_module.__file__)
    before = code.read_bytes()
    places = [*map(str, ours), str(code), str(unit), "link", "../signoff.key", "../../signoff.toml",
              "/proc/1/root" + str(data / "signoff.key"), f"/proc/self/cwd/../{data.name}/signoff.key"]  # fmt: skip
    command = "; ".join(f"cat '{place}'; (echo changed >> '{place}')" for place in places)
    command += "; mv .. /tmp/stolen; rm -rf link ../signoff*; true"
    result = await sh(sandbox, workspace, command)
    assert "as it was" not in result.output
    assert result.output.count("No such file") > len(ours)
    assert {path.read_text() for path in ours} == {"as it was"}
    assert code.read_bytes() == before
    assert not unit.exists()
