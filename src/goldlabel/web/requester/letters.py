"""Letters to the people of a project, who read them and what they replied; and the text that everybody agrees to."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.people import consent, letters
from goldlabel.collect.people.consent import LONGEST_CONSENT
from goldlabel.collect.people.letters import LONGEST_LETTER
from goldlabel.collect.people.pseudonyms import person_called, pseudonyms_of
from goldlabel.web.pages import page
from goldlabel.web.security import LONGEST_NAME, Managed, Person, Stored

router = APIRouter(tags=["people"])


@router.get("/projects/{project_id}/letters")
def letters_page(
    request: Request, project: Managed, store: Stored, to: Annotated[str, Query(max_length=LONGEST_NAME)] = ""
) -> Response:
    """What was written to whom, who read it, and what came back."""
    with store.read() as tx:
        found, names = letters.letters_of(tx, project.id), pseudonyms_of(tx, project.id)
    values: dict[str, Any] = {"letters": found, "names": names, "chosen": to, "longest": LONGEST_LETTER}
    return page(request, "requester/letters.html", project=project, **values)


@router.post("/projects/{project_id}/letters")
def write_letter(
    project: Managed,
    person: Person,
    store: Stored,
    text: Annotated[str, Form(max_length=LONGEST_LETTER)],
    to: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
) -> Response:
    """Write to one person, or to all."""
    with store.write() as tx:
        whom = person_called(tx, project.id, to) if to else None
        letters.write_letter(tx, project.id, text, to=whom, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/letters", 303)


@router.get("/projects/{project_id}/consent")
def consent_page(request: Request, project: Managed, store: Stored) -> Response:
    """The text that people agree to, and how many did."""
    with store.read() as tx:
        newest = consent.newest_consent(tx, project.id)
        count = consent.count_consents(tx, project.id, newest.version) if newest else 0
    values: dict[str, Any] = {"consent": newest, "count": count, "longest": LONGEST_CONSENT}
    return page(request, "requester/consent.html", project=project, **values)


@router.post("/projects/{project_id}/consent")
def publish(
    project: Managed, person: Person, store: Stored, text: Annotated[str, Form(max_length=LONGEST_CONSENT)] = ""
) -> Response:
    """Make a text the one that everybody agrees to before the next task."""
    with store.write() as tx:
        consent.publish_consent(tx, project.id, text, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/consent", 303)
