"""The board: which sets with gold labels submissions are scored by, and the rules of it.

It is a folder that belongs to whoever runs the leaderboard. ``board.json`` tells the suites with their sets and the
papers' figures, and the limits; ``gold/`` holds the pairs with their labels, which nothing sends out. A submission
answers every set of one suite, and entries are ranked suite by suite.

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
FORMAT = 2
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
class BoardSuite:
    """Sets that are answered together, by whose mean entries are ranked."""

    name: str
    sets: tuple[BoardSet, ...]
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


@dataclass(frozen=True, kw_only=True)
class Board:
    """A leaderboard's suites and rules."""

    key: str
    """By which the folder and its database know that they belong together."""
    title: str
    suites: tuple[BoardSuite, ...]
    limits: Limits = field(default_factory=Limits)
    texts: bool = True
    """Whether submitters are given the texts of the pairs, for predicting."""
    level: float = 0.95

    @property
    def sets(self) -> tuple[BoardSet, ...]:
        """The sets of all suites, by whose order their questions are numbered."""
        return tuple(part for suite in self.suites for part in suite.sets)

    @property
    def pairs(self) -> int:
        """The pairs of all suites."""
        return sum(suite.pairs for suite in self.suites)

    def suite_of(self, name: str | None) -> BoardSuite | None:
        """Return the suite that a submission answers; what was sent when there was one only has no name of it."""
        return next((suite for suite in self.suites if name in (None, suite.name)), None)

    def suite(self, name: str | None) -> BoardSuite:
        """Return the suite that somebody names; they may name none where there is one only."""
        names = [suite.name for suite in self.suites]
        if name is None and len(names) > 1:
            raise Invalid("which_suite", allowed=names)
        if name is not None and name not in names:
            raise Invalid("no_suite", name=name, allowed=names)
        return self.suites[0] if name is None else self.suites[names.index(name)]


@dataclass(frozen=True, kw_only=True)
class PlannedSuite:
    """A suite that a leaderboard is to be made of."""

    name: str
    plan: SuitePlan
    references: Sequence[Reference] = ()


def make_board(
    folder: Path,
    suites: Sequence[PlannedSuite],
    *,
    title: str | None = None,
    limits: Limits | None = None,
    texts: bool = True,
    level: float = 0.95,
    database: str | None = None,
    clock: Clock = system_clock,
) -> Board:
    """Make a leaderboard in a folder: the gold labels of the suites' sets, an empty database, and the rules."""
    check_level(level)
    for suite in suites:
        _check_suite(suite)
    names = [suite.name for suite in suites]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two suites are called {twice!r}; name each once, and your own apart in their YAML files")
    if (folder / FILE).exists():
        raise Invalid(BoardStore.there, place=folder)
    gold = folder / GOLD
    if gold.exists():
        raise InputError(f"{gold}: is there already; choose another folder")
    document: dict[str, Any] = {
        "format": FORMAT,
        "key": secrets.token_hex(16),
        "title": title or ", ".join(names),
        "level": level,
        "limits": vars(limits or Limits()),
        "texts": texts,
        "suites": [_describe(suite, number) for number, suite in enumerate(suites, start=1)],
    }
    try:
        with storage_errors(gold):
            gold.mkdir(parents=True, mode=0o700)
        for described, suite in zip(document["suites"], suites, strict=True):
            for entry, part in zip(described["sets"], suite.plan.sets, strict=True):
                _write_gold(part.gold, gold / entry["file"])
        store = BoardStore.create(database or folder, clock=clock)
        with store.write() as tx:
            record(tx, "board.made", document["key"], submitter_id=None, suites=names)
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
        if document["format"] == 1:  # one suite, told at the top
            document["suites"] = [{**document, "name": document["suite"]}]
        return Board(
            key=document["key"],
            title=document["title"],
            suites=tuple(_read_suite(folder, described, document["level"]) for described in document["suites"]),
            limits=Limits(**document["limits"]),
            texts=document["texts"],
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


def _check_suite(suite: PlannedSuite) -> None:
    if not suite.plan.sets:
        missing = "; ".join(f"{name}: {why}" for name, why in suite.plan.missing.items())
        raise InputError(f"{suite.name}: there is no set to score by{f' ({missing})' if missing else ''}")
    if not suite.plan.counted:
        raise InputError(f"{suite.name}: no set counts for the mean, by which entries are ranked")


def _describe(suite: PlannedSuite, number: int) -> dict[str, Any]:
    return {
        "name": suite.name,
        "sets": [
            {
                "name": part.name,
                "file": f"{number:02}-{place:02}.parquet",
                "label_space": part.gold.space.name,
                "labels": list(part.gold.space.labels),
                "pairs": len(part.gold),
                "counts": part.counts,
            }
            for place, part in enumerate(suite.plan.sets, start=1)
        ],
        "references": [vars(reference) for reference in suite.references],
    }


def _read_suite(folder: Path, described: Mapping[str, Any], level: float) -> BoardSuite:
    sets = tuple(
        BoardSet(
            name=entry["name"],
            space=LabelSpace(entry["label_space"], tuple(entry["labels"])),
            pairs=entry["pairs"],
            counts=entry["counts"],
            gold_file=folder / GOLD / entry["file"],
        )
        for entry in described["sets"]
    )
    references = tuple(Reference(**entry) for entry in described["references"])
    return BoardSuite(name=described["name"], sets=sets, references=references, level=level)


def _write_gold(gold: GoldPairs, path: Path) -> None:
    ids = set(gold.frame["id"])
    questions = [f"q{secrets.token_hex(8)}" for _ in range(len(gold))]
    while len({*questions} | ids) < 2 * len(ids):
        questions = [f"q{secrets.token_hex(8)}" for _ in range(len(gold))]
    frame = gold.frame.with_columns(pl.Series(QUESTION, questions, dtype=pl.String)).select(_COLUMNS)
    with storage_errors(path):
        frame.write_parquet(path)
        path.chmod(0o600)
