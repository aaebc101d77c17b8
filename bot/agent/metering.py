"""What an answer of the model took, and what it costs by the list prices that come with pydantic-ai (genai-prices).

The list is part of the installed package: nobody is asked over the network. A price that is not on it is unknown, and
never nothing; only the offline model costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.usage import RequestUsage

from bot.agent.models import OFFLINE
from bot.deferral.calls import ModelCall

_NAME = 100
"""Characters of a model's name that are kept: providers choose it."""


def taken(response: ModelResponse) -> ModelCall:
    """What one answer took."""
    usage = response.usage
    name = response.model_name or "unknown"
    silent = usage.unmeasured_requests > 0 or (usage.input_tokens == 0 and usage.output_tokens == 0)
    return ModelCall(
        model=(f"{response.provider_name}:{name}" if response.provider_name else name)[:_NAME],
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        tool_calls=len(response.tool_calls),
        measured=not silent or name == OFFLINE,
        cost_micros=_micros(response),
    )


def cost_of(messages: Sequence[ModelMessage]) -> int | None:
    """What the answers among the messages cost, in millionths of a US dollar; None if one has no known price."""
    costs = [_micros(message) for message in messages if isinstance(message, ModelResponse)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def has_price(model: Model) -> bool:
    """Whether the list knows a price for what this model will answer, as far as can be said before it does."""
    usage = RequestUsage(input_tokens=1, output_tokens=1)
    probe = ModelResponse(
        parts=[],
        usage=usage,
        model_name=model.model_name,
        provider_name=None if model.system == "function" else model.system,
        provider_url=model.base_url,
    )
    return _micros(probe) is not None


def _micros(response: ModelResponse) -> int | None:
    """Rounded up, so that many small answers do not add up to nothing."""
    if response.model_name == OFFLINE and response.provider_name is None:
        return 0
    try:
        price = response.cost().total_price
    except (LookupError, ValueError, AssertionError):  # no such model, no usage, no name: all mean "unknown"
        return None
    return int((Decimal(price) * 1_000_000).to_integral_value(rounding=ROUND_CEILING))
