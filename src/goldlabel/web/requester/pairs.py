"""Pairs: every number of the other pages leads here, to the pairs behind it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from goldlabel.collect.data.marks import Marks
from goldlabel.collect.data.measurements import load_marks, look_up
from goldlabel.collect.data.pair_browsing import (
    PairFilter,
    by_premise,
    count_pairs,
    pair_rows,
    pair_slice,
    pair_votes,
    siblings,
)
from goldlabel.collect.work.adjudication import adjudications_of
from goldlabel.collect.work.remarks import remarks_on
from goldlabel.collect.work.rules import Hypothesis, measure_hypotheses
from goldlabel.collect.work.tagging import taggings_of
from goldlabel.web.pages import page
from goldlabel.web.security import Before, Managed, ObjectId, Stored

router = APIRouter(tags=["pairs"])


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
        remarks = remarks_on(tx, pair_id)
        decided = adjudications_of(tx, project.id, (pair_id, pair_id)).get(pair_id)
        said = taggings_of(tx, project.id, (pair_id, pair_id))[pair_id]
    text = Hypothesis(label=row.label, level=row.level or "", text=row.hypothesis)
    measure = measure_hypotheses(row.premise, [text], project.protocol)[0]
    return page(
        request,
        "requester/pair.html",
        project=project,
        row=row,
        votes=votes,
        together=together,
        remarks=remarks,
        decided=decided,
        said=said,
        measure=measure,
        pieces=marked(measure.text, measure.shared, measure.negators),
    )


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
