"""Short stories of one house, each to the point: together they notice every seeded bug of `tests.proof.bugs`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.house import STRANGER
from tests.proof.life import Life
from tests.proof.told import TTL_SECONDS

Story = Callable[[Life], Awaitable[None]]


async def approved(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.check()
    await life.press(call, "approve")
    await life.check()


async def denied(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.press(call, "deny", reason="not today")
    await life.check()


async def pressed_by_a_stranger(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.press(call, "approve", STRANGER)
    await life.check()


async def pressed_twice(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.press(call, "deny")
    await life.press(call, "approve")
    await life.check()


async def pressed_by_two_at_once(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.press_at_once(call, "approve", "deny", "approve")
    await life.check()


async def pressed_on_another_message(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.press_elsewhere(call)
    await life.check()


async def pressed_after_the_deadline(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.pass_time(TTL_SECONDS)
    await life.press(call, "approve")
    await life.check()


async def expired(life: Life) -> None:
    await life.ask("ok")
    await life.pass_time(TTL_SECONDS)
    await life.sweep()
    await life.check()


async def half_of_a_batch(life: Life) -> None:
    first, second, _ = await life.ask("ok", "ok", "ok")
    await life.press(second, "approve")
    await life.check()
    await life.press(first, "deny", reason="no")
    await life.check()


async def a_batch_with_one_that_runs_long(life: Life) -> None:
    first, second = await life.ask("hangs", "ok")
    await life.press(first, "approve")
    await life.check()
    await life.press(second, "approve")
    await life.check()


async def several_requests(life: Life) -> None:
    for _ in range(2):
        for call in await life.ask("ok"):
            await life.press(call, "approve")
    await life.check()


async def sent_twice(life: Life) -> None:
    await life.ask("ok")
    await life.send_again()
    await life.check()


async def asked_again_by_the_model(life: Life) -> None:
    [call] = await life.ask("ok", again=True)
    await life.press(call, "approve")
    await life.check()


async def failed(life: Life) -> None:
    for call in await life.ask("fails", "breaks", "cannot"):
        await life.press(call, "approve")
        await life.check()


async def stopped_while_it_ran(life: Life) -> None:
    [call] = await life.ask("hangs")
    await life.press(call, "approve")
    await life.restart()
    await life.check()


async def killed_while_it_ran(life: Life) -> None:
    [call] = await life.ask("hangs")
    await life.press(call, "approve")
    await life.restart(killed=True)
    await life.check()


async def approved_and_left(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.decided_elsewhere(call, sweeps=3)
    await life.check()


async def cancelled_elsewhere(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.cancel(call)
    await life.check()
    await life.press(call, "approve")
    await life.check()


async def the_face_was_down(life: Life) -> None:
    await life.break_face()
    first, second = await life.ask("ok", "ok")
    await life.check()
    await life.mend_face()
    await life.check()
    await life.break_face()
    await life.press(first, "approve")
    await life.check()
    await life.mend_face()
    await life.press(second, "deny")
    await life.check()


async def the_face_was_slow(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.approve_with_a_slow_face(call)
    await life.check()


async def answered_late(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.pass_time(61)
    await life.sweep()
    await life.press(call, "approve")
    await life.check()
    await life.pass_time(600)
    await life.sweep()
    await life.check()


async def reminded(life: Life) -> None:
    [first] = await life.ask("ok")
    await life.ask("ok")
    await life.press(first, "approve")
    await life.pass_time(TTL_SECONDS - 60)
    await life.sweep()
    await life.check()
    assert len([one for one in life.face.said if one.key.startswith("remind:")]) == 1


async def forged_decision(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.forge_decision(call)
    await life.check()


async def forged_arguments(life: Life) -> None:
    [call] = await life.ask("ok")
    await life.forge_arguments(call)
    await life.check()


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        approved,
        denied,
        pressed_by_a_stranger,
        pressed_twice,
        pressed_by_two_at_once,
        pressed_on_another_message,
        pressed_after_the_deadline,
        expired,
        half_of_a_batch,
        a_batch_with_one_that_runs_long,
        several_requests,
        sent_twice,
        asked_again_by_the_model,
        failed,
        stopped_while_it_ran,
        killed_while_it_ran,
        approved_and_left,
        cancelled_elsewhere,
        the_face_was_down,
        the_face_was_slow,
        answered_late,
        reminded,
        forged_decision,
        forged_arguments,
    )
}
