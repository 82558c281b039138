"""People by token: who is in a project, what they do, and links by which others join."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from goldlabel.collect.people import leaving, people, qualification
from goldlabel.collect.people.people import Invitation, Member
from goldlabel.collect.people.qualification import PersonOverview
from goldlabel.collect.repeats import once
from goldlabel.web.api.bearer import Holder, Key
from goldlabel.web.requester.invitations import MOST_DAYS, MOST_USES
from goldlabel.web.security import Called, Managed, ObjectId, Stored, public_address

router = APIRouter(tags=["people"])

Role = Literal["requester", "writer", "verifier", "expert"]
Condition = Annotated[str, Field(max_length=40)]


class MemberView(BaseModel):
    """A role of a person in the project."""

    role: str
    condition: str
    exclusive: bool
    state: str


class PersonView(BaseModel):
    """A person, by pseudonym; seconds are medians, the amount is text."""

    pseudonym: str
    roles: list[MemberView]
    premises: int
    pairs: int
    votes: int
    seconds_writing: float | None
    seconds_voting: float | None
    flags: list[str]
    owed: str


class MemberChange(BaseModel):
    """What is to be different about somebody's role."""

    state: Literal["active", "paused", "removed"] | None = None
    condition: Condition | None = None
    exclusive: bool | None = None


class NewInvitation(BaseModel):
    """What a link offers, to how many people and for how long."""

    role: Role
    condition: Condition = ""
    exclusive: bool = False
    uses: int = Field(default=1, ge=1, le=MOST_USES)
    days: int = Field(default=7, ge=1, le=MOST_DAYS)


class InvitationView(BaseModel):
    """An invitation as it stands."""

    id: int
    role: str
    condition: str
    exclusive: bool
    uses: int
    used: int
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class MadeInvitation(BaseModel):
    """A link just made. It is told once: sent again under the same key the answer has none."""

    id: int
    link: str | None


@router.get("/projects/{project_id}/people")
def list_people(project: Managed, store: Stored) -> list[PersonView]:
    """Return everybody in a project, those with flags first."""
    with store.read() as tx:
        return [_person(one) for one in qualification.people_overview(tx, project.id)]


@router.patch("/projects/{project_id}/people/{pseudonym}/{role}")
def change_member(
    project: Managed, called: Called, role: Role, change: MemberChange, holder: Holder, store: Stored
) -> MemberView:
    """Pause or remove somebody, let them go on, move a writer to another condition, keep a writer for test."""
    with store.write() as tx:
        changed = leaving.change_member(tx, project.id, called, role, by=holder.person_id, **change.model_dump())
    return _member(changed)


@router.get("/projects/{project_id}/invitations")
def list_invitations(project: Managed, store: Stored) -> list[InvitationView]:
    """Return the links made so far, the newest first; what they are is kept as a hash only."""
    with store.read() as tx:
        return [_invitation(one) for one in people.invitations_of(tx, project.id)]


@router.post("/projects/{project_id}/invitations", status_code=201)
def make_invitation(
    request: Request, project: Managed, new: NewInvitation, holder: Holder, store: Stored, key: Key = None
) -> MadeInvitation:
    """Make a link by which people join."""
    tokens: list[str] = []

    def act() -> dict[str, Any]:
        values = new.model_dump(exclude={"days"})
        lifetime = timedelta(days=new.days)
        tokens.append(people.invite(tx, project_id=project.id, lifetime=lifetime, by=holder.person_id, **values))
        return {"id": people.invitation(tx, tokens[0]).id}

    with store.write() as tx:
        made = once(tx, holder.person_id, key, ["invitation", project.id, new.model_dump()], act)
    return MadeInvitation(id=made["id"], link=f"{public_address(request)}/invite/{tokens[0]}" if tokens else None)


@router.delete("/projects/{project_id}/invitations/{invite_id}", status_code=204)
def revoke_invitation(project: Managed, invite_id: ObjectId, holder: Holder, store: Stored) -> None:
    """Make a link useless from now on."""
    with store.write() as tx:
        people.revoke_invite(tx, project.id, invite_id, by=holder.person_id)


def _person(one: PersonOverview) -> PersonView:
    return PersonView(
        pseudonym=one.pseudonym,
        roles=[_member(member) for member in one.roles.values()],
        premises=one.premises,
        pairs=one.pairs,
        votes=one.votes,
        seconds_writing=one.seconds_writing,
        seconds_voting=one.seconds_voting,
        flags=one.flags,
        owed=str(one.owed),
    )


def _member(member: Member) -> MemberView:
    return MemberView(role=member.role, condition=member.condition, exclusive=member.exclusive, state=member.state)


def _invitation(one: Invitation) -> InvitationView:
    return InvitationView(**{name: getattr(one, name) for name in InvitationView.model_fields})
