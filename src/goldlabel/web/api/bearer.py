"""Who a program asks for: the token of a request, its scopes, and the key under which a change is made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Header, Request
from fastapi.security import HTTPBearer
from pydantic import BaseModel

from goldlabel.collect.people.tokens import Bearer, is_use_due, note_use, require_scope
from goldlabel.collect.work.answering import LONGEST_KEY
from goldlabel.web.security import SignedOut, Stored, session_of

_SCHEME = HTTPBearer(description="A token from the account page.", auto_error=False)


class Failure(BaseModel):
    """Why a request was refused: a kind to tell failures apart by, and a sentence."""

    error: str
    message: str


FAILURES: dict[int | str, dict[str, Any]] = {
    400: {"model": Failure, "description": "What was sent is not JSON."},
    401: {"model": Failure, "description": "The token is missing, unknown, withdrawn or over."},
    403: {"model": Failure, "description": "Not for this token, or not for this person."},
    404: {"model": Failure, "description": "There is no such thing, or it is not for this person to know of."},
    409: {"model": Failure, "description": "Things have moved on, or a key was used for something else."},
    413: {"model": Failure, "description": "Larger than what is taken at once."},
    422: {"model": Failure, "description": "What was sent cannot be used."},
    429: {"model": Failure, "description": "Too many requests; the header tells when to come back."},
}


def token_holder(request: Request, store: Stored, _: Annotated[object, Depends(_SCHEME)]) -> Bearer:
    """Return who is asking, and write down now and then that the token was used."""
    holder = session_of(request)
    if not isinstance(holder, Bearer):
        raise SignedOut
    with store.read() as tx:
        due = is_use_due(tx, holder.token_id)
    if due:
        with store.write() as tx:
            note_use(tx, holder.token_id)
    return holder


def scope(*allowed: str) -> Callable[[Bearer], None]:
    """Return a dependency that wants a token for one of these."""

    def check(holder: Annotated[Bearer, Depends(token_holder)]) -> None:
        if not {*allowed} & {*holder.scopes}:
            require_scope(holder, allowed[0])

    return check


Holder = Annotated[Bearer, Depends(token_holder)]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=LONGEST_KEY,
        description="Made up by the sender: what is sent again under it within a day is done once.",
    ),
]
