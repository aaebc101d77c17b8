"""The last words before the program ends in order: people see what the stop has left, as it is.

Everything here is owed in the rows as well. What does not get out in time is brought out after the next start.
"""

from __future__ import annotations

import asyncio
import logging

from bot.clock import Clock
from bot.delivery import Delivery
from bot.jobs.cards import JobCards
from bot.turns import Turns

logger = logging.getLogger(__name__)

_LEAST_WAIT = 0.05


async def farewell(turns: Turns, delivery: Delivery, job_cards: JobCards, clock: Clock, *, seconds: float) -> None:
    """Bring out what is owed until nothing is, or `seconds` are over. Nothing runs any more when this is called."""
    try:
        async with asyncio.timeout(seconds):
            await turns.part(list(delivery.replies))
            await delivery.deliver()
            while True:
                await job_cards.deliver()
                if (due := await job_cards.next_due()) is None:
                    return
                await asyncio.sleep(max(_LEAST_WAIT, (due - clock.now()) / 1000))
    except TimeoutError:
        logger.warning("not everything was shown before the end", extra={"action": "farewell_cut"})
