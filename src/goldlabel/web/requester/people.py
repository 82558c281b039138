"""People in a project: pace, agreement, trust, flags and pay; and what a requester can do about each."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect import people, qualification
from goldlabel.collect.browsing import ledger_slice
from goldlabel.collect.refusals import Missing
from goldlabel.messages import Message
from goldlabel.verify.annotators import Annotator
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, ObjectId, Person, Stored
from goldlabel.worker.measuring import Measured, Measurements

router = APIRouter(tags=["people"])

LATEST = 10

Role = Literal["requester", "writer", "verifier", "expert"]


def agreements(measured: Measured) -> dict[str, Annotator]:
    """Return how far each person agrees with the others, by pseudonym, where there are votes enough."""
    found = measured.figures.verification
    return {one.name: one for one in found.annotators.people} if found and found.annotators else {}


@router.get("/projects/{project_id}/people")
def people_page(request: Request, project: Managed, store: Stored) -> Response:
    """Everybody in the project, those with flags first."""
    measurements: Measurements = request.app.state.measurements
    agreed = agreements(measurements.get(store, project.id))
    with store.read() as tx:
        everybody = qualification.people_overview(tx, project.id)
    everybody.sort(key=lambda one: (not (one.flags or _flags(agreed, one.pseudonym)), -one.pairs - one.votes))
    return page(request, "requester/people.html", project=project, people=everybody, agreed=agreed)


@router.get("/projects/{project_id}/people/{person_id}")
def person_page(request: Request, project: Managed, person_id: ObjectId, store: Stored) -> Response:
    """One person: what they did, and what can be changed."""
    measurements: Measurements = request.app.state.measurements
    measured = measurements.get(store, project.id)
    with store.read() as tx:
        found = next((one for one in qualification.people_overview(tx, project.id) if one.person_id == person_id), None)
        if found is None:
            raise Missing("no_person")
        lines = ledger_slice(tx, project.id, person_id=person_id)
    groups = measured.meter.writers if measured.meter else []
    return page(
        request,
        "requester/person.html",
        project=project,
        one=found,
        agreed=agreements(measured).get(found.pseudonym),
        meter=next((group for group in groups if group.name == found.pseudonym), None),
        lines=replace(lines, rows=lines.rows[:LATEST]),
    )


@router.post("/projects/{project_id}/people/{person_id}/{role}")
def change_member(
    project: Managed,
    person_id: ObjectId,
    role: Role,
    person: Person,
    store: Stored,
    state: Annotated[Literal["active", "paused"] | None, Form()] = None,
    condition: Annotated[str | None, Form(max_length=40)] = None,
    exclusive: Annotated[bool | None, Form()] = None,
) -> Response:
    """Pause somebody or let them go on, move a writer to another condition, keep a writer for test."""
    with store.write() as tx:
        people.set_member(
            tx,
            project.id,
            person_id,
            role,
            by=person.person_id,
            state=state,
            condition=condition or None,
            exclusive=exclusive,
        )
    return RedirectResponse(f"/projects/{project.id}/people/{person_id}", 303)


@router.post("/projects/{project_id}/people/{person_id}/training/again")
def allow_attempt(project: Managed, person_id: ObjectId, person: Person, store: Stored) -> Response:
    """Let somebody who failed the training take it once more."""
    with store.write() as tx:
        if not people.roles(tx, project.id, person_id):
            raise Missing("no_person")
        qualification.allow_attempt(tx, project.id, person_id, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/people/{person_id}", 303)


def _flags(agreed: dict[str, Annotator], pseudonym: str) -> tuple[Message, ...]:
    return agreed[pseudonym].flags if pseudonym in agreed else ()
