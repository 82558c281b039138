"""Given sentences: what is in the pool, and uploads with a report of what was left out and why."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi.responses import Response

from goldlabel.collect.browsing import premise_slice, premise_states
from goldlabel.collect.importing import add_new_premises
from goldlabel.collect.premises import FORMATS, MOST_BYTES, PremiseReading, read_premises
from goldlabel.collect.projects import Project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.rules import clean_text
from goldlabel.collect.snapshot import pool_texts
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.web.account import HOUR
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import Before, Managed, Person, Stored, limit

router = APIRouter(tags=["premises"])

Words = Annotated[str, Form(max_length=200)]


@router.get("/projects/{project_id}/premises")
def premises_page(
    request: Request,
    project: Managed,
    store: Stored,
    before: Before = None,
    state: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """The pool, the newest first."""
    return _premises_page(request, project, store, before=before, state=state)


@router.post("/projects/{project_id}/premises")
def upload_premises(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    file: Annotated[UploadFile | None, File()] = None,
    text: Annotated[str, Form(max_length=MOST_BYTES)] = "",
    genre: Words = "",
    source: Words = "",
) -> Response:
    """Read an upload, or lines typed in, by the rules of the project, and add what they let in."""
    limit(store, "upload by", str(person.person_id), most=120, window=HOUR)
    try:
        name, data = _given(file, text)
        with store.read() as tx:
            known = pool_texts(tx, project.id)
        rules = project.protocol.premises
        beside = {"genre": clean_text(genre) or None, "source": clean_text(source) or None}
        reading = read_premises(data, name, rules, **beside, known=known)
        with store.write() as tx:
            added = add_new_premises(tx, project.id, reading.premises, by=person.person_id)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _premises_page(request, project, store, status=status, problem=message)
    return _premises_page(request, project, store, reading=reading, added=added)


def _given(file: UploadFile | None, text: str) -> tuple[str, bytes]:
    if file is not None and file.filename:
        return file.filename[-100:], file.file.read(MOST_BYTES + 1)
    if not text.strip():
        raise Invalid("nothing_given")
    return "typed.txt", text.encode("utf-8", "replace")


def _premises_page(
    request: Request,
    project: Project,
    store: Store,
    *,
    status: int = 200,
    before: int | None = None,
    state: str = "",
    problem: str = "",
    reading: PremiseReading | None = None,
    added: int = 0,
) -> Response:
    with store.read() as tx:
        rows = premise_slice(tx, project.id, before=before, state=state)
        states = premise_states(tx, project.id)
    return page(
        request,
        "requester/premises.html",
        status=status,
        project=project,
        rows=rows,
        states=states,
        state=state,
        problem=problem,
        reading=reading,
        added=added,
        formats=FORMATS,
        megabytes=MOST_BYTES >> 20,
    )
