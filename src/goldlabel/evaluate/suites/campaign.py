"""What the suites of collected data share: which split judges, what models learn from, and whose labels were checked.

A campaign's pairs come in rounds or conditions. Models are judged by its test pairs, or where those have no public
labels, by its dev pairs. Then nothing may be stopped on dev, and a twentieth of what is trained on, whole units of it,
is kept back to stop on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.model_choice import ModelChoice
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suite import Request, System
from goldlabel.models.model import find_member
from goldlabel.models.options import own_options
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.splits import Ratios
from goldlabel.registry import one_of

KEPT_BACK = Ratios(ratios="95:5", names=("train", "dev"))
_HAS_GOLD = pl.col("label") != NO_GOLD


def choose_parts(asked: str, known: Sequence[str]) -> tuple[str, ...]:
    """Read which of its tables a suite shall make; all where nothing is said."""
    return tuple(one_of("part", name.strip(), known) for name in asked.split(",")) if asked else tuple(known)


def names_in(text: str) -> tuple[str, ...]:
    """Read names that are separated by commas; ``none`` is no name."""
    return tuple(name for part in text.split(",") if (name := part.strip()) not in ("", "none"))


def find_dataset(request: Request, name: str, missing: dict[str, str]) -> Pairs | None:
    """Return a dataset, or note that it is missing and what to do."""
    pairs = request.find(name)
    if pairs is None:
        missing[name] = f"add it with 'goldlabel data add {name} PATH', or say where it lies with --data {name}=PATH"
    return pairs


def gold_splits(pairs: Pairs) -> set[str]:
    """Return the splits that have gold labels."""
    return set(pairs.frame.filter(_HAS_GOLD).select(pl.col("split").unique()).collect()["split"])


def judging_split(pairs: Pairs) -> str:
    """Return the split that models are judged by: test, or the next best that has gold labels."""
    splits = gold_splits(pairs)
    if split := next((split for split in ("test", "dev", "none") if split in splits), None):
        return split
    raise InputError(
        f"{pairs.card.name}: neither test nor dev has a gold label to judge by; split it with 'goldlabel data split'"
    )


def gold_count(pairs: Pairs) -> int:
    """Count the training pairs that have a gold label."""
    return int(pairs.frame.filter(_HAS_GOLD & (pl.col("split") == "train")).select(pl.len()).collect().item())


def is_verified(pairs: Pairs) -> pl.Expr:
    """Say whether somebody else than its author gave a pair a label."""
    return pl.col("votes").list.len() > (0 if pairs.card.author == "label" else 1)


def filtered(pairs: Pairs, chosen: pl.Expr, name: str) -> Pairs:
    """Keep some pairs, under a name of their own."""
    return Pairs(pairs.frame.filter(chosen), replace(pairs.card, name=name))


def learnable(pairs: Pairs, name: str | None = None, *, judged: str | None = None, seed: int = 0) -> Pairs:
    """Return the training pairs, with a dev split to stop on that is not the one that is ``judged``."""
    pairs = Pairs(pairs.frame, replace(pairs.card, name=name or pairs.card.name))
    if "dev" in gold_splits(pairs) and judged != "dev":
        return pairs.only(split=["train", "dev"])
    return filtered(pairs, _HAS_GOLD & (pl.col("split") == "train"), pairs.card.name).split(KEPT_BACK, seed=seed).pairs


def as_training(pairs: Pairs) -> Pairs:
    """Return pairs of which some are in train: all, where none are."""
    if "train" in gold_splits(pairs):
        return pairs
    return Pairs(pairs.frame.with_columns(pl.lit("train").alias("split")), pairs.card)


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What tables know a system by."""

    model: str
    data: str = ""
    """What it was trained on; nothing of one that is judged as it is."""
    reads: str = ""
    pairs: int | None = None
    """How many pairs it was trained on."""
    parts: tuple[str, ...]
    """The parts of the suite that it is for."""
    mark: str = ""

    @property
    def size(self) -> str:
        """The number of training pairs, for a table."""
        return "" if self.pairs is None else str(self.pairs)


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What a model of a table is trained on."""

    data: str
    """As tables call it: ``snli+R1``."""
    on: tuple[Pairs, ...]
    sizes: tuple[int | None, ...] | None = None
    hypothesis_only: bool = False
    mark: str = ""
    """By which its part tells it from others."""
    sets: tuple[str, ...] | None = None
    """The sets that who learnt it is judged on, all where there is nothing."""

    @cached_property
    def pairs(self) -> int:
        """How many pairs are trained on."""
        sizes = self.sizes or [None] * len(self.on)
        return sum(gold_count(pairs) if size is None else size for pairs, size in zip(self.on, sizes, strict=True))

    def train(self, choice: ModelChoice, part: str) -> System:
        """Return the system that learns it, for one part of a suite."""
        reads = "hypothesis" if self.hypothesis_only else _reads(choice)
        reading = ", hypothesis only" if self.hypothesis_only else ""
        system = choice.system(on=self.on, sizes=self.sizes, options={"reads": reads} if self.hypothesis_only else {})
        return replace(
            system,
            name=f"{choice.name} ({self.data}{reading})",
            sets=self.sets,
            marks=Marks(
                model=choice.name, data=self.data, reads=reads, pairs=self.pairs, parts=(part,), mark=self.mark
            ),
        )


def enrol(
    models: Sequence[ModelChoice], taught: Sequence[tuple[str, Lesson]], judged_in: tuple[str, ...]
) -> tuple[System, ...]:
    """Return the systems of all models: each trained on what the parts teach, or judged as it is in some parts.

    What several parts teach is learnt once.
    """
    systems: list[System] = []
    for choice in models:
        if not choice.is_trained:
            systems.append(replace(choice.system(), marks=Marks(model=choice.name, parts=judged_in)))
            continue
        if not taught:
            raise InputError(f"{choice.name} has to be trained first; say on what with --train PATH")
        own: dict[str, System] = {}
        for part, lesson in taught:
            if lesson.hypothesis_only and not has_hypothesis_form(choice):
                continue
            system = lesson.train(choice, part)
            before = own.get(system.name, system)
            parts = tuple(dict.fromkeys((*before.marks.parts, part)))
            own[system.name] = replace(before, marks=replace(before.marks, parts=parts))
        systems += own.values()
    return tuple(systems)


def systems_of(results: BenchResults, part: str) -> list[System]:
    """Return the systems of a part that have answers."""
    return [system for system in results.plan.systems if system.name in results.systems and part in system.marks.parts]


def _reads(choice: ModelChoice) -> str:
    """Return which sentences a model reads as it is asked for; nothing where it reads neither."""
    assert choice.model is not None
    member = find_member(choice.model)
    options = {} if member.fitted_by_trainer else own_options(member.fit)
    if member.fitted_by_trainer or "hypothesis_only" in options:
        return str(choice.options.get("reads", "both"))
    return "hypothesis" if "premise_only" in options else ""


def has_hypothesis_form(choice: ModelChoice) -> bool:
    """Say whether a model that reads both sentences could be trained on the hypothesis alone."""
    if choice.model is None or {"reads", "debias"} & set(choice.options):
        return False
    member = find_member(choice.model)
    return bool(member.fitted_by_trainer) or "hypothesis_only" in own_options(member.fit)
