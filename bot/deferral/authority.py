"""Who may decide. One function for every route; numeric ids only; unknown means no."""

from __future__ import annotations

from bot.deferral.tool import ToolKind
from bot.errors import NotAllowed
from bot.place import is_private, space_of
from bot.surface import Actor
from storage.approvals import Approval


class Authority:
    """The approvers of this installation.

    With neither users nor roles configured, the application's owner or team decides; the face tells who that
    is after it has logged in, and until then nobody may.
    """

    def __init__(self, *, users: frozenset[str] | None, roles: frozenset[str] | None, self_approval: bool) -> None:
        self._configured = users is not None or roles is not None
        self._users = users or frozenset()
        self._roles = roles or frozenset()
        self._self_approval = self_approval

    def set_owners(self, owners: frozenset[str]) -> None:
        """Learn who owns the application. Ignored when approvers are configured."""
        if not self._configured:
            self._users = owners

    def approvers(self) -> tuple[frozenset[str], frozenset[str]]:
        """Users and roles who may decide, to be notified of new cards."""
        return self._users, self._roles

    def may_decide(self, approval: Approval, actor: Actor) -> None:
        """Return if `actor` may decide `approval` now; raise `NotAllowed` with the rule that says no."""
        if approval.kind == ToolKind.QUESTION:
            if actor.id != approval.requester:
                raise NotAllowed("not_requester", "Only the person who was asked can answer this.")
            return
        if not self.is_approver(actor, approval.place):
            raise NotAllowed("not_approver", f"You are not an approver here, so nothing changed. {self.who_can()}")
        if actor.id == approval.requester and not self._self_approval:
            raise NotAllowed(
                "four_eyes", "You asked for this yourself, so another approver has to decide it. Nothing changed."
            )

    def anyone_can_decide(self, place: str, requester: str) -> bool:
        """Whether a card in `place` can be decided at all. In private only the requester sees it."""
        if is_private(place):
            return requester in self._users and self._self_approval
        others = self._users if self._self_approval else self._users - {requester}
        return bool(others or self._roles)

    def who_can(self) -> str:
        """One sentence naming who can help."""
        if not self._users and not self._roles:
            return "No approver is set up: set SIGNOFF_APPROVER_USERS."
        if not self._configured:
            return "The owner of this bot decides."
        return "The people and roles in SIGNOFF_APPROVER_USERS and SIGNOFF_APPROVER_ROLES decide."

    def is_approver(self, actor: Actor, place: str) -> bool:
        """Whether `actor` may decide about what was asked in `place`."""
        if actor.id in self._users:
            return True
        # A role counts only in the guild that the request belongs to.
        return not is_private(place) and actor.guild == space_of(place) and bool(self._roles & actor.roles)
