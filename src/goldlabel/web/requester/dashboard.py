"""The overview of a project: what is done and what is left, agreement, the artifact meter, people, queue and pay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from goldlabel.collect.data.browsing import QUEUES, ledger_kinds, owed, queue_slice
from goldlabel.collect.data.measurements import Group, look_up
from goldlabel.collect.data.pair_browsing import pairs_by_subset
from goldlabel.collect.money.budget import standing
from goldlabel.collect.people import qualification
from goldlabel.collect.projects import Project
from goldlabel.collect.store import Store
from goldlabel.collect.work.checking import pending_checks
from goldlabel.collect.work.queues import QueueLine, queue_progress
from goldlabel.collect.work.responses import count_responses
from goldlabel.collect.work.tagging import tag_figures
from goldlabel.web.pages import page
from goldlabel.web.security import Before, Managed, Stored
from goldlabel.web.sorting import Sorted

router = APIRouter(tags=["overview"])

Word = Annotated[str | None, Query(max_length=200)]
WRITER_COLUMNS: dict[str, Callable[[Group], Any]] = {
    "writer": lambda group: group.name,
    "pairs": lambda group: group.pairs,
    "right": lambda group: group.blind.accuracy.value if group.blind else None,
    "negators": lambda group: group.negated["contradiction"].value if "contradiction" in group.negated else None,
    "overlap": lambda group: group.overlap,
}


@router.get("/projects/{project_id}")
def dashboard_page(request: Request, project: Managed, store: Stored, sorting: Sorted) -> Response:
    """The whole overview; what takes longer to measure is shown as it was measured last, and measured again."""
    return page(
        request,
        "requester/dashboard.html",
        project=project,
        sorting=sorting,
        writer_columns=WRITER_COLUMNS,
        **_figures(store, project),
        **_progress(store, project),
    )


@router.get("/projects/{project_id}/progress")
def progress_part(request: Request, project: Managed, store: Stored) -> Response:
    """The part of the overview that is counted: fetched again by the page now and then."""
    values = {**_figures(store, project), **_progress(store, project)}
    return page(request, "requester/progress.html", project=project, **values)


@router.get("/projects/{project_id}/figures")
def figures_part(request: Request, project: Managed, store: Stored, sorting: Sorted) -> Response:
    """The part of the overview that is measured."""
    values = {"sorting": sorting, "writer_columns": WRITER_COLUMNS, **_figures(store, project)}
    return page(request, "requester/figures.html", project=project, **values)


@router.get("/projects/{project_id}/queue")
def queue_page(
    request: Request,
    project: Managed,
    store: Stored,
    state: Annotated[Literal["waiting", "leased", "lapsed"], Query()] = "leased",
    kind: Annotated[Literal["write", "verify"], Query()] = "write",
    condition: Word = None,
    genre: Word = None,
    before: Before = None,
) -> Response:
    """Tasks that wait, are in somebody's hands, or whose time ran out."""
    chosen: dict[str, Any] = {"kind": kind, "condition": condition, "genre": genre}
    with store.read() as tx:
        rows = queue_slice(tx, project.id, state, before=before, **chosen)
        now = tx.now
    return page(
        request, "requester/queue.html", project=project, state=state, states=QUEUES, rows=rows, now=now, **chosen
    )


def _figures(store: Store, project: Project) -> dict[str, Any]:
    """Return what was measured, and the people whom a requester should look at first."""
    measuring = look_up(store, project.id)
    measured = measuring.measured
    agreed = measured.people if measured else {}
    with store.read() as tx:
        everybody = qualification.people_flags(tx, project.id).values()
    flagged = [one for one in everybody if one.flags or (one.pseudonym in agreed and agreed[one.pseudonym].flags)]
    return {"measuring": measuring, "measured": measured, "agreed": agreed, "flagged": flagged}


def _progress(store: Store, project: Project) -> dict[str, Any]:
    with store.read() as tx:
        lines, sizes = queue_progress(tx, project.id), pairs_by_subset(tx, project.id)
        return {
            "panels": panels(project, lines),
            "pairs": sum(size for (origin, _, _), size in sizes.items() if origin == project.kind.own),
            "queue": {kind: _sum([line for line in lines if line.kind == kind]) for kind in ("write", "verify")},
            "owed": owed(tx, project.id),
            "budget": standing(tx, project) if project.protocol.pay.budget else None,
            "kinds": ledger_kinds(tx, project.id),
            "pending_checks": pending_checks(tx, project.id),
            "now": tx.now,
            "tags": tag_figures(tx, project),
            "responses": count_responses(tx, project.id, project.protocol),
        }


def panels(project: Project, lines: list[QueueLine]) -> list[dict[str, Any]]:
    """Return one panel per condition (or per origin, where nobody writes): its genres with what is done of each."""
    rows: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for condition in project.protocol.conditions:
        rows[condition.name] = {}
    for line in lines:
        name = line.condition or line.origin
        row = rows[name].setdefault(line.genre, {"write": None, "verify": None})
        row[line.kind] = _sum([line])
        row["origin"] = line.origin if line.kind == "verify" else "written"
    return [
        {
            "name": name,
            "genres": [{"genre": genre, **row} for genre, row in sorted(genres.items())],
            "written": name in [condition.name for condition in project.protocol.conditions],
        }
        for name, genres in rows.items()
    ]


def _sum(lines: list[QueueLine]) -> dict[str, int]:
    names = ("waiting", "leased", "lapsed", "answered", "unusable")
    found = {name: sum(getattr(line, name) for line in lines) for name in names}
    return {**found, "total": sum(found.values())}
