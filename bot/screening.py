"""What is looked at before a call gets a card: did its request have it already, and can anybody decide it."""

from __future__ import annotations

from bot.deferral import registry
from bot.deferral.authority import Authority
from bot.delivery import Delivery
from bot.rules import Subject
from storage.database import Reader
from storage.runs import Run


class Screening:
    """Answers calls in place of a card, for one process."""

    def __init__(self, *, reader: Reader, delivery: Delivery, authority: Authority) -> None:
        self._reader = reader
        self._delivery = delivery
        self._authority = authority

    async def screen(self, run: Run, intent: str | None, action: str) -> str | None:
        """What answers a call that the run's request had before; None for a new one."""
        earlier = await registry.screen(
            self._reader, intent=intent, action=action, conversation=run.conversation, requester=run.requester
        )
        if earlier is None:
            return None
        link = await self._delivery.link(earlier)
        return registry.answer(earlier, intent=intent, link=link, action=action)

    def nobody_can_decide(self, run: Run, tool: str) -> str | None:
        """Why nobody could decide a call of the run where it would be shown; None if somebody could."""
        asked = Subject(tool=tool, place=run.place, within=run.within, requester=run.requester)
        if self._authority.anyone_can_decide(asked):
            return None
        who = self._authority.who_can(asked)
        return (
            f"Nobody who may sign this off can see it here, so it did not run. {who} Tell the person to ask in a server"
            " channel where an approver is."
        )
