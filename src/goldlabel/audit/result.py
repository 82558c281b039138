"""``Audit``: what an audit returns."""

from __future__ import annotations

import dataclasses
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldlabel.audit.hypothesis_only import OutOfFold, hard_subset
from goldlabel.audit.label_errors import LabelErrors
from goldlabel.errors import InputError
from goldlabel.metrics import p_in_words
from goldlabel.pairs import Pairs, Result
from goldlabel.registry import suggest

if TYPE_CHECKING:
    from goldlabel.audit.auditing import AuditOptions

ALL = "all"
_COMPARISONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """The figures of all pairs and of each group, and the findings, the most telling first."""

    pairs: Pairs
    options: AuditOptions
    groups: dict[str, dict[str, Any]]
    findings: list[dict[str, Any]]
    competency: pl.DataFrame
    out_of_fold: OutOfFold
    label_errors: LabelErrors | None = None

    @property
    def whole(self) -> dict[str, Any]:
        """Return the figures of all pairs."""
        return self.groups[ALL]

    @property
    def title(self) -> str:
        """What was audited and the verdict."""
        return f"{self.pairs.card.name}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """Say in a sentence or two what the labels give away."""
        blind = self.whole["hypothesis_only"]
        low, high = (f"{100 * bound:.1f}" for bound in blind["interval"])
        without = (
            f"Without the premise, a linear model labels {100 * blind['accuracy']:.1f} % right ({low} to {high}); the "
            f"most frequent label alone gives {100 * blind['majority']:.1f} %."
        )
        if blind["significant"]:
            low, high = (f"{100 * bound:.1f}" for bound in blind["gain_interval"])
            gain = f" The labels give away {100 * blind['gain']:.1f} points ({low} to {high})."
        else:
            gain = f" That is no significant gain at the level {self.options.level:g}."
        return without + gain

    @property
    def table(self) -> pl.DataFrame:
        """One row per group."""
        return pl.DataFrame([_row(value, group) for value, group in self.groups.items()], infer_schema_length=None)

    def measures(self) -> dict[str, float | None]:
        """Return the figures that a data pipeline may put a bound on, over all pairs."""
        whole = self.whole
        blind, overlap, leakage = whole["hypothesis_only"], whole["overlap"], whole["leakage"]
        control, foreign = whole["premise_only"], whole["foreign_text"]
        return {
            "hypothesis_only_accuracy": blind["accuracy"],
            "hypothesis_only_gain": blind["gain"],
            "hypothesis_only_p_value": blind["p_value"],
            "premise_only_gain": control and control["gain"],
            "pmi": whole["pmi"][0]["pmi"] if whole["pmi"] else None,
            "findings": len(self.findings),
            "overlap": overlap["mean"],
            "over_rule_share": overlap["over_rule_share"],
            "lexical_overlap_share": overlap["lexical_overlap_share"],
            "shared_premises": leakage["shared_premises"],
            "duplicates": leakage["duplicates"],
            "duplicates_across_splits": leakage["duplicates_across_splits"],
            "contradictory_duplicates": leakage["contradictory_duplicates"],
            "near_duplicates": leakage["near"] and leakage["near"]["clusters"],
            "foreign_text_share": foreign and foreign["share"],
        }

    def hard_subset(self) -> Pairs:
        """Return the pairs that the hypothesis-only model labels wrongly, as a dataset."""
        return hard_subset(self.pairs, self.out_of_fold)

    def predictions(self) -> pl.DataFrame:
        """Return the out-of-fold probabilities: id, label, predicted, and a column per label."""
        names = self.pairs.card.label_space.labels
        found = self.out_of_fold
        ids = self.pairs.frame.select("id").collect(engine="streaming").to_series()
        words = pl.Series(names, dtype=pl.String)
        return pl.DataFrame(
            {
                "id": ids.gather(found.rows),
                "label": words.gather(found.labels),
                "predicted": words.gather(found.predicted),
                **{name: found.probabilities[:, code] for code, name in enumerate(names)},
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single predictions."""
        return {
            "name": self.pairs.card.name,
            "verdict": self.verdict,
            "options": dataclasses.asdict(self.options),
            "groups": self.groups,
            "findings": self.findings,
            "measures": self.measures(),
            "competency": self.competency.to_dicts(),
            "label_errors": self.label_errors and self.label_errors.to_dict(),
        }


@dataclass(frozen=True)
class Bound:
    """A condition under which an audit fails, such as ``hypothesis_only_gain>0.15``."""

    measure: str
    comparison: str
    value: float

    def __str__(self) -> str:
        return f"{self.measure}{self.comparison}{self.value:g}"

    def trips(self, audit: Audit) -> bool:
        """Return whether the condition holds; what is undefined cannot be judged."""
        measures = audit.measures()
        if self.measure not in measures:
            raise InputError(
                f"--fail-on {self}: there is no measure {self.measure!r}; {suggest(self.measure, list(measures))}"
            )
        found = measures[self.measure]
        if found is None:
            raise InputError(f"--fail-on {self}: {self.measure} is undefined for {audit.pairs.card.name}")
        return bool(_COMPARISONS[self.comparison](found, self.value))


def parse_bound(text: str) -> Bound:
    """Read ``MEASURE>NUMBER``; ``>=``, ``<`` and ``<=`` are allowed too."""
    match = re.fullmatch(r"\s*(\w+)\s*(>=|<=|>|<)\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*(%?)\s*", text)
    if match is None:
        raise InputError(f"--fail-on {text!r} is not of the form MEASURE>NUMBER, such as hypothesis_only_gain>0.15")
    return Bound(match[1], match[2], float(match[3]) / (100 if match[4] else 1))


def _row(value: str, group: dict[str, Any]) -> dict[str, Any]:
    blind = group["hypothesis_only"] or {}
    top = group["pmi"][0] if group["pmi"] else {}
    negators = group["negators"] or {}
    negated = sum(part["negated"] for part in negators.values())
    tagged = sum(part["pairs"] for part in negators.values())
    return {
        "group": value,
        "pairs": group["pairs"],
        "hypothesis-only": _rounded(blind.get("accuracy")),
        "majority": _rounded(blind.get("majority")),
        "gain": _rounded(blind.get("gain")),
        "test": None if blind.get("p_value") is None else p_in_words(blind["p_value"]),
        "top word": f"{top['word']} ({top['label']})" if top else None,
        "pmi": _rounded(top.get("pmi")),
        "overlap": _rounded(group["overlap"]["mean"]),
        "length": _rounded(group["length"]["hypothesis_mean"]),
        "negated": _rounded(negated / tagged) if tagged else None,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
