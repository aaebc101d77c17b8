"""`/notify`: whether an answer notifies whoever asked, and when it does so silently (issue 4)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.errors import DecisionRefused
from bot.surface import Announcement
from bot.where import Quiet
from bot.wishes import NONE, OFF
from tests.house import ASKER, OWNER, House, Script, open_house

ACT = [("act", {"what": "x"})]


async def late_answer(house: House, *, notify: str = "channel") -> list[Announcement]:
    """An answer that comes as a message of its own, after somebody decided."""
    await house.ask(notify=notify)
    await house.later(seconds=61)
    await house.decide("approve")
    await house.later(seconds=1)
    return [said for said in house.face.said if said.key.startswith("answer:")]


def around(house: House, *, before: int, behind: int) -> str:
    """Quiet hours that begin and end so many minutes from now, in UTC."""
    now = datetime.fromtimestamp(house.clock.now() / 1000, UTC)
    minute = now.hour * 60 + now.minute
    return "-".join(f"{at // 60:02}:{at % 60:02}" for at in ((minute + one) % 1440 for one in (before, behind)))


async def test_an_answer_that_comes_late_notifies_who_asked(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        [said] = await late_answer(house)
        assert (said.ping, said.silent) == ((ASKER.id,), False)


async def test_with_none_it_comes_where_it_was_asked_and_notifies_nobody(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.app.engine.wishes.change(ASKER.id, where="both")
        await house.app.engine.wishes.change(ASKER.id, where=NONE)
        [said] = await late_answer(house)
        assert (said.ping, house.face.told) == ((), [])


async def test_in_ones_quiet_hours_it_notifies_silently_also_directly(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        hours = around(house, before=-60, behind=60)
        await house.app.engine.wishes.change(ASKER.id, quiet=hours)
        [said] = await late_answer(house, notify="both")
        assert (said.ping, said.silent) == ((ASKER.id,), True)
        assert [(person, told.silent) for person, told in house.face.told] == [(ASKER.id, True)]


@pytest.mark.parametrize("given", [{"quiet": OFF}, {"timezone": "Etc/GMT-6"}])
async def test_outside_of_them_and_without_them_it_is_heard(tmp_path: Path, given: dict[str, str]) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.app.engine.wishes.change(ASKER.id, quiet=around(house, before=-60, behind=60))
        await house.app.engine.wishes.change(ASKER.id, **given)
        [said] = await late_answer(house)
        assert said.silent is False


async def test_what_asks_to_decide_is_not_softened_by_it(tmp_path: Path) -> None:
    """An approver's own quiet hours must not hide that somebody waits for them: the server's are for that."""
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.app.engine.wishes.change(OWNER.id, where=NONE, quiet=around(house, before=-60, behind=60))
        await house.ask()
        [view] = house.face.cards.values()
        assert OWNER.id in view.ping
        assert view.silent is False


async def test_what_is_given_is_kept_the_rest_stays_and_the_trail_has_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script()) as house:
        wishes = house.app.engine.wishes
        await wishes.change(ASKER.id, where="dm", quiet="22:00-07:00", timezone="Europe/Berlin")
        wish = await wishes.change(ASKER.id, where=NONE)
        assert (wish.where, wish.quiet) == (NONE, Quiet(hours="22:00-07:00", timezone="Europe/Berlin"))
        assert (await wishes.change(ASKER.id, where="channel")).where == "channel"
        rows = await house.rows("SELECT actor, detail FROM audit WHERE event = 'notify_set' ORDER BY n")
        assert [row["actor"] for row in rows] == [ASKER.id] * 3
        assert '"quiet_hours":"22:00-07:00"' in rows[0]["detail"].replace(": ", ":")


@pytest.mark.parametrize("given", [{"quiet": "at night"}, {"quiet": "07:00-07:00"}, {"timezone": "Atlantis"}])
async def test_what_makes_no_sense_is_refused_and_changes_nothing(tmp_path: Path, given: dict[str, str]) -> None:
    async with open_house(tmp_path, Script()) as house:
        with pytest.raises(DecisionRefused):
            await house.app.engine.wishes.change(ASKER.id, **given)
        assert await house.rows("SELECT * FROM wish") == []
