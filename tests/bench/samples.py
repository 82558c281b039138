"""A small suite of invented pairs, and a model that counts how often it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import Request, SuitePlan
from goldlabel.pairs import Pairs
from tests.evaluate.samples import make_pairs

LABELS = ["entailment", "neutral", "contradiction"]


def pairs(name: str, count: int, *, split: str = "test", shift: int = 0, bird: str = "Heron") -> Pairs:
    """Pairs about a bird whose labels follow one another, two to a premise."""
    made = make_pairs([LABELS[(number + shift) % 3] for number in range(count)], name=name, per_premise=2, split=split)
    return Pairs(made.frame.with_columns(pl.col("premise", "hypothesis").str.replace("Heron", bird)), made.card)


class Birds:
    """Two sets that count, and one of the training data."""

    title: ClassVar[str] = "Birds"
    paper: ClassVar[str] = "nobody"
    options: ClassVar[Mapping[str, Any]] = {"shift": 1}

    def plan(self, request: Request) -> SuitePlan:
        """Take the sets as they are."""
        sets = (
            evaluation_set(pairs("herons", 30), limit=request.limit),
            evaluation_set(pairs("gulls", 60, shift=request.options["shift"]), limit=request.limit),
            evaluation_set(pairs("home", 12), counts=False),
        )
        return SuitePlan(sets=sets, systems=request.systems(), missing={"terns": "extinct"}, in_domain="home")

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return the accuracies."""
        return {"table-1": results.table}


class Counting:
    """Says ``entailment`` and counts the pairs that it was asked about."""

    asked: ClassVar[int] = 0


def entailed(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    """Answer that everything is entailed."""
    Counting.asked += len(premises)
    return ["entailment"] * len(premises)
