"""What is on disk about background commands, read: by the bot that started them, by the one after it, by the doctor.

Each has a folder, and the folder is the truth about it: what was asked (`about.json`), who keeps it (`keeper.json`, see
`bot.toolbox.keeper`), its output (`log.old`, `log`), its end (`end.json`). So the bot after a restart knows as much as
the one before: it takes the keeper for alive only if its id, its start time and the machine's life all fit.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from bot.deferral.tool import Call
from bot.toolbox.child import reap_adopted
from bot.toolbox.keeper import identity

COMMANDS_FOLDER = "commands"
"""Where the bot keeps them: beside the database."""


class CommandState(StrEnum):
    """How a background command stands."""

    RUNNING = "running"
    EXITED = "exited"
    """By itself, with an exit code."""
    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    """It was stopped after the longest time that one may take."""
    FAILED = "failed"
    """The sandbox could not be made: the command was certainly not begun."""
    LOST = "lost"
    """Its keeper is gone and nobody wrote down its end: the machine was restarted, or somebody killed it."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One background command. Times are milliseconds UTC."""

    id: str
    command: str
    call: str
    """The approval by which it was started, or the model's call where a rule allowed it."""
    run: str
    conversation: str
    place: str
    requester: str
    started_at: int
    state: CommandState = CommandState.RUNNING
    exit_code: int | None = None
    ended_at: int | None = None
    told: bool = False
    """Whether its end has been promised to people."""

    def belongs_to(self, call: Call) -> bool:
        """Whether a call may look at it and stop it: it comes from the same conversation, or person and place."""
        same_place = (self.requester, self.place) == (call.requester, call.place)
        return self.conversation == call.conversation or same_place


class CommandFiles:
    """The background commands of one data folder, to look at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # -- looking --------------------------------------------------------------------------------

    def every(self) -> list[Command]:
        """All that are known, oldest first."""
        if not self.folder.is_dir():
            return []
        found = [self.get(one.name) for one in self.folder.iterdir()]
        return sorted((one for one in found if one is not None), key=lambda one: (one.started_at, one.id))

    def get(self, id: str) -> Command | None:
        """One command as it stands now, or None."""
        about = self.read(id, "about.json")
        if about is None:
            return None
        command = Command(**{**about, "state": CommandState(about["state"])})
        command = replace(command, told=(self.folder / id / "told").exists())
        if (end := self.read(id, "end.json")) is None:
            if self.keeper(id) is not None:
                return command
            # It may have ended between the two looks.
            if (end := self.read(id, "end.json")) is None:
                return replace(command, state=CommandState.LOST)
        return replace(command, state=CommandState(end["why"]), exit_code=end["exit_code"], ended_at=end["at"])

    def output(self, command: Command, *, most: int) -> str:
        """The newest `most` bytes of its output as text; what is not UTF-8 is replaced."""
        raw = b""
        for name in ("log", "log.old"):
            room = most - len(raw)
            with contextlib.suppress(FileNotFoundError), open(self.folder / command.id / name, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - room))
                raw = file.read(room) + raw
        return raw.decode("utf-8", "replace").replace("\0", "\ufffd")

    def keeper(self, id: str) -> int | None:
        """The process that keeps the command, if it is still the very one."""
        return self.process(id, "keeper.json")

    def process(self, id: str, name: str) -> int | None:
        """The process that a file names, if it is still the very one."""
        stored = self.read(id, name)
        if not stored:
            return None  # not written yet, or it had ended before it could be looked at
        pid = int(stored["pid"])
        reap_adopted(pid)
        return pid if identity(pid) == stored else None

    def read(self, id: str, name: str) -> dict[str, Any] | None:
        """What a file of the command says, or None."""
        try:
            found = json.loads((self.folder / id / name).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found if isinstance(found, dict) else None
