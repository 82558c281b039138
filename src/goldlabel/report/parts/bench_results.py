"""The folder of a bench, read: who scored what, and what is missing of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from goldlabel.errors import InputError
from goldlabel.evaluate.changes import COLUMNS
from goldlabel.evaluate.suite import BESIDE_SETS, SNLI
from goldlabel.metrics import Estimate
from goldlabel.report.language import say
from goldlabel.report.parts.reading import as_written, flat_estimate, machine, read_json
from goldlabel.report.parts.training import TrainingRun

PAGE, RESULTS, SETTINGS, LABELS = "index.html", "bench.json", "settings.json", "labels.parquet"
"""What lies in the folder of a bench, beside its tables, ids, runs and answers."""
HYPOTHESIS_ONLY = "hom"
CONSTANT = ("Majority", "fitted to each set", "majority")
"""Systems that give one label, as the settings of a bench tell of them: by object, or by the model that is trained."""

Bin = tuple[float, float, float | None, float | None, int]
"""Confidence, accuracy, its low and high end, and pairs."""


@dataclass(frozen=True)
class Standing:
    """Two systems on the mean over sets: the first less the second, and the p-value corrected for all such pairs."""

    first: str
    second: str
    difference: Estimate
    p_value: float


@dataclass(frozen=True, kw_only=True)
class BenchFolder:
    """A bench that is finished, or as far as it came."""

    folder: Path
    suite: str
    level: float
    settings: Mapping[str, Any]
    is_finished: bool = True
    seeds: int = 1
    scores: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    """By model and set, in the order of the bench."""
    deviations: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """By model and set, the standard deviation of the accuracy over seeds, where there are several."""
    trained_on: frozenset[tuple[str, str]] = frozenset()
    """Models and sets that they learnt from."""
    means: Mapping[str, Estimate] = field(default_factory=dict)
    over: tuple[str, ...] = ()
    """The sets that all means are over which are compared."""
    in_domain: str | None = None
    deltas: Mapping[str, Estimate] = field(default_factory=dict)
    """By model, the mean over the other sets less the accuracy at home."""
    standings: Sequence[Standing] = ()
    reliability: Mapping[str, tuple[Sequence[Bin], Estimate]] = field(default_factory=dict)
    """Bins and the calibration error without what chance explains."""
    missing: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    runs: Sequence[TrainingRun] = ()

    @property
    def name(self) -> str:
        """What distinguishes it from another bench of the suite."""
        return self.folder.name

    @property
    def sets(self) -> list[str]:
        """Every set that somebody was judged on."""
        return list(dict.fromkeys(name for scores in self.scores.values() for name in scores))

    @property
    def models(self) -> list[str]:
        """The models, the best mean first."""
        ranked = sorted(self.means, key=lambda model: -(self.means[model].value or 0.0))
        return [*ranked, *(model for model in self.scores if model not in ranked)]

    def described(self, model: str) -> Mapping[str, Any]:
        """Return what a model is, as the settings tell; one that is trained for each set is named with it there."""
        systems = self.settings["models"]
        apart = (own for name, own in systems.items() if name.startswith(f"{model}: "))
        own: Mapping[str, Any] = systems.get(model) or next(apart, {})
        return own

    @property
    def learners(self) -> list[str]:
        """The models that look at a pair, the best mean first; those that always give one label are none of them."""
        learning = [
            model
            for model in self.models
            if not {self.described(model).get("object"), self.described(model).get("model")} & {*CONSTANT}
        ]
        return learning or self.models

    @property
    def best(self) -> str | None:
        """The learner of the best mean; None where none was judged on all sets."""
        return next((model for model in self.learners if model in self.means), None)

    @property
    def blind(self) -> list[str]:
        """The models that never read a premise."""
        return [
            model
            for model in self.scores
            if self.described(model).get("reads") == "hypothesis"
            or (self.described(model).get("model") == HYPOTHESIS_ONLY and "reads" not in self.described(model))
        ]

    def ties(self, model: str) -> list[str]:
        """Return the models whose mean cannot be told from a model's."""
        return [
            row.second if row.first == model else row.first
            for row in self.standings
            if model in (row.first, row.second) and row.p_value > 1 - self.level
        ]

    @cached_property
    def labels(self) -> pl.DataFrame | None:
        """What each model says of each pair: set, id, label, model, answer; unit and right where they were kept."""
        path = self.folder / LABELS
        if not path.exists():
            return None
        try:
            labels = pl.read_parquet(path)
            return labels.select(
                "set", "id", "label", "model", "answer", cs.by_name("unit", "right", require_all=False)
            )
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{path}: cannot be read ({error}); run the bench again, its answers are kept") from error

    @property
    def has_hits(self) -> bool:
        """Whether it kept for each pair how often each model is right, and which pairs belong together."""
        return self.labels is not None and set(COLUMNS) <= set(self.labels.columns)

    @property
    def manifest(self) -> dict[str, str]:
        """What the figures are a function of."""
        sets = (f"{name} {own['pairs']:,} ({own['sha256'][:12]})" for name, own in self.settings["sets"].items())
        return {
            "suite": self.suite,
            "models": ", ".join(self.settings["models"]),
            "sets: pairs (SHA-256)": ", ".join(sets),
            "seeds": say("{n} from {first} on", n=self.settings.get("seeds", 1), first=self.settings.get("seed", 0)),
            "limit": str(self.settings["limit"]) if self.settings.get("limit") else say("none"),
            **machine(self.settings),
        }


def read_bench(folder: Path) -> BenchFolder:
    """Read the folder of a bench."""
    settings = read_json(folder / SETTINGS)
    runs = [TrainingRun.read(path.parent) for path in sorted(folder.glob("runs/*/*/environment.json"))]
    with as_written(folder / SETTINGS):
        own = {"folder": folder, "suite": settings["suite"], "level": settings["level"], "settings": settings}
        _ = settings["models"], settings["sets"]
    if not (folder / RESULTS).exists():
        return BenchFolder(**own, is_finished=False, runs=runs)
    results = read_json(folder / RESULTS)
    tables = {path.stem: _read_table(path) for path in sorted((folder / "tables").glob("*.csv"))}
    with as_written(folder / RESULTS):
        return BenchFolder(**{**own, **_fields(results)}, runs=runs, tables=tables)


def _fields(results: Mapping[str, Any]) -> dict[str, Any]:
    level = results["level"]
    scores: dict[str, dict[str, Estimate]] = {}
    seen: set[tuple[str, str]] = set()
    deviations: dict[tuple[str, str], float] = {}
    in_domain = None
    for model, figures in results["models"].items():
        cells = {name: cell for name, cell in figures.items() if name not in BESIDE_SETS and isinstance(cell, dict)}
        if home := figures.get("in_domain"):
            in_domain = home["set"]
            cells[in_domain] = home
        scores[model] = {name: flat_estimate(cell, level=level) for name, cell in cells.items()}
        deviations |= {(model, name): cell["sd"] for name, cell in cells.items() if cell.get("sd") is not None}
        seen |= {(model, name) for name, cell in cells.items() if cell.get("trained_on")}
    ranking = results["ranking"]
    return {
        "suite": results["suite"],
        "level": level,
        "seeds": results["seeds"],
        "scores": scores,
        "deviations": deviations,
        "trained_on": frozenset(seen),
        "means": {model: Estimate.from_dict(mean) for model, mean in ranking["means"].items()},
        "over": tuple(ranking["over"]),
        "in_domain": in_domain,
        "deltas": {
            model: flat_estimate(own, "delta", "delta_interval", level=level)
            for model, own in results["models"].items()
            if "delta" in own and SNLI in own
        },
        "standings": [
            Standing(row["first"], row["second"], Estimate.from_dict(row["difference"]), row["adjusted"])
            for row in ranking["standings"]
            if row["dataset"] is None
        ],
        "reliability": {
            model: ([_bin(one) for one in own["bins"]], Estimate.from_dict(own["debiased"]))
            for model, own in results.get("reliability", {}).items()
        },
        "missing": results["why_missing"],
        "failed": results["failed"],
        "notes": [*results.get("contamination_notes", ()), *results["notes"]],
    }


def _bin(fields: Mapping[str, Any]) -> Bin:
    confidence, accuracy = Estimate.from_dict(fields["confidence"]), Estimate.from_dict(fields["accuracy"])
    return confidence.defined, accuracy.defined, accuracy.low, accuracy.high, accuracy.n


def _read_table(path: Path) -> pl.DataFrame:
    try:
        return pl.read_csv(path, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: is no table ({error}); run the bench again, its answers are kept") from error
