"""The data out: a snapshot as a zip of the dataset folder, made on disk while people go on working."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import IO, Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response, StreamingResponse

from goldlabel.collect.export import Section, export_project
from goldlabel.collect.projects import Project
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.tokens import UNKNOWN
from goldlabel.web.measuring import tokenizer_for
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, Person, Stored, limit

router = APIRouter(tags=["export"])

CHUNK = 1 << 18


@router.get("/projects/{project_id}/export")
def export_page(request: Request, project: Managed) -> Response:
    """What is in an export, and the button."""
    return page(request, "requester/export.html", project=project)


@router.post("/projects/{project_id}/export")
def download_export(
    project: Managed, person: Person, store: Stored, audit: Annotated[bool, Form()] = False
) -> StreamingResponse:
    """Send a snapshot as a zip."""
    limit(store, "export by", str(person.person_id), most=30, window=timedelta(hours=1))
    packed, size = pack_export(store, project, audit=audit)
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", project.name).strip("-.") or "project"
    named = f"attachment; filename=\"{plain}.zip\"; filename*=UTF-8''{quote(project.name, safe='')}.zip"
    headers = {"content-disposition": named, "content-length": str(size)}
    return StreamingResponse(_chunks(packed), media_type="application/zip", headers=headers)


def pack_export(store: Store, project: Project, *, audit: bool) -> tuple[IO[bytes], int]:
    """Export a project and return an open file, already without a name on disk, that holds the zip, and its size."""
    packed = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when it has been sent
    try:
        with tempfile.TemporaryDirectory(prefix="goldlabel-") as folder:
            target = Path(folder) / "export"
            export_project(store, project.id, target, describe=[audit_section] if audit else [])
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted(path for path in target.rglob("*") if path.is_file()):
                    archive.write(file, file.relative_to(target))
        size = packed.tell()
        packed.seek(0)
    except BaseException:
        packed.close()
        raise
    return packed, size


def audit_section(pairs: Pairs, refused: Callable[[str], None] = lambda _: None) -> Section | None:
    """Audit what is exported; where there is too little to tell, the card says nothing of it and ``refused`` why."""
    from goldlabel.audit import audit
    from goldlabel.report.artifacts import artifact_section

    by = "condition" if pairs.frame.select("condition").collect()["condition"].null_count() < len(pairs) else None
    language = pairs.card.languages[0] if pairs.card.languages else UNKNOWN
    try:
        return artifact_section(audit(pairs, by=by, tokenizer=tokenizer_for(language)))
    except InputError as error:
        refused(str(error))
        return None


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk
