"""Pairs brought from elsewhere: to be judged, to be mixed in, or as questions with known answers."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, Request, UploadFile
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.data.importing.batches import add_all_pairs
from goldlabel.collect.data.importing.pairs import FORMATS, NewPairs, naming_file, read_pairs
from goldlabel.collect.data.importing.reports import keep_report, pairs_report, report_of
from goldlabel.collect.data.importing.tables import MOST_BYTES
from goldlabel.collect.data.importing.tools import uploaded_pairs
from goldlabel.collect.data.importing.uploads import file_name, plain_file
from goldlabel.collect.projects import Project
from goldlabel.collect.protocols import LONGEST_LABEL, MOST_LABELS
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.pairs.labels import LABEL_SPACES
from goldlabel.pairs.tools import TOOLS
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import HOUR, Before, Managed, Person, Stored, limit

router = APIRouter(tags=["pairs"])

MOST_FILES = 20
"""Files of one upload: an export may have one for each annotator."""


@router.get("/projects/{project_id}/import")
def import_page(request: Request, project: Managed, store: Stored, upload: Before = None) -> Response:
    """A form for pairs that were written elsewhere, and what became of the last file."""
    return _import_page(request, project, store, upload=upload)


@router.post("/projects/{project_id}/pairs")
def upload_pairs(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    file: Annotated[list[UploadFile], File(max_length=MOST_FILES)],
    origin: Annotated[str, Form(max_length=20)],
    labels: Annotated[str, Form(max_length=MOST_LABELS * (LONGEST_LABEL + 1))] = "",
    tool: Annotated[str, Form(max_length=20)] = "",
    question: Annotated[str, Form(max_length=200)] = "",
    votes: Annotated[Literal["keep", "count"], Form()] = "keep",
) -> Response:
    """Read pairs and add them, unless one of them cannot be used; several files are one export of a tool."""
    limit(store, "upload by", str(person.person_id), most=120, window=HOUR)
    name = ", ".join(file_name(one.filename) for one in file)
    try:
        with ExitStack() as open_files:
            paths = [open_files.enter_context(plain_file(one.file, file_name(one.filename))) for one in file]
            space = labels or project.protocol.labels
            if not tool and len(paths) > 1:
                raise Invalid("one_file")
            pairs = uploaded_pairs(paths, tool, space, question) if tool else read_pairs(paths[0], space)
        new = NewPairs(pairs, project.protocol, origin, votes)
        with naming_file(name):
            read, added = add_all_pairs(store, project.id, new, origin=origin, by=person.person_id, votes=votes)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _import_page(request, project, store, status=status, problem=message, origin=origin)
    kept = keep_report(store, project.id, pairs_report(name, origin, read, added), by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/import?upload={kept}", 303)


def _import_page(
    request: Request,
    project: Project,
    store: Store,
    *,
    status: int = 200,
    problem: str = "",
    origin: str = "",
    upload: int | None = None,
) -> Response:
    with store.read() as tx:
        report = report_of(tx, project.id, upload)
    origins = project.kind.imports
    return page(
        request,
        "requester/import.html",
        status=status,
        project=project,
        origins=origins,
        origin=origin or (report.what if report else origins[0]),
        problem=problem,
        report=report,
        spaces=list(dict.fromkeys((project.protocol.labels, *LABEL_SPACES))),
        tools=list(TOOLS),
        formats=(*FORMATS, ".gz"),
        megabytes=MOST_BYTES >> 20,
    )
