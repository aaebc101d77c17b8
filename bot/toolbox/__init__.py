"""What can run: the built-in tools and the sandbox they run in."""

from __future__ import annotations

from pathlib import Path

from bot.clock import NewId
from bot.deferral.tool import Tool
from bot.toolbox.ask import make_ask_user
from bot.toolbox.background import make_command_output, make_stop_command
from bot.toolbox.calculate import make_calculate
from bot.toolbox.code import make_execute_code
from bot.toolbox.detached import Detached
from bot.toolbox.editing import make_edit_file
from bot.toolbox.files import make_list_files, make_read_file, make_write_file
from bot.toolbox.sandbox import Sandbox
from bot.toolbox.shell import make_shell
from bot.toolbox.web import make_http_fetch


def builtin_tools(
    *,
    workspace: Path,
    sandbox: Sandbox,
    new_id: NewId,
    command_seconds: float = 60.0,
    fetch_seconds: float = 30.0,
    detached: Detached | None = None,
) -> tuple[Tool, ...]:
    """The built-in tools, for one workspace. `start_job` is made where jobs are.

    Without `detached` no command runs in the background.
    """
    return (
        make_shell(workspace=workspace, sandbox=sandbox, timeout=command_seconds, detached=detached),
        *(() if detached is None else (make_command_output(detached), make_stop_command(detached))),
        make_execute_code(workspace=workspace, sandbox=sandbox, timeout=command_seconds),
        make_calculate(),
        make_read_file(workspace=workspace),
        make_list_files(workspace=workspace),
        make_write_file(workspace=workspace, new_id=new_id),
        make_edit_file(workspace=workspace, new_id=new_id),
        make_http_fetch(timeout=fetch_seconds),
        make_ask_user(),
    )
