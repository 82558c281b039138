"""Payouts: who is owed what, what was sent to them, a floor under an hour's pay, and tables for whoever pays."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.money import payouts
from goldlabel.collect.people import contacts
from goldlabel.collect.people.pseudonyms import person_called
from goldlabel.web.pages import page
from goldlabel.web.requester.money import read_amount
from goldlabel.web.security import LONGEST_NAME, Managed, Person, Stored
from goldlabel.web.sorting import Sorted

router = APIRouter(tags=["pay"])

Note = Annotated[str, Form(max_length=500)]
Key = Annotated[str, Form(pattern=r"^[\w-]{1,60}$")]


COLUMNS: dict[str, Callable[[payouts.Balance], Any]] = {
    "name": lambda one: one.pseudonym,
    "earned": lambda one: one.earned,
    "paid": lambda one: one.paid,
    "owed": lambda one: one.owed,
    "time": lambda one: one.time,
    "hourly": lambda one: one.hourly,
    "due": lambda one: one.due,
}


@router.get("/projects/{project_id}/payouts")
def payouts_page(request: Request, project: Managed, store: Stored, sorting: Sorted) -> Response:
    """Where everybody stands, and what was paid out."""
    with store.read() as tx:
        values: dict[str, Any] = {
            "balances": sorting.rows(payouts.balances(tx, project.id), COLUMNS),
            "made": payouts.payouts_of(tx, project.id),
            "today": tx.now.date(),
            "sorting": sorting,
        }
    return page(request, "requester/payouts.html", project=project, key=secrets.token_hex(8), **values)


@router.post("/projects/{project_id}/payouts")
def pay_out(
    project: Managed,
    person: Person,
    store: Stored,
    to: Annotated[str, Form(max_length=LONGEST_NAME)],
    amount: Annotated[str, Form(max_length=30)],
    on: Annotated[date, Form()],
    key: Key,
    note: Note = "",
) -> Response:
    """Write down that money was sent to somebody; sent twice, it counts once."""
    value = read_amount(amount)
    with store.write() as tx:
        whom = person_called(tx, project.id, to)
        payouts.pay_out(tx, project.id, whom, amount=value, on=on, note=note, key=key, by=person.person_id)
    return _back(project.id)


@router.post("/projects/{project_id}/payouts/everybody")
def pay_out_everybody(
    project: Managed, person: Person, store: Stored, on: Annotated[date, Form()], key: Key, note: Note = ""
) -> Response:
    """Write down that everybody was sent what they are owed."""
    with store.write() as tx:
        payouts.pay_out_everybody(tx, project.id, on=on, note=note, key=key, by=person.person_id)
    return _back(project.id)


@router.post("/projects/{project_id}/payouts/top-up")
def top_up(project: Managed, person: Person, store: Stored) -> Response:
    """Give everybody whose hours earned less than the floor what is missing."""
    with store.write() as tx:
        payouts.top_up(tx, project.id, by=person.person_id)
    return _back(project.id)


@router.get("/projects/{project_id}/payouts/owed.csv")
def owed_table(project: Managed, store: Stored) -> Response:
    """Who is to be paid how much, as a table."""
    with store.read() as tx:
        return _table(payouts.owed_table(tx, project.id), "owed.csv")


@router.get("/projects/{project_id}/payouts/paid.csv")
def paid_table(project: Managed, store: Stored) -> Response:
    """What was paid to whom and when, as a table."""
    with store.read() as tx:
        return _table(payouts.paid_table(tx, project.id), "paid.csv")


@router.post("/projects/{project_id}/payouts/contacts.csv")
def contacts_table(project: Managed, person: Person, store: Stored) -> Response:
    """How people can be reached, as a table; that somebody took it is kept."""
    with store.write() as tx:
        return _table(contacts.contacts_table(tx, project.id, by=person.person_id), "contacts.csv")


def _table(text: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text.encode(), media_type="text/csv; charset=utf-8", headers=headers)


def _back(project_id: int) -> Response:
    return RedirectResponse(f"/projects/{project_id}/payouts", 303)
