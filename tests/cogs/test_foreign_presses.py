"""Every button, choice and form that there is, made up in another server with the ids of this one: nothing of it moves.

Who makes them up knows every id, and may even be somebody who decides in both servers (S-A07, S-A16, S-A65).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cogs.custom_ids import Verb
from tests.cogs.guild import Guild, open_guild
from tests.cogs.test_presses import forge
from tests.cogs.test_schedules import saved
from tests.house import Script

CALLS: list[tuple[str, dict[str, Any]]] = [("act", {"what": "x"}), ("ask_user", {"question": "Which?"})]
TABLES = {
    "approval": "id",
    "card": "id",
    "run": "id",
    "job": "run",
    "schedule": "id",
    "call_grant": "id",
    "vote": "approval",
}
_LISTS = ("rules-", "set-", "form-set-", "form-rules-", "usage-", "tools-", "help", "drill", "list-page", "grants-page")
"""In private lists, with drafts and pages for ids: nothing in them names a row of these tables."""
ABOUT_ROWS = sorted(verb for verb in Verb if not verb.startswith(_LISTS))
QUICK = (Verb.APPROVE, Verb.JOB_STOP, Verb.FORM_APPROVE)
"""The ordinary run's sample."""


async def everything(here: Guild) -> dict[str, list[dict[str, Any]]]:
    return {table: await here.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES}


async def chosen(here: Guild, actor: Any, custom_id: str, message: Any, *values: str) -> Any:
    """A choice from a menu, with values that no menu offered."""
    from simcord.actors import _component_interaction
    from simcord.enums import ComponentType

    stored = here.env.backend.get_message(message.channel.id, message.id)
    data = {"custom_id": custom_id, "component_type": ComponentType.STRING_SELECT, "values": list(values)}
    return await _component_interaction(actor, stored, data)


async def submitted(here: Guild, actor: Any, custom_id: str, message: Any) -> Any:
    """A form that was never opened."""
    from simcord.actors import _dispatch_actor_interaction
    from simcord.backend import serializers
    from simcord.builders import ChannelHandle
    from simcord.enums import InteractionType

    backend = here.env.backend
    stored = backend.get_message(message.channel.id, message.id)
    channel = ChannelHandle(here.env, actor.guild, backend.get_channel(stored.channel_id))
    inputs = [{"type": 1, "components": [{"type": 4, "custom_id": "text", "value": "approve"}]}]
    return await _dispatch_actor_interaction(
        actor,
        InteractionType.MODAL_SUBMIT,
        channel,
        {"custom_id": custom_id, "components": inputs},
        extra={"message": dict(serializers.message_payload(backend, stored))},
        source_message_id=stored.id,
    )


@pytest.mark.parametrize("approves", [True, False], ids=["who decides in both", "a stranger"])
@pytest.mark.parametrize("verbs", ["some", pytest.param("all", marks=pytest.mark.slow)])
async def test_nothing_of_a_server_moves_by_what_is_made_up_in_another(
    tmp_path: Path, approves: bool, verbs: str
) -> None:
    script = Script(by_prompt={"please": [CALLS, "Never."], "clean up": [CALLS[:1]], "there": [CALLS]})
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.ben.slash(here.channel, "job start", goal="clean up")
        await here.settle()
        await saved(here)
        ids = {
            "call": [row["id"] for row in await here.rows("SELECT id FROM approval")],
            "card": [row["id"] for row in await here.rows("SELECT id FROM card")],
            "run": [row["id"] for row in await here.rows("SELECT id FROM run")],
            "schedule": [row["id"] for row in await here.rows("SELECT id FROM schedule")],
        }
        other = here.env.create_guild("Elsewhere")
        channel = other.create_text_channel("ops")
        who = other.add_member(here.people["ana" if approves else "mallory"])
        ben = other.add_member(here.people["ben"])
        await ben.slash(channel, "ask", prompt="there")
        await here.settle()
        before = await everything(here)
        messages = [message for message in channel.history() if message.author.id == here.env.bot.user.id]
        assert len(messages) >= 2
        for verb in QUICK if verbs == "some" else ABOUT_ROWS:
            for id in (one for kind in ids.values() for one in kind[:2]):
                for text in (f"so1:{verb}:{id}", f"so1:{verb}:{id}.0:0"):
                    message = messages[-1]
                    if verb.startswith("form-"):
                        await submitted(here, who, text, message)
                    else:
                        await forge(here, who, text, message=message)
                    if verb is Verb.GRANTS_REVOKE:
                        await chosen(here, who, text, message, id)
        await here.settle()
        assert await everything(here) == before
        assert here.bench.effects == []
