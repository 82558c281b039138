"""Whether the server can do its work, for whoever watches over it."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

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
