"""Discord as a face: rows become messages, and message ids come back as receipts.

Nothing here needs a cache or an open gateway: a channel and an id are enough, so that what is owed goes out right
after a start as well.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

import discord

from bot.drills import DrillView
from bot.errors import DeliveryError, Gone, Locked, Unreachable
from bot.surface import Announcement, CardView, JobView
from bot.texts.entry import Language
from bot.texts.text import say
from cogs import cards, drill, faults, forums, job_cards, limits, offers, pieces, places, posting, visibility
from cogs.faults import NotAccepted
from cogs.members import Members
from cogs.messages import Messages
from cogs.places import Place
from cogs.posting import Channel, FileRefused, Post
from cogs.replies import DiscordReply, Spawn
from cogs.speech import Languages, shown, speaking, tell

logger = logging.getLogger(__name__)

_MOST_PINGS = 100
"""Ids that Discord takes in `allowed_mentions`."""


class DiscordSurface:
    """See `bot.surface.Surface`."""

    def __init__(self, client: discord.Client, spawn: Spawn, languages: Languages) -> None:
        self._client = client
        self._languages = languages
        self._spawn = spawn
        self._members = Members(client)

    def channel(self, place: Place) -> Channel:
        """A channel to post in."""
        return Channel(self._client, place)

    async def language(self, place: Place, person: str | None) -> Language:
        """In a server its language; what only one person sees is in theirs."""
        if place.guild is None and person is not None:
            return await self._languages.of_person(int(person))
        return self._languages.of_guild(place.guild)

    async def _drawn(self, view: CardView, *, attached: bool = True, with_results: bool = True) -> cards.Rendered:
        person = view.card.person or view.approvals[0].requester
        with speaking(await self.language(places.parse(view.card.place), person)):
            return cards.render(view, attached=attached, with_results=with_results)

    async def open_place(self, view: CardView) -> str:
        """See `Surface.open_place`."""
        if view.card.person is not None:
            with faults.delivering():
                direct = await self._client.create_dm(discord.Object(int(view.card.person)))
            return str(Place(guild=None, channel=direct.id))
        if view.card.place == view.approvals[0].place:
            return view.card.place
        with speaking(await self.language(places.parse(view.card.place), None)):
            return await forums.open_post(self._client, view)

    async def post_card(self, view: CardView) -> str:
        """See `Surface.post_card`. Without its file, a call that does not fit is shown but not approvable."""
        channel = self.channel(places.parse(view.card.place))
        rendered = await self._drawn(view)
        if rendered.files:
            try:
                return str(await channel.create(_card_post(view, rendered)))
            except (FileRefused, Unreachable) as error:
                logger.warning("card without its file", extra={"action": "card_file_refused", "problem": str(error)})
                rendered = await self._drawn(view, attached=False, with_results=False)
        return str(await channel.create(_card_post(view, rendered)))

    async def edit_card(self, view: CardView) -> None:
        """See `Surface.edit_card`."""
        if view.card.message is None:
            raise Unreachable(say("faults.never_posted"))
        channel = self.channel(places.parse(view.card.place))
        message = int(view.card.message)
        rendered = await self._drawn(view)
        if rendered.results is not None:
            try:
                await channel.edit(message, view=rendered.view, files=_files(view, rendered))
                return
            except (FileRefused, Unreachable) as error:
                if isinstance(error, Gone | Locked):
                    raise
                logger.warning("card without its results", extra={"action": "results_refused", "problem": str(error)})
                rendered = await self._drawn(view, with_results=False)
        try:
            await channel.edit(message, view=rendered.view, files=_files(view, rendered))
        except (NotAccepted, FileRefused):
            if rendered.attachment is None:
                raise
            # The file that the card refers to is not there: it was refused, now or when the card was posted.
            await channel.edit(message, view=(await self._drawn(view, attached=False, with_results=False)).view)

    async def post_job(self, view: JobView) -> str:
        """See `Surface.post_job`."""
        channel = self.channel(places.parse(view.run.place))
        nonce = limits.nonce(f"job/{view.run.id}/{view.job.posted_at or 0}")
        with speaking(await self.language(channel.place, view.run.requester)):
            post = Post(nonce=nonce, view=job_cards.render(view))
        return str(await channel.create(post))

    async def edit_job(self, view: JobView) -> None:
        """See `Surface.edit_job`."""
        if view.job.message is None:
            raise Unreachable(say("faults.never_posted"))
        channel = self.channel(places.parse(view.run.place))
        with speaking(await self.language(channel.place, view.run.requester)):
            drawn = job_cards.render(view)
        await channel.edit(int(view.job.message), view=drawn)

    async def retire_job(self, place: str, message: str, to: str) -> None:
        """See `Surface.retire_job`."""
        try:
            where = places.parse(place)
            with speaking(await self.language(where, None)):
                drawn = job_cards.moved(places.link(where, to))
            await self.channel(where).edit(int(message), view=drawn)
        except DeliveryError as error:
            logger.info("old job card not pointed on", extra={"action": "retire_failed", "problem": str(error)})

    def above(self, place: str) -> str | None:
        """See `Surface.above`. A private thread has nothing above it: its channel is read by others."""
        where = places.parse(place)
        known = self._client.get_channel(where.channel)
        if not isinstance(known, discord.Thread) or known.is_private():
            return None
        return str(Place(guild=where.guild, channel=known.parent_id))

    async def hidden_from(self, person: str, place: str) -> str | None:
        """See `Surface.hidden_from`."""
        with faults.delivering():
            return await visibility.hidden_from(self._client, int(person), places.parse(place))

    async def closed(self, place: str) -> str | None:
        """See `Surface.closed`."""
        with faults.delivering():
            return await visibility.closed(self._client, places.parse(place))

    async def post_drill(self, view: DrillView) -> str:
        """See `DrillFace.post_drill`."""
        place = places.parse(view.drill.place)
        with speaking(await self.language(place, None)):
            post = drill.post(view)
        return str(await self.channel(place).create(post))

    async def edit_drill(self, view: DrillView) -> None:
        """See `DrillFace.edit_drill`."""
        if view.drill.message is not None:
            channel = self.channel(places.parse(view.drill.place))
            with speaking(await self.language(channel.place, None)):
                drawn = drill.render(view)
            await channel.edit(int(view.drill.message), view=drawn)

    async def tell_drill(self, person: str, view: DrillView) -> None:
        """See `DrillFace.tell_drill`."""
        with faults.delivering():
            direct = await self._client.create_dm(discord.Object(int(person)))
        place = Place(guild=None, channel=direct.id)
        with speaking(await self.language(place, person)):
            post = drill.post(view, person=person)
        await self.channel(place).create(post)

    async def announce(self, announcement: Announcement) -> str:
        """See `Surface.announce`."""
        channel = self.channel(places.parse(announcement.place))
        said = Messages(
            channel,
            announcement.key,
            reply_to=int(announcement.reply_to) if announcement.reply_to is not None else None,
            ping=announcement.ping[:_MOST_PINGS],
            ping_roles=announcement.ping_roles[:_MOST_PINGS],
            silent=announcement.silent,
            files=_enclosed(announcement),
        )
        with speaking(await self.language(channel.place, announcement.ping[0] if announcement.ping else None)):
            text = _text(announcement)
            return str(await said.complete(text))

    async def tell(self, person: str, announcement: Announcement) -> str:
        """See `Surface.tell`."""
        with faults.delivering():
            direct = await self._client.create_dm(discord.Object(int(person)))
        place = places.parse(announcement.place)
        channel = self.channel(Place(guild=None, channel=direct.id))
        files = _enclosed(announcement)
        said = Messages(channel, announcement.key, silent=announcement.silent, files=files)
        with speaking(await self._languages.of_person(int(person))):
            text = _text(announcement)
            if place.guild is not None:
                text += f"\n-# {tell('surface.asked_in', channel=place.channel)}"
            return str(await said.complete(text))

    def reopen(self, place: str, message: str, *, key: str) -> DiscordReply:
        """See `Surface.reopen`."""
        where = places.parse(place)
        language = self._languages.of_guild(where.guild)
        return DiscordReply(self.channel(where), key, spawn=self._spawn, already=int(message), language=language)

    def reply(self, place: Place, key: str, *, reply_to: int | None, if_apart: bool) -> DiscordReply:
        """A new reply, looking busy from the start. `reply_to`, `if_apart`: see `posting.Post`."""
        language = self._languages.of_guild(place.guild)
        reply = DiscordReply(
            self.channel(place), key, spawn=self._spawn, reply_to=reply_to, if_apart=if_apart, language=language
        )
        reply.begin()
        return reply

    async def mark_moved(self, place: str, message: str, to: str) -> None:
        """See `Surface.mark_moved`."""
        try:
            where = places.parse(place)
            with speaking(await self.language(where, None)):
                text = tell("surface.answer_is_here", link=places.link(where, to))
            await self.channel(where).edit(int(message), content=text, bare=True)
        except DeliveryError as error:
            logger.info("reply not pointed on", extra={"action": "mark_moved_failed", "problem": str(error)})

    async def roles_of(self, guild: str, person: str) -> frozenset[str] | None:
        """See `People.roles_of`."""
        return await self._members.roles_of(int(guild), int(person))

    def who(self, person: str) -> str:
        """See `People.who`."""
        return f"<@{person}>"

    def group(self, role: str) -> str:
        """See `People.group`."""
        return f"<@&{role}>"

    def link(self, place: str, message: str | None) -> str:
        """See `Surface.link`."""
        try:
            return places.link(places.parse(place), message)
        except Unreachable:
            return ""


def _files(view: CardView, rendered: cards.Rendered) -> list[discord.File] | None:
    """The card's files anew, when an edited call or a long result stands on it: until then the card keeps what it was
    posted with."""
    if rendered.results is None and not any(call.edited_by for call in view.approvals):
        return None
    return rendered.files


def _card_post(view: CardView, rendered: cards.Rendered) -> Post:
    return Post(
        nonce=limits.nonce(f"card/{view.card.id}" + (f"/{view.card.posts}" if view.card.posts else "")),
        view=rendered.view,
        silent=view.silent,
        files=(lambda: rendered.files) if rendered.files else None,
        mentions=posting.mentions(view.ping[:_MOST_PINGS], view.ping_roles[:_MOST_PINGS]),
    )


def _enclosed(announcement: Announcement) -> Callable[[], list[discord.File]] | None:
    """What comes with it, to be made anew for each attempt."""
    if not any(one.body is not None for one in announcement.files):
        return None
    return partial(offers.files, announcement.files)


def _text(announcement: Announcement) -> str:
    text = pieces.closed(shown(announcement.text))
    if announcement.deadline is not None:
        text += f" <t:{announcement.deadline // 1000}:R>"
    for remark in announcement.remarks:
        text += f"\n-# {shown(remark)}"
    if announcement.files:
        text += f"\n-# {offers.named(announcement.files)}"
    if announcement.repeated:
        text += f"\n-# {tell('surface.repeated')}"
    return text
