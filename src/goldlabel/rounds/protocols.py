"""Rounds and protocols of collection beside one another: what labels can be told by, and whether people agree on them.

For each round, protocol, or both: how well a hypothesis alone tells the label (Gururangan et al. 2018), the words that
give labels away most (PMI), and where there are votes, Fleiss' kappa and how often a vote is the gold label. Each group
is measured for itself, so sizes matter: a model that reads hypotheses learns more from more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.hypothesis_only import Judgement, judge_hypotheses
from goldlabel.audit.pmi import Word, rank_words
from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, in_percent
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.groups import column_values, group_columns, group_rows
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.verify import verify

BY = ("round", "condition")
WORDS = 3


@dataclass(frozen=True, kw_only=True)
class ProtocolFigures:
    """One group; ``kappa`` and ``individual_gold`` where it has votes."""

    group: tuple[str, ...]
    pairs: int
    labels: dict[str, int]
    hypothesis_only: Judgement
    words: tuple[Word, ...]
    with_votes: int
    kappa: Estimate | None
    individual_gold: Estimate | None


@dataclass(frozen=True, repr=False)
class Protocols(Result):
    """The groups of a dataset beside one another."""

    name: str
    by: tuple[str, ...]
    groups: tuple[ProtocolFigures, ...]

    @property
    def title(self) -> str:
        """What is compared, and whether nobody can tell how well people agree."""
        compared = f"{self.name}: {len(self.groups)} groups by {' and '.join(self.by)}"
        has_votes = any(one.with_votes for one in self.groups)
        return compared if has_votes else f"{compared}; no agreement, as no pair has a vote beside its author's"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each group."""
        rows = [
            {
                **dict(zip(self.by, one.group, strict=True)),
                "pairs": one.pairs,
                "hypothesis only": in_percent(one.hypothesis_only.accuracy),
                "majority": in_percent(one.hypothesis_only.majority),
                "words": ", ".join(f"{word.word} ({word.label[0].upper()} {word.pmi.value:.2f})" for word in one.words),
                "with votes": one.with_votes,
                "kappa": "" if one.kappa is None else one.kappa.text(2),
                "a vote is gold, %": "" if one.individual_gold is None else one.individual_gold.text(1),
            }
            for one in self.groups
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {
            "name": self.name,
            "by": list(self.by),
            "groups": [
                {
                    "group": dict(zip(self.by, one.group, strict=True)),
                    "pairs": one.pairs,
                    "labels": one.labels,
                    "hypothesis_only": one.hypothesis_only.to_dict(),
                    "pmi": [word.to_dict() for word in one.words],
                    "with_votes": one.with_votes,
                    "fleiss_kappa": _plain(one.kappa),
                    "individual_gold": _plain(one.individual_gold),
                }
                for one in self.groups
            ],
        }


def compare_protocols(
    pairs: Pairs,
    by: str | Sequence[str] | None = None,
    *,
    seed: int = 0,
    resamples: int = 1000,
    advance: Callable[[int], object] | None = None,
) -> Protocols:
    """Compare the groups of a dataset: by round and condition, as far as it has them, or by other columns."""
    if by is None:
        filled = pairs.frame.select(pl.col(*BY).is_not_null().any()).collect().row(0)
        by = [name for name, has_values in zip(BY, filled, strict=True) if has_values]
    if not by:
        raise InputError(f"{pairs.card.name} has neither rounds nor conditions; say with --by what to compare")
    columns = group_columns(by)
    frame = pairs.collect()
    groups = group_rows(frame.with_columns(column_values(name) for name in columns), columns)
    named = {key: rows for key, rows in groups.items() if rows is not None and None not in key}
    if not named:
        raise InputError(f"--by {','.join(columns)}: no pair of {pairs.card.name} has a value there")
    figures = []
    for key, rows in named.items():
        members = Pairs(frame.filter(rows).lazy(), pairs.card)
        figures.append(_measure(members, tuple(map(str, key)), seed, resamples))
        if advance is not None:
            advance(figures[-1].pairs)
    return Protocols(pairs.card.name, columns, tuple(figures))


def _measure(pairs: Pairs, group: tuple[str, ...], seed: int, resamples: int) -> ProtocolFigures:
    judged = Pairs(pairs.frame.filter(pl.col("votes").list.len() > 1), pairs.card)
    votes = len(judged)
    agreement = verify(judged, resamples=resamples, seed=seed).groups[()].figures if votes else {}
    labels = pairs.frame.filter(pl.col("label") != NO_GOLD).select(pl.col("label").value_counts(sort=True)).collect()
    return ProtocolFigures(
        group=tuple(map(str, group)),
        pairs=len(pairs),
        labels={row["label"]: row["count"] for row in labels["label"]},
        hypothesis_only=judge_hypotheses(pairs, seed=seed),
        words=tuple(rank_words(read_corpus(pairs), top=WORDS)),
        with_votes=votes,
        kappa=agreement.get("fleiss_kappa"),
        individual_gold=agreement.get("individual_gold"),
    )


def _plain(figure: Estimate | None) -> dict[str, Any] | None:
    return None if figure is None else {"value": figure.value, "interval": figure.interval, "n": figure.n}
