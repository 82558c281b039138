"""That something is done: said once on the page that a browser is sent to.

The browser holds only the name of the sentence, for the moment between the two answers.
"""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.kinds.kind import N_

COOKIE = "goldlabel_done"
SECONDS = 60
SENTENCES = {
    "answer_changed": N_("Your answer is changed."),
    "answer_withdrawn": N_("Your answer is withdrawn; somebody else is asked."),
    "remark_sent": N_("Your remark is sent to the requester."),
    "contact_kept": N_("How you can be reached is kept."),
    "contact_forgotten": N_("How you could be reached is forgotten."),
    "agreed": N_("That you agree is written down."),
    "letter_sent": N_("Your message is sent."),
}


def redirect_done(request: Request, address: str, name: str) -> Response:
    """Redirect, and let the page say what is done."""
    response = RedirectResponse(address, 303)
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, name, max_age=SECONDS, httponly=True, samesite="strict", secure=secure)
    return response


def done_of(request: Request) -> str:
    """Return the sentence that waits to be said, if any."""
    return SENTENCES.get(request.cookies.get(COOKIE, ""), "")
