"""Taking a file that somebody submits, by a form or by a program: a piece at a time, and nothing of it stays here."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from goldlabel.collect.refusals import Invalid
from goldlabel.leaderboard.board import Board
from goldlabel.leaderboard.contents import ALLOWED, suffix_of
from goldlabel.leaderboard.store import BoardStore
from goldlabel.leaderboard.submissions import About, Submission, receive
from goldlabel.leaderboard.submitters import Submitter


async def take_upload(
    pieces: AsyncIterator[bytes],
    *,
    store: BoardStore,
    board: Board,
    submitter: Submitter,
    file: str,
    name: str,
    suite: str | None,
    about: About,
) -> tuple[Submission, bool]:
    """Take a file of predictions for a suite; return the submission, and whether it is new."""
    if suffix_of(file) not in ALLOWED:
        raise Invalid("board_file", allowed=ALLOWED)
    chosen = board.suite(suite).name

    def keep(upload: Path, sha256: str) -> tuple[Submission, bool]:
        with store.write(repeatable=True) as tx:
            return receive(
                tx,
                submitter,
                upload,
                sha256,
                file=file,
                name=name,
                suite=chosen,
                about=about,
                limits=board.limits,
            )

    # On disk, a piece at a time; with the block it is gone, whatever happens.
    with tempfile.NamedTemporaryFile(prefix="goldlabel-") as upload:
        digest = hashlib.sha256()
        async for piece in pieces:
            digest.update(piece)
            await run_in_threadpool(upload.write, piece)
        if not upload.tell():
            raise Invalid("board_empty")
        upload.flush()
        return await run_in_threadpool(keep, Path(upload.name), digest.hexdigest())
