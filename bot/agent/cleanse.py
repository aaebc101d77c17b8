"""Takes known secrets out of what a model answers, before anybody reads, stores or runs it.

A model is never told one. It may have read it where nobody could tell (in a picture, in pieces), or a person may have
written it. What it then says is masked; a call that carries one carries the mask from here on, and the gate refuses it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import BaseToolCallPart, ModelResponse, TextPart, ThinkingPart

from bot.redact import Redactor


def cleanse(response: ModelResponse, redactor: Redactor) -> None:
    """Mask the answer's words, thoughts and calls in place: its parts are what everybody holds from here on."""
    response.parts = [_part(part, redactor) for part in response.parts]


def _part(part: Any, redactor: Redactor) -> Any:
    if isinstance(part, TextPart | ThinkingPart):
        content = redactor.known(part.content)
        return part if content == part.content else replace(part, content=content)
    if isinstance(part, BaseToolCallPart):
        args = _arguments(part.args, redactor)
        return part if args == part.args else replace(part, args=args)
    return part


def _arguments(args: str | dict[str, Any] | None, redactor: Redactor) -> str | dict[str, Any] | None:
    """Value by value where they can be read, so that a mask never eats into the marks between them."""
    if not isinstance(args, str):
        return args if args is None else dict(redactor.values(args))
    if redactor.known(args) == args:
        return args
    try:
        read = json.loads(args)
    except (ValueError, RecursionError):
        return redactor.known(args)
    masked = json.dumps(redactor.values(read), ensure_ascii=False)
    return masked if redactor.known(masked) == masked else redactor.known(masked)
