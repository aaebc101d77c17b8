"""What the frame is told: places, what is new for whom, and where the bot types."""

from __future__ import annotations

from typing import Any

from bot.playground.twin import Twin


def person(twin: Twin, key: str) -> dict[str, Any]:
    return next(p for p in twin.frame.lists()["people"] if p["key"] == key)


def says(twin: Twin, place: int, text: str, **more: Any) -> str:
    """The bot writes a message; its id."""
    backend = twin.world.backend
    return str(backend.create_message(place, backend.bot_user.id, text, **more).id)


async def test_a_message_is_new_for_everybody_but_its_author(twin: Twin) -> None:
    ops = str(twin.channel_id("ops"))
    post = await twin.people["ben"].send("ops", "look")
    assert person(twin, "ana")["news"][ops] == [str(post.id), "0"]
    assert person(twin, "ben")["news"][ops] == ["0", "0"]


async def test_a_ping_is_told_to_the_one_it_is_for(twin: Twin) -> None:
    ops = twin.channel_id("ops")
    pinged = says(twin, ops, f"<@{twin.people['ana'].id}> please decide")
    later = says(twin, ops, "and more")
    assert person(twin, "ana")["news"][str(ops)] == [later, pinged]
    assert person(twin, "ben")["news"][str(ops)] == [later, "0"]


async def test_every_direct_message_is_a_ping(twin: Twin) -> None:
    message = says(twin, twin.people["ben"].dm_channel_id, "your call ran")
    assert person(twin, "ben")["news"]["dm"] == [message, message]
    assert person(twin, "ana")["news"]["dm"] == ["0", "0"]


async def test_a_private_answer_is_new_for_its_reader_only(twin: Twin) -> None:
    ops, ben = twin.channel_id("ops"), twin.people["ben"].id
    message = says(twin, ops, "not you", flags=64, interaction_metadata={"user": {"id": str(ben)}}, broadcast=False)
    assert person(twin, "ben")["news"][str(ops)][0] == message
    assert person(twin, "ana")["news"][str(ops)][0] == "0"


async def test_a_new_thread_is_listed_under_its_channel(twin: Twin) -> None:
    thread = twin.world.backend.create_thread(twin.channel_id("ops"), "release", twin.people["ana"].id)
    listed = next(c for c in twin.frame.lists()["channels"] if c["id"] == str(thread.id))
    assert (listed["name"], listed["parent"]) == ("release", str(twin.channel_id("ops")))


async def test_a_private_thread_is_listed_for_those_who_are_in_it(twin: Twin) -> None:
    thread = twin.world.backend.create_thread(twin.channel_id("ops"), "secret", twin.people["ben"].id, type=12)
    assert str(thread.id) in person(twin, "ben")["news"]
    assert str(thread.id) not in person(twin, "mallory")["news"]


async def test_typing_is_shown_until_the_message_is_there(twin: Twin) -> None:
    backend, ops = twin.world.backend, twin.channel_id("ops")

    def typing() -> list[str]:
        return [c["name"] for c in twin.frame.lists()["channels"] if c["typing"]]

    backend.emit("TYPING_START", {"channel_id": str(ops), "user_id": str(backend.bot_user.id)})
    assert typing() == ["ops"]
    says(twin, ops, "done")
    assert typing() == []


async def test_a_guild_in_which_the_bot_never_spoke_is_told_apart(twin: Twin) -> None:
    await twin.people["ben"].send("ops", "hello?")
    assert twin.frame.lists()["asked"] is False
    says(twin, twin.channel_id("ops"), "hello!")
    assert twin.frame.lists()["asked"] is True
