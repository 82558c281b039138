"""Scoring what was submitted to a leaderboard, and ranking it, outside the processes that serve people."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from goldlabel.collect.store import hide_values
from goldlabel.errors import InputError, StorageError
from goldlabel.leaderboard import queue
from goldlabel.leaderboard.board import Board
from goldlabel.leaderboard.contents import suffix_of
from goldlabel.leaderboard.queue import Taken
from goldlabel.leaderboard.scoring import Score, score_upload
from goldlabel.leaderboard.standings import keep_standings, rank_entries, unranked_hits
from goldlabel.leaderboard.store import BoardStore
from goldlabel.leaderboard.submissions import FAILED, REFUSED
from goldlabel.worker.work import held

LOG = logging.getLogger("goldlabel.worker")


def score_once(board: Board, store: BoardStore, worker: str) -> bool:
    """Score the next submission; where none waits, rank the entries anew if they changed. Say whether it did either."""
    with store.write() as tx:
        taken = queue.take(tx, worker)
    if taken is None:
        return _rank(board, store)
    try:
        with held(store, lambda tx: queue.renew(tx, taken)):
            score = _score(board, store, taken)
    except StorageError:
        raise
    except InputError as error:
        _end(store, taken, REFUSED, str(error))
    except Exception as error:
        hide_values(error)
        LOG.error("submission %d cannot be scored", taken.id, exc_info=error)
        _end(store, taken, FAILED, queue.CRASHED)
    else:
        with store.write() as tx:
            queue.end_with_score(tx, taken, figures=score.figures, card=score.card.to_dict(), hits=score.hits)
    return True


def _score(board: Board, store: BoardStore, taken: Taken) -> Score:
    with tempfile.TemporaryDirectory(prefix="goldlabel-") as folder:
        upload = Path(folder) / f"upload{suffix_of(taken.file)}"
        with store.read() as tx:
            queue.copy_upload(tx, taken, upload)
        return score_upload(board.suite(taken.suite), upload, taken.file, Path(folder))


def _end(store: BoardStore, taken: Taken, state: str, problem: str) -> None:
    with store.write() as tx:
        queue.end_without_score(tx, taken, state, problem)


def _rank(board: Board, store: BoardStore) -> bool:
    with store.read() as tx:
        unranked = unranked_hits(tx, board)
    if unranked is None:
        return False
    suite, hits = unranked
    ranks = rank_entries(suite, hits)
    with store.write() as tx:
        keep_standings(tx, suite, [*hits], ranks)
    return True
