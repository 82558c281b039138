"""Pairs: every number of the other pages leads here, to the pairs behind it; and pairs brought from elsewhere."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.responses import Response

from goldlabel.collect import projects
from goldlabel.collect.importing import new_pairs
from goldlabel.collect.marks import Marks
from goldlabel.collect.measurements import load_marks, look_up
from goldlabel.collect.messages import hint, message
from goldlabel.collect.pair_browsing import (
    PairFilter,
    by_premise,
    count_pairs,
    pair_rows,
    pair_slice,
    pair_votes,
    siblings,
)
from goldlabel.collect.premises import MOST_BYTES
from goldlabel.collect.projects import Project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.rules import Hypothesis, measure_hypotheses
from goldlabel.errors import InputError
from goldlabel.files import data_suffix
from goldlabel.pairs import Pairs, read
from goldlabel.pairs.labels import LABEL_SPACES
from goldlabel.web.account import HOUR
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import Before, Managed, ObjectId, Person, Stored, limit

router = APIRouter(tags=["pairs"])

FORMATS = (".jsonl", ".json", ".csv", ".tsv")


@router.get("/projects/{project_id}/pairs")
def pairs_page(
    request: Request,
    project: Managed,
    store: Stored,
    chosen: Annotated[PairFilter, Depends()],
    before: Before = None,
) -> Response:
    """Some pairs of the project, the newest first."""
    measuring = look_up(store, project.id) if chosen.needs_measuring else None
    with store.read() as tx:
        marks = load_marks(tx, project.id) or Marks.nothing() if chosen.needs_measuring else None
        rows = pair_slice(tx, project, chosen, marks, before=before)
        votes = pair_votes(tx, [row.id for row in rows.rows])
        total = count_pairs(tx, project, chosen, marks)
    return page(
        request,
        "requester/pairs.html",
        project=project,
        chosen=chosen,
        rows=rows,
        groups=by_premise(rows.rows),
        votes=votes,
        total=total,
        measuring=measuring,
        own=project.kind.own,
        origins=dict.fromkeys((project.kind.own, *project.kind.imports)),
    )


@router.get("/projects/{project_id}/pairs/{pair_id}")
def pair_page(request: Request, project: Managed, pair_id: ObjectId, store: Stored) -> Response:
    """One pair: who wrote it, what the rules measure in it, who judged it how."""
    with store.read() as tx:
        row = pair_rows(tx, project.id, [pair_id])[0]
        votes = pair_votes(tx, [pair_id], every=True)[pair_id]
        together = siblings(tx, row)
    text = Hypothesis(label=row.label, level=row.level or "", text=row.hypothesis)
    measure = measure_hypotheses(row.premise, [text], project.protocol)[0]
    return page(
        request,
        "requester/pair.html",
        project=project,
        row=row,
        votes=votes,
        together=together,
        measure=measure,
        pieces=marked(measure.text, measure.shared, measure.negators),
    )


@router.get("/projects/{project_id}/import")
def import_page(request: Request, project: Managed) -> Response:
    """A form for pairs that were written elsewhere."""
    return _import_page(request, project)


@router.post("/projects/{project_id}/pairs")
def upload_pairs(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    file: Annotated[UploadFile, File()],
    origin: Annotated[str, Form(max_length=20)],
    labels: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    """Read pairs and add them: all of them, or none where one cannot be used."""
    limit(store, "upload by", str(person.person_id), most=120, window=HOUR)
    try:
        given = _read(file, labels or project.protocol.labels)
        new = new_pairs(given, project.protocol, origin)
        with store.write() as tx:
            added = projects.import_pairs(tx, project.id, new, origin=origin, by=person.person_id)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _import_page(request, project, status=status, problem=message, origin=origin)
    return _import_page(request, project, added=added, origin=origin)


def marked(
    text: str, shared: tuple[tuple[int, int], ...], negators: tuple[tuple[int, int], ...]
) -> list[tuple[str, str]]:
    """Cut a text into pieces, each with the mark that it carries: ``shared``, ``negator`` or none."""
    marks = [""] * len(text)
    for name, spans in (("shared", shared), ("negator", negators)):
        for start, end in spans:
            marks[start:end] = [name] * (end - start)
    pieces: list[tuple[str, str]] = []
    for letter, mark in zip(text, marks, strict=True):
        if pieces and pieces[-1][1] == mark:
            pieces[-1] = (pieces[-1][0] + letter, mark)
        else:
            pieces.append((letter, mark))
    return pieces


def _read(file: UploadFile, labels: str) -> Pairs:
    name = Path(file.filename or "").name[-100:]
    if data_suffix(name) not in FORMATS or not name.endswith(FORMATS):
        raise Invalid("pair_format", file=name or message("upload"), allowed=FORMATS)
    if labels not in LABEL_SPACES:
        raise Invalid("no_label_space", name=labels, hint=hint(labels, LABEL_SPACES))
    with tempfile.TemporaryDirectory(prefix="goldlabel-") as folder:
        path = Path(folder) / name
        data = file.file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise Invalid("file_size", file=name, n=MOST_BYTES >> 20)
        path.write_bytes(data)
        try:
            return read(path, labels=labels)
        except InputError as error:
            raise Invalid("pairs_unreadable", file=name, reason=str(error).replace(str(path), name)) from error


def _import_page(request: Request, project: Project, *, status: int = 200, **values: object) -> Response:
    origins = project.kind.imports
    given = {"problem": "", "added": None, "origin": origins[0], **values}
    return page(
        request,
        "requester/import.html",
        status=status,
        project=project,
        origins=origins,
        spaces=list(LABEL_SPACES),
        formats=FORMATS,
        megabytes=MOST_BYTES >> 20,
        **given,
    )
