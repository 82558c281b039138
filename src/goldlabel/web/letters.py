"""Letters between requesters and me, and the text that I agree to before I work."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.people import consent, letters
from goldlabel.collect.people.accounts import Session
from goldlabel.collect.people.letters import LONGEST_LETTER
from goldlabel.collect.projects import Project
from goldlabel.collect.store import LARGEST, Store
from goldlabel.web.done import redirect_done
from goldlabel.web.history import Own
from goldlabel.web.pages import page
from goldlabel.web.security import ObjectId, Person, Stored, limit, local_path

router = APIRouter()

Target = Annotated[str, Form(max_length=200)]


@router.get("/projects/{project_id}/my-letters")
def inbox_page(request: Request, project: Own, person: Person, store: Stored) -> Response:
    """Letters to me, and what I replied."""
    with store.read() as tx:
        found = letters.inbox(tx, project.id, person.person_id)
        replies = letters.own_replies(tx, project.id, person.person_id)
    values: dict[str, Any] = {"letters": found, "replies": replies, "longest": LONGEST_LETTER}
    return page(request, "annotator/letters.html", project=project, **values)


@router.post("/projects/{project_id}/my-letters")
def write_to_requesters(
    request: Request,
    project: Own,
    person: Person,
    store: Stored,
    text: Annotated[str, Form(max_length=LONGEST_LETTER)],
) -> Response:
    """Begin a conversation with those who run the project."""
    return _send(request, project, person, store, text)


@router.post("/projects/{project_id}/my-letters/{letter_id}/read")
def mark_read(project: Own, letter_id: ObjectId, person: Person, store: Stored, next: Target = "") -> Response:
    """I have read a letter."""
    with store.write() as tx:
        letters.mark_read(tx, project.id, letter_id, person.person_id)
    return RedirectResponse(local_path(next) if next else f"/projects/{project.id}/my-letters", 303)


@router.post("/projects/{project_id}/my-letters/{letter_id}/reply")
def reply(
    request: Request,
    project: Own,
    letter_id: ObjectId,
    person: Person,
    store: Stored,
    text: Annotated[str, Form(max_length=LONGEST_LETTER)],
) -> Response:
    """Reply to the requesters."""
    return _send(request, project, person, store, text, letter_id)


def _send(
    request: Request, project: Project, person: Session, store: Store, text: str, letter_id: int | None = None
) -> Response:
    limit(store, "replies of", str(person.person_id), most=60, window=timedelta(hours=1))
    with store.write() as tx:
        if letter_id is None:
            letters.write_to_requesters(tx, project.id, person.person_id, text)
        else:
            letters.reply(tx, project.id, letter_id, person.person_id, text)
    return redirect_done(request, f"/projects/{project.id}/my-letters", "letter_sent")


@router.get("/projects/{project_id}/agree")
def consent_page(
    request: Request, project: Own, store: Stored, next: Annotated[str, Query(max_length=200)] = "/"
) -> Response:
    """The text to agree to, and what work earns."""
    with store.read() as tx:
        newest = consent.newest_consent(tx, project.id)
    return page(request, "annotator/consent.html", project=project, consent=newest, next=local_path(next))


@router.post("/projects/{project_id}/agree")
def agree(
    request: Request,
    project: Own,
    person: Person,
    store: Stored,
    version: Annotated[int, Form(ge=1, le=LARGEST)],
    next: Target = "/",
) -> Response:
    """I agree to the text that was shown."""
    with store.write() as tx:
        consent.agree(tx, project.id, person.person_id, version)
    return redirect_done(request, local_path(next), "agreed")
