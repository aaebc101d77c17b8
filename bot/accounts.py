"""What the calls of the model took, while it happens: counted at once, checked before the next call, and stored.

A call is counted in memory the moment its answer is there, so that everybody's next check knows of it; its row goes
with the next commit of its run, which is the commit of the step that the call belongs to. A commit that failed is
noticed by the sweep, which writes what is not stored; a row that is stored already counts nothing twice. This process
is the only one that asks the model, so what it holds of today is what is true.

Between the check and the answer there is one call: of several turns at once, each may overdraw by the one it is in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from bot import budgets
from bot.budgets import NO_BUDGETS, Account, Budgets, Used, dollars
from bot.clock import Clock
from bot.deferral.calls import Meter, ModelCall
from bot.errors import BudgetSpent
from bot.limits import TurnLimits
from bot.place import beside, space_of
from bot.texts.text import Text, say
from storage import usage
from storage.database import Database, Reader, Transaction
from storage.runs import Run
from storage.usage import ModelUse, Sum, day_of

NOTHING = Sum()

Key = tuple[str, ...]
"""Whose usage: a person's everywhere, a person's in one space, or a space's."""


def _keys(person: str, space: str) -> tuple[Key, Key, Key]:
    return ("person", person), ("here", person, space), ("space", space)


def _key(account: Account, person: str, space: str) -> Key:
    """What an account counts."""
    everywhere, here, everybody = _keys(person, space)
    if account.whose == "guild":
        return everybody
    return everywhere if account.set_by == "file" else here


class Accounts:
    """Everybody's usage of today, and the rows that are still to be written."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        boot: str,
        file: Budgets = NO_BUDGETS,
        of_guild: Callable[[str], Budgets] = lambda guild: NO_BUDGETS,
        turn: TurnLimits | None = None,
    ) -> None:
        """`file`: the operator's budgets; `of_guild`: what a guild has set for itself; `turn`: one run's limits."""
        self._turn = turn or TurnLimits()
        self._runs: dict[str, Sum] = {}
        self._database = database
        self._clock = clock
        self._boot = boot
        self._file = file
        self._of_guild = of_guild
        self._number = 0
        self._day = day_of(clock.now())
        self._sums: dict[Key, Sum] = defaultdict(Sum)
        self._unwritten: dict[str, list[ModelUse]] = {}
        self._at_work: set[str] = set()
        self._unpriced: dict[Key, str] = {}
        """By whose account: a model whose price was not known. Such an account cannot be kept in money today."""
        self._unmeasured: dict[Key, str] = {}
        self._forgot = -1

    async def load(self, reader: Reader) -> None:
        """Read what was used today before this process was started."""
        self._day = day_of(self._clock.now())
        for person, space, used in await usage.of_day(reader, self._day):
            self._add(person, space, used)

    # -- budgets --------------------------------------------------------------------------------

    def of(self, person: str, space: str) -> list[Account]:
        """Every budget that a call of the person there would count against, and what is used of it today."""
        self._turn_the_page()
        everywhere, here, everybody = (self._sums.get(key, NOTHING) for key in _keys(person, space))
        used = Used(person=everywhere, here=here, space=everybody)
        return budgets.accounts(self._file, self._of_guild(space), used, space=space)

    def refusal(self, person: str, space: str) -> Text | None:
        """Why the model may not be asked for the person there now, in a sentence for them; None if it may."""
        theirs = self.of(person, space)
        if not theirs:
            return None
        spent = next((one for one in theirs if one.is_spent), None)
        if spent is not None:
            return budgets.spent_words(spent, now=self._clock.now())
        for one in theirs:
            key = _key(one, person, space)
            tokens, cost = one.budget.tokens is not None, one.budget.cost_micros is not None
            if (why := self._unknown(key, tokens=tokens, cost=cost)) is not None:
                return why
        return None

    def _unknown(self, key: Key, *, tokens: bool, cost: bool) -> Text | None:
        """Why an account with such limits cannot be kept, or None."""
        if (tokens or cost) and (model := self._unmeasured.get(key)) is not None:
            return budgets.unknown_tokens(model)
        return budgets.unknown_price(model) if cost and (model := self._unpriced.get(key)) is not None else None

    def now(self) -> int:
        """The time, in milliseconds UTC."""
        return self._clock.now()

    def over(self, run_id: str) -> Text | None:
        """Why a run may go no further, in a sentence for whoever asked; None if it may."""
        used, most = self._runs.get(run_id, NOTHING), self._turn
        if most.calls is not None and used.tool_calls >= most.calls:
            return say("limits.turn_calls", used=used.tool_calls, n=most.calls)
        if most.tokens is not None and used.tokens >= most.tokens:
            return say("limits.turn_tokens", used=used.tokens, n=most.tokens)
        if most.cost_micros is not None and used.cost_micros >= most.cost_micros:
            return say("limits.turn_cost", used=dollars(used.cost_micros), most=dollars(most.cost_micros))
        return self._unknown(("run", run_id), tokens=most.tokens is not None, cost=most.cost_micros is not None)

    def calls_left(self, run_id: str) -> int | None:
        """How many calls of tools a run may still make."""
        most = self._turn.calls
        return None if most is None else max(0, most - self._runs.get(run_id, NOTHING).tool_calls)

    # -- what is used ---------------------------------------------------------------------------

    def of_run(self, run_id: str) -> Sum | None:
        """What a run that is worked on has used so far in all; None if it is not."""
        return self._runs.get(run_id)

    async def begin(self, run: Run) -> None:
        """A stretch begins: what the run has used before counts as well."""
        self._runs[run.id] = await usage.of_run(self._database.reader, run.id)

    def meter(self, run: Run) -> Meter:
        """Watches the calls of one stretch of a run."""
        self._at_work.add(run.id)
        return _Meter(self, run)

    def take(self, run: Run, call: ModelCall, *, took_ms: int) -> None:
        """Count a call of the model."""
        self._turn_the_page()
        self._number += 1
        use = ModelUse(
            id=f"{self._boot}-{self._number}",
            at=self._clock.now(),
            run=run.id,
            conversation=run.conversation,
            person=run.requester,
            place=run.place,
            channel=beside(run.place, run.within) if run.within else run.place,
            space=space_of(run.place),
            model=call.model,
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cache_read_tokens=call.cache_read_tokens,
            cache_write_tokens=call.cache_write_tokens,
            tool_calls=call.tool_calls,
            measured=call.measured,
            cost_micros=call.cost_micros,
            took_ms=took_ms,
        )
        for key in (*_keys(use.person, use.space), ("run", run.id)):
            if call.cost_micros is None:
                self._unpriced[key] = call.model
            if not call.measured:
                self._unmeasured[key] = call.model
        self._unwritten.setdefault(run.id, []).append(use)
        self._add(use.person, use.space, usage.sum_of(use))
        self._runs[run.id] = self._runs.get(run.id, NOTHING) + usage.sum_of(use)

    async def write(self, tx: Transaction, run_id: str) -> None:
        """Store what the run has used, in the commit of what it did."""
        await usage.put(tx, self._unwritten.get(run_id, ()))

    def forget(self, run_id: str) -> None:
        """The stretch is over, however it ended. What no commit took along is written by the sweep."""
        self._at_work.discard(run_id)
        self._runs.pop(run_id, None)
        for unknown in (self._unpriced, self._unmeasured):
            unknown.pop(("run", run_id), None)

    async def settle(self) -> None:
        """Write what no commit took along, and let go of what is stored. Part of the sweep."""
        reader = self._database.reader
        for run_id, uses in tuple(self._unwritten.items()):
            for use in tuple(uses):  # it may grow meanwhile
                if await usage.is_stored(reader, use.id):
                    uses.remove(use)
            if uses and run_id not in self._at_work:
                async with self._database.begin("count usage") as tx:
                    await self.write(tx, run_id)
            elif not uses and self._unwritten.get(run_id) is uses:
                del self._unwritten[run_id]
        await self._forget_old()

    async def _forget_old(self) -> None:
        today = day_of(self._clock.now())
        if today == self._forgot:
            return
        if await usage.has_old(self._database.reader, today=today):
            async with self._database.begin("forget usage") as tx:
                await usage.forget(tx, today=today)
        self._forgot = today

    def _add(self, person: str, space: str, used: Sum) -> None:
        for key in _keys(person, space):
            self._sums[key] += used

    def _turn_the_page(self) -> None:
        """Of a new day nothing is used yet."""
        if (today := day_of(self._clock.now())) != self._day:
            self._day = today
            self._sums.clear()
            self._unpriced.clear()
            self._unmeasured.clear()


@dataclass
class _Meter:
    """One stretch's calls."""

    accounts: Accounts
    run: Run
    began: int = 0

    @property
    def tool_calls_left(self) -> int | None:
        """See `Meter`."""
        return self.accounts.calls_left(self.run.id)

    def before(self) -> None:
        """See `Meter`."""
        if (over := self.accounts.over(self.run.id)) is not None:
            raise BudgetSpent(over)
        if (why := self.accounts.refusal(self.run.requester, space_of(self.run.place))) is not None:
            raise BudgetSpent(why)
        self.began = self.accounts.now()

    def after(self, call: ModelCall) -> None:
        """See `Meter`."""
        self.accounts.take(self.run, call, took_ms=self.accounts.now() - self.began)
