"""Killed anywhere in a stretch, a run takes up behind the last recorded step (issue 6, point 6).

No earlier model call and no tool that had a recorded result comes again: counted for every moment of the story.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.crash.invariants import broken
from tests.crash.lives import Rows, Server, rows
from tests.crash.scenarios import SCENARIOS
from tests.crash.test_kills import label
from tests.crash.world import Log

STORY = "steps"
ANSWERS, LOOKS = 5, 5
"""Of the model, and by the tool that needs no sign-off, when nobody dies."""
WORTH_DYING = {"take up", "keep step", "pause", "finish", "claim", "record outcome"}


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Server]]:
    with Server() as one, Server() as other:
        yield [one, other]


def recorded(death: Rows) -> tuple[int, int]:
    """Answers of the model and results of looks that the rows have."""
    bodies = [json.loads(row["body"]) for row in (*death.messages, *death.steps)]
    parts = [part for body in bodies for part in body["parts"]]
    looks = [part for part in parts if part["part_kind"] == "tool-return" and part["tool_name"] == "look"]
    return sum(body["kind"] == "response" for body in bodies), len(looks)


def asked_of_the_model(folder: Path) -> int:
    return sum(label(moment) == "model" for moment in (folder / "moments").read_text().splitlines())


def killed_at(server: Server, folder: Path, moment: str) -> list[str]:
    """Die, live again; what was done again that was recorded, or not done at all."""
    folder.mkdir()
    assert server.life(folder, STORY, moment=moment) == -signal.SIGKILL
    death = rows(folder)
    answers, looks = recorded(death)
    calls_before, looks_before = asked_of_the_model(folder), len(Log(folder / "looks").read())
    server.life(folder, STORY)
    calls = asked_of_the_model(folder) - calls_before
    again = len(Log(folder / "looks").read()) - looks_before
    problems = broken(folder, SCENARIOS[STORY], [death])
    if calls != ANSWERS - answers:
        problems.append(f"{answers} of {ANSWERS} answers were recorded, and the model was asked {calls} times more")
    if again != LOOKS - looks:
        problems.append(f"{looks} of {LOOKS} looks had a recorded result, and {again} more were made")
    return problems


def test_nothing_that_is_recorded_is_done_again_wherever_the_process_dies(
    servers: list[Server], tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    assert servers[0].life(whole, STORY) == 0
    assert (asked_of_the_model(whole), len(Log(whole / "looks").read())) == (ANSWERS, LOOKS)
    moments = [
        moment
        for moment in (whole / "moments").read_text().splitlines()
        if label(moment) in {"model", "look"} or label(moment).partition(" ")[2] in WORTH_DYING
    ]
    assert len(moments) > 30

    def die(server: Server, mine: list[str]) -> dict[str, list[str]]:
        return {moment: killed_at(server, tmp_path / moment.replace(" ", "-"), moment) for moment in mine}

    with ThreadPoolExecutor(len(servers)) as workers:
        halves = list(workers.map(die, servers, (moments[::2], moments[1::2])))
    assert {moment: problems for half in halves for moment, problems in half.items() if problems} == {}
