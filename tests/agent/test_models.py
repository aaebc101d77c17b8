"""Answers and failures of a real HTTP server that speaks /v1/chat/completions, each as a person gets to know them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic_ai import Agent, RunContext
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    AgentStreamEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model

from bot.agent.models import build_model, close_model, explain
from bot.errors import ModelError

KEY = "sk-proj-0123456789abcdef"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Provider:
    """A server that answers request after request from a list, and keeps what it was asked."""

    answers: list[Answer] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    release: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        self.keys.append(request.headers["Authorization"])
        return await self.answers.pop(0)(request)


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Provider]:
    made = Provider()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", made.handle)
    async with TestServer(app) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", str(server.make_url("/v1")))
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield made
        made.release.set()


@pytest.fixture
async def model(provider: Provider) -> AsyncIterator[Model]:
    built = build_model("openai-chat:harbour-1", timeout_seconds=5, retries=0)
    yield built
    await close_model(built)


def completion(text: str | None = None, calls: Sequence[tuple[str, str]] = (), finish: str = "stop") -> Answer:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for index, (name, arguments) in enumerate(calls)
        ]
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "harbour-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
    return json_answer(200, body)


def json_answer(status: int, body: object, headers: dict[str, str] | None = None) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return answer


def failure(status: int, code: str | None, message: str, headers: dict[str, str] | None = None) -> Answer:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
    return json_answer(status, body, headers)


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "harbour-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}],
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def stream(*pieces: bytes, then: Callable[[web.Request], Awaitable[None]] | None = None) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        if then is not None:
            await then(request)
        return response

    return answer


WORDS = [chunk({"role": "assistant", "content": ""}), chunk({"content": "Good "}), chunk({"content": "morning."})]
DONE = [chunk({}, "stop"), b"data: [DONE]\n\n"]


async def ask(model: Model, *, streaming: bool = False) -> tuple[str, list[str]]:
    """Ask in the way the loop does: with a tool at hand. Returns the answer and the pieces it came in."""
    agent = Agent(model)
    pieces: list[str] = []

    @agent.tool_plain(retries=1)
    def weigh(load: int) -> str:
        return f"{load} tons"

    async def watch(_: RunContext[None], events: AsyncIterable[AgentStreamEvent]) -> None:
        deltas = [event.delta async for event in events if isinstance(event, PartDeltaEvent)]
        pieces.extend(delta.content_delta for delta in deltas if isinstance(delta, TextPartDelta))

    try:
        result = await agent.run("How heavy is it?", event_stream_handler=watch if streaming else None)
    except Exception as error:
        raise explain(error) from error
    return result.output, pieces


async def failing(model: Model, *, streaming: bool = False) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await asyncio.wait_for(ask(model, streaming=streaming), timeout=10)
    assert KEY not in caught.value.advice + caught.value.detail
    assert caught.value.advice.count(". ") == 0
    return caught.value


async def test_an_answer_of_a_compatible_server_arrives(provider: Provider, model: Model) -> None:
    provider.answers = [completion("Good morning.")]
    assert await ask(model) == ("Good morning.", [])
    assert provider.asked[0]["model"] == "harbour-1"
    assert provider.asked[0]["messages"][-1] == {"role": "user", "content": "How heavy is it?"}
    assert provider.keys == [f"Bearer {KEY}"]


async def test_a_streamed_answer_arrives_in_pieces(provider: Provider, model: Model) -> None:
    provider.answers = [stream(*WORDS, *DONE)]
    text, pieces = await ask(model, streaming=True)
    assert text == "Good morning."
    assert pieces[-1] == "morning."
    assert provider.asked[0]["stream"] is True


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_tool_call_goes_out_and_its_result_comes_back(
    provider: Provider, model: Model, streaming: bool
) -> None:
    call = {"index": 0, "id": "call_0", "type": "function", "function": {"name": "weigh", "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": '{"load": 7}'}}
    called = stream(chunk({"tool_calls": [call]}), chunk({"tool_calls": [rest]}), chunk({}, "tool_calls"), DONE[1])
    provider.answers = (
        [called, stream(*WORDS, *DONE)]
        if streaming
        else [completion(calls=[("weigh", '{"load": 7}')], finish="tool_calls"), completion("Good morning.")]
    )
    assert (await ask(model, streaming=streaming))[0] == "Good morning."
    offered = provider.asked[0]["tools"][0]["function"]["name"]
    assert offered == "weigh"
    assert provider.asked[1]["messages"][-1] == {"role": "tool", "tool_call_id": "call_0", "content": "7 tons"}


@pytest.mark.parametrize(
    ("status", "code", "message", "headers", "says"),
    [
        (401, "invalid_api_key", f"Incorrect API key provided: {KEY}.", None, "refused the key"),
        (403, None, "You may not use this model.", None, "refused the key"),
        (404, "model_not_found", "The model `harbour-1` does not exist", None, "does not know this model"),
        (400, "context_length_exceeded", "This model's maximum context length is 8192 tokens.", None, "/new"),
        (400, "unsupported_value", "temperature must be 1", None, "did not accept the request"),
        (429, "rate_limit_exceeded", "Rate limit reached", {"retry-after": "17"}, "ask again in 17 seconds"),
        (429, "rate_limit_exceeded", "Rate limit reached", {"retry-after": "600"}, "ask again in 10 minutes"),
        (429, "rate_limit_exceeded", "Rate limit reached", None, "ask again in a minute"),
        (429, "insufficient_quota", "You exceeded your current quota", None, "no credit or quota left"),
        (500, None, "The server had an error", None, "an error of its own"),
        (503, None, "Service Unavailable", None, "overloaded or down"),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else None,
)
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
async def test_a_refusal_of_the_provider_becomes_a_sentence_that_says_what_to_do(
    provider: Provider,
    model: Model,
    status: int,
    code: str | None,
    message: str,
    headers: dict[str, str] | None,
    says: str,
    streaming: bool,
) -> None:
    provider.answers = [failure(status, code, message, headers)]
    error = await failing(model, streaming=streaming)
    assert says in error.advice
    assert str(status) in error.detail
    assert message not in error.advice
    assert len(provider.asked) == 1


async def test_an_error_page_that_is_no_json_is_explained_too(provider: Provider, model: Model) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(status=502, text="<html>Bad Gateway</html>", content_type="text/html")

    provider.answers = [page]
    assert "an error of its own" in (await failing(model)).advice


async def test_a_page_in_place_of_an_answer_is_explained_too(provider: Provider, model: Model) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>Welcome</html>", content_type="text/html")

    provider.answers = [page]
    assert "cannot be used" in (await failing(model)).advice


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
async def test_a_server_that_stays_silent_is_given_up(provider: Provider, streaming: bool) -> None:
    async def silence(_: web.Request) -> web.StreamResponse:
        await provider.release.wait()
        return web.Response()

    provider.answers = [silence]
    model = build_model("openai-chat:harbour-1", timeout_seconds=0.2, retries=0)
    error = await failing(model, streaming=streaming)
    provider.release.set()
    await close_model(model)
    assert "in time" in error.advice


async def test_an_answer_that_trickles_for_ever_is_given_up(provider: Provider) -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        over = asyncio.ensure_future(provider.release.wait())
        while not over.done() and request.transport is not None:
            await response.write(chunk({"content": "and "}))
            await asyncio.wait([over], timeout=0.02)
        over.cancel()
        return response

    provider.answers = [trickle]
    model = build_model("openai-chat:harbour-1", timeout_seconds=0.2, retries=0)
    error = await failing(model, streaming=True)
    provider.release.set()
    await close_model(model)
    assert "in time" in error.advice


async def test_a_connection_cut_in_the_middle_of_an_answer_is_explained(provider: Provider, model: Model) -> None:
    async def cut(request: web.Request) -> None:
        assert request.transport is not None
        request.transport.abort()

    provider.answers = [stream(*WORDS, then=cut)]
    assert "connection" in (await failing(model, streaming=True)).advice


async def test_an_error_inside_a_running_stream_is_explained(provider: Provider, model: Model) -> None:
    told = {"error": {"message": "overloaded", "type": "server_error", "code": "server_error", "param": None}}
    provider.answers = [stream(*WORDS, b"data: " + json.dumps(told).encode() + b"\n\n")]
    error = await failing(model, streaming=True)
    assert "provider" in error.advice
    assert "overloaded" in error.detail


async def test_nobody_listening_at_the_address_is_explained(
    provider: Provider, model: Model, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{unused_tcp_port}/v1")
    lost = build_model("openai-chat:harbour-1", timeout_seconds=5, retries=0)
    error = await failing(lost)
    await close_model(lost)
    assert "connection" in error.advice


async def test_a_tool_that_does_not_exist_ends_the_turn_with_a_sentence(provider: Provider, model: Model) -> None:
    provider.answers = [completion(calls=[("fly", "{}")], finish="tool_calls") for _ in range(3)]
    assert "in a way that makes no sense" in (await failing(model)).advice


@pytest.mark.parametrize("arguments", ['{"load": "much"}', '{"load": ', "[]"])
async def test_arguments_that_stay_malformed_end_the_turn_with_a_sentence(
    provider: Provider, model: Model, arguments: str
) -> None:
    provider.answers = [completion(calls=[("weigh", arguments)], finish="tool_calls") for _ in range(2)]
    error = await failing(model)
    assert "in a way that makes no sense" in error.advice


async def test_a_call_cut_off_by_the_length_limit_is_explained(provider: Provider, model: Model) -> None:
    provider.answers = [completion(calls=[("weigh", '{"load": ')], finish="length") for _ in range(2)]
    assert "longer than the model may write" in (await failing(model)).advice


async def test_a_filtered_answer_is_explained(provider: Provider, model: Model) -> None:
    provider.answers = [completion(None, finish="content_filter")]
    assert "content filter" in (await failing(model)).advice


async def test_one_failed_attempt_is_repeated_before_anybody_is_told(provider: Provider) -> None:
    provider.answers = [failure(500, None, "oops", {"retry-after-ms": "1"}), completion("Good morning.")]
    model = build_model("openai-chat:harbour-1", timeout_seconds=5)
    assert (await ask(model))[0] == "Good morning."
    await close_model(model)
    assert len(provider.asked) == 2


async def test_repeated_attempts_share_one_time_limit(provider: Provider) -> None:
    provider.answers = [failure(429, "rate_limit_exceeded", "slow down", {"retry-after": "50"}), completion("late")]
    model = build_model("openai-chat:harbour-1", timeout_seconds=0.3)
    error = await failing(model)
    await close_model(model)
    assert "in time" in error.advice
    assert len(provider.asked) == 1


async def test_a_closed_model_can_be_used_and_closed_again(provider: Provider, model: Model) -> None:
    provider.answers = [completion("one"), completion("two")]
    assert (await ask(model))[0] == "one"
    await close_model(model)
    assert (await ask(model))[0] == "two"


@pytest.mark.parametrize("outcome", ["success", "failed", "denied", "interrupted", "retried"])
async def test_every_outcome_of_a_call_reaches_the_provider_with_its_words(
    provider: Provider, model: Model, outcome: Any
) -> None:
    """Also the list of problems that goes back with bad arguments: what our own loop hands to `pydantic_ai.direct`."""
    provider.answers = [completion("I see.")]
    problems = [{"type": "missing", "loc": ("what",), "msg": "Field required", "input": {}}]
    whole: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("hi")]),
        ModelResponse(parts=[ToolCallPart("look", {}, "a")]),
        ModelRequest(parts=[ToolReturnPart("look", problems, "a", outcome=outcome)]),
    ]
    await model_request(model, whole)
    last = provider.asked[0]["messages"][-1]
    assert (last["role"], last["tool_call_id"]) == ("tool", "a")
    assert "Field required" in last["content"]
