"""The guild on disk."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from bot.playground.twin import Twin
from bot.playground.world_file import UnreadableWorld, decode, encode

FIRST_RUN = "world.json"


async def with_a_message(folder: Path) -> int:
    """A world in which Ben sent a file; the message's id."""
    async with Twin.open(state_dir=folder) as twin:
        post = await twin.people["ben"].send("ops", "look", files=[("log.txt", b"all well")])
        twin.world.backend.register_commands(None, [{"name": "ask", "description": "Ask", "type": 1}])
        return post.id


async def test_messages_files_commands_and_people_come_back(tmp_path: Path) -> None:
    message = await with_a_message(tmp_path)
    async with Twin.open(state_dir=tmp_path) as twin:
        (post,) = [p for p in twin.posts("ops") if p.id == message]
        assert (post.text, post.author_id) == ("look", twin.people["ben"].id)
        assert post.files == {"log.txt": b"all well"}
        assert twin.world.backend.find_command("ask", None, type=1)["description"] == "Ask"
        assert twin.world.backend.users[twin.world.backend.bot_user.id] is twin.world.backend.bot_user
        assert twin.notices == []


async def test_ids_after_a_restart_are_newer_even_when_the_clock_went_back(tmp_path: Path) -> None:
    message = await with_a_message(tmp_path)

    class Yesterday:
        def now(self) -> int:
            return (message >> 22) + 1420070400000 - 86_400_000

    async with Twin.open(state_dir=tmp_path, clock=Yesterday()) as twin:
        assert (await twin.people["ben"].send("ops", "again")).id > message


async def test_only_the_owner_of_the_machine_account_can_read_the_files(tmp_path: Path) -> None:
    await with_a_message(tmp_path / "state")
    files = [p for p in (tmp_path / "state").rglob("*") if p.is_file()]
    assert {p.name for p in files} >= {"world.json", "access.json"}
    assert {stat.S_IMODE(p.stat().st_mode) for p in files} == {0o600}


@pytest.mark.parametrize("content", ["", "{", '{"format": "another"}', '{"format": 1, "backend": []}', "[]"])
async def test_a_world_that_cannot_be_read_is_set_aside_and_a_fresh_one_begins(tmp_path: Path, content: str) -> None:
    (tmp_path / FIRST_RUN).write_text(content)
    async with Twin.open(state_dir=tmp_path) as twin:
        assert [p.name for p in tmp_path.glob("world.json.unreadable-*")]
        assert "a fresh one begins" in twin.notices[0]
        assert twin.posts("general") == []


async def test_a_world_that_names_something_foreign_is_refused(tmp_path: Path) -> None:
    await with_a_message(tmp_path)
    world = json.loads((tmp_path / FIRST_RUN).read_text())
    world["backend"]["bot_user"]["$"] = "Popen"
    (tmp_path / FIRST_RUN).write_text(json.dumps(world))
    async with Twin.open(state_dir=tmp_path) as twin:
        assert "unknown Popen" in twin.notices[0]


async def test_an_old_interaction_is_forgotten_a_living_one_kept(tmp_path: Path) -> None:
    async with Twin.open(state_dir=tmp_path) as twin:
        backend = twin.world.backend
        old, living = (
            backend.new_interaction(2, twin.channel_id("ops"), twin.people["ben"].id, twin.world.guild.id)
            for _ in range(2)
        )
        old.expires_at = "2020-01-01T00:00:00+00:00"
        twin.save()
        assert set(backend.interactions) == {living.id}
        assert list(backend.interaction_tokens) == [living.token]


def test_what_json_has_no_word_for_survives() -> None:
    value = {None: (1, "a"), 2: {"$": "not a kind"}, ("name", 1): [True, 1.5, frozenset({3})]}
    assert decode(json.loads(json.dumps(encode(value)))) == value


def test_what_a_world_does_not_hold_is_refused() -> None:
    with pytest.raises(TypeError):
        encode(object())
    with pytest.raises(UnreadableWorld):
        decode({"$": "object", "v": {}})
