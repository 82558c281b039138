"""The data out: a snapshot as a zip of the dataset folder, made on disk while people go on working."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import IO, Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response, StreamingResponse

from goldlabel.web.pages import page
from goldlabel.web.security import Managed, Person, Stored, limit
from goldlabel.worker.exporting import pack_export

router = APIRouter(tags=["export"])

CHUNK = 1 << 18


@router.get("/projects/{project_id}/export")
def export_page(request: Request, project: Managed) -> Response:
    """What is in an export, and the button."""
    return page(request, "requester/export.html", project=project)


@router.post("/projects/{project_id}/export")
def download_export(
    project: Managed,
    person: Person,
    store: Stored,
    audit: Annotated[bool, Form()] = False,
    hidden: Annotated[bool, Form()] = False,
) -> StreamingResponse:
    """Send a snapshot as a zip."""
    limit(store, "export by", str(person.person_id), most=30, window=timedelta(hours=1))
    packed, size = pack_export(store, project, audit=audit, hidden=hidden)
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", project.name).strip("-.") or "project"
    named = f"attachment; filename=\"{plain}.zip\"; filename*=UTF-8''{quote(project.name, safe='')}.zip"
    headers = {"content-disposition": named, "content-length": str(size)}
    return StreamingResponse(_chunks(packed), media_type="application/zip", headers=headers)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk
