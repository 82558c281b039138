"""``cross``: trained on SNLI, judged on 14 other datasets (Zhang et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set, set_by_rule
from goldlabel.evaluate.suite import SUITES, EvaluationSet, Request, SuitePlan

SETS = (
    "multinli",
    "multinli-mismatched",
    "sick",
    "joci",
    "scitail",
    "dpr",
    "spr",
    "fnplus",
    "mpe",
    "add1",
    "diagnostic",
    "cb",
    "rte",
    "wnli",
)
IN_DOMAIN = "snli"


class Cross:
    """Fourteen datasets that the models were not trained on, and the mean over them."""

    title: ClassVar[str] = "Does a model trained on one dataset hold on fourteen others?"
    paper: ClassVar[str] = "Zhang et al. 2020"
    options: ClassVar[Mapping[str, Any]] = {}

    def plan(self, request: Request) -> SuitePlan:
        """Take each dataset by its rule, and stop training on the validation halves."""
        sets: list[EvaluationSet] = []
        missing = {}
        for name in SETS:
            pairs = request.find(name)
            if pairs is None:
                missing[name] = f"add it with 'goldlabel data add {name} PATH'"
            else:
                sets.append(set_by_rule(name, pairs, seed=request.seed, limit=request.limit))
        if (snli := request.find(IN_DOMAIN)) is not None:
            sets.append(evaluation_set(snli, IN_DOMAIN, split="test", limit=request.limit, counts=False))
        dev = tuple(part.dev for part in sets if part.dev is not None)
        return SuitePlan(
            sets=tuple(sets),
            systems=request.systems(dev=dev, vocabulary=dev),
            missing=missing,
            in_domain=IN_DOMAIN if snli is not None else None,
        )

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return the accuracies."""
        return {"table-5": results.table}


SUITES.add("cross", Cross())
