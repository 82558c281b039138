"""Marketplaces: people who come from Prolific or Mechanical Turk by a link that carries who they are there.

They get an account without a password, one for each project, and are known by a pseudonym like everybody else; what
the marketplace calls them is kept apart. When they have done what was asked of one visit they get the code, or the
form, that tells the marketplace so. A marketplace's link proves nothing but that somebody knows a worker's id: whoever
has both can work in that worker's name in this one project, or end the account there, and nothing more.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from sqlalchemy import Row, func, select

from goldlabel.collect.events import record
from goldlabel.collect.people.accounts import NO_PASSWORD, create_account
from goldlabel.collect.people.passwords import hash_token
from goldlabel.collect.people.people import Invitation, accept, invitation, invite
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.refusals import Invalid, Missing
from goldlabel.collect.schema import answers, invites, markets, outsiders, pseudonyms, visits
from goldlabel.collect.store import Transaction

PROLIFIC, MTURK = "prolific", "mturk"
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What Mechanical Turk sends in place of an assignment's id while somebody only looks."""
RETURN = "https://app.prolific.com/submissions/complete?cc="
SUBMIT_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
SUBMIT_PATH = "/mturk/externalSubmit"
MOST_QUOTA = 10_000
_NAMES = {
    PROLIFIC: ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    MTURK: ("workerId", "hitId", "assignmentId"),
}
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True)
class Market:
    """What an invitation asks of one visit, and the code for it; without one each visit has its own."""

    invitation: Invitation
    provider: str
    code: str
    quota: int


@dataclass(frozen=True)
class Arrival:
    """Who a link says that somebody is; ``worker`` is empty while they only look."""

    provider: str
    worker: str
    study: str
    session: str
    submit_to: str


@dataclass(frozen=True)
class Visit:
    """One visit of a person: what is asked of it, what is done, and where its end is told."""

    id: int
    provider: str
    session: str
    submit_to: str
    code: str
    quota: int
    done: int
    completed_at: datetime | None

    @property
    def is_over(self) -> bool:
        """Whether as much is done as was asked for."""
        return self.completed_at is not None or self.done >= self.quota

    @property
    def return_link(self) -> str:
        """Where Prolific learns that the visit is complete."""
        return RETURN + quote(self.code, safe="")

    @property
    def submit_address(self) -> str:
        """Where Mechanical Turk takes the form that ends an assignment."""
        return self.submit_to + SUBMIT_PATH


def open_market(
    tx: Transaction,
    project_id: int,
    *,
    provider: str,
    role: str,
    quota: int,
    code: str = "",
    uses: int,
    lifetime: timedelta,
    by: int | None,
) -> str:
    """Make an invitation for people of a marketplace and return its token; ``code`` is what Prolific waits for."""
    if provider not in _NAMES:
        raise Invalid("no_marketplace", name=provider, allowed=[*_NAMES])
    if not 1 <= quota <= MOST_QUOTA:
        raise Invalid("market_quota", most=MOST_QUOTA)
    if provider == PROLIFIC and not _CODE.fullmatch(code):
        raise Invalid("market_code")
    token = invite(tx, project_id=project_id, role=role, uses=uses, lifetime=lifetime, by=by)
    tx.insert(
        markets,
        invite_id=invitation(tx, token).id,
        provider=provider,
        code=code if provider == PROLIFIC else "",
        quota=quota,
    )
    return token


def market(tx: Transaction, token: str) -> Market:
    """Return what a link offers to people of a marketplace."""
    row = tx.one(
        select(markets)
        .join(invites, invites.c.id == markets.c.invite_id)
        .where(invites.c.token_hash == hash_token(token))
    )
    if row is None:
        raise Missing("invite_unknown")
    return Market(invitation(tx, token), row.provider, row.code, row.quota)


def arrival(provider: str, sent: Mapping[str, str]) -> Arrival:
    """Read who somebody is from the parameters of a link."""
    worker, study, session = (sent.get(name, "") for name in _NAMES[provider])
    submit_to = sent.get("turkSubmitTo", "").rstrip("/")
    looks = provider == MTURK and session == PREVIEW
    wanted = (study,) if looks and study else () if looks else (worker, study, session)
    if not all(map(_ID.fullmatch, wanted)) or (provider == MTURK and not looks and submit_to not in SUBMIT_HOSTS):
        raise Invalid("market_link", names=list(_NAMES[provider]))
    return Arrival(provider, "" if looks else worker, study, "" if looks else session, submit_to)


def enter(tx: Transaction, token: str, sent: Mapping[str, str]) -> tuple[int, Invitation]:
    """Let somebody of a marketplace in: make the person on the first visit, and begin this one."""
    offered = market(tx, token)
    who, project_id = arrival(offered.provider, sent), offered.invitation.project_id
    if not who.worker or project_id is None:
        raise Invalid("market_link", names=list(_NAMES[offered.provider]))
    name = {"project_id": project_id, "provider": who.provider, "worker": who.worker}
    known = tx.row(outsiders, **name)
    if known is None:
        person_id = create_account(tx, f"{who.provider}-{secrets.token_hex(8)}", NO_PASSWORD)
        tx.insert(outsiders, person_id=person_id, **name)
    else:
        person_id = known.person_id
    taken = accept(tx, token, person_id)
    own = {"project_id": project_id, "person_id": person_id, "session": who.session}
    if tx.row(visits, **own) is None:
        visit_id = tx.insert(
            visits,
            invite_id=taken.id,
            study=who.study,
            submit_to=who.submit_to,
            code=offered.code or secrets.token_hex(6),
            already=_answered(tx, project_id, person_id),
            started_at=tx.now,
            **own,
        )
        data = {"provider": who.provider, "study": who.study}
        record(tx, "visit.begun", project_id=project_id, person_id=person_id, subject=f"visit {visit_id}", data=data)
    return person_id, taken


def present_visit(tx: Transaction, project_id: int, person_id: int) -> Visit | None:
    """Return the visit that a person is on, if they came from a marketplace."""
    own = (visits.c.project_id == project_id, visits.c.person_id == person_id)
    row = tx.one(_VISITS.where(*own).order_by(visits.c.id.desc()).limit(1))
    if row is None:
        return None
    done = _answered(tx, project_id, person_id) - row.already
    return Visit(row.id, row.provider, row.session, row.submit_to, row.code, row.quota, done, row.completed_at)


_VISITS = select(visits, markets.c.provider, markets.c.quota).join(markets, markets.c.invite_id == visits.c.invite_id)


def complete(tx: Transaction, project_id: int, person_id: int, visit: Visit) -> None:
    """Write down that a visit is complete: as much is done as was asked for, or nothing more is there to do."""
    if visit.completed_at is None:
        tx.change(visits, visit.id, completed_at=tx.now)
        data = {"done": visit.done, "quota": visit.quota}
        record(
            tx, "visit.completed", project_id=project_id, person_id=person_id, subject=f"visit {visit.id}", data=data
        )


def visits_of(tx: Transaction, project_id: int, *, limit: int = 500) -> list[Row[Any]]:
    """Return the last visits of a project: who it was there and here, and how it ended; the newest first."""
    query = (
        select(visits, markets.c.provider, markets.c.quota, outsiders.c.worker, pseudonyms.c.pseudonym)
        .join(markets, markets.c.invite_id == visits.c.invite_id)
        .join(outsiders, outsiders.c.person_id == visits.c.person_id)
        .join(pseudonyms, known_as(visits.c.project_id, visits.c.person_id))
        .where(visits.c.project_id == project_id)
        .order_by(visits.c.id.desc())
        .limit(limit)
    )
    return list(tx.all(query))


def _answered(tx: Transaction, project_id: int, person_id: int) -> int:
    """Count the answers of a person that count, whatever they answer."""
    own = (answers.c.project_id == project_id, answers.c.person_id == person_id, answers.c.state == "counted")
    return int(tx.value(select(func.count()).where(*own)))
