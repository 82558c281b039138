"""People in a project: pace, agreement, trust, flags and pay; and what a requester can do about each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.data import measurements
from goldlabel.collect.data.browsing import ledger_slice
from goldlabel.collect.data.measurements import PersonAgreement
from goldlabel.collect.people import leaving, people, qualification
from goldlabel.collect.people.qualification import PersonOverview
from goldlabel.collect.people.rejection import decisions_of
from goldlabel.collect.refusals import Missing
from goldlabel.collect.work.remarks import waiting_remarks
from goldlabel.messages import Message
from goldlabel.web.pages import page
from goldlabel.web.security import Called, Managed, Person, Stored
from goldlabel.web.sorting import Sorted

router = APIRouter(tags=["people"])

LATEST = 10

Role = Literal["requester", "writer", "verifier", "expert"]


@router.get("/projects/{project_id}/people")
def people_page(request: Request, project: Managed, store: Stored, sorting: Sorted) -> Response:
    """Everybody in the project, those with flags first where the address asks for no other order."""
    known = measurements.look_up(store, project.id).measured
    agreed = known.people if known else {}
    with store.read() as tx:
        everybody = qualification.people_overview(tx, project.id)
        waiting = waiting_remarks(tx, project.id)
    everybody.sort(key=lambda one: (not (one.flags or _flags(agreed, one.pseudonym)), -one.pairs - one.votes))
    rows = sorting.rows(everybody, _columns(agreed))
    values: dict[str, Any] = {"people": rows, "agreed": agreed, "sorting": sorting, "waiting": waiting}
    return page(request, "requester/people.html", project=project, **values)


@router.get("/projects/{project_id}/people/{pseudonym}")
def person_page(request: Request, project: Managed, called: Called, store: Stored) -> Response:
    """One person: what they did, and what can be changed."""
    known = measurements.look_up(store, project.id).measured
    with store.read() as tx:
        found = next((one for one in qualification.people_overview(tx, project.id) if one.person_id == called), None)
        if found is None:
            raise Missing("no_person")
        lines = ledger_slice(tx, project.id, person_id=called)
        decided = decisions_of(tx, project.id, called)
    groups = known.meter.writers if known and known.meter else []
    return page(
        request,
        "requester/person.html",
        project=project,
        one=found,
        agreed=known.people.get(found.pseudonym) if known else None,
        meter=next((group for group in groups if group.name == found.pseudonym), None),
        lines=replace(lines, rows=lines.rows[:LATEST]),
        decisions=decided,
    )


@router.post("/projects/{project_id}/people/{pseudonym}/{role}")
def change_member(
    project: Managed,
    pseudonym: str,
    called: Called,
    role: Role,
    person: Person,
    store: Stored,
    state: Annotated[Literal["active", "paused", "removed"] | None, Form()] = None,
    condition: Annotated[str | None, Form(max_length=40)] = None,
    exclusive: Annotated[bool | None, Form()] = None,
) -> Response:
    """Pause or remove somebody, let them go on, move a writer to another condition, keep a writer for test."""
    with store.write() as tx:
        leaving.change_member(
            tx,
            project.id,
            called,
            role,
            by=person.person_id,
            state=state,
            condition=condition or None,
            exclusive=exclusive,
        )
    own_power = called == person.person_id and role == "requester"
    return RedirectResponse("/" if own_power else f"/projects/{project.id}/people/{pseudonym}", 303)


@router.post("/projects/{project_id}/people/{pseudonym}/training/again")
def allow_attempt(project: Managed, pseudonym: str, called: Called, person: Person, store: Stored) -> Response:
    """Let somebody who failed the training take it once more."""
    with store.write() as tx:
        if not people.roles(tx, project.id, called):
            raise Missing("no_person")
        qualification.allow_attempt(tx, project.id, called, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/people/{pseudonym}", 303)


def _columns(agreed: dict[str, PersonAgreement]) -> dict[str, Callable[[PersonOverview], Any]]:
    """Return what a row has in each column by which people can be sorted."""
    return {
        "name": lambda one: one.pseudonym,
        "pairs": lambda one: one.pairs,
        "writing": lambda one: one.seconds_writing,
        "votes": lambda one: one.votes,
        "voting": lambda one: one.seconds_voting,
        "agreement": lambda one: agreed[one.pseudonym].agreement.value if one.pseudonym in agreed else None,
        "trust": lambda one: one.trust.share.value if one.trust.share else None,
        "owed": lambda one: one.owed,
        "seen": lambda one: one.last_answer,
    }


def _flags(agreed: dict[str, PersonAgreement], pseudonym: str) -> tuple[Message, ...]:
    return agreed[pseudonym].flags if pseudonym in agreed else ()
