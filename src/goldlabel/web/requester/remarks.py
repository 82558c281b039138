"""Remarks of annotators: what they said about pairs and premises, and being done with it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.work import remarks
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, ObjectId, Person, Stored

router = APIRouter(tags=["people"])


@router.get("/projects/{project_id}/remarks")
def remarks_page(request: Request, project: Managed, store: Stored) -> Response:
    """What annotators remarked, what waits first."""
    with store.read() as tx:
        found = remarks.remarks_of(tx, project.id)
    return page(request, "requester/remarks.html", project=project, remarks=found, longest=remarks.LONGEST_REMARK)


@router.post("/projects/{project_id}/remarks/{remark_id}/resolve")
def resolve(
    project: Managed,
    remark_id: ObjectId,
    person: Person,
    store: Stored,
    answer: Annotated[str, Form(max_length=remarks.LONGEST_REMARK)] = "",
) -> Response:
    """Be done with a remark, with or without an answer."""
    with store.write() as tx:
        remarks.resolve_remark(tx, project.id, remark_id, answer=answer, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/remarks", 303)
