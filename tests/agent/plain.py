"""An agent of the user's that does what the house's own does: what holds of the one loop must hold of the other."""

from __future__ import annotations

from pydantic_ai import Agent

from bot.agent.loop import INSTRUCTIONS

agent = Agent(instructions=INSTRUCTIONS)
