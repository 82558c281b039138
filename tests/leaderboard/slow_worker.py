"""A worker that says when it is in the middle of scoring, and stays there: ``python -m … FOLDER PLACE``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from goldlabel.leaderboard.board import open_board
from goldlabel.worker import scoring

scored = scoring.score_upload


def score_slowly(*arguments: Any) -> Any:
    score = scored(*arguments)
    sys.stdout.write("scored, and not written down yet\n")
    sys.stdout.flush()
    time.sleep(600)
    return score


if __name__ == "__main__":
    scoring.score_upload = score_slowly
    board, store = open_board(Path(sys.argv[1]), sys.argv[2])
    scoring.score_once(board, store, "killed")
