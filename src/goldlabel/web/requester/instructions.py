"""The texts that people read before they work: Markdown per condition, with a preview."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect import projects
from goldlabel.collect.configuration import configure
from goldlabel.collect.projects import Project
from goldlabel.collect.refusals import Invalid, Missing
from goldlabel.collect.texts import instructions
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, Person, Stored

router = APIRouter(tags=["instructions"])

LONGEST_TEXT = 200_000

Name = Annotated[str, Query(max_length=40)]


@router.get("/projects/{project_id}/texts")
def texts_page(request: Request, project: Managed, name: Name = "", saved: bool = False) -> Response:
    """One text and its looks."""
    chosen = name or project.kind.texts(project.protocol)[0]
    return _texts_page(request, project, chosen, None, saved=saved)


@router.post("/projects/{project_id}/texts")
def change_text(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    name: Annotated[str, Form(max_length=40)],
    action: Annotated[Literal["preview", "save", "restore"], Form()],
    text: Annotated[str, Form(max_length=LONGEST_TEXT)] = "",
) -> Response:
    """Show a text's looks, keep it, or go back to the one that comes with Goldlabel."""
    if name not in project.kind.texts(project.protocol):
        raise Missing("no_text", name=name)
    if action == "preview":
        return _texts_page(request, project, name, text)
    if action == "save" and not text.strip():
        raise Invalid("text_empty")
    with store.write() as tx:
        present = projects.project(tx, project.id).protocol
        own = {key: value for key, value in present.instructions.items() if key != name}
        if action == "save":
            own[name] = text.replace("\r\n", "\n").replace("\0", "")
        configure(tx, project.id, replace(present, instructions=own), by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/texts?name={name}&saved=true", 303)


def _texts_page(request: Request, project: Project, name: str, text: str | None, *, saved: bool = False) -> Response:
    names = project.kind.texts(project.protocol)
    if name not in names:
        raise Missing("no_text", name=name)
    return page(
        request,
        "requester/texts.html",
        project=project,
        names=names,
        name=name,
        text=instructions(name, project.protocol) if text is None else text,
        preview=text is not None,
        own=name in project.protocol.instructions,
        saved=saved,
    )
