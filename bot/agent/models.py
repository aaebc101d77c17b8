"""From a model's name to a model, and from a model's failure to one sentence that says what to do.

Names are pydantic-ai's (`provider:model`); each provider reads its own variables. A wrong name or a missing key is
found here, at the start, not in somebody's first turn. Time-outs and few retries are set on every model: a failing
provider must surface as a sentence while the person still looks at the screen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import cast

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelRetry,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
    UserError,
)
from pydantic_ai.models import Model, infer_model
from pydantic_ai.settings import ModelSettings
from pydantic_core import ValidationError

from bot.agent.offline import offline_model
from bot.errors import ModelError, SettingsError
from bot.texts.text import say

SETTING = "SIGNOFF_MODEL"
OFFLINE = "offline"
"""The offline model by name; leaving the setting empty means the same."""


def build_model(name: str | None, *, timeout_seconds: float = 120.0, retries: int = 1) -> Model:
    """The model of that name, ready to use; None is the offline model. Calls nobody.

    `timeout_seconds` bounds one answer from the request to its last word, with all attempts at it; `retries` is how
    often the provider's client may repeat a failed attempt (429, 5xx, no connection) within that time.
    Raises `SettingsError` with what to set or to install. `close_model` when done.
    """
    name = (name or "").strip()
    if name in {"", OFFLINE}:
        return offline_model()
    provider, colon, model_name = (part.strip() for part in name.partition(":"))
    if colon and not model_name:
        raise SettingsError(SETTING, f"{name} names a provider but no model; {_FORM}")
    try:
        model = infer_model(f"{provider}{colon}{model_name}")
    except ImportError as error:
        raise SettingsError(SETTING, f"{name} needs a package that is not installed: {_package(error)}") from error
    except _refusals() as error:
        raise _unusable(name, error) from error
    limits = ModelSettings(timeout=timeout_seconds, request_timeout=timeout_seconds, max_retries=retries)
    return _limited(model, limits)


async def close_model(model: Model) -> None:
    """Close the connections that the model's provider opened. The model can be closed again, and used again."""
    # Entering and leaving is the public way: the provider closes the client that it made when the last user leaves.
    async with model:
        pass


def _limited(model: Model, limits: ModelSettings) -> Model:
    """The same model with `limits` as its settings, but for those that this kind of model has no use for."""
    if model.provider is None:
        return model
    fitting = {name: value for name, value in limits.items() if name not in model.unsupported_settings}
    # `infer_model` takes no settings; every model class with a provider is made in this way.
    make = cast("Callable[..., Model]", type(model))
    return make(model.model_name, provider=model.provider, settings=cast("ModelSettings", fitting))


# --- What is wrong with a name ----------------------------------------------------------------------------------------

_FORM = (
    "write provider:model, such as openai:..., anthropic:..., ollama:..., or openai-chat:... for a compatible server"
)
_VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`")


def _refusals() -> tuple[type[Exception], ...]:
    """What is raised for a setting that a provider cannot use.

    openai's own error is looked up only where that package was loaded: loading it takes a third of the bot's start.
    """
    openai = sys.modules.get("openai")
    return (UserError, ValueError, *(() if openai is None else (openai.OpenAIError,)))


def _package(error: ImportError) -> str:
    extra = re.search(r"pydantic-ai-slim\[([\w-]+)\]", str(error))
    return f'pip install "pydantic-ai-slim[{extra[1]}]"' if extra else _first_sentence(error)


def _unusable(name: str, error: Exception) -> SettingsError:
    message = str(error)
    if message.startswith("Unknown model"):
        meant = re.search(r"Did you mean '([^']+)'", message)
        hint = f"did you mean {meant[1]}?" if meant else _FORM
        return SettingsError(SETTING, f"there is no model called {name}; {hint}")
    variables = list(dict.fromkeys(_VARIABLE.findall(message)))
    if variables:
        compatible = " (and OPENAI_BASE_URL for a compatible server)" if name.startswith("openai-chat:") else ""
        return SettingsError(" or ".join(variables), f"has to be set for {SETTING}={name}{compatible}")
    return SettingsError(SETTING, f"{name} cannot be set up: {_first_sentence(error)}")


def _first_sentence(error: Exception) -> str:
    return _safe(str(error).strip().split("\n")[0].split(". ")[0], longest=300)


# --- What is wrong with an answer -------------------------------------------------------------------------------------

_WHO = say("model.whoever_runs")
_ADVICE: tuple[tuple[type[Exception], str], ...] = (
    (
        ModelAuthenticationError,
        say("model.key_refused", who=_WHO),
    ),
    (
        ModelQuotaExceededError,
        say("model.no_credit", who=_WHO),
    ),
    (
        ModelContextWindowExceededError,
        say("model.too_long"),
    ),
    (
        ModelNotFoundError,
        say("model.unknown", who=_WHO),
    ),
    (
        ModelRequestRejectedError,
        say("model.not_accepted", who=_WHO),
    ),
    (
        ModelUnavailableError,
        say("model.overloaded"),
    ),
    (
        ModelServerError,
        say("model.own_error"),
    ),
    (
        ModelTimeoutError,
        say("model.no_answer_in_time"),
    ),
    (
        ModelRequestTimeout,
        say("model.not_finished_in_time"),
    ),
    (
        ModelConnectionError,
        say("model.connection", who=_WHO),
    ),
    (
        ModelAPIError,
        say("model.odd_answer", who=_WHO),
    ),
    (
        ContentFilterError,
        say("model.filtered"),
    ),
    (
        OutputTokenLimitExceeded,
        say("model.too_much"),
    ),
    (
        UsageLimitExceeded,
        say("model.too_many_steps"),
    ),
    (
        UnexpectedModelBehavior,
        say("model.unusable"),
    ),
    (
        UserError,
        say("model.not_set_up", who=_WHO),
    ),
)
"""The first line whose class fits counts, so the special stands before the general."""

BAD_ARGUMENTS = say("model.bad_calls")
_ANYTHING_ELSE = say("model.went_wrong", who=_WHO)


def explain(error: Exception) -> ModelError:
    """What the person who asked is told about a failed answer, and what the log is.

    `advice` is one sentence of our own: nothing that a provider sent is in it. `detail` quotes the provider, shortened
    and with whatever looks like a key blotted out. Raise it `from error`.
    """
    if isinstance(error, ModelError):
        return error
    if isinstance(error, ExceptionGroup):  # every model of a fallback chain failed; the first one is the one wanted
        return explain(error.exceptions[0])
    return ModelError(_advice(error), detail=f"{type(error).__name__}: {_safe(str(error), longest=2000)}")


def _advice(error: Exception) -> str:
    if isinstance(error, ModelRateLimitError):
        wait = _duration(error.retry_after)
        return say("model.rate_limited", wait=wait)
    # pydantic-ai has no class of its own for this; only the cause and the beginning of the message tell it apart.
    misused = isinstance(error.__cause__, ValidationError | ModelRetry) and str(error).startswith("Tool ")
    if isinstance(error, UnexpectedModelBehavior) and misused:
        return BAD_ARGUMENTS
    return next((advice for kind, advice in _ADVICE if isinstance(error, kind)), _ANYTHING_ELSE)


def _duration(seconds: float | None) -> str:
    """In words, rounded up; a provider that names no time gets a minute."""
    if seconds is None:
        return say("model.a_minute")
    if seconds < 90:
        whole = max(1, -int(-seconds // 1))
        return say("model.seconds", n=whole)
    return say("model.minutes", n=-int(-seconds // 60))


_KEY = re.compile(r"(?i)\b(?:bearer\s+\S+|(?:sk|pk|rk|gsk|xai|key|token)[-_][\w.*-]{6,}|AIza[\w-]{20,})")


def _safe(text: str, *, longest: int) -> str:
    text = _KEY.sub("[a key]", text)
    return text if len(text) <= longest else f"{text[:longest]} [...]"
