"""The tool `ask_user`: the model's question to the person it works for. The answer is its result."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.deferral.tool import Arguments, Call, Tool, ToolKind, ToolOutcome
from bot.errors import NothingRan

MOST_CHOICES = 5
"""Discord puts at most 5 buttons in a row (API: action row)."""
LONGEST_CHOICE = 80
"""Discord's limit for the label of a button (API: button object)."""


class AskArguments(Arguments):
    """What `ask_user` takes."""

    question: Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
    choices: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=LONGEST_CHOICE, pattern=r"\S")]],
        Field(max_length=MOST_CHOICES),
    ] = []
    """Answers to choose from; without any the person answers in their own words."""


async def _never(arguments: AskArguments, call: Call) -> ToolOutcome:
    raise NothingRan("a question is answered by a person; there is nothing to run")


def make_ask_user() -> Tool:
    """The tool. Its body never runs."""
    return Tool(
        name="ask_user",
        description=(
            "Ask the person you work for a question, when you cannot go on without their answer. Offer up to "
            f"{MOST_CHOICES} short choices where they fit. The result is what they answered."
        ),
        arguments=AskArguments,
        body=_never,
        kind=ToolKind.QUESTION,
        profile="asks a person, runs nothing",
    )
