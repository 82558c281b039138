"""Projects by token: making them, their settings, pausing, and how far they are."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, TypeAdapter, WithJsonSchema

from goldlabel.collect import projects
from goldlabel.collect.configuration import LONGEST_NAME, configure, create_project, set_state
from goldlabel.collect.data.measurements import PageFigures, look_up
from goldlabel.collect.money.ledger import totals
from goldlabel.collect.projects import Project
from goldlabel.collect.protocols import Protocol, make_protocol, with_settings
from goldlabel.collect.refusals import Forbidden
from goldlabel.collect.repeats import once
from goldlabel.collect.settings_schema import changes_of, schema_of
from goldlabel.collect.work.queues import QueueLine, queue_progress
from goldlabel.collect.work.responses import count_responses
from goldlabel.collect.work.suggestions import follow_suggestions
from goldlabel.web.api.bearer import Holder, Key
from goldlabel.web.security import Managed, Stored, may_make_projects

router = APIRouter(tags=["projects"])
both = APIRouter(tags=["projects"])

Changes = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "properties": changes_of(Protocol), "additionalProperties": False}),
]
Settings = Annotated[dict[str, Any], WithJsonSchema(schema_of(Protocol))]


class ProjectSummary(BaseModel):
    """A project, and what its person is in it."""

    id: int
    name: str
    kind: str
    language: str
    labels: str
    state: str
    roles: list[str]
    created_at: datetime


class NewProject(BaseModel):
    """A ready-made protocol (several conditions are joined by commas), and what is to be different in it."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    protocol: str = Field(max_length=200, examples=["multi"])
    language: str = Field(max_length=10, examples=["en"])
    settings: Changes = {}


class ProjectChange(BaseModel):
    """What is to be different about a project."""

    state: Literal["running", "paused"]


class Stats(BaseModel):
    """What is counted in a project: the queue, answers to its own questions, suggestions that were followed.

    Amounts are text, so that they stay exact.
    """

    state: str
    queue: list[QueueLine]
    currency: str
    owed: str
    questions: list[dict[str, Any]]
    suggestions: dict[str, Any] | None


class Figures(BaseModel):
    """What was measured last: agreement, for all pairs and in groups, with intervals; people beside gold; forecast."""

    measured_at: datetime | None
    pending: bool
    figures: dict[str, Any] | None
    forecast: dict[str, Any] | None


_FIGURES = TypeAdapter(PageFigures)


@both.get("/projects")
def list_projects(holder: Holder, store: Stored) -> list[ProjectSummary]:
    """Return the projects that the token's person has a role in."""
    with store.read() as tx:
        return [summary(project, roles) for project, roles in projects.projects_of(tx, holder.person_id)]


@router.post("/projects", status_code=201)
def make_project(new: NewProject, holder: Holder, store: Stored, key: Key = None) -> ProjectSummary:
    """Make a project, whose requester the token's person becomes."""
    if not may_make_projects(holder, store):
        raise Forbidden("requesters_only")
    protocol = with_settings(make_protocol(new.protocol, new.language), new.settings)

    def act() -> dict[str, Any]:
        made = create_project(tx, new.name, protocol, by=holder.person_id)
        return summary(made, ["requester"]).model_dump(mode="json")

    with store.write() as tx:
        return ProjectSummary(**once(tx, holder.person_id, key, ["project", new.model_dump(mode="json")], act))


@router.get("/projects/{project_id}")
def show_project(project: Managed) -> ProjectSummary:
    """Return one project."""
    return summary(project, ["requester"])


@router.patch("/projects/{project_id}")
def change_project(project: Managed, change: ProjectChange, holder: Holder, store: Stored) -> ProjectSummary:
    """Pause a project, or let it go on."""
    with store.write() as tx:
        set_state(tx, project.id, change.state, by=holder.person_id)
        return summary(projects.project(tx, project.id), ["requester"])


@router.get("/projects/{project_id}/settings")
def show_settings(project: Managed) -> Settings:
    """Return all settings."""
    return project.protocol.to_dict()


@router.patch("/projects/{project_id}/settings")
def change_settings(project: Managed, changes: Changes, holder: Holder, store: Stored) -> Settings:
    """Change settings, each by its path, such as ``pay.pair``; they hold from now on. Return all of them."""
    with store.write() as tx:
        present = projects.project(tx, project.id).protocol
        changed = configure(tx, project.id, with_settings(present, changes), by=holder.person_id)
    return changed.protocol.to_dict()


@router.get("/projects/{project_id}/stats")
def show_stats(project: Managed, store: Stored) -> Stats:
    """Return what is counted: the queue of every kind of work, and what is owed."""
    with store.read() as tx:
        return Stats(
            state=project.state,
            queue=queue_progress(tx, project.id),
            currency=project.protocol.pay.currency,
            owed=str(sum(totals(tx, project.id).values())),
            questions=[counts.to_dict() for counts in count_responses(tx, project.id, project.protocol)],
            suggestions=followed.to_dict() if (followed := follow_suggestions(tx, project.id)) else None,
        )


@router.get("/projects/{project_id}/figures")
def show_figures(project: Managed, store: Stored) -> Figures:
    """Return what was measured last, and when; what is out of date is measured again, so ask again later."""
    known = look_up(store, project.id)
    measured = known.measured
    return Figures(
        measured_at=measured.at if measured else None,
        pending=known.pending,
        figures=_FIGURES.dump_python(measured.figures, mode="json") if measured else None,
        forecast=measured.forecast.to_dict() if measured and measured.forecast else None,
    )


def summary(project: Project, roles: list[str]) -> ProjectSummary:
    """Return what is told of a project."""
    protocol = project.protocol
    return ProjectSummary(
        id=project.id,
        name=project.name,
        kind=protocol.kind,
        language=protocol.language,
        labels=protocol.labels,
        state=project.state,
        roles=roles,
        created_at=project.created_at,
    )
