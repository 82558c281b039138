"""Pay: the ledger, lines given by hand and taken back, and the check of what was written under a constraint."""

from __future__ import annotations

import secrets
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.data.browsing import ledger_kinds, ledger_slice, owed
from goldlabel.collect.money import by_hand, ledger
from goldlabel.collect.money.amounts import LARGEST_AMOUNT, parse_amount
from goldlabel.collect.people.pseudonyms import person_called, pseudonyms_of
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.store import LARGEST
from goldlabel.collect.work import checking
from goldlabel.messages import Word
from goldlabel.web.pages import page
from goldlabel.web.security import LONGEST_NAME, Before, Managed, ObjectId, Person, Stored, local_path

router = APIRouter(tags=["pay"])

LONGEST_REASON = 500

Reason = Annotated[str, Form(max_length=LONGEST_REASON)]
Here = Annotated[str, Form(max_length=200)]


def read_amount(text: str) -> Decimal:
    """Return the amount that a form's field of this name says, or refuse it in the words of the form."""
    amount = parse_amount(text)
    if amount is None:
        raise Invalid("field_amount", field=Word("amount"), text=text, low=0, high=LARGEST_AMOUNT)
    return amount


@router.get("/projects/{project_id}/ledger")
def ledger_page(
    request: Request,
    project: Managed,
    store: Stored,
    before: Before = None,
    person: Annotated[str, Query(max_length=LONGEST_NAME)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """What is owed to whom, and why, line by line."""
    with store.read() as tx:
        person_id = person_called(tx, project.id, person) if person else None
        values: dict[str, Any] = {
            "names": pseudonyms_of(tx, project.id),
            "totals": ledger.totals(tx, project.id),
            "kinds": ledger_kinds(tx, project.id),
            "total": owed(tx, project.id),
            "lines": ledger_slice(tx, project.id, person_id=person_id, kind=kind, before=before),
        }
    return page(
        request,
        "requester/ledger.html",
        project=project,
        chosen=person,
        kind=kind,
        key=secrets.token_hex(8),
        **values,
    )


@router.post("/projects/{project_id}/ledger")
def give_line(
    project: Managed,
    person: Person,
    store: Stored,
    to: Annotated[str, Form(max_length=LONGEST_NAME)],
    kind: Annotated[Literal["bonus", "penalty"], Form()],
    amount: Annotated[str, Form(max_length=30)],
    reason: Reason,
    key: Annotated[str, Form(pattern=r"^[\w-]{1,60}$")],
    next: Here = "",
) -> Response:
    """Give a bonus or a penalty; sent twice, it counts once."""
    value = read_amount(amount)
    with store.write() as tx:
        whom = person_called(tx, project.id, to)
        line = f"by hand {key}"
        by_hand.give(tx, project.id, whom, kind=kind, amount=value, reason=reason, key=line, by=person.person_id)
    return RedirectResponse(local_path(next) if next else f"/projects/{project.id}/ledger", 303)


@router.post("/projects/{project_id}/ledger/{line_id}/reverse")
def reverse_line(
    project: Managed, line_id: ObjectId, person: Person, store: Stored, reason: Reason, next: Here = ""
) -> Response:
    """Take a line back by another one."""
    if not reason.strip():
        raise Invalid("reversal_reason")
    with store.write() as tx:
        by_hand.reverse(tx, project.id, line_id, reason=reason, by=person.person_id)
    return RedirectResponse(local_path(next) if next else f"/projects/{project.id}/ledger", 303)


@router.get("/projects/{project_id}/checks")
def checks_page(request: Request, project: Managed, store: Stored) -> Response:
    """What was drawn for a look, what is still to be looked at first."""
    with store.read() as tx:
        drawn = checking.checks_of(tx, project.id)
    pending = [one for one in drawn if one.checked_at is None]
    done = [one for one in drawn if one.checked_at is not None]
    return page(
        request, "requester/checks.html", project=project, pending=pending, done=done[::-1][:50], drawn=len(drawn)
    )


@router.post("/projects/{project_id}/checks/{check_id}")
def record_check(
    project: Managed,
    check_id: ObjectId,
    person: Person,
    store: Stored,
    broken: Annotated[list[Annotated[int, Form(ge=1, le=LARGEST)]], Form(max_length=50)] = [],  # noqa: B006
    note: Reason = "",
) -> Response:
    """Write down which sentences break the rule; none means that all is well."""
    with store.write() as tx:
        checking.record_check(tx, project.id, check_id, broken=broken, note=note, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/checks", 303)
