"""``Audit``: what an audit returns."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goldlabel.audit.cartography import Cartography
from goldlabel.audit.figures import ForeignText, Lengths, Negators, Overlap, TagShare, count_of
from goldlabel.audit.findings import Finding
from goldlabel.audit.hypothesis_only import CurvePoint, Judgement, OutOfFold, hard_subset
from goldlabel.audit.label_errors import LabelErrors
from goldlabel.audit.leakage import Leakage
from goldlabel.audit.messages import message
from goldlabel.audit.pmi import Word
from goldlabel.errors import InputError
from goldlabel.messages import Message
from goldlabel.metrics import in_percent, in_points, p_value, percent
from goldlabel.pairs import Pairs, Result
from goldlabel.registry import suggest
from goldlabel.verify.agreement import Agreement

if TYPE_CHECKING:
    from goldlabel.audit.auditing import AuditOptions

ALL = "all"
_COMPARISONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


@dataclass(frozen=True)
class Group:
    """The figures of all pairs, or of one value of the column that was asked for."""

    pairs: int
    labels: dict[str, int]
    words: list[Word]
    """Those of the highest PMI with any label."""
    hypothesis_only: Judgement | None
    """``None`` where no pair has a gold label."""
    overlap: Overlap
    length: Lengths
    negators: dict[str, Negators] | None
    """By language; like ``tags``, ``None`` where no language is known to have a lexicon."""
    leakage: Leakage
    tags: dict[str, TagShare] | None
    foreign_text: ForeignText | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "pairs": self.pairs,
            "labels": self.labels,
            "pmi": [word.to_dict() for word in self.words],
            "hypothesis_only": self.hypothesis_only and self.hypothesis_only.to_dict(),
            "overlap": self.overlap.to_dict(),
            "length": self.length.to_dict(),
            "negators": self.negators and {name: part.to_dict() for name, part in self.negators.items()},
            "leakage": self.leakage.to_dict(),
            "tags": self.tags and {name: part.to_dict() for name, part in self.tags.items()},
            "foreign_text": self.foreign_text and self.foreign_text.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """The figures of all pairs and of each group, and the findings, the gravest first."""

    pairs: Pairs
    options: AuditOptions
    groups: dict[str, Group]
    findings: list[Finding]
    competency: pl.DataFrame
    out_of_fold: OutOfFold
    words_by_label: dict[str, list[Word]]
    slices: dict[str, dict[str, Judgement]]
    """By column and value, how well labels are told without the premise."""
    curve: list[CurvePoint] | None
    models: dict[str, Judgement | None]
    premise_only: Judgement | None
    """The control; ``None`` where there are too few premises."""
    agreement: Agreement | None
    label_errors: LabelErrors | None
    cartography: Cartography | None
    without_language: int
    """Pairs in a language that is not known, which have no tags and no negators."""

    @property
    def whole(self) -> Group:
        """Return the figures of all pairs."""
        return self.groups[ALL]

    @property
    def hypothesis_only(self) -> Judgement:
        """Return how well all labels are told without the premise."""
        judgement = self.whole.hypothesis_only
        assert judgement is not None  # an audit without gold labels is refused
        return judgement

    @property
    def title(self) -> str:
        """What was audited and the verdict."""
        return f"{self.pairs.card.name}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """Say in a sentence or two what the labels give away."""
        return str(self.verdict_message)

    @property
    def verdict_message(self) -> Message:
        """The verdict, to be said in any language."""
        blind = self.hypothesis_only
        without = message("blind", share=in_percent(blind.accuracy), majority=percent(blind.majority.value))
        if blind.significant:
            gain = message("gain", points=in_points(blind.gain))
        else:
            gain = message("no_gain", level=f"{1 - self.options.level:.3g}")
        return message("verdict", blind=without, gain=gain)

    @property
    def table(self) -> pl.DataFrame:
        """One row per group."""
        return pl.DataFrame([_row(value, group) for value, group in self.groups.items()], infer_schema_length=None)

    def measures(self) -> dict[str, float | None]:
        """Return the figures that a data pipeline may put a bound on, over all pairs."""
        return {name: measure(self) for name, measure in MEASURES.items()}

    def hard_subset(self) -> Pairs:
        """Return the pairs that the hypothesis-only model labels wrongly, as a dataset."""
        return hard_subset(self.pairs, self.out_of_fold)

    def predictions(self) -> pl.DataFrame:
        """Return the out-of-fold probabilities: id, label, predicted, and a column per label."""
        names = self.pairs.card.label_space.labels
        out_of_fold = self.out_of_fold
        ids = self.pairs.frame.select("id").collect(engine="streaming").to_series()
        words = pl.Series(names, dtype=pl.String)
        return pl.DataFrame(
            {
                "id": ids.gather(out_of_fold.rows),
                "label": words.gather(out_of_fold.labels),
                "predicted": words.gather(out_of_fold.predicted),
                **{name: out_of_fold.probabilities[:, code] for code, name in enumerate(names)},
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single predictions."""
        return {
            "name": self.pairs.card.name,
            "verdict": self.verdict,
            "verdict_message": self.verdict_message.to_dict(),
            "options": dataclasses.asdict(self.options),
            "groups": {name: group.to_dict() for name, group in self.groups.items()} | {ALL: self._whole_to_dict()},
            "findings": [finding.to_dict() for finding in self.findings],
            "measures": self.measures(),
            "competency": self.competency.to_dicts(),
            "label_errors": self.label_errors and self.label_errors.to_dict(),
            "cartography": self.cartography and self.cartography.to_dict(),
            "without_language": self.without_language,
        }

    def _whole_to_dict(self) -> dict[str, Any]:
        whole = self.whole.to_dict()
        whole["hypothesis_only"] |= {
            **{
                f"by_{column}": {value: judgement.brief() for value, judgement in part.items()}
                for column, part in self.slices.items()
            },
            **({"curve": [point.to_dict() for point in self.curve]} if self.curve is not None else {}),
            "models": {name: judgement and judgement.to_dict() for name, judgement in self.models.items()},
        }
        return whole | {
            "pmi_by_label": {name: [word.to_dict() for word in words] for name, words in self.words_by_label.items()},
            "premise_only": self.premise_only and self.premise_only.to_dict(),
            "agreement": self.agreement and self.agreement.to_dict(),
        }


MEASURES: dict[str, Callable[[Audit], float | None]] = {
    "hypothesis_only_accuracy": lambda audit: audit.hypothesis_only.accuracy.value,
    "hypothesis_only_gain": lambda audit: audit.hypothesis_only.gain.value,
    "hypothesis_only_p_value": lambda audit: audit.hypothesis_only.p_value,
    "premise_only_gain": lambda audit: audit.premise_only.gain.value if audit.premise_only else None,
    "pmi": lambda audit: audit.whole.words[0].pmi.value if audit.whole.words else None,
    "findings": lambda audit: len(audit.findings),
    "overlap": lambda audit: audit.whole.overlap.mean.value,
    "over_rule_share": lambda audit: audit.whole.overlap.over_rule.value,
    "lexical_overlap_share": lambda audit: audit.whole.overlap.heuristics["lexical_overlap"].value,
    "shared_premises": lambda audit: audit.whole.leakage.shared_premises,
    "held_out_share": lambda audit: share.value if (share := audit.whole.leakage.held_out) else None,
    "duplicates": lambda audit: audit.whole.leakage.duplicates,
    "duplicates_across_splits": lambda audit: audit.whole.leakage.duplicates_across_splits,
    "contradictory_duplicates": lambda audit: audit.whole.leakage.contradictory_duplicates,
    "near_duplicates": lambda audit: near.clusters if (near := audit.whole.leakage.near) else None,
    "near_duplicates_across_splits": lambda audit: near.across_splits if (near := audit.whole.leakage.near) else None,
    "foreign_text_share": lambda audit: foreign.share.value if (foreign := audit.whole.foreign_text) else None,
}
"""What ``--fail-on`` can name."""


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
        measured = MEASURES[self.measure](audit)
        if measured is None:
            why = audit.whole.leakage.near_note if self.measure.startswith("near_") else None
            reason = f": near-duplicates were {why}" if why else ""
            raise InputError(f"--fail-on {self}: {self.measure} is undefined for {audit.pairs.card.name}{reason}")
        return bool(_COMPARISONS[self.comparison](measured, self.value))


def parse_bound(text: str) -> Bound:
    """Read ``MEASURE>NUMBER``; ``>=``, ``<`` and ``<=`` are allowed too."""
    match = re.fullmatch(r"\s*(\w+)\s*(>=|<=|>|<)\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*(%?)\s*", text)
    if match is None:
        raise InputError(f"--fail-on {text!r} is not of the form MEASURE>NUMBER, such as hypothesis_only_gain>0.15")
    if match[1] not in MEASURES:
        raise InputError(f"--fail-on {text}: there is no measure {match[1]!r}; {suggest(match[1], list(MEASURES))}")
    return Bound(match[1], match[2], float(match[3]) / (100 if match[4] else 1))


def _row(value: str, group: Group) -> dict[str, Any]:
    blind, top = group.hypothesis_only, group.words[0] if group.words else None
    negators = [part.negated for part in (group.negators or {}).values()]
    tagged = sum(figure.n for figure in negators)
    return {
        "group": value,
        "pairs": group.pairs,
        "hypothesis-only": percent(blind.accuracy.value) if blind else None,
        "majority": percent(blind.majority.value) if blind else None,
        "gain, points": in_points(replace(blind.gain, low=None, high=None)) if blind else None,
        "p": p_value(blind.p_value) if blind else None,
        "top word": f"{top.word} ({top.label})" if top else None,
        "PMI": None if top is None or top.pmi.value is None else f"{top.pmi.value:.2f}",
        "overlap": percent(group.overlap.mean.value),
        "length": None if (length := group.length.hypothesis.value) is None else f"{length:.1f}",
        "negated": percent(sum(map(count_of, negators)) / tagged) if tagged else None,
    }
