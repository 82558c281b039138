"""Routes and pages for annotators and requesters; wiring only."""

from __future__ import annotations

from goldlabel.registry import import_extra

for _module in ("fastapi", "sqlalchemy", "uvicorn", "babel", "markdown_it", "python_multipart", "argon2"):
    import_extra(_module, "collect")

from goldlabel.web.app import create_app  # noqa: E402 - after the check that all is installed
from goldlabel.web.leaderboard.serving import serve_leaderboard  # noqa: E402
from goldlabel.web.leaderboard.site import build_leaderboard  # noqa: E402
from goldlabel.web.playing import serve_player  # noqa: E402
from goldlabel.web.serving import serve  # noqa: E402

__all__ = ["build_leaderboard", "create_app", "serve", "serve_leaderboard", "serve_player"]
