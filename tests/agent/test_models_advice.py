"""Failures that a local server cannot be made to cause, in words."""

from __future__ import annotations

import pytest
from pydantic_ai.exceptions import (
    ContentFilterError,
    FallbackExceptionGroup,
    IncompleteToolCall,
    ModelHTTPError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
    UserError,
)

from bot.agent.models import explain
from bot.errors import ModelError


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModelOverloadedError("m", "busy"), "overloaded"),
        (ModelQuotaExceededError("m", "broke"), "no credit or quota left"),
        (ModelRequestTimeout("m", 3.0), "in time"),
        (ModelHTTPError(418, "m", "teapot"), "did not answer as it should"),
        (ContentFilterError("stopped"), "content filter"),
        (IncompleteToolCall("cut"), "longer than the model may write"),
        (UsageLimitExceeded("too many requests"), "more steps than one turn may take"),
        (UnexpectedModelBehavior("odd"), "cannot be used"),
        (UserError("wrong"), "not set up as it has to be"),
        (RuntimeError("a fault of ours"), "the reason is in the log"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_kind_of_failure_has_its_advice(error: Exception, says: str) -> None:
    explained = explain(error)
    assert says in explained.advice
    assert type(error).__name__ in explained.detail


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "a minute"),
        (0.2, "1 second"),
        (1.5, "2 seconds"),
        (89, "89 seconds"),
        (90, "2 minutes"),
        (121, "3 minutes"),
    ],
)
def test_the_time_to_wait_is_rounded_up(seconds: float | None, words: str) -> None:
    assert explain(ModelRateLimitError("m", "slow", retry_after=seconds)).advice.endswith(f"ask again in {words}.")


@pytest.mark.parametrize("secret", ["sk-proj-0123456789", "Bearer abc.def", "xai-0123456789", "gsk_0123456789"])
def test_a_key_that_a_provider_repeats_gets_neither_into_the_advice_nor_into_the_log(secret: str) -> None:
    explained = explain(ModelHTTPError(401, "m", {"error": f"bad key {secret}!"}))
    assert secret not in explained.advice + explained.detail
    assert "[a key]" in explained.detail


def test_a_long_error_page_is_shortened_for_the_log() -> None:
    explained = explain(ModelHTTPError(500, "m", "x" * 100_000))
    assert len(explained.detail) < 2100
    assert "xxx" not in explained.advice


def test_a_chain_of_models_is_explained_by_its_first() -> None:
    group = FallbackExceptionGroup("all failed", [ModelOverloadedError("a", "busy"), UserError("wrong")])
    assert "overloaded" in explain(group).advice


def test_what_is_already_explained_stays_as_it_is() -> None:
    error = ModelError("Ask again.")
    assert explain(error) is error
