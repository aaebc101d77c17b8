"""The reply in which an answer grows: newest text only, once a second, one message per piece (cases A28, A31)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from discord import ui

from bot.background import Background
from bot.errors import DeliveryError, Unreachable
from cogs.limits import CONTENT, length, nonce
from cogs.messages import MOST_PIECES
from cogs.posting import Channel, FileRefused, Post
from cogs.replies import DiscordReply


@dataclass
class Recorder:
    """A channel that keeps what it was asked to do."""

    posts: list[Post] = field(default_factory=list)
    contents: dict[int, str] = field(default_factory=dict)
    edits: list[tuple[int, str]] = field(default_factory=list)
    bared: list[int] = field(default_factory=list)
    """Messages that the buttons were taken off."""
    rows: list[ui.View] = field(default_factory=list)
    """Other buttons that were given to a message."""
    typed: int = 0
    fail: Exception | None = None
    fail_edit: Exception | None = None
    refuse_files: bool = False
    slow: asyncio.Event | None = None

    async def create(self, post: Post) -> int:
        if self.fail is not None:
            raise self.fail
        if post.file is not None and self.refuse_files:
            raise FileRefused("too large")
        self.posts.append(post)
        message = 100 + len(self.posts)
        self.contents[message] = post.content or ""
        return message

    async def edit(self, message: int, *, content: str, row: ui.View | None = None, bare: bool = False) -> None:
        if self.slow is not None:
            await self.slow.wait()
        if self.fail_edit is not None:
            raise self.fail_edit
        assert message in self.contents
        self.edits.append((message, content))
        self.bared += [message] if bare else []
        self.rows += [row] if row is not None else []
        self.contents[message] = content

    async def delete(self, message: int) -> None:
        del self.contents[message]

    async def typing(self) -> None:
        self.typed += 1


@dataclass
class Time:
    """Sleeping moves the clock at once; others get their turn."""

    at: float = 0.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds
        await asyncio.sleep(0)

    def now(self) -> float:
        return self.at


@pytest.fixture
async def background() -> AsyncIterator[Background]:
    background = Background()
    yield background
    await background.stop(grace=1)


@pytest.fixture
def channel() -> Recorder:
    return Recorder()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def reply(background: Background, channel: Recorder, time: Time) -> DiscordReply:
    return make(channel, background, time)


def make(channel: Recorder, background: Background, time: Time, **more: Any) -> DiscordReply:
    return DiscordReply(
        cast(Channel, channel), "reply/1", spawn=background.spawn, reply_to=7, sleep=time.sleep, now=time.now, **more
    )


async def test_the_first_text_makes_the_message_known(reply: DiscordReply, channel: Recorder) -> None:
    assert reply.message is None
    await reply.show("Hel")
    assert reply.message == "101"
    assert channel.contents == {101: "Hel"}
    assert channel.posts[0].reply_to == 7


async def test_of_many_texts_within_a_second_only_the_newest_is_shown(
    reply: DiscordReply, channel: Recorder, background: Background, time: Time
) -> None:
    await reply.show("a")
    for text in ("ab", "abc", "abcd"):
        await reply.show(text)
    await background.idle()
    assert channel.edits == [(101, "abcd")]
    assert time.at == pytest.approx(1.0)


async def test_texts_that_come_while_an_edit_is_under_way_are_not_queued(
    reply: DiscordReply, channel: Recorder, background: Background
) -> None:
    await reply.show("a")
    channel.slow = asyncio.Event()
    await reply.show("ab")
    for _ in range(5):
        await asyncio.sleep(0)
    for text in ("abc", "abcd", "abcde"):
        await reply.show(text)
    channel.slow.set()
    await background.idle()
    assert [content for _, content in channel.edits] == ["ab", "abcde"]


async def test_the_last_text_is_shown_whole_and_at_once(
    reply: DiscordReply, channel: Recorder, background: Background
) -> None:
    await reply.show("a")
    await reply.show("ab")
    assert await reply.finish("abc.") == "101"
    await background.idle()
    assert channel.contents == {101: "abc."}
    assert channel.edits[-1] == (101, "abc.")


async def test_finishing_waits_for_an_edit_that_is_under_way(
    reply: DiscordReply, channel: Recorder, background: Background
) -> None:
    """Otherwise the older text could arrive last."""
    await reply.show("a")
    channel.slow = asyncio.Event()
    await reply.show("ab")
    for _ in range(5):
        await asyncio.sleep(0)
    finishing = background.spawn(finish(reply, "abc."), name="finish")
    for _ in range(5):
        await asyncio.sleep(0)
    assert channel.edits == []
    channel.slow.set()
    await finishing
    assert channel.edits == [(101, "ab"), (101, "abc.")]


async def finish(reply: DiscordReply, text: str) -> None:
    await reply.finish(text)


async def test_nothing_is_left_behind_by_a_finished_reply(channel: Recorder, background: Background) -> None:
    never = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await never.wait()

    reply = DiscordReply(cast(Channel, channel), "reply/1", spawn=background.spawn, sleep=sleep)
    await reply.show("a")
    await reply.show("ab")
    await asyncio.sleep(0)
    await reply.finish("abc.")
    async with asyncio.timeout(5):
        await background.idle()
    assert channel.edits == [(101, "abc.")]


async def test_a_long_answer_grows_over_several_messages_each_with_its_own_nonce(
    reply: DiscordReply, channel: Recorder, background: Background
) -> None:
    text = "\n".join(f"line {n} " + "x" * 90 for n in range(60))
    for end in range(0, len(text), 500):
        await reply.show(text[:end])
        await background.idle()
    await reply.finish(text)
    assert "\n".join(channel.contents.values()) == text
    assert all(length(content) <= CONTENT for content in channel.contents.values())
    assert len({post.nonce for post in channel.posts}) == len(channel.posts) > 2
    assert [post.reply_to for post in channel.posts[1:]] == [None] * (len(channel.posts) - 1)


async def test_a_shorter_last_text_takes_the_surplus_messages_away(reply: DiscordReply, channel: Recorder) -> None:
    await reply.show("x" * 4_500)
    assert len(channel.contents) == 3
    await reply.finish("Short after all.")
    assert channel.contents == {101: "Short after all."}


async def test_a_very_long_answer_comes_as_a_file_with_its_beginning_shown(
    reply: DiscordReply, channel: Recorder
) -> None:
    text = "\n".join(f"line {n} " + "x" * 90 for n in range(600))
    await reply.finish(text)
    assert len(channel.posts) < MOST_PIECES
    assert channel.contents[101].startswith("line 0 ")
    file = channel.posts[-1].file
    assert file is not None
    assert file.filename == "answer.md"
    assert file.fp.read().decode() == text
    assert f"{len(text):,} characters" in (channel.posts[-1].content or "")


async def test_a_refused_file_does_not_take_the_text_with_it(reply: DiscordReply, channel: Recorder) -> None:
    """A30."""
    channel.refuse_files = True
    await reply.finish("word " * 5_000)
    assert channel.contents[101].startswith("word")
    assert "too many for Discord" in (channel.posts[-1].content or "")


async def test_a_blank_answer_says_that_it_is_blank(reply: DiscordReply, channel: Recorder) -> None:
    await reply.finish(" \n")
    assert channel.contents[101].strip()


async def test_growing_never_fails_for_discords_sake(
    reply: DiscordReply, channel: Recorder, background: Background
) -> None:
    channel.fail = DeliveryError("no")
    await reply.show("a")
    channel.fail = None
    await reply.show("ab")
    channel.fail_edit = DeliveryError("no")
    await reply.show("abc")
    await background.idle()
    channel.fail_edit = None
    await reply.finish("abcd")
    assert channel.contents == {101: "abcd"}


async def test_finishing_in_a_message_that_was_deleted_says_so(reply: DiscordReply, channel: Recorder) -> None:
    await reply.show("a")
    channel.fail_edit = Unreachable("That message was deleted.")
    with pytest.raises(Unreachable):
        await reply.finish("ab")


async def test_finishing_can_be_tried_again(reply: DiscordReply, channel: Recorder) -> None:
    """A31: the second attempt repeats the nonce, so that Discord takes it for the same message."""
    channel.fail = DeliveryError("cut")
    with pytest.raises(DeliveryError):
        await reply.finish("done")
    channel.fail = None
    assert await reply.finish("done") == "101"
    assert await reply.finish("done") == "101"
    assert len(channel.posts) == 1


async def test_it_looks_busy_until_there_is_something_to_read(channel: Recorder, background: Background) -> None:
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await waiting.wait()

    reply = DiscordReply(cast(Channel, channel), "reply/1", spawn=background.spawn, sleep=sleep)
    reply.begin()
    for _ in range(3):
        await asyncio.sleep(0)
    assert channel.typed == 1
    await reply.show("a")
    waiting.set()
    await background.idle()
    assert channel.typed == 1


async def test_it_does_not_look_busy_for_ever(reply: DiscordReply, channel: Recorder, background: Background) -> None:
    reply.begin()
    await background.idle()
    assert 1 < channel.typed < 10


async def test_at_rest_the_text_is_there_and_the_answer_may_still_come(
    reply: DiscordReply, channel: Recorder, background: Background
) -> None:
    reply.begin()
    await reply.rest("Waiting.")
    assert channel.contents == {101: "Waiting."}
    await reply.show("Go")
    await background.idle()
    await reply.finish("Gone.")
    assert channel.contents == {101: "Gone."}


async def test_a_reply_can_go_on_in_a_message_that_is_already_there(
    channel: Recorder, background: Background, time: Time
) -> None:
    channel.contents[55] = "Waiting."
    reply = make(channel, background, time, already=55)
    assert reply.message == "55"
    assert await reply.finish("Done.") == "55"
    assert channel.contents == {55: "Done."}
    assert channel.posts == []


async def test_an_answer_that_is_the_first_message_bears_the_announcements_name(
    reply: DiscordReply, channel: Recorder
) -> None:
    """Killed before its id is stored, it is announced after the restart: Discord then gives back this message."""
    await reply.finish("Hello.", key="answer:r1")
    assert channel.posts[0].nonce == nonce("answer:r1", 0)


async def test_what_was_sent_once_under_a_name_is_sent_again_under_that_name(
    reply: DiscordReply, channel: Recorder
) -> None:
    channel.fail = DeliveryError("cut, but perhaps it arrived")
    await reply.show("Hello")
    channel.fail = None
    await reply.finish("Hello.", key="answer:r1")
    assert channel.posts[0].nonce == nonce("reply/1", 0)


def pressable(post: Post) -> list[str]:
    return [str(getattr(item, "custom_id", "")) for item in post.view.children] if post.view is not None else []


async def test_a_growing_answer_can_be_stopped_and_a_whole_one_has_no_buttons(
    reply: DiscordReply, channel: Recorder
) -> None:
    reply.belongs_to("run1")
    await reply.show("Hel")
    assert pressable(channel.posts[0]) == ["so1:turn-stop:run1"]
    await reply.rest("Hello.")
    assert channel.bared == []
    await reply.finish("Hello.")
    assert channel.bared == [101]
    await reply.finish("Hello.")
    assert channel.bared == [101]


async def test_an_answer_that_takes_long_can_be_sent_into_the_background_with_the_same_text(
    reply: DiscordReply, channel: Recorder
) -> None:
    reply.belongs_to("run1")
    await reply.rest("Working on it…")
    reply.lasts()
    await reply.rest("Working on it…")
    [row] = channel.rows
    assert [getattr(item, "label", "") for item in row.children] == ["Stop", "Continue in background"]
    await reply.rest("Working on it, still…")
    assert len(channel.rows) == 1
    await reply.finish("Done.")
    assert channel.bared == [101]


async def test_an_answer_that_takes_long_before_its_first_word_is_posted_with_both_buttons(
    reply: DiscordReply, channel: Recorder
) -> None:
    reply.belongs_to("run1")
    reply.lasts()
    await reply.show("Hel")
    assert pressable(channel.posts[0]) == ["so1:turn-stop:run1", "so1:turn-background:run1"]


async def test_an_answer_that_comes_at_once_never_has_a_button(reply: DiscordReply, channel: Recorder) -> None:
    reply.belongs_to("run1")
    await reply.finish("Hello.")
    assert pressable(channel.posts[0]) == []
    assert channel.edits == []


async def test_only_the_first_message_of_a_long_answer_has_the_button(reply: DiscordReply, channel: Recorder) -> None:
    reply.belongs_to("run1")
    await reply.show("\n".join(["line"] * 900))
    assert [bool(pressable(post)) for post in channel.posts] == [True, False, False]
    await reply.finish("\n".join(["line"] * 900))
    assert channel.bared == [101]
