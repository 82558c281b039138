"""Making projects, and pausing them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field

from goldlabel.collect.configuration import LONGEST_NAME, create_project, set_state
from goldlabel.collect.kinds import offered_kinds
from goldlabel.collect.people.accounts import Session
from goldlabel.collect.protocols import LANGUAGES, LONGEST_LABEL, MOST_LABELS, make_protocol, with_labels
from goldlabel.collect.refusals import Forbidden, Invalid
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.language import language_of
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, Person, Stored, may_make_projects

router = APIRouter(tags=["projects"])

Name = Annotated[str, Form(max_length=4 * LONGEST_NAME)]
Word = Annotated[str, Form(max_length=40)]


@router.get("/projects/new")
def new_project_page(request: Request, person: Person, store: Stored) -> Response:
    """A form for a new project."""
    _require_requester(person, store)
    return _new_project_page(request, language=language_of(request))


@router.post("/projects")
def make_project(
    request: Request,
    person: Person,
    store: Stored,
    name: Name = "",
    kind: Word = "",
    language: Word = "en",
    conditions: Annotated[list[Annotated[str, Field(max_length=40)]], Form(max_length=20)] = [],  # noqa: B006 - FastAPI copies it
    labels: Annotated[str, Form(max_length=4 * MOST_LABELS * LONGEST_LABEL)] = "",
) -> Response:
    """Make a project with a ready-made protocol; everything in it can be changed later."""
    _require_requester(person, store)
    kind = kind or offered_kinds()[0].name
    try:
        joined = next((one.protocols for one in offered_kinds() if one.name == kind and one.joins_conditions), ())
        # The form of a kind sends what is chosen for the other kinds along.
        others = {name for one in offered_kinds() if one.name != kind for name in one.protocols}
        chosen = [name for name in conditions if joined and name not in others]
        if joined and not chosen and kind not in joined:
            raise Invalid("no_condition_chosen")
        protocol = make_protocol(",".join(chosen) or kind, language)
        protocol = with_labels(protocol, labels)
        with store.write() as tx:
            made = create_project(tx, name, protocol, by=person.person_id)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        given = {"name": name, "kind": kind, "language": language, "chosen": conditions, "labels": labels}
        return _new_project_page(request, status=status, problem=message, **given)
    return RedirectResponse(f"/projects/{made.id}", 303)


@router.post("/projects/{project_id}/state")
def change_state(
    project: Managed, person: Person, store: Stored, state: Annotated[Literal["running", "paused"], Form()]
) -> Response:
    """Pause a project, or let it go on."""
    with store.write() as tx:
        set_state(tx, project.id, state, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}", 303)


def _require_requester(person: Session, store: Store) -> None:
    if not may_make_projects(person, store):
        raise Forbidden("requesters_only")


def _new_project_page(request: Request, *, status: int = 200, **given: object) -> Response:
    kinds = offered_kinds()
    values = {"problem": "", "name": "", "kind": kinds[0].name, "language": "en", "chosen": [], "labels": "", **given}
    values["project_language"] = values.pop("language")
    return page(request, "requester/new.html", status=status, kinds=kinds, project_languages=LANGUAGES, **values)
