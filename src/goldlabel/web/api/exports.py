"""Exports by token: asked for, looked after until they are there, and downloaded."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel

from goldlabel.collect import jobs
from goldlabel.collect.data.export import EXPORT
from goldlabel.collect.jobs import Job
from goldlabel.web.api.bearer import Holder
from goldlabel.web.requester.exporting import count_export, send_export
from goldlabel.web.security import ObjectId, Owned, Stored

router = APIRouter(tags=["exports"])


class NewExport(BaseModel):
    """What an export is to hold beside the data: an audit on its card, and pairs that are hidden."""

    audit: bool = False
    hidden: bool = False


class ExportView(BaseModel):
    """How far an export is: ``waiting``, ``running``, ``done`` or ``failed``, and a share from 0 to 1."""

    id: int
    state: str
    share: float
    asked_at: datetime
    finished_at: datetime | None
    problem: str | None


@router.post("/projects/{project_id}/exports", status_code=202)
def make_export(project: Owned, new: NewExport, holder: Holder, store: Stored) -> ExportView:
    """Let the worker make an export; while one is being made, that one is told."""
    count_export(store, holder)
    with store.write() as tx:
        jobs.ask(tx, project.id, EXPORT, by=holder.person_id, **new.model_dump())
        asked = jobs.latest_job(tx, project.id, EXPORT)
    assert asked is not None
    return _view(asked)


@router.get("/projects/{project_id}/exports/{job_id}")
def show_export(project: Owned, job_id: ObjectId, store: Stored) -> ExportView:
    """Return how far an export is."""
    with store.read() as tx:
        return _view(jobs.job(tx, project.id, EXPORT, job_id))


@router.get(
    "/projects/{project_id}/exports/{job_id}/file",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "The zip."}},
)
def download_export(project: Owned, job_id: ObjectId, store: Stored) -> Response:
    """Download an export that is done."""
    return send_export(project, job_id, store)


def _view(asked: Job) -> ExportView:
    problem = None if asked.problem is None else str(asked.problem)
    names = ("id", "state", "share", "asked_at", "finished_at")
    return ExportView(**{name: getattr(asked, name) for name in names}, problem=problem)
