"""An agent that nobody shaped for Signoff: its own dependencies, output type, instructions, toolset and signals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, ApprovalRequired, CallDeferred, ModelRetry, RunContext
from pydantic_ai.capabilities import Toolset
from pydantic_ai.toolsets import FunctionToolset


@dataclass
class Bakery:
    """What its tools work with."""

    customer: str
    oven: list[str] = field(default_factory=list)


class Receipt(BaseModel):
    """What it answers with."""

    item: str
    pieces: int


OVEN: list[str] = []
"""What was baked, by all agents of this process."""

shelf: FunctionToolset[Bakery] = FunctionToolset()


@shelf.tool
def throw_away(ctx: RunContext[Bakery], item: str) -> str:
    """Throw bread away. Not marked in any way: it is for policy to gate it."""
    ctx.deps.oven.append(f"away {item}")
    return "gone"


hidden: FunctionToolset[Bakery] = FunctionToolset()


@hidden.tool
def set_fire(ctx: RunContext[Bakery]) -> str:
    """Comes in through a capability."""
    ctx.deps.oven.append("fire")
    return "burning"


def build(model: Any) -> Agent[Bakery, Any]:
    """A fresh agent over this model."""
    agent: Agent[Bakery, Any] = Agent(
        model, deps_type=Bakery, output_type=[Receipt, str], toolsets=[shelf], capabilities=[Toolset(hidden)]
    )

    @agent.instructions
    def greet(ctx: RunContext[Bakery]) -> str:
        return f"You bake for {ctx.deps.customer}."

    @agent.tool(requires_approval=True)
    def bake(ctx: RunContext[Bakery], item: str, pieces: int = 12) -> dict[str, int]:
        """Bake something."""
        if not ctx.tool_call_approved:
            raise RuntimeError("baked without approval")
        ctx.deps.oven.append(f"{pieces} {item} for {ctx.deps.customer}")
        return {item: pieces}

    @agent.tool
    def sell(ctx: RunContext[Bakery], price: int) -> str:
        """Sell bread; a high price wants a second look."""
        if price > 10 and not ctx.tool_call_approved:
            raise ApprovalRequired(metadata={"price": price})
        ctx.deps.oven.append(f"sold {price}")
        return "sold"

    @agent.tool_plain
    def flour(kind: str) -> str:
        """Look for flour."""
        if kind == "moon dust":
            raise ModelRetry("there is no such flour")
        return f"{kind} is there"

    @agent.tool_plain
    def order(what: str) -> str:
        """Order something that comes later."""
        raise CallDeferred(metadata={"order": what})

    return agent


def supplies(asked: Any) -> Bakery:
    """Dependencies for one run or call."""
    return Bakery(customer=asked.requester, oven=OVEN)
