"""``serve``: the server process or processes of a leaderboard, and the worker that scores."""

from __future__ import annotations

import os
from pathlib import Path

import uvicorn

from goldlabel.leaderboard.board import open_board
from goldlabel.web.app import ADDRESS
from goldlabel.web.leaderboard.app import create_board_app
from goldlabel.web.serving import server_options
from goldlabel.worker.keeper import FOLDER, PLACE, SCORES, kept_workers


def serve_leaderboard(
    folder: str | Path,
    *,
    database: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    address: str | None = None,
) -> None:
    """Serve the leaderboard in a folder until interrupted; its options mean what they mean to ``serve``."""
    path = Path(folder).expanduser().resolve()
    place = database or str(path)
    board, store = open_board(path, database)
    options = server_options(store, host, port, workers, address, "plain")
    with kept_workers(place, SCORES, **{FOLDER: str(path)}):
        if workers == 1:
            try:
                uvicorn.run(create_board_app(board, store, address=address), **options)
            finally:
                store.close()
            return
        store.close()
        os.environ |= {FOLDER: str(path), PLACE: place} | ({} if address is None else {ADDRESS: address})
        uvicorn.run("goldlabel.web.leaderboard.app:app_of_environment", factory=True, workers=workers, **options)
