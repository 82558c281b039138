"""Pseudonyms: what a person is called in one project; in another they have another name, and nothing tells which.

A name is drawn at random when somebody gets a first role in a project, and stays theirs there, whatever becomes of it.
"""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import ColumnElement, FromClause, and_, select

from goldlabel.collect.people.passwords import LETTERS
from goldlabel.collect.refusals import Missing
from goldlabel.collect.schema import projects, pseudonyms
from goldlabel.collect.store import Transaction

LENGTH = 6


def give_pseudonym(tx: Transaction, project_id: int, person_id: int) -> str:
    """Draw a name for a person in a project, unless they have one there, and return it."""
    who = {"project_id": project_id, "person_id": person_id}
    while (row := tx.row(pseudonyms, **who)) is None:
        tx.insert_new(pseudonyms, pseudonym="".join(secrets.choice(LETTERS) for _ in range(LENGTH)), **who)
    return str(row.pseudonym)


def pseudonyms_of(tx: Transaction, project_id: int) -> dict[int, str]:
    """Return what those are called who are or were in a project, by their ids, in alphabetical order."""
    query = select(pseudonyms).where(pseudonyms.c.project_id == project_id).order_by(pseudonyms.c.pseudonym)
    return {row.person_id: row.pseudonym for row in tx.all(query)}


def person_called(tx: Transaction, project_id: int, pseudonym: str) -> int:
    """Return who is or was called so in a project."""
    person_id = tx.value(select(pseudonyms.c.person_id).filter_by(project_id=project_id, pseudonym=pseudonym))
    if person_id is None:
        raise Missing("no_person")
    return int(person_id)


def own_pseudonyms(tx: Transaction, person_id: int) -> dict[str, str]:
    """Return what a person is called in each of their projects, by the names of these."""
    query = (
        select(projects.c.name, pseudonyms.c.pseudonym)
        .join(pseudonyms, pseudonyms.c.project_id == projects.c.id)
        .where(pseudonyms.c.person_id == person_id)
        .order_by(projects.c.name)
    )
    return {row.name: row.pseudonym for row in tx.all(query)}


def known_as(project_id: Any, person_id: Any, names: FromClause = pseudonyms) -> ColumnElement[bool]:
    """Return the condition that joins the table of names to whatever refers to a person in a project."""
    return and_(names.c.project_id == project_id, names.c.person_id == person_id)
