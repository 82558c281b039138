"""The interface for programs, under ``/api/v1``: what the pages do, by bearer token and JSON.

It calls the same functions of ``collect`` as the pages. A token opens nothing else, and a session opens nothing here,
so that no page of another site can use it through somebody's browser.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request

from goldlabel.collect.people.tokens import ANNOTATOR, REQUESTER
from goldlabel.web import annotator_api, tries_api
from goldlabel.web.api import exports, people, projects, stock
from goldlabel.web.api.bearer import FAILURES, scope

__all__ = ["router"]

router = APIRouter(prefix="/api/v1")
for _part in (projects, stock, people, exports):
    router.include_router(_part.router, dependencies=[Depends(scope(REQUESTER))], responses=FAILURES)
router.include_router(projects.both, dependencies=[Depends(scope(REQUESTER, ANNOTATOR))], responses=FAILURES)
for annotators in (annotator_api, tries_api):
    router.include_router(annotators.router, dependencies=[Depends(scope(ANNOTATOR))], responses=FAILURES)


@router.get("/openapi.json", include_in_schema=False)
def describe(request: Request) -> dict[str, Any]:
    """Return the description of this interface alone."""
    whole: dict[str, Any] = request.app.openapi()
    return whole | {"paths": {path: one for path, one in whole["paths"].items() if path.startswith(router.prefix)}}
