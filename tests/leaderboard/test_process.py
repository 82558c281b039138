from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from goldlabel.leaderboard import queue
from goldlabel.leaderboard.board import open_board
from goldlabel.leaderboard.schema import scores, submissions, trail
from goldlabel.worker import scoring
from goldlabel.worker.keeper import FOLDER, SCORES, kept_workers
from tests.leaderboard.boards import Leaderboard, answers, csv, opened


def state_of(board: Leaderboard) -> Any:
    with board.store.read() as tx:
        return tx.one(select(submissions.c.state, submissions.c.tries, submissions.c.problem))


def test_kill_9_in_the_middle_of_scoring(tmp_path: Path, place: str | None) -> None:
    """On SQLite a worker of the same name goes on, on PostgreSQL another one when the lease is over."""
    board = opened(tmp_path / "board", database=place, names=("meadow",))
    board.send(board.join("Reed Lab"), csv({"meadow": answers(3)["meadow"]}))
    command = [sys.executable, "-m", "tests.leaderboard.slow_worker", str(board.folder), place or str(board.folder)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("scored")
    process.kill()
    process.communicate()
    assert process.returncode == -9
    assert tuple(state_of(board)) == ("running", 1, None)
    assert board.entries() == []
    board.work("another")
    assert tuple(state_of(board)) == ("running", 1, None), "somebody may still be at it"
    if place is not None:
        later = datetime.now(UTC) + timedelta(minutes=2)
        _, store = open_board(board.folder, place, clock=lambda: later)
        Leaderboard(board.board, store, board.folder).work("another")
        store.close()
    else:
        board.work("killed")
    assert tuple(state_of(board)) == ("scored", 2, None)
    with board.store.read() as tx:
        assert tx.value(select(func.count()).select_from(scores)) == 1
        kinds = Counter(row.kind for row in tx.all(select(trail.c.kind)))
    assert kinds["submission.scored"] == 1
    assert [entry.rank for entry in board.entries()] == [1]
    board.store.close()


def test_who_comes_too_late_changes_nothing(board: Leaderboard) -> None:
    board.send(board.join("Reed Lab"), csv(answers()))
    with board.store.write() as tx:
        slow = queue.take(tx, "slow")
    assert slow is not None
    clock: Any = board.store._clock
    clock.move(minutes=2)
    board.work("quick")
    with board.store.write() as tx:
        assert not queue.end_with_score(tx, slow, figures={"mean": None}, card={}, hits=b"")
        queue.end_without_score(tx, slow, "failed", "no")
    assert state_of(board).state == "scored"


def test_what_ends_its_worker_every_time_is_given_up(board: Leaderboard, monkeypatch: pytest.MonkeyPatch) -> None:
    submitter = board.join("Reed Lab")
    board.send(submitter, csv(answers()))
    for _ in range(3):
        with board.store.write() as tx:
            assert queue.take(tx, "wren") is not None
    board.work()
    assert (state_of(board).state, state_of(board).problem) == ("failed", queue.CRASHED)
    sent, is_new = board.send(submitter, csv(answers()))
    assert (sent.id, sent.state, is_new) == (1, "waiting", True), "what failed may be sent again"

    def break_down(*_: object) -> None:
        raise RuntimeError("a fault of ours about label 17")

    monkeypatch.setattr(scoring, "score_upload", break_down)
    board.work()
    assert (state_of(board).state, state_of(board).problem) == ("failed", queue.CRASHED)


def test_the_worker_of_a_server_scores(tmp_path: Path) -> None:
    board = opened(tmp_path / "board")
    board.send(board.join("Reed Lab"), csv(answers(3)))
    with kept_workers(str(board.folder), SCORES, **{FOLDER: str(board.folder)}):
        end = time.monotonic() + 120
        while state_of(board).state != "scored":
            assert time.monotonic() < end
            time.sleep(0.05)
    board.store.close()
