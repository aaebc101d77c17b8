"""The agent's own way to start a background job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import Field

from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import DecisionRefused
from storage.runs import Run

StartJob = Callable[[str, str], Awaitable[Run]]
"""Takes the asking run's id and the goal. Raises `DecisionRefused` where a run may start none."""


class StartJobArguments(Arguments):
    """What `start_job` takes."""

    goal: str = Field(min_length=1, max_length=4000, description="What the job is to do, complete in itself.")


def make_start_job(start: StartJob) -> Tool:
    """`start_job(goal)`: not gated, because a job's own calls are."""

    async def body(arguments: StartJobArguments, call: Call) -> ToolOutcome:
        try:
            job = await start(call.run, arguments.goal)
        except DecisionRefused as refusal:
            return ToolOutcome(text=f"{refusal.sentence} Do it here, or say what is left to do.", ok=False)
        return ToolOutcome(text=f"Started background job {job.id}. Its result will be announced here by itself.")

    return Tool(
        name="start_job",
        description=(
            "Start a background job that works on a goal on its own and announces its result in this channel. Use it"
            " for long work, or when the person asks for the background. The goal must say everything the job needs."
        ),
        arguments=StartJobArguments,
        body=body,
        gated=False,
    )
