"""What a conversation has in it that nobody here wrote: pages, files, attachments, answers of MCP servers and jobs.

Told to the people who decide about a call: a model that reads a page does what the page says more often than it should.
Taken from the messages themselves, so it is what the model really has in front of it, also after a restart or a fork.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart

from bot.agent.enclosed import HEAD
from bot.deferral.tool import Tool

MOST = 20
"""Names kept for one call; the newest."""
_ATTACHED = re.compile(r"\[(?:image|text|file) ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")[],]")
_ENDED = re.compile(
    r"^\[event: the person did not write this\]\n(?:Background job|The job) ([\w-]{1,40}) ", re.ASCII | re.MULTILINE
)
"""How a conversation, or an open job, is told of a job's ending (`bot.jobs.words`). Known by its words, because a
message is marked as an event only when it is stored; who writes such words themselves is shown as a source more."""


def sources(messages: Sequence[ModelMessage], tools: Mapping[str, Tool]) -> tuple[str, ...]:
    """The names of what came from outside, each once, the newest last. `tools` know where their results come from."""
    found: dict[str, None] = {}
    for name in _every(messages, tools):
        found.pop(name, None)
        found[name] = None
    return tuple(found)[-MOST:]


def _every(messages: Sequence[ModelMessage], tools: Mapping[str, Tool]) -> Iterator[str]:
    asked: dict[str, tuple[str, bool]] = {}
    for message in messages:
        if isinstance(message, ModelResponse):
            for call in message.tool_calls:
                tool = tools.get(call.tool_name)
                if tool is not None and tool.reads is not None:
                    asked[call.tool_call_id] = (tool.reads(call.args_as_dict()), tool.gated)
        elif isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, ToolReturnPart) and part.tool_call_id in asked:
                    name, may_fail_in_its_words = asked[part.tool_call_id]
                    if part.outcome == "success" or (part.outcome == "failed" and may_fail_in_its_words):
                        yield name
                elif isinstance(part, UserPromptPart) and isinstance(part.content, str):
                    yield from (f"job {id}" for id in _ENDED.findall(part.content))
                elif isinstance(part, UserPromptPart):
                    yield from _attached([one for one in part.content if isinstance(one, str)])


def _attached(content: Sequence[str]) -> Iterator[str]:
    if content and content[0] == HEAD:
        for one in content[1:]:
            if (named := _ATTACHED.match(one)) is not None:
                yield str(ast.literal_eval(named[1]))
