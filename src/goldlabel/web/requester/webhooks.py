"""Webhooks of a project: where what happens is told, and how that went."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field

from goldlabel.collect import webhooks
from goldlabel.collect.projects import Project
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, ObjectId, Person, Stored
from goldlabel.web.shown_once import redirect_to_show, show_once

router = APIRouter(tags=["webhooks"])


@router.get("/projects/{project_id}/webhooks")
def webhooks_page(request: Request, project: Managed, store: Stored) -> Response:
    """Which webhooks there are, what they were told, and a form for another."""
    return show_once(request, lambda secret: _webhooks_page(request, project, store, secret=secret))


@router.post("/projects/{project_id}/webhooks")
def add_webhook(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    url: Annotated[str, Form(max_length=2 * webhooks.LONGEST_URL)],
    events: Annotated[list[Annotated[str, Field(max_length=40)]], Form(max_length=10)] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Add a webhook; its secret is shown once."""
    try:
        with store.write() as tx:
            secret = webhooks.add_webhook(tx, project.id, url, events, by=person.person_id)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _webhooks_page(request, project, store, status=status, problem=message)
    return redirect_to_show(request, f"/projects/{project.id}/webhooks", secret)


@router.post("/projects/{project_id}/webhooks/{webhook_id}/remove")
def remove_webhook(project: Managed, webhook_id: ObjectId, person: Person, store: Stored) -> Response:
    """Tell an address nothing more."""
    with store.write() as tx:
        webhooks.remove_webhook(tx, project.id, webhook_id, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/webhooks", 303)


def _webhooks_page(
    request: Request, project: Project, store: Stored, *, status: int = 200, problem: str = "", secret: str = ""
) -> Response:
    with store.read() as tx:
        hooks, log = webhooks.webhooks_of(tx, project.id), webhooks.delivery_log(tx, project.id)
    values = {"hooks": hooks, "log": log, "events": webhooks.TOLD, "problem": problem, "secret": secret}
    return page(request, "requester/webhooks.html", status=status, project=project, **values)
