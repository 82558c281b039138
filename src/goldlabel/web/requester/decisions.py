"""Decisions about a person's work: to reject it, requeue it, or exclude the person; and taking them back."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Annotated, Literal

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.people import rejection
from goldlabel.collect.people.pseudonyms import pseudonyms_of
from goldlabel.collect.store import LARGEST
from goldlabel.web.security import Called, Managed, ObjectId, Person, Stored

router = APIRouter(tags=["people"])

LONGEST_REASON = 500


@router.post("/projects/{project_id}/people/{pseudonym}/work/decide")
def decide(
    project: Managed,
    called: Called,
    person: Person,
    store: Stored,
    decision: Annotated[Literal["requeue", "reject", "exclude"], Form()],
    reason: Annotated[str, Form(max_length=LONGEST_REASON)] = "",
    work: Annotated[Literal["all", "write", "verify"], Form()] = "all",
    since: Annotated[date | Literal[""], Form()] = "",
    answer: Annotated[int | None, Form(ge=1, le=LARGEST)] = None,
) -> Response:
    """Set work of a person aside: all of it, or one kind, or from a day on, or one answer."""
    with store.write() as tx:
        decision_id = rejection.decide(
            tx,
            project.id,
            called,
            decision,
            reason=reason,
            by=person.person_id,
            works=tuple(WORKS) if work == "all" else (work,),
            since=datetime.combine(since, time(), tzinfo=UTC) if since else None,
            answer_id=answer,
        )
    return _carry_out(project.id, decision_id, person, store)


@router.post("/projects/{project_id}/decisions/{decision_id}/back")
def take_back(project: Managed, decision_id: ObjectId, person: Person, store: Stored) -> Response:
    """Let work that was set aside count again."""
    with store.write() as tx:
        rejection.take_back(tx, project.id, decision_id, by=person.person_id)
    return _carry_out(project.id, decision_id, person, store)


@router.post("/projects/{project_id}/decisions/{decision_id}/continue")
def go_on(project: Managed, decision_id: ObjectId, person: Person, store: Stored) -> Response:
    """Go on with a decision that broke off before all of it was done."""
    return _carry_out(project.id, decision_id, person, store)


def _carry_out(project_id: int, decision_id: int, person: Person, store: Stored) -> Response:
    rejection.carry_out(store, project_id, decision_id, by=person.person_id)
    with store.read() as tx:
        decided = next(one for one in rejection.decisions_of(tx, project_id) if one.id == decision_id)
        pseudonym = pseudonyms_of(tx, project_id)[decided.person_id]
    return RedirectResponse(f"/projects/{project_id}/people/{pseudonym}#work", 303)
