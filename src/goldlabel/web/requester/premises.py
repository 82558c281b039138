"""Given sentences: what is in the pool, and uploads with a report of what was left out and why."""

from __future__ import annotations

import io
from typing import Annotated, BinaryIO

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.data.browsing import premise_slice, premise_states
from goldlabel.collect.data.importing.batches import add_all_premises
from goldlabel.collect.data.importing.known import known_premises
from goldlabel.collect.data.importing.reports import Report, keep_report, report_of
from goldlabel.collect.data.importing.tables import MOST_BYTES
from goldlabel.collect.data.importing.uploads import file_name, plain_file
from goldlabel.collect.data.premises import FORMATS, read_premises
from goldlabel.collect.projects import Project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.store import Store
from goldlabel.collect.work.rules import clean_text
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import HOUR, Before, Managed, Person, Stored, limit
from goldlabel.web.sorting import UNSORTED, Sorted, Sorting
from goldlabel.web.uploads import UploadRoute

router = APIRouter(tags=["premises"], route_class=UploadRoute)

Words = Annotated[str, Form(max_length=200)]


@router.get("/projects/{project_id}/premises")
def premises_page(
    request: Request,
    project: Managed,
    store: Stored,
    sorting: Sorted,
    before: Before = None,
    state: Annotated[str, Query(max_length=20)] = "",
    upload: Before = None,
) -> Response:
    """The pool, the newest first, or from its beginning where the address says so."""
    return _premises_page(request, project, store, sorting, before=before, state=state, upload=upload)


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
    known = known_premises(project.id)
    beside = {"genre": clean_text(genre) or None, "source": clean_text(source) or None}
    try:
        name, stream = _given(file, text)
        with store.read() as tx:
            known.catch_up(tx)
        with plain_file(stream, name) as path:
            reading = read_premises(path, path.name, project.protocol.premises, **beside, known=known)
        added = add_all_premises(store, project.id, reading.premises, by=person.person_id)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _premises_page(request, project, store, UNSORTED, status=status, problem=message)
    report = Report(file=name, what="premises", read=reading.read, added=added, left_out=reading.left_out)
    kept = keep_report(store, project.id, report, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/premises?upload={kept}", 303)


def _given(file: UploadFile | None, text: str) -> tuple[str, BinaryIO]:
    if file is not None and file.filename:
        return file_name(file.filename), file.file
    if not text.strip():
        raise Invalid("nothing_given")
    return "typed.txt", io.BytesIO(text.encode("utf-8", "replace"))


def _premises_page(
    request: Request,
    project: Project,
    store: Store,
    sorting: Sorting,
    *,
    status: int = 200,
    before: int | None = None,
    state: str = "",
    problem: str = "",
    upload: int | None = None,
) -> Response:
    with store.read() as tx:
        rises = sorting.column == "number" and not sorting.falls
        rows = premise_slice(tx, project.id, before=before, state=state, rises=rises)
        states = premise_states(tx, project.id)
        report = report_of(tx, project.id, upload)
    return page(
        request,
        "requester/premises.html",
        status=status,
        project=project,
        rows=rows,
        sorting=sorting,
        states=states,
        state=state,
        problem=problem,
        report=report,
        formats=(*FORMATS, ".gz"),
        megabytes=MOST_BYTES >> 20,
    )
