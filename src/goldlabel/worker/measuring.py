"""What a project's pairs say: agreement and the artifact meter, and in which figures each pair is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from goldlabel.audit.corpus import Corpus, read_corpus
from goldlabel.audit.hypothesis_only import OutOfFold, cross_validate, judge
from goldlabel.audit.pmi import Word, rank_words
from goldlabel.audit.tags import carries
from goldlabel.collect.data.figures import Figures, measure_figures
from goldlabel.collect.data.marks import Marks
from goldlabel.collect.data.measurements import (
    Agreement,
    Baseline,
    Blind,
    Group,
    GroupAgreement,
    Measured,
    Meter,
    PageFigures,
    PersonAgreement,
    Stretch,
    TellingWord,
    Written,
    save_measured,
)
from goldlabel.collect.data.snapshot import Snapshot, take_snapshot
from goldlabel.collect.events import newest_event
from goldlabel.collect.money.forecast import forecast_project
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.metrics import share
from goldlabel.pairs.tokens import tokenizer_of

RESAMPLES = 400
WORDS = 8
USED = 3
"""Of those, the ones that a group uses most."""
NEWEST = 8
GROUPED = ("condition", "writer", "round")
STRETCHES = 10
LEAST_IN_STRETCH = 15


def measure_project(store: Store, project_id: int) -> None:
    """Measure a project as it is now, and keep what was measured."""
    with store.read() as tx:
        newest, snapshot = newest_event(tx, project_id), take_snapshot(tx, project_id)
        forecast = forecast_project(tx, project_id)
    measured, marks = measure(snapshot, newest)
    with store.write() as tx:
        save_measured(tx, project_id, replace(measured, forecast=forecast), marks)


def measure(snapshot: Snapshot, event: int) -> tuple[Measured, Marks]:
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
        except InputError as error:
            too_few = str(error)
    return Measured(snapshot.at, event, _page_figures(figures), meter, too_few), Marks(frame)


def tokenizer_for(language: str) -> str:
    """Return the tokeniser whose words are counted; Chinese is cut into characters where jieba is not installed."""
    usual = tokenizer_of(language)
    return "characters" if usual.startswith("jieba") and find_spec("jieba") is None else usual


def _page_figures(figures: Figures) -> PageFigures:
    """Keep of the figures what pages show."""
    verification, baseline = figures.verification, figures.baseline
    agreement = None
    if verification is not None:
        people = verification.annotators.people if verification.annotators else ()
        agreement = Agreement(
            [GroupAgreement(key, group.relabelled, group.figures) for key, group in verification.groups.items()],
            [PersonAgreement(one.name, one.votes, one.agreement, one.flags) for one in people],
        )
    return PageFigures(agreement, Baseline(baseline.figures) if baseline else None)


def _read(snapshot: Snapshot) -> tuple[Corpus, OutOfFold]:
    tokenizer = tokenizer_for(snapshot.project.protocol.language)
    corpus = read_corpus(snapshot.own, tokenizer=tokenizer, columns=GROUPED)
    labels = len(corpus.space)
    return corpus, cross_validate(corpus.words, corpus.labels, corpus.units, labels)


def _marks(corpus: Corpus, out_of_fold: OutOfFold) -> list[pl.Series]:
    right = np.zeros(len(corpus), dtype=bool)
    right[out_of_fold.rows[out_of_fold.predicted == out_of_fold.labels]] = True
    return [
        pl.Series("right", right),
        pl.Series("negated", carries(corpus.hypothesis_tags, "negation")),
        pl.Series("overlap", corpus.overlap),
        _words(corpus),
    ]


def _words(corpus: Corpus) -> pl.Series:
    """Return the words of each hypothesis, as they were counted."""
    words = pa.array(corpus.words.vocabulary, pa.large_string()).take(pa.array(corpus.words.codes))
    column = pl.from_arrow(pa.LargeListArray.from_arrays(pa.array(corpus.words.offsets), words))
    assert isinstance(column, pl.Series)
    return column.alias("words")


def _meter(snapshot: Snapshot, corpus: Corpus, out_of_fold: OutOfFold) -> Meter:
    every = np.ones(len(corpus), dtype=bool)
    telling = rank_words(corpus, top=WORDS)
    groups = {
        column: [
            _group(corpus, out_of_fold, value, corpus.columns[column][0] == code, telling)
            for code, value in enumerate(corpus.columns[column][1])
        ]
        for column in GROUPED
    }
    ids = snapshot.own.frame.select(pl.col("id").cast(pl.Int64)).collect()["id"].to_numpy()
    written = _written(snapshot, corpus, out_of_fold, ids, telling)
    order = [condition.name for condition in snapshot.project.protocol.conditions]
    conditions = sorted(groups["condition"], key=lambda one: order.index(one.name) if one.name in order else len(order))
    return Meter(
        whole=_group(corpus, out_of_fold, "", every, telling),
        conditions=conditions,
        writers=sorted(groups["writer"], key=_gain, reverse=True),
        over_time={one.name: _stretches(corpus, out_of_fold, ids, one.name) for one in conditions},
        words=[TellingWord(one.word, one.label, one.count, one.total) for one in telling],
        rounds=sorted(groups["round"], key=lambda group: group.name),
        newest=written[:NEWEST],
        last={one.writer: one for one in reversed(written)},
    )


def _written(
    snapshot: Snapshot, corpus: Corpus, out_of_fold: OutOfFold, ids: NDArray[np.int64], telling: Sequence[Word]
) -> list[Written]:
    """Return what was written last, the newest first: the last sentences of all, and the last one of each writer."""
    frame = snapshot.own.frame.select("hypothesis", "label", "writer").collect()
    order = out_of_fold.rows[np.argsort(-ids[out_of_fold.rows])]
    _, firsts = np.unique(frame["writer"].fill_null("").to_numpy()[order].astype(str), return_index=True)
    place = {int(row): number for number, row in enumerate(out_of_fold.rows)}
    negated = carries(corpus.hypothesis_tags, "negation")
    held = {one.word: _holding(corpus, one.word) for one in telling}
    return [
        Written(
            id=int(ids[row]),
            writer=frame["writer"][row] or "",
            text=frame["hypothesis"][row],
            label=frame["label"][row],
            probability=float(out_of_fold.probabilities[place[row], corpus.labels[row]]),
            negated=bool(negated[row]),
            overlap=None if np.isnan(corpus.overlap[row]) else float(corpus.overlap[row]),
            words=[word for word, rows in held.items() if rows[row]],
        )
        for row in map(int, order[np.union1d(np.arange(min(NEWEST, len(order))), firsts)])
    ]


def _holding(corpus: Corpus, word: str) -> NDArray[np.bool_]:
    return corpus.words.holding(corpus.words.vocabulary.index(word))


def _gain(group: Group) -> float:
    gain = group.blind.gain.value if group.blind else None
    return -1.0 if gain is None else gain


def _group(
    corpus: Corpus, out_of_fold: OutOfFold, name: str, rows: NDArray[np.bool_], telling: Sequence[Word]
) -> Group:
    negated = carries(corpus.hypothesis_tags, "negation")
    overlaps = corpus.overlap[rows & ~np.isnan(corpus.overlap)]
    shares = {}
    for code, label in enumerate(corpus.space.labels):
        chosen = rows & (corpus.labels == code)
        shares[label] = share(negated[chosen], units=corpus.units[chosen])
    blind = judge(out_of_fold, corpus.space.labels, rows=rows)
    uses = Counter({one.word: int((_holding(corpus, one.word) & rows).sum()) for one in telling})
    return Group(
        name=name,
        pairs=int(rows.sum()),
        blind=Blind(blind.accuracy, blind.majority, blind.gain, blind.significant) if blind else None,
        negated=shares,
        overlap=float(overlaps.mean(dtype=np.float64)) if len(overlaps) else None,
        overlaps=np.histogram(overlaps, bins=10, range=(0, 1))[0].tolist(),
        words={word: count for word, count in uses.most_common(USED) if count},
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
