"""A call's arguments as a text that a person can change, and back: strictly, because what comes back will run.

A tool with one text (a command, a program) is edited as that text; every other one as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from bot.deferral.executor import parse
from bot.deferral.strict import load
from bot.deferral.tool import Tool


@dataclass(frozen=True, kw_only=True)
class Draft:
    """Arguments to be edited."""

    text: str
    field: str | None
    """The argument that the text is; None: the text is a JSON object with all of them."""


class NotUsable(ValueError):
    """A text that cannot become the tool's arguments; `str()` says why, for a person."""


def draft(tool: Tool, arguments: Mapping[str, Any]) -> Draft:
    """What a person gets to edit."""
    field = _only_text(tool)
    if field is not None:
        return Draft(text=str(arguments[field]), field=field)
    return Draft(text=json.dumps(arguments, ensure_ascii=False, indent=2), field=None)


def read(tool: Tool, text: str) -> dict[str, Any]:
    """The final arguments that an edited text stands for, defaults filled in. Raises `NotUsable`."""
    field = _only_text(tool)
    given = {field: text} if field is not None else _object(text)
    try:
        return parse(tool, given).model_dump(mode="json")
    except ValidationError as error:
        raise NotUsable("\n".join(_problems(error))) from error
    except ValueError as error:
        raise NotUsable(f"It holds characters that cannot be stored: {error}.") from error


def _object(text: str) -> dict[str, Any]:
    try:
        given = load(text)
    except ValueError as error:
        raise NotUsable(f"It is not valid JSON: {error}.") from error
    if not isinstance(given, dict):
        raise NotUsable("It has to be a JSON object: names and values in braces.")
    return given


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str | None, str | None]]:
    """Name, old and new text of every argument that is not the same; None where there is none."""
    names = dict.fromkeys([*before, *after])
    return [
        (name, _text(before, name), _text(after, name)) for name in names if _text(before, name) != _text(after, name)
    ]


def _text(arguments: Mapping[str, Any], name: str) -> str | None:
    if name not in arguments:
        return None
    value = arguments[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _only_text(tool: Tool) -> str | None:
    """The tool's one argument, if it has just one and that is a text."""
    fields = tool.arguments.model_fields
    name, info = next(iter(fields.items()), (None, None))
    return name if len(fields) == 1 and info is not None and info.annotation is str else None


def _problems(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        where = ".".join(map(str, problem["loc"]))
        yield f"{where}: {problem['msg']}" if where else str(problem["msg"])
