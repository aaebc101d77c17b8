"""When are two calls the same wish? The keys behind "one request, one run".

A key may only suppress a card, never grant one. So a normaliser folds what certainly means the same, and
where it is not certain the exact text is the key: the worst that may happen is one card too many.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def action_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """The normalised action, hashed: equal for respellings of one action of one tool."""
    return _hash("action", tool, normalise(tool, arguments))


def intent_key(conversation: str, request: str | None, tool: str, arguments: Mapping[str, Any]) -> str | None:
    """The key of one action for one request, or None when there is no request to anchor to."""
    return None if request is None else _hash("intent", conversation, request, tool, normalise(tool, arguments))


def normalise(tool: str, arguments: Mapping[str, Any]) -> str:
    """The canonical text of what a call would do."""
    name, fold = _NORMALISERS.get(tool, ("", None))
    text = arguments.get(name)
    if fold is None or not isinstance(text, str):
        return canonical_json(arguments)
    # Every other argument counts exactly. JSON holds no NUL, so the last one always divides the two.
    return fold(text) + "\0" + canonical_json({key: value for key, value in arguments.items() if key != name})


def canonical_json(value: object) -> str:
    """JSON with one spelling: sorted names, no blanks, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


_DECLARES_ENCODING = re.compile(r"\A(?:[^\n\r]*(?:\r\n|\r|\n))?[ \t\f]*#[^\n\r]*coding[:=]")
"""A comment in the first two lines that says how the file is to be decoded (PEP 263, taken generously)."""


def normalise_python(code: str) -> str:
    """The syntax tree; code that does not parse is its own key, and so is code that says how to read its bytes."""
    if _DECLARES_ENCODING.search(code):
        return "text:" + code  # the one comment that changes what runs: the tree of the text does not show it
    try:
        with warnings.catch_warnings(action="ignore"):  # what a program is warned about is between it and its caller
            return "ast:" + ast.dump(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "text:" + code


_UNSURE = frozenset("\\\n\r`$#<(){}[]!*?~&;|%^")
"""Characters outside plain words and quotes whose meaning may depend on the blanks around them."""

_BLANKS = " \t"


def normalise_shell(command: str) -> str:
    """Blanks outside quotes collapsed, and nothing else.

    Only for texts that are certainly a list of plain and quoted words: with a here-document, a comment, a
    substitution, an escape or a line break anywhere outside single quotes, the exact bytes are the key.
    """
    words: list[str] = []
    word = ""
    quote = ""
    for character in command:
        if quote:
            if quote == '"' and character in "\\`$!":
                return "text:" + command
            word += character
            if character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
            word += character
        elif character in _BLANKS:
            if word:
                words.append(word)
            word = ""
        elif character in _UNSURE or not character.isprintable():
            return "text:" + command
        else:
            word += character
    if quote:
        return "text:" + command
    return "words:" + " ".join([*words, word] if word else words)


_NORMALISERS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "shell": ("command", normalise_shell),
    "execute_code": ("code", normalise_python),
}
"""By tool: the argument whose text has a form of its own, and what folds its spellings."""


def _hash(*parts: str) -> str:
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()
