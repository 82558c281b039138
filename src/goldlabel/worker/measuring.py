"""What a project's pairs say: agreement and the artifact meter, measured now and then and kept.

Measuring reads every pair, so it is done when somebody looks, by one thread per project at a time, and again only
after something happened and a little time has passed. What was measured keeps which pair is in which number, so
that every number of a page leads to the pairs behind it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.corpus import Corpus, read_corpus
from goldlabel.audit.hypothesis_only import Judgement, OutOfFold, cross_validate, judge
from goldlabel.audit.pmi import Word, rank_words
from goldlabel.audit.tags import carries
from goldlabel.collect.events import newest_event
from goldlabel.collect.figures import Figures, measure_figures
from goldlabel.collect.marks import Marks
from goldlabel.collect.snapshot import Snapshot, take_snapshot
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, share
from goldlabel.pairs.tokens import tokenizer_of

KEPT = 8
"""Projects whose measurements are held in memory."""
PATIENCE = timedelta(seconds=30)
RESAMPLES = 400
WORDS = 8
STRETCHES = 10
LEAST_IN_STRETCH = 15


@dataclass(frozen=True)
class Group:
    """The meter of some pairs: of a condition, or of one writer."""

    name: str
    pairs: int
    blind: Judgement | None
    """How well labels are told without the premise."""
    negated: Mapping[str, Estimate]
    """Hypotheses with a negator, per label."""
    overlap: float | None
    overlaps: Sequence[int]
    """Pairs per tenth of overlap with the premise."""


@dataclass(frozen=True)
class Stretch:
    """Pairs written one after another, and how many of them are labelled right without the premise."""

    first: int
    last: int
    right: Estimate


@dataclass(frozen=True)
class Meter:
    """The artifact meter: what labels give away."""

    whole: Group
    conditions: Sequence[Group]
    writers: Sequence[Group]
    over_time: Mapping[str, Sequence[Stretch]]
    words: Sequence[Word]

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest share over time, with a little room: one scale for all conditions."""
        ends = [end for part in self.over_time.values() for stretch in part for end in stretch.right.interval or ()]
        ends += [group.blind.majority.value or 0.0 for group in self.conditions if group.blind]
        return max(0.0, min(ends, default=0.0) - 0.05), min(1.0, max(ends, default=1.0) + 0.05)


@dataclass(frozen=True)
class Measured:
    """A project as it was measured at a moment."""

    at: datetime
    event: int
    project_id: int
    figures: Figures
    meter: Meter | None
    too_few: str
    """Why there is no meter, where there is none."""
    marks: Marks


class Measurements:
    """The measurements of a server process."""

    def __init__(self) -> None:
        self._held: OrderedDict[int, Measured] = OrderedDict()
        self._locks: dict[int, threading.Lock] = {}
        self._guard = threading.Lock()

    def known(self, project_id: int) -> Measured | None:
        """Return what was measured last, if anything, without measuring."""
        return self._held.get(project_id)

    def get(self, store: Store, project_id: int) -> Measured:
        """Return fresh figures; while somebody measures, the last ones will do for others."""
        with self._guard:
            lock = self._locks.setdefault(project_id, threading.Lock())
        known = self.known(project_id)
        if not lock.acquire(blocking=known is None):
            assert known is not None
            return known
        try:
            known = self.known(project_id)
            with store.read() as tx:
                newest = newest_event(tx, project_id)
                if known and (known.event == newest or tx.now - known.at < PATIENCE):
                    return known
                snapshot = take_snapshot(tx, project_id)
            measured = measure(snapshot, newest)
            with self._guard:
                self._held[project_id] = measured
                self._held.move_to_end(project_id)
                while len(self._held) > KEPT:
                    self._held.popitem(last=False)
            return measured
        finally:
            lock.release()


def measure(snapshot: Snapshot, event: int) -> Measured:
    """Measure a snapshot."""
    figures = measure_figures(snapshot, resamples=RESAMPLES)
    own = snapshot.own.frame.select(
        pl.col("id").cast(pl.Int64),
        "condition",
        "genre",
        "level",
        "label",
        "writer",
        (pl.col("votes").list.len() > pl.col("writer").is_not_null().cast(pl.UInt32)).alias("verified"),
    ).collect()
    gold = snapshot.verdicts.select(pl.col("id").cast(pl.Int64), pl.col("verdict").alias("gold"))
    frame = own.join(gold, on="id", how="left", maintain_order="left")
    meter, too_few = None, ""
    if snapshot.project.kind.writes and len(own):
        try:
            corpus, out_of_fold = _read(snapshot)
            frame = frame.with_columns(*_marks(corpus, out_of_fold))
            meter = _meter(snapshot, corpus, out_of_fold)
            frame = frame.with_columns(_words_held(corpus, [one.word for one in meter.words]))
        except InputError as error:
            too_few = str(error)
    return Measured(snapshot.at, event, snapshot.project.id, figures, meter, too_few, Marks(frame))


def tokenizer_for(language: str) -> str:
    """Return the tokeniser whose words are counted; Chinese is cut into characters where jieba is not installed."""
    usual = tokenizer_of(language)
    return "characters" if usual.startswith("jieba") and find_spec("jieba") is None else usual


def _read(snapshot: Snapshot) -> tuple[Corpus, OutOfFold]:
    tokenizer = tokenizer_for(snapshot.project.protocol.language)
    corpus = read_corpus(snapshot.own, tokenizer=tokenizer, columns=("condition", "writer"))
    labels = len(corpus.space)
    return corpus, cross_validate(corpus.words, corpus.labels, corpus.units, labels)


def _marks(corpus: Corpus, out_of_fold: OutOfFold) -> list[pl.Series]:
    right = np.zeros(len(corpus), dtype=bool)
    right[out_of_fold.rows[out_of_fold.predicted == out_of_fold.labels]] = True
    return [
        pl.Series("right", right),
        pl.Series("negated", carries(corpus.hypothesis_tags, "negation")),
        pl.Series("overlap", corpus.overlap),
    ]


def _words_held(corpus: Corpus, words: Sequence[str]) -> pl.Series:
    """Return which of some words each hypothesis holds, as the words were counted."""
    held: list[list[str]] = [[] for _ in range(len(corpus))]
    for word in dict.fromkeys(words):
        for row in np.flatnonzero(corpus.words.holding(corpus.words.vocabulary.index(word))):
            held[row].append(word)
    return pl.Series("words", held, dtype=pl.List(pl.String))


def _meter(snapshot: Snapshot, corpus: Corpus, out_of_fold: OutOfFold) -> Meter:
    every = np.ones(len(corpus), dtype=bool)
    groups = {
        column: [
            _group(corpus, out_of_fold, value, corpus.columns[column][0] == code)
            for code, value in enumerate(corpus.columns[column][1])
        ]
        for column in ("condition", "writer")
    }
    ids = snapshot.own.frame.select(pl.col("id").cast(pl.Int64)).collect()["id"].to_numpy()
    order = [condition.name for condition in snapshot.project.protocol.conditions]
    conditions = sorted(groups["condition"], key=lambda one: order.index(one.name) if one.name in order else len(order))
    return Meter(
        whole=_group(corpus, out_of_fold, "", every),
        conditions=conditions,
        writers=sorted(groups["writer"], key=_gain, reverse=True),
        over_time={one.name: _stretches(corpus, out_of_fold, ids, one.name) for one in conditions},
        words=rank_words(corpus, top=WORDS),
    )


def _gain(group: Group) -> float:
    gain = group.blind.gain.value if group.blind else None
    return -1.0 if gain is None else gain


def _group(corpus: Corpus, out_of_fold: OutOfFold, name: str, rows: NDArray[np.bool_]) -> Group:
    negated = carries(corpus.hypothesis_tags, "negation")
    overlaps = corpus.overlap[rows & ~np.isnan(corpus.overlap)]
    shares = {}
    for code, label in enumerate(corpus.space.labels):
        chosen = rows & (corpus.labels == code)
        shares[label] = share(negated[chosen], units=corpus.units[chosen])
    return Group(
        name=name,
        pairs=int(rows.sum()),
        blind=judge(out_of_fold, corpus.space.labels, rows=rows),
        negated=shares,
        overlap=float(overlaps.mean(dtype=np.float64)) if len(overlaps) else None,
        overlaps=np.histogram(overlaps, bins=10, range=(0, 1))[0].tolist(),
    )


def _stretches(corpus: Corpus, out_of_fold: OutOfFold, ids: NDArray[np.int64], condition: str) -> list[Stretch]:
    codes, values = corpus.columns["condition"]
    own = codes[out_of_fold.rows] == values.index(condition)
    right, chosen, units = (
        (out_of_fold.predicted == out_of_fold.labels)[own],
        ids[out_of_fold.rows][own],
        out_of_fold.units[own],
    )
    pieces = min(STRETCHES, len(chosen) // LEAST_IN_STRETCH)
    return [
        Stretch(int(chosen[part[0]]), int(chosen[part[-1]]), share(right[part], units=units[part]))
        for part in np.array_split(np.arange(len(chosen)), pieces or 1)
        if pieces
    ]
