"""A small leaderboard: two sets of invented pairs, people with tokens, and predictions for them."""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goldlabel.collect.store import Clock, system_clock
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import EvaluationSet, SuitePlan
from goldlabel.leaderboard.board import Board, Limits, PlannedSuite, Reference, make_board, open_board
from goldlabel.leaderboard.standings import Entry, entries
from goldlabel.leaderboard.store import BoardStore
from goldlabel.leaderboard.submissions import About, Submission, receive
from goldlabel.leaderboard.submitters import Submitter, bearer, make_token
from goldlabel.pairs.labels import NLI2, NLI3
from goldlabel.worker.scoring import score_once
from tests.evaluate.samples import make_pairs

SIZES = {"meadow": 60, "pond": 40}
SPACES = {"meadow": NLI3, "pond": NLI2}
GOLD = {
    name: [SPACES[name].labels[(7 * number + number // 3) % len(SPACES[name])] for number in range(size)]
    for name, size in SIZES.items()
}


def sets(names: Sequence[str] = ("meadow", "pond")) -> tuple[EvaluationSet, ...]:
    return tuple(evaluation_set(make_pairs(GOLD[name], name=name, space=SPACES[name])) for name in names)


def plan(names: Sequence[str] = ("meadow", "pond")) -> SuitePlan:
    return SuitePlan(sets=sets(names), systems=())


@dataclass
class Leaderboard:
    """A board, its database and its people."""

    board: Board
    store: BoardStore
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)

    def join(self, name: str) -> Submitter:
        with self.store.write() as tx:
            self.tokens[name] = make_token(tx, name)
            submitter = bearer(tx, self.tokens[name])
        assert submitter is not None
        return submitter

    def send(
        self,
        submitter: Submitter,
        data: bytes,
        *,
        file: str = "predictions.csv",
        name: str = "model",
        suite: str = "fields",
        limits: Limits | None = None,
        **about: str,
    ) -> tuple[Submission, bool]:
        with tempfile.NamedTemporaryFile() as upload:
            Path(upload.name).write_bytes(data)
            with self.store.write() as tx:
                return receive(
                    tx,
                    submitter,
                    Path(upload.name),
                    hashlib.sha256(data).hexdigest(),
                    file=file,
                    name=name,
                    suite=suite,
                    about=About(**about),
                    limits=limits or self.board.limits,
                )

    def work(self, worker: str = "wren") -> None:
        while score_once(self.board, self.store, worker):
            pass

    def entries(self) -> list[Entry]:
        with self.store.read() as tx:
            return entries(tx, self.board)


def opened(
    folder: Path,
    *,
    database: str | None = None,
    clock: Clock = system_clock,
    names: Sequence[str] = ("meadow", "pond"),
    beside: Mapping[str, Sequence[str]] | None = None,
    references: Sequence[Reference] = (),
    limits: Limits | None = None,
    **options: Any,
) -> Leaderboard:
    """Make a leaderboard of the suite ``fields``; ``beside`` are further suites and their sets."""
    planned = [PlannedSuite(name="fields", plan=plan(names), references=references)]
    planned += [PlannedSuite(name=name, plan=plan(own)) for name, own in (beside or {}).items()]
    make_board(folder, planned, limits=limits, database=database, **options)
    board, store = open_board(folder, database, clock=clock)
    return Leaderboard(board, store, folder)


def answers(wrong: int = 0, *, shift: int = 0) -> dict[str, list[str]]:
    """The gold labels of every set, but for so many pairs of each, counted from ``shift`` on, that are wrong."""
    told = {}
    for name, gold in GOLD.items():
        labels = list(gold)
        for number in range(shift, shift + wrong):
            space = SPACES[name].labels
            labels[number % len(labels)] = space[(space.index(gold[number % len(labels)]) + 1) % len(space)]
        told[name] = labels
    return told


def csv(labels: Mapping[str, Sequence[str]], *, comma: str = ",") -> bytes:
    """One file for all sets, with a column ``dataset``."""
    rows = [
        comma.join((name, f"{name}-{number}", label))
        for name, own in labels.items()
        for number, label in enumerate(own)
    ]
    return ("\n".join([comma.join(("dataset", "id", "label")), *rows]) + "\n").encode()


def one_csv(name: str, labels: Sequence[str]) -> bytes:
    rows = [f"{name}-{number},{label}" for number, label in enumerate(labels)]
    return ("\n".join(["id,label", *rows]) + "\n").encode()


def packed(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


Make = Callable[..., Leaderboard]
