"""What is shown once, such as a link or a secret that only its hash is kept of: after a redirect, like everything else.

The browser that will show it holds it for the moment between the two answers, in a cookie for that one page, sealed
with the session's secret, so that nobody else can put a link of theirs there. The page that shows it takes it away.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

COOKIE = "goldlabel_once"
SECONDS = 60
"""How long a browser may take from one answer to the next."""


def redirect_to_show(request: Request, address: str, secret: str) -> Response:
    """Redirect to the page that shows a secret."""
    response = RedirectResponse(address, 303)
    kept = base64.urlsafe_b64encode(secret.encode()).decode()
    response.set_cookie(
        COOKIE,
        f"{_seal(request, address, kept)}.{kept}",
        max_age=SECONDS,
        path=address,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


def show_once(request: Request, render: Callable[[str], Response]) -> Response:
    """Render a page with the secret that waits for it, if any, which does not wait any more."""
    seal, _, kept = request.cookies.get(COOKIE, "").partition(".")
    if not seal:
        return render("")
    is_ours = hmac.compare_digest(seal.encode(), _seal(request, request.url.path, kept).encode())
    response = render(base64.urlsafe_b64decode(kept).decode() if is_ours else "")
    response.delete_cookie(COOKIE, path=request.url.path)
    return response


def _seal(request: Request, address: str, kept: str) -> str:
    return hmac.new(request.state.csrf.encode(), f"{address} {kept}".encode(), hashlib.sha256).hexdigest()
