"""Puts the agent together: model, gate and tools become one loop, once per process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal

from pydantic_ai.models import Model

from bot.agent.gate import Gate, Record, Refusal, Screen
from bot.agent.loop import AgentLoop, Choose, MakeMeter
from bot.agent.models import build_model, close_model
from bot.agent.own import OwnAgent, load_own
from bot.clock import Clock
from bot.deferral.calls import MOST_AT_ONCE
from bot.deferral.policy import Policy
from bot.deferral.tool import Keep, Tool, keep_nothing
from bot.deferral.vault import Vault
from bot.redact import Redactor

Images = Literal["auto", "on", "off"]

__all__ = ["Model", "load_own", "open_loop"]


@asynccontextmanager
async def open_loop(
    *,
    model: Model | str | None,
    timeout_seconds: float,
    streaming: bool,
    tools: MutableMapping[str, Tool],
    policy: Policy,
    clock: Clock,
    screen: Screen,
    nobody_can_decide: Refusal,
    mask: Callable[[str], str],
    record: Record | None = None,
    own: OwnAgent | None = None,
    images: Images = "auto",
    redactor: Redactor | None = None,
    meter: MakeMeter | None = None,
    vault: Vault | None = None,
    keep: Keep = keep_nothing,
    others: Sequence[str] = (),
    choose: Choose = lambda run: None,
) -> AsyncIterator[AgentLoop]:
    """The loop over a model given by name (None: the offline model) or as an object. `tools` may change meanwhile.

    With the user's `own` agent, its tools are added to `tools`. `images`: whether the model is shown those that
    people attach; `auto`: as far as is known of it. `meter` watches the calls of the model. `others` are models that
    `choose` may name for a run in its place; with the user's `own` agent it has no say.
    Raises `SettingsError` or `ModelError` when the model cannot be built.
    """
    built = model if isinstance(model, Model) else build_model(model, timeout_seconds=timeout_seconds)
    gate = Gate(
        tools,
        policy=policy,
        clock=clock,
        screen=screen,
        nobody_can_decide=nobody_can_decide,
        mask=mask,
        record=record,
        vault=vault,
        keep=keep,
        most_at_once=MOST_AT_ONCE,
    )
    try:
        async with AsyncExitStack() as stack:
            if own is not None:
                await stack.enter_async_context(own.agent)
                tools.update({tool.name: tool for tool in await own.tools(built, tools)})
            more = {name: await _opened(stack, name, timeout_seconds) for name in others}
            yield AgentLoop(
                model=built,
                gate=gate,
                streaming=streaming,
                timeout_seconds=timeout_seconds,
                own=own,
                meter=meter,
                takes_images=lambda model: (
                    images == "on" or (images == "auto" and bool(model.profile.get("supports_image_input", True)))
                ),
                redactor=redactor,
                models=more,
                choose=choose,
            )
    finally:
        await close_model(built)


async def _opened(stack: AsyncExitStack, name: str, timeout_seconds: float) -> Model:
    built = build_model(name, timeout_seconds=timeout_seconds)
    stack.push_async_callback(close_model, built)
    return built
