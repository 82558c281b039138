"""Uploads: forms whose fields may be as large as a file."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from goldlabel.collect.data.importing.tables import MOST_BYTES


class _LargeForm(Request):
    """A request whose typed text may be as long as an uploaded one; elsewhere a field ends at a megabyte."""

    def form(self, **options: Any) -> Any:
        return super().form(**{**options, "max_part_size": MOST_BYTES})


class UploadRoute(APIRoute):
    """A route that takes large forms."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def handle_large(request: Request) -> Response:
            return await handle(_LargeForm(request.scope, request.receive))

        return handle_large
