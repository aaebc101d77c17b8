"""How the offline model reports: from tool results and events to plain words.

Nothing is claimed that a result does not say. Output stands in a fence that it cannot break out of; sentences of the
house about a call ("A person denied this call ...") are repeated without the orders to the model in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic_ai.messages import ToolCallPart, ToolReturnPart

EVENT_MARK = "[event"
"""How a prompt begins that the program wrote: something happened in the background."""

_SPEAKS_ITSELF = frozenset({"write_file", "start_job", "ask_user"})
"""Tools whose result is a sentence, not output."""

_TOLD = re.compile(
    r"This (?:very )?(?:call|question) (?:ran|waits|was|is|did|became|could)\b|A person (?:approved|denied) this call\b"
    r"|Nobody answered (?:in time|the question)\b|(?:The|No) result of this call\b|Not run again:"
    r"|The card for this call\b|It could not start\b|The tool failed:|Policy refuses this call\b"
    r"|The person answered:|The tool call was\b"
)
"""How the house's sentences about a call begin; see `bot.deferral.sentences` and the gate."""
_ORDERS = re.compile(
    r"(?<=[.!:])\s+(?:Do not (?:call|ask|reach|repeat)|Silence is not consent|Say (?:that|why|so)|Tell the person)"
    r"[^\n]*?(?:[.!](?=\s|$)|$)"
)
_CHANGED = re.compile(
    r"A person changed this call before it was decided\. What follows is about the changed one: (?P<arguments>\{.*\})\n"
)
_WAITS = re.compile(r"\bwaits for a person\b|\balready being asked about\b|\bcard is (?:already )?up\b")
_EXIT_CODE = re.compile(r"\bexit (?:code|status)[ :]+(?P<code>-?\d+)\b", re.IGNORECASE)
_EVENT_ITEM = re.compile(r"^- (?P<tool>[\w.-]+) (?=\{)", re.MULTILINE)


def report(calls: Sequence[ToolCallPart], results: Iterable[ToolReturnPart]) -> list[str]:
    """One paragraph for each result, in the order in which the calls were made."""
    place = {call.tool_call_id: index for index, call in enumerate(calls)}
    by_id = {call.tool_call_id: call for call in calls}
    paragraphs = []
    for result in sorted(results, key=lambda result: place.get(result.tool_call_id, len(place))):
        call = by_id.get(result.tool_call_id)
        about = name_call(result.tool_name, _arguments(call) if call else {})
        text = _complaint(result) if result.outcome == "retried" else result.model_response_str(wrap_if_error=False)
        paragraphs.append(_paragraph(result.tool_name, about, text, result.outcome))
    return paragraphs


def _complaint(result: ToolReturnPart) -> str:
    """Why a tool did not take a call: what the validation found, without the order to try again."""
    found = result.content if isinstance(result.content, list) else [result.content]
    said = [str(one.get("msg", one)) if isinstance(one, dict) else str(one) for one in found]
    return f"it was not accepted: {'; '.join(said)}"


def report_event(prompt: str) -> list[str]:
    """Paragraphs for something that happened in the background, as `bot.deferral.sentences.event` writes it."""
    _, _, body = prompt.partition("]")
    body = body.strip()
    items = list(_event_items(body))
    if items:
        return [_paragraph(tool, name_call(tool, arguments), text, "success") for tool, arguments, text in items]
    body = body or prompt.strip().strip("[]")
    first, _, rest = body.partition("\n")
    return [_without_orders(first), *([_fence(rest)] if rest.strip() else [])]


def _event_items(body: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    found = list(_EVENT_ITEM.finditer(body))
    ends = [*(item.start() for item in found), len(body)][1:]
    for item, limit in zip(found, ends, strict=True):
        try:
            arguments, end = json.JSONDecoder().raw_decode(body, item.end())
        except ValueError:
            continue
        text = body[end:limit].removeprefix(":").strip()
        yield item["tool"], arguments, text


def _paragraph(tool: str, about: str, text: str, outcome: str) -> str:
    if (changed := _CHANGED.match(text)) is not None:
        became = name_call(tool, json.loads(changed["arguments"]))
        about = f"{about}, changed by a person into {became[:1].lower()}{became[1:]}"
        text = text[changed.end() :]
    first, _, rest = text.partition("\n")
    told = _TOLD.match(first) is not None
    if told or (outcome != "success" and not rest.strip() and not _EXIT_CODE.search(first)):
        sentence = _without_orders(first) if told else first.strip()
        return _told(about, sentence or _BARE[outcome], rest)
    if tool in _SPEAKS_ITSELF and not rest.strip() and first.strip():
        return f"{about}: {first.strip()}"
    code = _EXIT_CODE.search(first) or _EXIT_CODE.search(text.rstrip().rpartition("\n")[2])
    facts = [f"exit code {code['code']}"] if code else []
    facts += ["no output"] if not text.strip() else []
    facts += [] if outcome == "success" else [outcome]
    head = f"{about} ({', '.join(facts)})" if facts else about
    return f"{head}:\n{_fence(text)}" if text.strip() else f"{head}."


_BARE = {
    "success": "It returned nothing.",
    "failed": "It failed.",
    "denied": "It was denied and did not run.",
    "interrupted": "It was interrupted, and nothing more is known of it.",
    "retried": "The tool did not accept the call.",
}


def _told(about: str, sentence: str, rest: str) -> str:
    """A sentence of the house about a call, and what the call printed."""
    if _WAITS.search(sentence):
        sentence += " You find the buttons on its card."
    return f"{about}: {sentence}" + (f"\n{_fence(rest)}" if rest.strip() else "")


def _without_orders(sentence: str) -> str:
    """A sentence written for a model as a person would be told it."""
    return re.sub(r"\bthis call\b", "it", _ORDERS.sub("", sentence.strip()).strip(), count=1, flags=re.IGNORECASE)


def name_call(tool: str, arguments: dict[str, Any]) -> str:
    """What a person would call this tool call, e.g. "The command `date`". Inert, and short."""
    said = next((str(value) for value in arguments.values() if isinstance(value, str) and value.strip()), "")
    shown = f" {inline(said)}" if said else ""
    match tool:
        case "shell":
            return f"The command{shown}"
        case "execute_code" | "calculate":
            return f"The Python code{shown}"
        case "read_file":
            return f"The file{shown}"
        case "write_file":
            return f"Writing{shown}"
        case "list_files":
            return "The files in the workspace" if said in {"", ".", "./"} else f"The files in{shown}"
        case "http_fetch":
            page = arguments.get("url")  # an outcome comes with its names sorted, so the method may be first
            return f"The page {inline(str(page))}" if page else "The page"
        case "start_job":
            return f"The job{shown}"
        case "ask_user":
            return f"The question{shown}"
        case _:
            return f"{inline(tool)}{shown}"


def inline(text: str, *, longest: int = 60) -> str:
    """One line of `text` as inline code that cannot be broken out of, cut visibly at `longest` characters."""
    lines = text.strip().splitlines() or [""]
    line = lines[0].strip()
    if len(line) > longest or len(lines) > 1:
        line = f"{line[: longest - 1].rstrip()}…"
    marks = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    return f"`{line}`" if marks == "`" else f"{marks} {line} {marks}"


def _fence(text: str) -> str:
    """`text` in a fence longer than any run of backticks inside, so that it ends where it should."""
    marks = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    body = text.strip("\n").rstrip()
    return f"{marks}\n{body}\n{marks}"


def _arguments(call: ToolCallPart) -> dict[str, Any]:
    """The arguments for show; a model's broken JSON shows none."""
    try:
        return call.args_as_dict()
    except ValueError:
        return {}
