"""What a requester changes in the data: texts nobody has worked on, what is hidden, pairs without a majority."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.data.browsing import premise_row
from goldlabel.collect.data.editing import edit_pair, edit_premise
from goldlabel.collect.data.hiding import hide_pair, hide_premise
from goldlabel.collect.data.pair_browsing import pair_rows, pair_votes
from goldlabel.collect.work.adjudication import LONGEST_NOTE, adjudicate, ties
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, ObjectId, Person, Stored

router = APIRouter(tags=["curation"])

Visibility = Annotated[Literal["shown", "hidden", "deleted"], Form()]
Text = Annotated[str, Form(max_length=100_000)]
Label = Annotated[str, Form(max_length=100)]


@router.get("/projects/{project_id}/premises/{premise_id}")
def premise_page(request: Request, project: Managed, premise_id: ObjectId, store: Stored) -> Response:
    """One given sentence, to be mended or hidden."""
    with store.read() as tx:
        row = premise_row(tx, project.id, premise_id)
    return page(request, "requester/premise.html", project=project, row=row)


@router.post("/projects/{project_id}/premises/{premise_id}")
def change_premise(
    project: Managed, premise_id: ObjectId, person: Person, store: Stored, text: Text
) -> RedirectResponse:
    """Mend the text of a given sentence."""
    with store.write() as tx:
        edit_premise(tx, project.id, premise_id, text=text, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/premises/{premise_id}", 303)


@router.post("/projects/{project_id}/premises/{premise_id}/visibility")
def change_premise_visibility(
    project: Managed, premise_id: ObjectId, person: Person, store: Stored, state: Visibility
) -> RedirectResponse:
    """Hide a given sentence and its pairs, delete them, or show them again."""
    with store.write() as tx:
        hide_premise(tx, project.id, premise_id, state, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/premises/{premise_id}", 303)


@router.post("/projects/{project_id}/pairs/{pair_id}")
def change_pair(
    project: Managed, pair_id: ObjectId, person: Person, store: Stored, hypothesis: Text, label: Label
) -> RedirectResponse:
    """Mend a pair."""
    with store.write() as tx:
        edit_pair(tx, project.id, pair_id, hypothesis=hypothesis, label=label, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/pairs/{pair_id}", 303)


@router.post("/projects/{project_id}/pairs/{pair_id}/visibility")
def change_pair_visibility(
    project: Managed, pair_id: ObjectId, person: Person, store: Stored, state: Visibility
) -> RedirectResponse:
    """Hide a pair, delete it, or show it again."""
    with store.write() as tx:
        hide_pair(tx, project.id, pair_id, state, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/pairs/{pair_id}", 303)


@router.get("/projects/{project_id}/ties")
def ties_page(request: Request, project: Managed, store: Stored) -> Response:
    """Pairs on which people did not agree, to be decided."""
    with store.read() as tx:
        ids = ties(tx, project.id)
        rows, votes = pair_rows(tx, project.id, ids), pair_votes(tx, ids)
    return page(request, "requester/ties.html", project=project, rows=rows, votes=votes)


@router.post("/projects/{project_id}/pairs/{pair_id}/adjudication")
def decide_pair(
    project: Managed,
    pair_id: ObjectId,
    person: Person,
    store: Stored,
    label: Label,
    note: Annotated[str, Form(max_length=4 * LONGEST_NOTE)] = "",
    back: Annotated[Literal["pair", "ties"], Form()] = "pair",
) -> RedirectResponse:
    """Decide a pair whose votes gave it no gold label."""
    with store.write() as tx:
        adjudicate(tx, project.id, pair_id, label, note=note, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/{'ties' if back == 'ties' else f'pairs/{pair_id}'}", 303)
