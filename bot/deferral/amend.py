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
from bot.texts.text import say


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
    field = _only_text(tool, arguments)
    if field is not None:
        return Draft(text=str(arguments.get(field, "")), field=field)
    return Draft(text=json.dumps(arguments, ensure_ascii=False, indent=2), field=None)


def read(tool: Tool, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The final arguments that an edited text stands for, defaults filled in. Raises `NotUsable`.

    `arguments` are those that were edited: they say whether the text is one of them or all.
    """
    field = _only_text(tool, arguments)
    given = {field: text} if field is not None else _object(text)
    try:
        return parse(tool, given).model_dump(mode="json")
    except ValidationError as error:
        raise NotUsable("\n".join(_problems(error))) from error
    except (ValueError, RecursionError) as error:
        raise NotUsable(say("edits.not_storable", problem=error)) from error


def _object(text: str) -> dict[str, Any]:
    try:
        given = load(text)
    except (ValueError, RecursionError) as error:
        raise NotUsable(say("edits.not_json", problem=error)) from error
    if not isinstance(given, dict):
        raise NotUsable(say("edits.not_object"))
    return given


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str | None, str | None]]:
    """Name, old and new text of every argument that is not the same; None where there is none."""
    found: list[tuple[str, str | None, str | None]] = []
    for name in dict.fromkeys([*before, *after]):
        was, became = _json(before, name), _json(after, name)
        if was == became:
            continue
        old, new = _text(before, name), _text(after, name)
        found.append((name, old, new) if old != new else (name, was, became))
    return found


def _json(arguments: Mapping[str, Any], name: str) -> str | None:
    return json.dumps(arguments[name], ensure_ascii=False, sort_keys=True) if name in arguments else None


def _text(arguments: Mapping[str, Any], name: str) -> str | None:
    value = arguments.get(name)
    return value if isinstance(value, str) else _json(arguments, name)


def _only_text(tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """The tool's one argument if it is a text, and it can have just that one or was given just that one."""
    known: Mapping[str, Any] = tool.schema.get("properties", {})
    if tool.schema.get("additionalProperties") is not False:
        return None
    name = next(iter(known if len(known) == 1 else arguments), None)
    if name is None or (len(known) != 1 and (len(arguments) != 1 or tool.schema.get("required") != [name])):
        return None
    value = known.get(name)
    return name if isinstance(value, Mapping) and value.get("type") == "string" else None


def _problems(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        where = ".".join(map(str, problem["loc"]))
        yield f"{where}: {problem['msg']}" if where else str(problem["msg"])
