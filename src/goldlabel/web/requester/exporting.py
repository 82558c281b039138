"""The data out: a snapshot as a zip of the dataset folder, made by the worker while people go on working."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from goldlabel.collect import jobs
from goldlabel.collect.data.export import EXPORT
from goldlabel.collect.people.accounts import Session
from goldlabel.collect.projects import Project
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.store import Store
from goldlabel.web.downloads import attachment, file_name
from goldlabel.web.pages import page
from goldlabel.web.security import ObjectId, Owned, Person, Stored, limit

router = APIRouter(tags=["export"])


@router.get("/projects/{project_id}/export")
def export_page(request: Request, project: Owned, store: Stored) -> Response:
    """What is in an export, the button, and the last export."""
    return page(request, "requester/export.html", project=project, **_last(store, project))


@router.get("/projects/{project_id}/export/last")
def export_part(request: Request, project: Owned, store: Stored) -> Response:
    """How far the last export is: fetched again by the page until it is there."""
    return page(request, "requester/exported.html", project=project, **_last(store, project))


@router.post("/projects/{project_id}/export")
def make_export(
    project: Owned,
    person: Person,
    store: Stored,
    audit: Annotated[bool, Form()] = False,
    hidden: Annotated[bool, Form()] = False,
) -> Response:
    """Let the worker make an export."""
    count_export(store, person)
    with store.write() as tx:
        jobs.ask(tx, project.id, EXPORT, by=person.person_id, audit=audit, hidden=hidden)
    return RedirectResponse(f"/projects/{project.id}/export", 303)


@router.get("/projects/{project_id}/exports/{job_id}")
def download_export(project: Owned, job_id: ObjectId, store: Stored) -> Response:
    """Send an export."""
    return send_export(project, job_id, store)


def count_export(store: Store, person: Session) -> None:
    """Count an export, which takes the worker a while."""
    limit(store, "export by", str(person.person_id), most=30, window=timedelta(hours=1))


def send_export(project: Project, job_id: int, store: Store) -> Response:
    """Send an export, a piece at a time."""
    with store.read() as tx:
        if jobs.job(tx, project.id, EXPORT, job_id).state != "done":
            raise Conflict("export_under_way")
        size = jobs.file_size(tx, job_id)
    headers = {**attachment(project.name, ".zip"), "content-length": str(size)}
    return StreamingResponse(jobs.read_pieces(store, job_id), media_type="application/zip", headers=headers)


def _last(store: Store, project: Project) -> dict[str, Any]:
    with store.read() as tx:
        last = jobs.latest_job(tx, project.id, EXPORT)
        size = jobs.file_size(tx, last.id) if last and last.state == "done" else 0
    return {"last": last, "size": size, "file": file_name(project.name, ".zip")}
