"""Links for Prolific and Mechanical Turk, and who came by them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from goldlabel.collect.people import marketplaces
from goldlabel.collect.people.marketplaces import MOST_QUOTA, MTURK, PROLIFIC
from goldlabel.collect.projects import Project
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.requester.invitations import MOST_DAYS, MOST_USES
from goldlabel.web.security import Managed, Person, Stored, public_address
from goldlabel.web.shown_once import redirect_to_show, show_once

router = APIRouter(tags=["marketplaces"])

PARAMETERS = {
    PROLIFIC: "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    MTURK: "",
}
"""What a marketplace fills in; Mechanical Turk adds its own."""


@router.get("/projects/{project_id}/marketplace")
def marketplace_page(request: Request, project: Managed, store: Stored) -> Response:
    """Who came from where, and a form for another link."""
    return show_once(request, lambda link: _marketplace_page(request, project, store, link=link))


@router.post("/projects/{project_id}/marketplace")
def open_market(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    provider: Annotated[Literal["prolific", "mturk"], Form()],
    role: Annotated[str, Form(max_length=40)],
    quota: Annotated[int, Form(ge=1, le=MOST_QUOTA)] = 20,
    code: Annotated[str, Form(max_length=40)] = "",
    uses: Annotated[int, Form(ge=1, le=MOST_USES)] = 100,
    days: Annotated[int, Form(ge=1, le=MOST_DAYS)] = 30,
) -> Response:
    """Make a link and show it."""
    try:
        with store.write() as tx:
            token = marketplaces.open_market(
                tx,
                project.id,
                provider=provider,
                role=role,
                quota=quota,
                code=code.strip(),
                uses=uses,
                lifetime=timedelta(days=days),
                by=person.person_id,
            )
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _marketplace_page(request, project, store, status=status, problem=message)
    link = f"{public_address(request)}/enter/{token}{PARAMETERS[provider]}"
    return redirect_to_show(request, f"/projects/{project.id}/marketplace", link)


def _marketplace_page(
    request: Request, project: Project, store: Stored, *, status: int = 200, problem: str = "", link: str = ""
) -> Response:
    with store.read() as tx:
        visits = marketplaces.visits_of(tx, project.id)
    return page(
        request,
        "requester/marketplace.html",
        status=status,
        project=project,
        visits=visits,
        roles=[work.role for work in project.kind.works],
        providers={PROLIFIC: "Prolific", MTURK: "Mechanical Turk"},
        problem=problem,
        link=link,
        most_quota=MOST_QUOTA,
        most_uses=MOST_USES,
        most_days=MOST_DAYS,
    )
