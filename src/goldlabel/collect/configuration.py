"""Configuration: projects are made with a protocol, which may be changed, and are paused."""

from __future__ import annotations

import secrets

from sqlalchemy import select

from goldlabel.collect.data.fixed_splits import refuse_two_in_pool
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.messages import words
from goldlabel.collect.money.budget import within_budget
from goldlabel.collect.money.ledger import in_units
from goldlabel.collect.people.membership import give_role
from goldlabel.collect.people.second_factor import has_factor
from goldlabel.collect.projects import Project, dump_protocol, lock_project, project, project_named, record_project
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import model_votes, projects
from goldlabel.collect.store import Transaction
from goldlabel.collect.texts import training_examples
from goldlabel.collect.work import drawing
from goldlabel.collect.work.pool import open_writing
from goldlabel.collect.work.rules import clean_text
from goldlabel.collect.work.verdicts import settle
from goldlabel.messages import Word

STATES = ("running", "paused")
LONGEST_NAME = 100


def create_project(
    tx: Transaction, name: str, protocol: Protocol, *, by: int | None = None, seed: int | None = None
) -> Project:
    """Make a project; who makes it becomes its requester. ``seed`` decides all that is drawn at random."""
    name = check_name(name)
    _check(protocol)
    values = {
        "name": name,
        "kind": protocol.kind,
        "config": dump_protocol(protocol),
        "seed": secrets.randbits(62) if seed is None else seed,
        "state": "running",
        "created_by": by,
        "created_at": tx.now,
    }
    if not tx.insert_new(projects, **values):
        raise Conflict("project_name_taken", name=name)
    made = project_named(tx, name)
    if by is not None:
        give_role(tx, made.id, by, "requester")
    record_project(tx, "project.created", made, by, config=protocol.to_dict())
    return made


def check_name(name: str) -> str:
    """Return a project's name as it is stored, or say what is wrong with it."""
    name = clean_text(name)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Invalid("project_name_length", n=len(name), longest=LONGEST_NAME)
    return name


def set_state(tx: Transaction, project_id: int, state: str, *, by: int | None) -> None:
    """Pause a project or let it run; a paused one gives out no tasks but takes answers."""
    if state not in STATES:
        raise Invalid("project_state", state=state, allowed=words(STATES))
    found = lock_project(tx, project_id)
    if found.state != state:
        tx.run(projects.update().where(projects.c.id == project_id).values(state=state))
        record_project(tx, f"project.{state}", found, by)


def configure(tx: Transaction, project_id: int, protocol: Protocol, *, by: int | None) -> Project:
    """Change a project's configuration; new conditions and larger shares take effect on what is there already."""
    found = lock_project(tx, project_id)
    for name in ("kind", "language", "labels"):
        old, new = getattr(found.protocol, name), getattr(protocol, name)
        if old != new:
            raise Invalid("setting_stays", name=name, old=Word(old), new=Word(new))
    gone = {one.name for one in found.protocol.conditions} - {one.name for one in protocol.conditions}
    if gone:
        raise Invalid("condition_stays", name=Word(min(gone)))
    _check(protocol)
    wanted = protocol.qualification.second_factor and not found.protocol.qualification.second_factor
    if wanted and by is not None and not has_factor(tx, by):
        raise Invalid("own_factor_first")
    refuse_two_in_pool(tx, project_id, protocol)
    with within_budget(tx, project_id):
        return _change(tx, found, protocol, by)


def _change(tx: Transaction, found: Project, protocol: Protocol, by: int | None) -> Project:
    tx.change(projects, found.id, config=dump_protocol(protocol))
    changed = project(tx, found.id)
    record_project(tx, "project.configured", changed, by, config=protocol.to_dict())
    open_writing(tx, changed)
    drawing.draw_all(tx, changed, by)
    if found.protocol.verifying.models != protocol.verifying.models:
        judged = select(model_votes.c.pair_id).where(model_votes.c.project_id == found.id).distinct()
        for row in tx.all(judged.order_by(model_votes.c.pair_id)):
            settle(tx, changed, row.pair_id, by)
    return changed


def _check(protocol: Protocol) -> None:
    """Refuse what only shows when people work: money too fine to pay, fewer training examples than asked for."""
    for role in KINDS.get(protocol.kind).workers:
        training_examples(protocol, role)
    for name in ("pair", "label", "bonus", "penalty", "floor", "budget"):
        in_units(getattr(protocol.pay, name))
