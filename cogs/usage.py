"""`/usage`: what somebody used, or a server, and what is left of today's budgets. Private, drawn anew at each press."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.budgets import Account, cost_words, dollars
from bot.errors import DecisionRefused, UnknownApproval, Unreachable
from bot.place import PRIVATE
from bot.texts.text import key, say
from bot.usage_desk import MINE, RANGES, SERVERS, UsageDesk, UsageView, Wish
from cogs import inert, layout, modals, places
from cogs.custom_ids import CustomId, Verb, steady
from cogs.interactions import acknowledge, actor_of, place_of, show_private, whisper
from cogs.layout import Item
from cogs.speech import offered, shown, tell
from cogs.visibility import visible
from storage.usage import DAY_MS, Grouping, Sum

VERBS = frozenset({Verb.USAGE_DAYS, Verb.USAGE_BY, Verb.USAGE_WHOSE})

ROWS = 15
_MODEL = 60

_BY = {
    "person": key("usage.by_person"),
    "place": key("usage.by_place"),
    "guild": key("usage.by_guild"),
    "model": key("usage.by_model"),
    "day": key("usage.by_day"),
}
_PICK_BY = {
    "person": key("usage.pick_person"),
    "place": key("usage.pick_place"),
    "guild": key("usage.pick_guild"),
    "model": key("usage.pick_model"),
    "day": key("usage.pick_day"),
}
_ACCOUNTS = {
    ("person", "file"): key("usage.account_yours"),
    ("person", "guild"): key("usage.account_yours_here"),
    ("guild", "file"): key("usage.account_server"),
    ("guild", "guild"): key("usage.account_server_own"),
}


class Usage(commands.Cog):
    """Shows usage. Who may see what is decided below."""

    def __init__(self, desk: UsageDesk) -> None:
        self._desk = desk

    @app_commands.command(description=offered("usage.command"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def usage(self, interaction: discord.Interaction) -> None:
        """Show the person's own, privately."""
        await acknowledge(interaction, answer_follows=True)
        await self._show(interaction, Wish())

    async def pressed(self, interaction: discord.Interaction, pressed: CustomId, message: discord.Message) -> None:
        """Another range, grouping, or whose usage it is. Raises `DecisionRefused`."""
        wish = Wish.read(pressed.id)
        if wish is None or not message.flags.ephemeral:
            raise UnknownApproval("unknown", say("usage.unknown"))
        picked = modals.picked(interaction) if pressed.verb is not Verb.USAGE_WHOSE else ""
        if pressed.verb is Verb.USAGE_WHOSE:
            chosen: Wish | None = wish.of(server=not wish.server)
        elif pressed.verb is Verb.USAGE_DAYS:
            chosen = Wish.read(f"{'server' if wish.server else 'me'}-{wish.by}-{picked}")
        else:
            chosen = Wish.read(f"{'server' if wish.server else 'me'}-{picked}-{wish.days}")
        if chosen is None:
            raise UnknownApproval("unknown", say("usage.unknown"))
        await acknowledge(interaction)
        await self._show(interaction, chosen)

    async def _show(self, interaction: discord.Interaction, wish: Wish) -> None:
        try:
            view = await self._desk.look(actor_of(interaction), wish)
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)
            return
        await show_private(interaction, drawn(view, interaction))


def drawn(view: UsageView, interaction: discord.Interaction) -> ui.LayoutView:
    """The whole message. Needs a running loop."""
    wish = view.wish
    head = [tell("usage.server_head") if wish.server else tell("usage.my_head")]
    head += [f"**{_days(days)}**: {_all_of(used)}" for days, used in view.totals]
    items: list[Item] = [layout.text("\n".join(head)), layout.rule()]
    rows = list(_rows(view, interaction))
    title = tell("usage.grouped", by=tell_by(wish.by), days=_days(wish.days))
    items.append(layout.text("\n".join([title, *(rows or [tell("usage.nothing")])])))
    items += [layout.rule(), layout.text("\n".join(_budgets(view)))]
    items += [_pick_days(wish), _pick_by(wish)]
    if view.may_see_server:
        label = tell("usage.show_mine") if wish.server else tell("usage.show_server")
        custom_id = CustomId(verb=Verb.USAGE_WHOSE, id=str(wish))
        button: ui.Button[ui.LayoutView] = ui.Button(label=label, custom_id=str(custom_id), id=steady(custom_id))
        items.append(ui.ActionRow(button))
    return layout.build(*items)


def tell_by(by: Grouping) -> str:
    """A grouping, as it stands in a title."""
    return shown(say(_BY[by]))


def _days(days: int) -> str:
    return tell("usage.today") if days == 1 else tell("usage.days", n=days)


def _all_of(used: Sum) -> str:
    """A sum with everything that is known of it."""
    if not used.calls:
        return tell("usage.nothing")
    text = tell(
        "usage.sum",
        calls=tell("usage.calls", n=used.calls),
        tokens=shown(say("usage.tokens", n=used.tokens)),
        read=used.input_tokens,
        written=used.output_tokens,
        cost=shown(cost_words(used)),
    )
    more = []
    if used.cache_read_tokens:
        more.append(tell("usage.cached", n=used.cache_read_tokens))
    if used.tool_calls:
        more.append(tell("usage.tool_calls", n=used.tool_calls))
    if used.unmeasured:
        more.append(tell("usage.unmeasured", n=used.unmeasured))
    return f"{text}\n-# {' · '.join(more)}" if more else text


def _rows(view: UsageView, interaction: discord.Interaction) -> Iterator[str]:
    named: dict[str, Sum] = {}
    for name, used in view.rows:
        label = _named(view.wish, name, interaction)
        named[label] = named.get(label, Sum()) + used
    entries = list(named.items())
    for label, used in entries[:ROWS]:
        yield f"- {label}: {_short(used)}"
    if rest := entries[ROWS:]:
        total = Sum()
        for _, used in rest:
            total += used
        yield f"- {tell('usage.more_rows', n=len(rest))}: {_short(total)}"


def _short(used: Sum) -> str:
    tokens = shown(say("usage.tokens", n=used.tokens))
    return tell("usage.row", calls=tell("usage.calls", n=used.calls), tokens=tokens, cost=shown(cost_words(used)))


def _named(wish: Wish, name: str, interaction: discord.Interaction) -> str:
    """What a row is called. A channel that the reader cannot open has no name of its own here."""
    match wish.by:
        case "person":
            return f"<@{name}>"
        case "model":
            return inert.line(name, limit=_MODEL)
        case "day":
            noon = int(name) * DAY_MS + DAY_MS // 2  # so that it is that day nearly everywhere
            return f"<t:{noon // 1000}:d>"
        case "guild":
            return _guild(name, interaction)
        case "place":
            return _channel(wish, name, interaction)


def _guild(space: str, interaction: discord.Interaction) -> str:
    if space == PRIVATE:
        return tell("usage.private")
    here = interaction.guild_id is not None and space == str(interaction.guild_id)
    return tell("usage.this_server") if here else tell("usage.other_server")


def _channel(wish: Wish, place: str, interaction: discord.Interaction) -> str:
    try:
        where = places.parse(place)
    except Unreachable:
        return tell("usage.elsewhere")
    if where.guild != place_of(interaction).guild or where.guild is None:
        return _guild(where.space, interaction)
    requester = "" if wish.server else str(interaction.user.id)
    return f"<#{where.channel}>" if visible(interaction, place, requester=requester) else tell("usage.hidden")


def _budgets(view: UsageView) -> Iterator[str]:
    if not view.accounts:
        yield tell("usage.no_budget_server") if view.wish.server else tell("usage.no_budget")
        return
    yield tell("usage.budgets", at=view.free_at // 1000)
    for account in view.accounts:
        yield f"- {shown(say(_ACCOUNTS[account.whose, account.set_by]))}: {'; '.join(_left(account, view))}"


def _left(account: Account, view: UsageView) -> Iterator[str]:
    if account.whose == "guild" and not view.may_see_server:  # what is left would tell what others used
        yield tell("usage.spent") if account.is_spent else tell("usage.not_spent")
        return
    if account.budget.tokens is not None:
        budget = shown(say("usage.tokens", n=account.budget.tokens))
        yield tell("usage.left", left=f"{account.tokens_left:,}", budget=budget)
    if account.budget.calls is not None:
        calls = tell("usage.tool_calls", n=account.budget.calls)
        yield tell("usage.left", left=f"{account.calls_left:,}", budget=calls)
    if account.budget.cost_micros is not None:
        left = dollars(account.micros_left or 0)
        yield tell("usage.left", left=left, budget=dollars(account.budget.cost_micros))


def _pick_days(wish: Wish) -> ui.ActionRow[ui.LayoutView]:
    options = [discord.SelectOption(label=_days(days), value=str(days), default=days == wish.days) for days in RANGES]
    return _pick(Verb.USAGE_DAYS, wish, options)


def _pick_by(wish: Wish) -> ui.ActionRow[ui.LayoutView]:
    options = [
        discord.SelectOption(label=shown(say(_PICK_BY[by])), value=by, default=by == wish.by)
        for by in (SERVERS if wish.server else MINE)
    ]
    return _pick(Verb.USAGE_BY, wish, options)


def _pick(verb: Verb, wish: Wish, options: Sequence[discord.SelectOption]) -> ui.ActionRow[ui.LayoutView]:
    custom_id = CustomId(verb=verb, id=str(wish))
    select: ui.Select[ui.LayoutView] = ui.Select(custom_id=str(custom_id), options=list(options), id=steady(custom_id))
    return ui.ActionRow(select)
