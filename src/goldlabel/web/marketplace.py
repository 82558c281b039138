"""The door for people of a marketplace: in by its link, out by its code or its form."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request
from fastapi.responses import Response

from goldlabel.collect import projects
from goldlabel.collect.people import marketplaces
from goldlabel.collect.people.consent import newest_consent
from goldlabel.collect.people.marketplaces import MTURK, SUBMIT_HOSTS
from goldlabel.collect.people.people import require_role
from goldlabel.collect.refusals import Missing
from goldlabel.web.pages import page
from goldlabel.web.security import HEADERS, HOUR, Person, ProjectId, Stored, address_of, is_plain, limit
from goldlabel.web.sessions import welcome

router = APIRouter(tags=["marketplaces"])

Token = Annotated[str, Path(max_length=200)]
Id = Annotated[str, Form(max_length=100)]
_POLICY = "content-security-policy"


@router.get("/enter/{token}")
def enter_page(request: Request, token: Token, store: Stored) -> Response:
    """What is asked of somebody who comes from a marketplace; a frame leads to a window of its own."""
    sent = dict(request.query_params)
    with store.read() as tx:
        offered = marketplaces.market(tx, token)
        project = projects.project(tx, offered.invitation.project_id or 0)
        text = newest_consent(tx, project.id)
    arrival = marketplaces.arrival(offered.provider, sent)
    framed = offered.provider == MTURK and "window" not in sent
    values: dict[str, Any] = {"token": token, "offered": offered, "project": project, "arrival": arrival}
    values["consent"] = text if text and text.text else None
    address = request.url.include_query_params(window="1") if framed else None
    opens = f"{address.path}?{address.query}" if address else ""
    response = page(request, "account/enter.html", sent=sent, opens=opens, plain=is_plain(request), **values)
    if offered.provider == MTURK:
        frames = "frame-ancestors " + " ".join(SUBMIT_HOSTS)
        response.headers[_POLICY] = HEADERS[_POLICY].replace("frame-ancestors 'none'", frames)
    return response


@router.post("/enter/{token}")
def enter(
    request: Request,
    token: Token,
    store: Stored,
    PROLIFIC_PID: Id = "",  # noqa: N803 - as the marketplaces call them
    STUDY_ID: Id = "",  # noqa: N803
    SESSION_ID: Id = "",  # noqa: N803
    workerId: Id = "",  # noqa: N803
    hitId: Id = "",  # noqa: N803
    assignmentId: Id = "",  # noqa: N803
    turkSubmitTo: Id = "",  # noqa: N803
) -> Response:
    """Let somebody in and show them the instructions."""
    limit(store, "enter from", address_of(request), most=600, window=HOUR)
    sent = {"PROLIFIC_PID": PROLIFIC_PID, "STUDY_ID": STUDY_ID, "SESSION_ID": SESSION_ID, "workerId": workerId}
    sent |= {"hitId": hitId, "assignmentId": assignmentId, "turkSubmitTo": turkSubmitTo}
    with store.write() as tx:
        person_id, taken = marketplaces.enter(tx, token, sent)
    return welcome(request, store, person_id, f"/projects/{taken.project_id}/instructions/{taken.role}")


@router.get("/projects/{project_id}/completion")
def completion_page(request: Request, project_id: ProjectId, person: Person, store: Stored) -> Response:
    """The code or the form that tells the marketplace that all is done; or how much is still to do."""
    with store.read() as tx:
        member = require_role(tx, project_id, person.person_id, "writer", "verifier")
        project = projects.project(tx, project_id)
        visit = marketplaces.present_visit(tx, project_id, person.person_id)
    if visit is None:
        raise Missing("no_visit")
    values: dict[str, Any] = {
        "project": project,
        "visit": visit,
        "place": "write" if member.role == "writer" else "verify",
    }
    response = page(request, "annotator/completion.html", **values)
    if visit.provider == MTURK and visit.is_over:
        actions = f"form-action 'self' {visit.submit_to}"
        response.headers[_POLICY] = HEADERS[_POLICY].replace("form-action 'self'", actions)
    return response
