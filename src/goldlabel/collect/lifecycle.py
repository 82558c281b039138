"""The life of a project beyond its work: another name, a copy, a rest, and its end.

An archived project is there to be read: nobody changes anything in it until it is taken out again. A deleted one is
gone but for what is never deleted: its events, its ledger with the pseudonyms in it, and the bare rows that it points
to, without any text, answer or name of a marketplace.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Table, func, select

from goldlabel.collect.configuration import check_name, create_project
from goldlabel.collect.events import record
from goldlabel.collect.people.consent import newest_consent, publish_consent
from goldlabel.collect.projects import ARCHIVED, DELETED, Project, dump_protocol, project, require_open
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import answers, assignments, events, ledger, metadata, projects, pseudonyms, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text

_KEPT = (events, ledger, pseudonyms)
_BARE: tuple[Table, ...] = (answers, assignments, tasks)
"""What lines of the ledger lead to; emptied, not deleted."""
_TEXTS = {"label": None, "note": None, "timings": None}


def rename_project(tx: Transaction, project_id: int, name: str, *, by: int | None) -> Project:
    """Give a project another name."""
    present, name = _held(tx, project_id), check_name(name)
    require_open(present)
    if name == present.name:
        return present
    if tx.one(select(projects.c.id).where(projects.c.name == name)) is not None:
        raise Conflict("project_name_taken", name=name)
    tx.change(projects, project_id, name=name)
    _record(tx, "project.renamed", project_id, by, old=present.name, new=name)
    return project(tx, project_id)


def clone_project(tx: Transaction, project_id: int, name: str, *, by: int | None) -> Project:
    """Make a project with settings, instructions, training and consent of another, without its people and its data."""
    copied = create_project(tx, name, project(tx, project_id).protocol, by=by)
    if (consent := newest_consent(tx, project_id)) is not None:
        publish_consent(tx, copied.id, consent.text, by=by)
    _record(tx, "project.cloned", copied.id, by, source=project_id)
    return copied


def archive_project(tx: Transaction, project_id: int, *, by: int | None) -> None:
    """Put a project away: hidden, and for reading only."""
    if _held(tx, project_id).state != ARCHIVED:
        tx.change(projects, project_id, state=ARCHIVED)
        _record(tx, "project.archived", project_id, by)


def restore_project(tx: Transaction, project_id: int, *, by: int | None) -> None:
    """Take a project out of the archive; it is paused, so that nobody is surprised."""
    if _held(tx, project_id).state == ARCHIVED:
        tx.change(projects, project_id, state="paused")
        _record(tx, "project.restored", project_id, by)


def delete_project(tx: Transaction, project_id: int, *, name: str, by: int | None) -> None:
    """Delete what a project holds; ``name`` is typed by whoever wants that, so that it is this one that they mean."""
    doomed = _held(tx, project_id)
    if clean_text(name) != doomed.name:
        raise Invalid("delete_name", name=doomed.name)
    counts = {}
    for table in _BARE:
        lost = {key.parent.name: None for key in table.foreign_keys if _is_emptied(key.column.table)}
        texts = {column: None for column in _TEXTS if column in table.c}
        tx.run(table.update().where(_own(table, project_id)).values(**lost, **texts))
    for table in reversed(metadata.sorted_tables):
        if _is_emptied(table):
            counts[table.name] = tx.run(table.delete().where(_own(table, project_id)))
    bare = replace(doomed.protocol, instructions={}, examples=())
    config = dump_protocol(bare)
    tx.change(projects, project_id, name=f"{DELETED} {secrets.token_hex(8)}", state=DELETED, config=config)
    lines = tx.value(select(func.count()).where(ledger.c.project_id == project_id))
    gone = {name: count for name, count in counts.items() if count}
    _record(tx, "project.deleted", project_id, by, name=doomed.name, deleted=gone, ledger_lines_kept=lines)


def _held(tx: Transaction, project_id: int) -> Project:
    tx.lock(projects, project_id)
    return project(tx, project_id)


def _is_emptied(table: Table) -> bool:
    return table not in (*_KEPT, *_BARE, projects) and _own(table, 0) is not None


def _own(table: Table, project_id: int) -> ColumnElement[bool] | Any:
    """Return what selects the rows of a project in a table, through its references; ``None`` where there is no way."""
    if "project_id" in table.c:
        return table.c.project_id == project_id
    for key in sorted(table.foreign_keys, key=lambda one: one.parent.name):
        if key.column.table is not table and (inner := _own(key.column.table, project_id)) is not None:
            return key.parent.in_(select(key.column).where(inner))
    return None


def _record(tx: Transaction, kind: str, project_id: int, by: int | None, **data: Any) -> None:
    record(tx, kind, project_id=project_id, person_id=by, subject=f"project {project_id}", data=data)
