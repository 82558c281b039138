"""Whether the server can do its work, for whoever watches over it."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel

from goldlabel.collect.refusals import Invalid
from goldlabel.web.security import Stored

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """That all is well; a server whose database cannot be reached answers with 503 instead."""

    status: str = "ok"


@router.get("/healthz")
def health(store: Stored) -> Health:
    """Ask the database something and say that it answers."""
    store.check()
    return Health()


@router.get("/readyz")
def ready(store: Stored) -> Health:
    """Say that requests may be sent here: the database answers, and its schema is the one that this code works with."""
    try:
        store.check_schema()
    except Invalid as error:
        raise HTTPException(503) from error
    return Health()
