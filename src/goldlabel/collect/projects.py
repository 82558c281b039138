"""Projects as they stand: by id, by name, and those of a person."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, select

from goldlabel.collect.events import record
from goldlabel.collect.kinds import KINDS, Kind
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Conflict, Missing
from goldlabel.collect.schema import members, projects
from goldlabel.collect.store import Transaction

if TYPE_CHECKING:
    from goldlabel.collect.work.verdicts import Policy

ARCHIVED, DELETED = "archived", "deleted"


@dataclass(frozen=True)
class Project:
    """A project as it stands."""

    id: int
    name: str
    protocol: Protocol
    seed: int
    state: str
    created_at: datetime

    @property
    def kind(self) -> Kind:
        """What kind of collection it is."""
        return KINDS.get(self.protocol.kind)

    @property
    def policy(self) -> Policy:
        """When its pairs are decided."""
        return self.kind.policy(self.protocol)

    def random(self, *purpose: object) -> random.Random:
        """Return a generator that depends on the project's seed and on what it is for, never on earlier draws."""
        return random.Random("/".join(map(str, (self.seed, *purpose))))


def project(tx: Transaction, project_id: int) -> Project:
    """Return a project by its id."""
    row = tx.row(projects, id=project_id)
    if row is None or row.state == DELETED:
        raise Missing("no_project", name=project_id)
    return _project(row)


def project_named(tx: Transaction, name: str) -> Project:
    """Return a project by its name."""
    row = tx.one(select(projects).where(projects.c.name == name))
    if row is None:
        raise Missing("no_project_named", name=name)
    return _project(row)


def all_projects(tx: Transaction) -> list[Project]:
    """Return every project, the oldest first."""
    return [
        _project(row) for row in tx.all(select(projects).where(projects.c.state != DELETED).order_by(projects.c.id))
    ]


def projects_of(tx: Transaction, person_id: int) -> list[tuple[Project, list[str]]]:
    """Return the projects that a person has or had a role in, and the roles that they can use now."""
    roles: dict[int, list[str]] = defaultdict(list)
    for row in tx.all(select(members).where(members.c.person_id == person_id).order_by(members.c.role)):
        usable = ("active",) if row.role == "requester" else ("active", "paused")
        roles[row.project_id] += [row.role] if row.state in usable else []
    return [(one, roles[one.id]) for one in all_projects(tx) if one.id in roles]


def require_open(found: Project) -> None:
    """Refuse to change anything in a project that is archived."""
    if found.state == ARCHIVED:
        raise Conflict("project_archived", name=found.name)


def lock_project(tx: Transaction, project_id: int) -> Project:
    """Return a project whose row is held until the transaction ends; refuse one that is for reading only."""
    tx.lock(projects, project_id)
    held = project(tx, project_id)
    require_open(held)
    return held


def _project(row: Row[Any]) -> Project:
    return Project(row.id, row.name, _loaded(row.config), row.seed, row.state, row.created_at)


@lru_cache(maxsize=128)
def _loaded(config: str) -> Protocol:
    return Protocol.from_dict(json.loads(config))


def dump_protocol(protocol: Protocol) -> str:
    """Return a protocol as a project's row keeps it."""
    return json.dumps(protocol.to_dict(), ensure_ascii=False)


def record_project(tx: Transaction, kind: str, found: Project, by: int | None, **data: Any) -> None:
    """Write down what happened to a project."""
    record(tx, kind, project_id=found.id, person_id=by, subject=f"project {found.id}", data=data)
