"""The board: which sets with gold labels submissions are scored by, and the rules of it.

It is a folder that belongs to whoever runs the leaderboard. ``board.json`` tells the sets, the limits and the papers'
figures; ``gold/`` holds the pairs with their labels, which nothing sends out.

The ids of a corpus can tell its labels (SNLI's end in the letter of the author's), and so can its order. Whoever is
given the texts to predict gets questions: random ids, in their order. Predictions may come under either kind of id.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray

from goldlabel.collect.refusals import Invalid
from goldlabel.collect.store import Clock, system_clock
from goldlabel.errors import InputError
from goldlabel.evaluate.suite import SuitePlan
from goldlabel.files import storage_errors, write_text
from goldlabel.leaderboard.store import BoardStore
from goldlabel.leaderboard.trail import record, steps
from goldlabel.metrics import check_level
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import LabelSpace
from goldlabel.registry import one_of

FILE, GOLD = "board.json", "gold"
FORMAT = 1
QUESTION = "question"
_COLUMNS = ("id", QUESTION, "premise", "hypothesis", "label", "language", "group")
PER_DAY, PER_WEEK = 2, 6
"""Submissions that are scored for one submitter; each tells a little about the labels."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How many submissions of one submitter are scored."""

    per_day: int = PER_DAY
    per_week: int = PER_WEEK

    def __post_init__(self) -> None:
        if not 1 <= self.per_day <= self.per_week:
            raise InputError(
                f"{self.per_day} submissions a day and {self.per_week} a week cannot be; allowed: from 1 a day on, and "
                "as many a week or more"
            )


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A row of a paper: accuracies from 0 to 1 by set, as they were printed."""

    name: str
    paper: str
    accuracies: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class BoardSet:
    """A set that submissions are scored by."""

    name: str
    space: LabelSpace
    pairs: int
    counts: bool
    """Whether it is part of the mean, by which entries are ranked."""
    gold_file: Path

    @cached_property
    def gold(self) -> GoldPairs:
        """The pairs and their labels; ``question`` is a column of the frame."""
        return GoldPairs(self.name, self.space, pl.read_parquet(self.gold_file))

    def questions(self) -> Iterator[bytes]:
        """Yield the pairs without their labels as JSON lines, in an order that tells nothing."""
        frame = self.gold.frame.select(pl.col(QUESTION).alias("id"), "premise", "hypothesis", "language").sort("id")
        for row in frame.iter_rows(named=True):
            yield orjson.dumps({name: value for name, value in row.items() if value is not None}) + b"\n"


@dataclass(frozen=True, kw_only=True)
class Board:
    """A leaderboard's sets and rules."""

    key: str
    """By which the folder and its database know that they belong together."""
    title: str
    suite: str
    sets: tuple[BoardSet, ...]
    limits: Limits = field(default_factory=Limits)
    texts: bool = True
    """Whether submitters are given the texts of the pairs, for predicting."""
    references: tuple[Reference, ...] = ()
    level: float = 0.95

    @property
    def counted(self) -> tuple[str, ...]:
        """The sets of the mean."""
        return tuple(part.name for part in self.sets if part.counts)

    @property
    def pairs(self) -> int:
        """The pairs of all sets."""
        return sum(part.pairs for part in self.sets)

    @cached_property
    def units(self) -> dict[str, NDArray[np.int64]]:
        """The units of each set's pairs."""
        return {part.name: part.gold.units for part in self.sets}

    def find(self, name: str) -> BoardSet:
        """Return the set of a name."""
        one_of("set", name, [part.name for part in self.sets])
        return next(part for part in self.sets if part.name == name)


def make_board(
    folder: Path,
    plan: SuitePlan,
    *,
    suite: str,
    title: str | None = None,
    limits: Limits | None = None,
    texts: bool = True,
    references: Sequence[Reference] = (),
    level: float = 0.95,
    database: str | None = None,
    clock: Clock = system_clock,
) -> Board:
    """Make a leaderboard in a folder: the gold labels of a plan's sets, an empty database, and the rules."""
    check_level(level)
    if not plan.sets:
        missing = "; ".join(f"{name}: {why}" for name, why in plan.missing.items())
        raise InputError(f"{suite}: there is no set to score by{f' ({missing})' if missing else ''}")
    if not plan.counted:
        raise InputError(f"{suite}: no set counts for the mean, by which entries are ranked")
    if (folder / FILE).exists():
        raise Invalid(BoardStore.there, place=folder)
    gold = folder / GOLD
    if gold.exists():
        raise InputError(f"{gold}: is there already; choose another folder")
    document: dict[str, Any] = {
        "format": FORMAT,
        "key": secrets.token_hex(16),
        "title": title or suite,
        "suite": suite,
        "level": level,
        "limits": vars(limits or Limits()),
        "texts": texts,
        "sets": [
            {
                "name": part.name,
                "file": f"{number:02}.parquet",
                "label_space": part.gold.space.name,
                "labels": list(part.gold.space.labels),
                "pairs": len(part.gold),
                "counts": part.counts,
            }
            for number, part in enumerate(plan.sets, start=1)
        ],
        "references": [vars(reference) for reference in references],
    }
    try:
        with storage_errors(gold):
            gold.mkdir(parents=True, mode=0o700)
        for entry, part in zip(document["sets"], plan.sets, strict=True):
            _write_gold(part.gold, gold / entry["file"])
        store = BoardStore.create(database or folder, clock=clock)
        with store.write() as tx:
            record(tx, "board.made", document["key"], submitter_id=None, suite=suite)
        store.close()
        write_text(folder / FILE, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    except BaseException:
        shutil.rmtree(gold, ignore_errors=True)
        raise
    return read_board(folder)


def read_board(folder: Path) -> Board:
    """Read a leaderboard's sets and rules; gold labels are read when they are asked for."""
    path = folder / FILE
    if not path.is_file():
        raise Invalid(BoardStore.nothing, place=folder)
    try:
        document = json.loads(path.read_bytes())
        if document["format"] > FORMAT:
            raise InputError(f"{path}: was written by a newer Goldlabel; install the newer version")
        sets = tuple(
            BoardSet(
                name=entry["name"],
                space=LabelSpace(entry["label_space"], tuple(entry["labels"])),
                pairs=entry["pairs"],
                counts=entry["counts"],
                gold_file=folder / GOLD / entry["file"],
            )
            for entry in document["sets"]
        )
        return Board(
            key=document["key"],
            title=document["title"],
            suite=document["suite"],
            sets=sets,
            limits=Limits(**document["limits"]),
            texts=document["texts"],
            references=tuple(Reference(**entry) for entry in document["references"]),
            level=document["level"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is no description of a leaderboard ({error!r}); restore it from a copy") from error


def open_board(folder: Path, database: str | None = None, *, clock: Clock = system_clock) -> tuple[Board, BoardStore]:
    """Open a leaderboard and its database, which must belong together."""
    board = read_board(folder)
    store = BoardStore.open(database or folder, clock=clock)
    with store.read() as tx:
        first = steps(tx, most=1)
    if not first or first[0].subject != board.key:
        store.close()
        raise Invalid("other_board", place=store.url, folder=folder)
    return board, store


def _write_gold(gold: GoldPairs, path: Path) -> None:
    ids = set(gold.frame["id"])
    questions = [f"q{secrets.token_hex(8)}" for _ in range(len(gold))]
    while len({*questions} | ids) < 2 * len(ids):
        questions = [f"q{secrets.token_hex(8)}" for _ in range(len(gold))]
    frame = gold.frame.with_columns(pl.Series(QUESTION, questions, dtype=pl.String)).select(_COLUMNS)
    with storage_errors(path):
        frame.write_parquet(path)
        path.chmod(0o600)
