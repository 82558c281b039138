"""The expert's page: what kinds of inference a pair needs, and whether its label is sound."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.people.people import require_role
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.store import LARGEST
from goldlabel.collect.work import tagging
from goldlabel.collect.work.tagging import LONGEST_COMMENT, QUALITIES, TAGS, Tagging
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import ObjectId, Person, ProjectId, Stored
from goldlabel.web.words import N_

router = APIRouter(tags=["tagging"])

ABOUT = {
    "numerical": N_("Counting, amounts, dates, ages, ordinals"),
    "reference": N_("Who or what a word or a name stands for"),
    "standard": N_("Conjunction, negation, cause and effect, comparison"),
    "lexical": N_("Synonyms, antonyms, words within wider words"),
    "tricky": N_("Wordplay, syntax, what the writer is after"),
    "reasoning": N_("Facts of the world, or several steps of thought"),
}
QUALITY_KEYS = {"sound": "s", "ambiguous": "a", "debatable": "d"}

PairId = Annotated[int | None, Query(ge=1, le=LARGEST)]
Name = Annotated[str, Form(max_length=40)]


@router.get("/projects/{project_id}/tag")
def tag_page(
    request: Request, project_id: ProjectId, person: Person, store: Stored, pair: PairId = None, skip: PairId = None
) -> Response:
    """The next pair, or one to look at again."""
    return _tag_page(request, project_id, person, store, pair=pair, skip=skip)


@router.post("/projects/{project_id}/tag/{pair_id}")
def tag(
    request: Request,
    project_id: ProjectId,
    pair_id: ObjectId,
    person: Person,
    store: Stored,
    tags: Annotated[list[Name] | None, Form(max_length=len(TAGS))] = None,
    quality: Name = "sound",
    comment: Annotated[str, Form(max_length=LONGEST_COMMENT)] = "",
) -> Response:
    """Keep what is said of a pair, and go on to the next."""
    try:
        with store.write() as tx:
            tagging.tag_pair(
                tx, project_id, person.person_id, pair_id, tags=tags or [], quality=quality, comment=comment
            )
    except Invalid as error:
        said = Tagging("", tuple(tags or ()), quality, comment)
        return _tag_page(request, project_id, person, store, pair=pair_id, said=said, problem=error)
    return RedirectResponse(f"/projects/{project_id}/tag", 303)


def _tag_page(
    request: Request,
    project_id: int,
    person: Person,
    store: Stored,
    *,
    pair: int | None = None,
    skip: int | None = None,
    said: Tagging | None = None,
    problem: Invalid | None = None,
) -> Response:
    with store.read() as tx:
        member = require_role(tx, project_id, person.person_id, "expert")
        found = project(tx, project_id)
        pauses = member.state != "active" or found.state != "running"
        task = None
        if pair is not None:
            task = tagging.pair_to_tag(tx, project_id, person.person_id, pair)
        elif not pauses:
            task = tagging.next_to_tag(tx, project_id, person.person_id, skip=skip)
        progress = tagging.tag_progress(tx, project_id, person.person_id)
        last = tagging.last_tagged(tx, project_id, person.person_id)
    status, message = 200, ""
    if problem is not None:
        _, status, message, _ = describe(request, problem)
    return page(
        request,
        "annotator/tagging.html",
        status=status,
        project=found,
        pauses=pauses,
        task=task,
        said=said or (task.tagging if task and task.tagging else Tagging("", (), "sound", "")),
        progress=progress,
        last=last,
        about=ABOUT,
        qualities=QUALITIES,
        quality_keys=QUALITY_KEYS,
        longest=LONGEST_COMMENT,
        problem=message,
    )
