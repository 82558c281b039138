"""The figures of a campaign by round (Nie et al. 2020, Table 2 and Figures 4 to 7).

An *example* is a try that a model answered in a job that was ended, by a writer who saw what the model said. Its *error
rate* is the share of examples that the model labelled otherwise than the writer; the *verified* one counts those that
others gave the writer's label. Tries and seconds are those of a job that ended in a verified error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from goldlabel.collect.data.export import split_pairs
from goldlabel.collect.data.snapshot import Snapshot
from goldlabel.metrics import Estimate, in_percent, mean, share
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.tokens import tokenize_units
from goldlabel.pairs.units import units_of
from goldlabel.verify import verify

SECONDS = (0, 15, 30, 60, 120, 240, 480, 960)
TOKENS = (0, 5, 10, 15, 20, 30, 50, 100, 200)
JUDGED = ("dev", "test")
Histogram = Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class RoundFigures:
    """What came of one round; ``outcomes`` are what others made of the examples that fooled a model."""

    name: str
    contexts: int
    examples: int
    errors: Estimate
    verified_errors: Estimate
    outcomes: Mapping[str, int]
    agrees_with_author: Estimate
    tries: Estimate
    median_tries: float | None
    seconds: Estimate
    median_seconds: float | None
    labels: Mapping[str, int]
    splits: Mapping[str, int]
    kappa: Mapping[str, Estimate | None]
    tries_histogram: Histogram
    seconds_histogram: Histogram
    lengths: Mapping[str, Histogram]
    kinds: Mapping[str, Estimate]
    """The share of each expert's tag among the examples that experts have tagged."""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True, repr=False)
class Campaign(Result):
    """The figures of all rounds."""

    name: str
    rounds: tuple[RoundFigures, ...]

    @property
    def title(self) -> str:
        """How many examples there are in how many rounds."""
        return f"{self.name}: {sum(one.examples for one in self.rounds):,} examples in {len(self.rounds)} rounds"

    @property
    def table(self) -> pl.DataFrame:
        """Table 2: a row for each round."""
        rows = [
            {
                "round": one.name,
                "contexts": one.contexts,
                "examples": one.examples,
                "error rate": in_percent(one.errors),
                "verified": in_percent(one.verified_errors),
                "tries, mean": _told(one.tries.value),
                "median": _told(one.median_tries),
                "seconds, mean": _told(one.seconds.value),
                "median seconds": _told(one.median_seconds),
            }
            for one in self.rounds
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {"name": self.name, "rounds": [one.to_dict() for one in self.rounds]}


def measure_campaign(snapshot: Snapshot, *, resamples: int = 1000) -> Campaign:
    """Measure every round of a project."""
    pairs = split_pairs(snapshot).pairs
    ended = pl.col("meta").str.json_path_match("$.pair_meta.unfinished").is_null()
    against = [one.name for one in snapshot.project.protocol.conditions if one.shows_model]
    shown = pl.col("round").is_not_null() & pl.col("condition").is_in(against)
    frame = pairs.frame.filter(shown & ended).collect()
    if frame.is_empty():
        return Campaign(snapshot.project.name, ())
    meta = pl.col("meta")
    frame = frame.with_columns(
        pl.Series("unit", units_of(frame)),
        author=pl.col("votes").list.first(),
        decided=pl.col("votes").list.len() > 1,
        fooled=meta.str.json_path_match("$.pair_meta.fooled") == "true",
        seconds=meta.str.json_path_match("$.writing_seconds").cast(pl.Float64),
        tries=pl.len().over("round", "writer", "group"),
        **{f"{side}_tokens": tokenize_units(frame, side).list.len() for side in ("premise", "hypothesis")},
    ).with_columns(confirmed=pl.col("fooled") & pl.col("decided") & (pl.col("label") == pl.col("author")))
    names = sorted(frame["round"].unique(), key=lambda name: int(name[1:]))
    rounds = (_measure(name, frame.filter(pl.col("round") == name), pairs, resamples) for name in names)
    return Campaign(snapshot.project.name, tuple(rounds))


def _measure(name: str, frame: pl.DataFrame, pairs: Pairs, resamples: int) -> RoundFigures:
    units = frame["unit"].to_numpy()
    fooled, confirmed = frame["fooled"].to_numpy(), frame["confirmed"].to_numpy()
    asked, errors = frame.filter("fooled"), frame.filter("confirmed")
    decided = asked.filter("decided")
    timed = errors.drop_nulls("seconds")
    return RoundFigures(
        name=name,
        contexts=frame["unit"].n_unique(),
        examples=len(frame),
        errors=share(fooled, units=units),
        verified_errors=share(confirmed, units=units),
        outcomes={
            "verified": len(errors),
            "overruled": len(decided.filter((pl.col("label") != pl.col("author")) & (pl.col("label") != NO_GOLD))),
            "discarded": len(decided.filter(pl.col("label") == NO_GOLD)),
            "pending": len(asked) - len(decided),
        },
        agrees_with_author=share(decided["confirmed"].to_numpy(), units=decided["unit"].to_numpy()),
        tries=mean(errors["tries"].to_numpy(), units=errors["unit"].to_numpy()),
        median_tries=_median(errors["tries"]),
        seconds=mean(timed["seconds"].to_numpy(), units=timed["unit"].to_numpy()),
        median_seconds=_median(timed["seconds"]),
        labels=_counts(frame["label"]),
        splits=_counts(frame["split"]),
        kappa={part: _kappa(pairs, name, part, resamples) for part in JUDGED},
        tries_histogram={str(number): count for number, count in _counts(errors["tries"]).items()},
        seconds_histogram=_histogram(timed["seconds"], SECONDS),
        lengths={
            "premise": _histogram(frame.unique("unit")["premise_tokens"], TOKENS),
            "hypothesis": _histogram(frame["hypothesis_tokens"], TOKENS),
        },
        kinds=_kinds(frame),
    )


def _kinds(frame: pl.DataFrame) -> dict[str, Estimate]:
    tagged = frame.filter(pl.col("tags").list.len() > 0)
    names = sorted(tagged["tags"].explode(empty_as_null=True).drop_nulls().unique())
    units = tagged["unit"].to_numpy()
    return {name: share(tagged["tags"].list.contains(name).to_numpy(), units=units) for name in names}


def _kappa(pairs: Pairs, name: str, part: str, resamples: int) -> Estimate | None:
    """Return Fleiss' kappa of a round's dev or test pairs, as ``goldlabel verify`` measures it."""
    judged = pairs.only(round=name, split=part)
    if not len(judged):
        return None
    return verify(judged, method="two-plus-one", resamples=resamples).groups[()].figures["fleiss_kappa"]


def _counts(column: pl.Series) -> dict[Any, int]:
    return dict(column.value_counts().sort(column.name).iter_rows())


def _histogram(values: pl.Series, edges: tuple[int, ...]) -> dict[str, int]:
    """Count values from each edge up to the next one."""
    counts = np.histogram(values.to_numpy(), bins=[*edges, np.inf])[0]
    ends = [f"{low}-{high}" for low, high in pairwise(edges)]
    return dict(zip([*ends, f"{edges[-1]}+"], counts.tolist(), strict=True))


def _median(values: pl.Series) -> float | None:
    middle = values.median()
    return None if middle is None else float(middle)  # type: ignore[arg-type]


def _told(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {"value": value.value, "interval": value.interval, "n": value.n, "units": value.units}
    return {name: _plain(own) for name, own in value.items()} if isinstance(value, Mapping) else value
