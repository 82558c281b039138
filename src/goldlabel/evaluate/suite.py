"""Suites: by which pairs models are judged, what is trained for it, and which tables come of it.

A suite is asked for a plan: the sets that models are judged by, and the systems that are judged, each of which is
loaded, trained first, or fitted to the validation half of every set. What carries the plan out is the same for all
suites (``goldlabel.bench``, ``judging.py``); the suite then reads its tables off the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import polars as pl

from goldlabel.errors import InputError
from goldlabel.models import Model
from goldlabel.pairs import Pairs, read
from goldlabel.pairs.gold import GoldPairs
from goldlabel.registry import Registry
from goldlabel.sources import is_added, load

if TYPE_CHECKING:
    from goldlabel.evaluate.model_choice import ModelChoice
    from goldlabel.evaluate.results import BenchResults


BESIDE_SETS = ("mean", "mean_interval", "mean_sd", "over", "in_domain", "delta", "delta_interval", "delta_relative")
"""What stands beside the sets in a model's figures."""
SNLI = "snli"
"""What the accuracy on the set of the training data is called there."""


@dataclass(frozen=True, kw_only=True)
class EvaluationSet:
    """Pairs that models are judged by."""

    name: str
    """As tables call it, unique within a suite."""
    gold: GoldPairs
    dev: Pairs | None = None
    """The validation half: for early stopping and tuning only."""
    counts: bool = True
    """Whether it is part of the mean over sets."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """What is trained before it is judged; the fields mean what they mean to ``goldlabel.train.train``."""

    model: str
    on: tuple[Pairs, ...]
    sizes: tuple[int | None, ...] | None = None
    copies: tuple[int, ...] | None = None
    split: str | None = None
    dev: tuple[Pairs, ...] = ()
    vocabulary: tuple[Pairs, ...] = ()
    label_space: str | None = None
    start: str | None = None
    """The system from whose run of the same seed it goes on."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Fields of ``TrainOptions`` and the model's own options; the seed comes from the bench."""
    grid: Mapping[str, Sequence[Any]] | None = None
    """Values to try for options; what does best on the mean over the dev sets is judged."""


@dataclass(frozen=True, kw_only=True)
class System:
    """What is judged, a row of the tables: loaded, trained, or fitted to each set's own validation half."""

    name: str
    reference: str | Model | None = None
    """What ``load_model`` loads, or a model that is loaded."""
    loading: Mapping[str, Any] = field(default_factory=dict)
    """Options of ``load_model``."""
    training: Training | None = None
    fit: Callable[[EvaluationSet], Model] | None = None
    sets: tuple[str, ...] | None = None
    """The sets that it is judged on, all where there is nothing."""
    part_of: str | None = None
    """The row of the tables that it shares with others, each judged on sets of its own (a model trained for each)."""
    marks: Any = None
    """What the suite's tables know it by."""

    def __post_init__(self) -> None:
        if sum(way is not None for way in (self.reference, self.training, self.fit)) != 1:
            raise ValueError(f"system {self.name!r} is loaded, trained or fitted, and one of these alone")

    @property
    def row(self) -> str:
        """What tables and figures call it."""
        return self.part_of or self.name

    def is_judged_on(self, name: str) -> bool:
        """Say whether a set is one of its sets."""
        return self.sets is None or name in self.sets


@dataclass(frozen=True, kw_only=True)
class SuitePlan:
    """Who is judged on what."""

    sets: tuple[EvaluationSet, ...]
    systems: tuple[System, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    """Sets that the suite has and the user has not, and why."""
    in_domain: str | None = None
    """The set of the training data, beside which the mean over the others stands."""
    notes: tuple[str, ...] = ()
    name: str | None = None
    """What the suite is called where that is the user's choice."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The suite's own, for its tables."""

    @property
    def counted(self) -> tuple[str, ...]:
        """The sets that the mean is over."""
        return tuple(part.name for part in self.sets if part.counts)

    @property
    def trained_on(self) -> tuple[Pairs, ...]:
        """What the systems are trained on, each dataset once."""
        trainings = (system.training for system in self.systems if system.training is not None)
        return tuple({id(pairs): pairs for training in trainings for pairs in training.on}.values())

    def find_set(self, name: str) -> EvaluationSet:
        """Return the set of a name."""
        return next(part for part in self.sets if part.name == name)

    def check(self) -> None:
        """Refuse a plan without sets or systems, and two of one name."""
        for what, names in (
            ("set", [part.name for part in self.sets]),
            ("model", [system.name for system in self.systems]),
        ):
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise InputError(f"two {what}s are called {twice!r}; name them apart, models with NAME=MODEL")
        for part in self.sets:
            rows = [system.row for system in self.systems if system.is_judged_on(part.name)]
            if twice := next((row for row in rows if rows.count(row) > 1), None):
                raise InputError(f"two models of the row {twice!r} are judged on {part.name!r}; name them apart")
        for part in self.sets:
            if part.name in BESIDE_SETS or (part.name == SNLI and self.in_domain not in (None, SNLI)):
                raise InputError(f"no set can be called {part.name!r}, as a figure beside the sets is; rename it")
        if not self.sets:
            missing = "; ".join(f"{name}: {why}" for name, why in self.missing.items())
            raise InputError(f"there is no set to judge by{f' ({missing})' if missing else ''}")
        if not self.systems:
            raise InputError("there is no model to judge; give some with --models")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asks of a suite."""

    models: tuple[ModelChoice, ...] = ()
    train: tuple[Pairs, ...] = ()
    """What models are trained on."""
    sizes: tuple[int | None, ...] | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    """Where sets lie that are not in the library, by their names."""
    seed: int = 0
    limit: int | None = None
    """Judge by the first so many pairs of each set."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The suite's own, with their defaults."""
    looked_up: set[str] = field(default_factory=set, compare=False)
    """The names that were looked up in ``data`` so far, so that a name which nobody knows can be told."""

    def find(self, name: str) -> Pairs | None:
        """Return a dataset that lies where the user says, or in the library; None where it is missing."""
        if (path := self.path(name)) is not None:
            return read(path)
        return load(name) if is_added(name) else None

    def path(self, name: str) -> str | None:
        """Return where the user says that a set lies, if that was said."""
        self.looked_up.add(name)
        return self.data.get(name)

    def systems(self, **training: Any) -> tuple[System, ...]:
        """Return the models as systems; those that are trained learn from ``train``, or as ``training`` says."""
        fields = {"on": self.train, "sizes": self.sizes} | training
        return tuple(choice.system(**fields) for choice in self.models)


class Suite(Protocol):
    """A benchmark: one object, one file."""

    title: ClassVar[str]
    """What it asks, in one line."""
    paper: ClassVar[str]
    options: ClassVar[Mapping[str, Any]]
    """The names of its own options and their defaults."""

    def plan(self, request: Request) -> SuitePlan:
        """Say who is judged on what."""
        ...

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return the suite's tables; with ``reference``, the papers' figures stand beside ours."""
        ...


@runtime_checkable
class Published(Protocol):
    """A suite that knows what papers printed of its sets."""

    paper: ClassVar[str]

    def published(self) -> Mapping[str, Mapping[str, float]]:
        """Return for each row of the paper the accuracies from 0 to 1, by set."""
        ...


SUITES: Registry[Suite] = Registry("suite", entry_points="goldlabel.suites")
