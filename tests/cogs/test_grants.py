"""Grants as people meet them: the form on a card, the card of what ran unasked, the list and its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.granting import Listed
from bot.rules import ApproverRule
from bot.settings import Settings
from bot.texts.text import say
from cogs import grant_list, layout
from storage.grants import Grant
from tests.cogs.guild import Guild, custom_id, labels, open_guild, text_of
from tests.cogs.test_lists import hidden
from tests.cogs.test_presses import forge, private
from tests.house import Script

ACT: list[tuple[str, dict[str, Any]]] = [("act", {"what": "x"})]
SHELL = [("shell", {"command": "whoami"})]
BUTTON = "Approve and remember…"


async def remember(here: Guild, who: Any, terms: str = "5x") -> Any:
    form = await who.click(here.card, label=BUTTON)
    result = await who.submit_modal(form, {"terms": [terms]})
    await here.settle()
    return result


async def ask(here: Guild, who: Any = None, prompt: str = "please") -> None:
    await (who or here.ben).slash(here.channel, "ask", prompt=prompt)
    await here.settle()


async def listed(here: Guild, who: Any) -> Any:
    result = await who.slash(here.channel, "grants")
    assert result.ephemeral
    return result.response.message


async def test_a_call_is_remembered_by_a_form_and_runs_the_next_time_unasked(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.", ACT, "Again.")) as here:
        await ask(here)
        assert BUTTON in labels(here.card)
        result = await remember(here, here.ana)
        assert private(result)[-1].startswith("Approved, and remembered: 5 uses left, ends <t:")
        assert here.bench.effects == ["x"]
        [first] = here.cards
        assert (
            f"<@{here.ana.id}> allowed this exact call of <@{here.ben.id}> here from then on: 5 uses left"
            in text_of(first)
        )
        await ask(here)
        assert here.bench.effects == ["x", "x"]
        card = text_of(here.card)
        assert here.card.id != first.id
        assert "### `act` · done" in card
        assert f"Allowed by a grant of <@{here.ana.id}>: 4 uses left" in card
        assert "approved by a grant" in card
        assert "Approve" not in labels(here.card)
        assert "Again." in here.texts
        posted = here.requests("POST", f"/channels/{here.channel.id}/messages")
        assert posted[-1]["allowed_mentions"].get("users", []) == []


async def test_its_card_is_final_and_its_latest_moment_is_the_deadline(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.", ACT, "Again.")) as here:
        await ask(here)
        await remember(here, here.ana, "30m")
        await ask(here)
        [row] = await here.rows("SELECT max(expires_at) AS at FROM approval")
        stamps = [int(part.split(":")[0]) for part in text_of(here.card).split("<t:")[1:]]
        assert max(stamps) == row["at"] // 1000
        assert len(stamps) == 2
        assert await here.rows("SELECT 1 FROM card WHERE shown < version") == []


async def test_a_form_of_somebody_who_may_not_decide_is_not_even_opened(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT)) as here:
        await ask(here)
        result = await here.mallory.click(here.card, label=BUTTON)
        assert "You are not an approver here" in private(result)[-1]
        [entry] = await here.rows("SELECT actor FROM audit WHERE event = 'press_refused'")
        assert entry["actor"] == str(here.mallory.id)


async def test_who_lost_the_right_while_the_form_was_open_approves_nothing(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT)) as here:
        await ask(here)
        form = await here.ana.click(here.card, label=BUTTON)
        here.approve_by(users=[here.ben.id])
        result = await here.ana.submit_modal(form, {"terms": ["open"]})
        await here.settle()
        assert "You are not an approver here" in private(result)[-1]
        assert here.bench.effects == []
        assert await here.rows("SELECT 1 FROM call_grant") == []


async def test_the_form_outlives_a_restart(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.")) as here:
        await ask(here)
        form = await here.ana.click(here.card, label=BUTTON)
        await here.restart()
        await here.ana.submit_modal(form, {"terms": ["open"]})
        await here.settle()
        assert here.bench.effects == ["x"]
        assert len(await here.rows("SELECT 1 FROM call_grant WHERE ended_at IS NULL")) == 1


@pytest.mark.parametrize("call", [SHELL, [*ACT, ("act", {"what": "y"})], [("act", {"what": "x" * 9_000})]])
async def test_it_is_not_offered_for_a_shell_line_on_a_card_of_several_or_for_what_is_not_all_shown(
    tmp_path: Path, call: Any
) -> None:
    async with open_guild(tmp_path, Script(call)) as here:
        await ask(here)
        assert BUTTON not in labels(here.card)


async def test_a_forged_press_on_a_shell_line_remembers_nothing(tmp_path: Path) -> None:
    """Case A20; S-A53."""
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await ask(here)
        id = custom_id(here.card, "Approve").rpartition(":")[2]
        result = await forge(here, here.ana, f"so1:remember:{id}")
        assert (
            result.modal is None
            or "cannot be remembered" in private(await here.ana.submit_modal(result, {"terms": ["open"]}))[-1]
        )
        await here.settle()
        assert here.bench.effects == []
        assert await here.rows("SELECT 1 FROM call_grant") == []


async def test_of_two_who_have_to_approve_the_first_is_told_that_both_have_to_choose_it(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.")) as here:
        here.approve_by(ApproverRule(quorum=2), users=[here.ana.id, here.mallory.id])
        await ask(here)
        result = await remember(here, here.ana)
        assert private(result)[-1] == say("grants.wished")
        await here.mallory.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["x"]
        assert await here.rows("SELECT 1 FROM call_grant") == []


async def test_the_second_of_two_is_told_that_it_counts_for_this_once(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.")) as here:
        here.approve_by(ApproverRule(quorum=2), users=[here.ana.id, here.mallory.id])
        await ask(here)
        await here.ana.click(here.card, label="Approve")
        assert private(await remember(here, here.mallory))[-1] == say("grants.only_once")
        assert here.bench.effects == ["x"]


async def test_the_list_shows_what_holds_and_revokes_it(tmp_path: Path) -> None:
    """Case A11, its end."""
    async with open_guild(tmp_path, Script(ACT, "Done.", ACT)) as here:
        assert text_of(await listed(here, here.ana)) == say("grants.empty")
        await ask(here)
        await remember(here, here.ana, "open")
        message = await listed(here, here.ana)
        [grant] = await here.rows("SELECT id FROM call_grant")
        text = text_of(message)
        assert "`act` · until somebody revokes it" in text
        assert f"For <@{here.ben.id}> in <#{here.channel.id}>, given by <@{here.ana.id}> <t:" in text
        assert grant["id"] in text
        result = await here.ana.select(message, [grant["id"]])
        await here.settle()
        assert text_of(result.response.message).startswith("Revoked: `act` is asked about again.")
        assert say("grants.empty") in text_of(result.response.message)
        await ask(here)
        assert here.bench.effects == ["x"]
        assert BUTTON in labels(here.card)


async def test_whom_it_is_for_can_end_it_and_a_stranger_is_not_offered_to(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.")) as here:
        await ask(here)
        await remember(here, here.ana)
        [grant] = await here.rows("SELECT id FROM call_grant")
        theirs = await listed(here, here.mallory)
        assert grant["id"] in text_of(theirs)
        mine = await listed(here, here.ben)
        with pytest.raises(Exception, match="No matching component"):
            await here.mallory.select(theirs, [grant["id"]])
        await here.ben.select(mine, [grant["id"]])
        await here.settle()
        [row] = await here.rows("SELECT ended_by FROM call_grant")
        assert row["ended_by"] == str(here.ben.id)


async def test_what_lies_in_a_channel_one_cannot_see_is_only_counted(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.")) as here:
        channel = hidden(here, here.ben, here.ana)
        await here.ben.slash(channel, "ask", prompt="please")
        await here.settle()
        card = next(message for message in channel.history() if message.flags.components_v2)
        form = await here.ana.click(card, label=BUTTON)
        await here.ana.submit_modal(form, {"terms": ["5x"]})
        await here.settle()
        assert "1 more in channels that you cannot open" in text_of(await listed(here, here.mallory))
        assert "`act`" in text_of(await listed(here, here.ben))


async def test_a_list_button_on_any_other_message_ends_nothing(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done.")) as here:
        await ask(here)
        await remember(here, here.ana)
        result = await forge(here, here.ana, "so1:grants-page:here:0")
        assert private(result)[-1] == say("grants.not_a_list")


async def test_a_long_list_has_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grant_list, "ON_A_PAGE", 1)
    async with open_guild(tmp_path, Script()) as here:
        for number in range(2):
            here.script.steps = [[("act", {"what": str(number)})], "Done."]
            await ask(here)
            await remember(here, here.ana, "open")
        message = await listed(here, here.ana)
        assert "Page 1 of 2, 2 grants" in text_of(message)
        second = (await here.ana.click(message, label="Next")).response.message
        assert "Page 2 of 2" in text_of(second)
        assert labels((await here.ana.click(second, label="Back")).response.message) == ["Look again", "Next"]


async def test_a_full_page_of_the_longest_entries_fits_into_a_message() -> None:
    grant = Grant(
        id="0123456789abcdef",
        mark="m",
        action="a",
        origin="o",
        space="9" * 20,
        place=f"discord/{'9' * 20}/{'9' * 20}",
        within="",
        requester="9" * 20,
        tool="`" * 64,
        arguments={"`" * 300: "`\n" * 5_000, "b": "\u200b" * 5_000},
        bound={},
        reason="r",
        makers=("9" * 20,) * 20,
        made_at=0,
        expires_at=10**13,
        uses=10**6,
        used=10**5,
        last_used_at=10**13,
        seal="",
    )
    full = [Listed(grant=replace(grant, id=str(number)), may_revoke=True) for number in range(grant_list.ON_A_PAGE)]
    layout.build(*grant_list._items(full, 0, 2, "Revoked: it is asked about again.", hidden=10**6))


async def test_switched_off_no_card_offers_it(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT), settings=Settings(grants=False)) as here:
        await ask(here)
        assert BUTTON not in labels(here.card)


async def test_in_german_it_is_all_said_in_german(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, "Done."), face={"language": "de"}) as here:
        await ask(here)
        form = await here.ana.click(here.card, label="Genehmigen und merken…")
        await here.ana.submit_modal(form, {"terms": ["5x"]})
        await here.settle()
        assert "erlaubt genau diesen Aufruf" in text_of(here.card)
