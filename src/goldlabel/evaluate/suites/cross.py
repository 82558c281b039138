"""``cross``: trained on SNLI, judged on 14 other datasets (Zhang et al. 2020).

Each dataset is split by the rule of section 2.2, which its card has (``Source.evaluation``). Systems that are trained
stop where the mean over the validation halves is best, know the words of SNLI and of all 14 datasets, and read 100
tokens of a sentence, as section 3.3 has it.

The paper's majority "always outputs the label with the highest frequency in the validation set". Its figures are those
of one label for all datasets, neutral (31.8 on MultiNLI, 5.9 on CB, 32.8 on SNLI), and so is ``majority`` here: the
label that is right most often on all validation halves together. The label that is most frequent in each dataset's own
half, which is never worse by much, stands beside it as ``majority-per-set``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from goldlabel.evaluate.model_choice import ModelChoice
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set, set_by_rule
from goldlabel.evaluate.suite import SUITES, EvaluationSet, Request, SuitePlan, System
from goldlabel.evaluate.suites.cross_tables import make_tables, read_reference
from goldlabel.models.majority import Majority
from goldlabel.models.model import find_member
from goldlabel.pairs import Pairs, score_mapping
from goldlabel.pairs.gold import take_gold
from goldlabel.pairs.labels import NLI3

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
RECAST = ("dpr", "spr", "fnplus")
"""Sets that can be made from what they were made of, where the published pairs are missing."""
IN_DOMAIN = "snli"
MAJORITY = "majority"
LENGTH = 100


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
                missing[name] = _why_missing(name)
            else:
                sets.append(set_by_rule(name, pairs, seed=request.seed, limit=request.limit))
        snli = request.find(IN_DOMAIN)
        dev = tuple(part.dev for part in sets if part.dev is not None)
        texts = tuple(Pairs(part.gold.frame.lazy(), half.card) for part, half in zip(sets, dev, strict=True))
        if snli is not None:
            half = snli.only(split="dev")
            sets.append(
                evaluation_set(snli, IN_DOMAIN, split="test", limit=request.limit, dev=half, counts=False),
            )
        else:
            missing[IN_DOMAIN] = _why_missing(IN_DOMAIN)
        systems = [system for choice in request.models for system in _systems(choice, request, dev, texts)]
        return SuitePlan(
            sets=tuple(sets),
            systems=tuple(systems),
            missing=missing,
            in_domain=IN_DOMAIN if snli is not None else None,
        )

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return Tables 2 to 5 as they stand in the paper, and what comes of its claims."""
        return make_tables(results, reference=reference)

    def published(self) -> Mapping[str, Mapping[str, float]]:
        """Return the rows of Table 5."""
        return {
            row["name"]: {
                name: figure / 100
                for name, figure in zip((*SETS, IN_DOMAIN), (*row["accuracies"], row["snli"]), strict=True)
            }
            for row in read_reference()["models"].values()
        }


def _why_missing(name: str) -> str:
    add = f"add it with 'goldlabel data add {name} PATH'"
    if name not in RECAST:
        return add
    return f"{add}, or recast it: 'goldlabel recast run {name} SOURCE -o PATH', then --data {name}=PATH"


def _systems(
    choice: ModelChoice, request: Request, dev: tuple[Pairs, ...], texts: tuple[Pairs, ...]
) -> tuple[System, ...]:
    """Return what a model stands for: one system, or the two majorities."""
    if choice.model == MAJORITY:
        return (
            System(name=choice.name, reference=_right_most_often(dev)),
            System(name=f"{choice.name}-per-set", fit=_most_frequent),
        )
    trained_by_steps = choice.model is not None and find_member(choice.model).fitted_by_trainer
    return replace(request, models=(choice,)).systems(
        dev=dev,
        vocabulary=texts if trained_by_steps else (),
        options={"length": LENGTH} if trained_by_steps else {},
    )


def _right_most_often(halves: Sequence[Pairs]) -> Any:
    """Return the model that always gives the label which is right on most pairs of all halves together."""
    right = dict.fromkeys(NLI3.labels, 0)
    for half in halves:
        mapping = score_mapping(NLI3, half.card.label_space)
        counts = dict(half.frame.group_by("label").len().collect().iter_rows())
        for label in NLI3.labels:
            right[label] += counts.get(mapping.label(label) or "", 0)
    best = max(NLI3.labels, key=lambda label: right[label])
    return Majority(NLI3, tuple(float(label == best) for label in NLI3.labels))


def _most_frequent(part: EvaluationSet) -> Any:
    """Return the model that always gives the most frequent label of a set's validation half."""
    assert part.dev is not None
    gold = take_gold(part.dev, "dev", default="dev", advice="")
    premises, hypotheses, labels = (gold.frame[column].to_list() for column in ("premise", "hypothesis", "label"))
    return Majority.fit(premises, hypotheses, labels, gold.space)


SUITES.add("cross", Cross())
