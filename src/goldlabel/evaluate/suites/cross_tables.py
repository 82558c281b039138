"""The tables of Zhang et al. (2020) from our figures, with the paper's beside them, and its claims tested.

Means are over the datasets that all systems of a table were judged on, and so is the paper's mean that stands beside:
it is computed anew from Table 5 where some of the 14 are missing. Table 3 has no figures of single datasets, so its
means stand beside ours but are held against them only where ours are over all 14.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import polars as pl
import yaml

from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suite import System
from goldlabel.evaluate.suites.off_paper import OFF_PAPER, PaperCell, less, off_paper_table, published_share
from goldlabel.metrics import Estimate, difference, holm, mean_of_shares
from goldlabel.models.loading import HF
from goldlabel.models.majority import Majority
from goldlabel.models.model import CONFIG, WITH_REFERENCE, read_config

ENCODER, PLAIN, FOREST, DRIFT = "encoder", "bilstm-siamese", "random-forest", "bilstm-siamese+drift"
BEATEN = ("lstm", "infersent", "disan")
"""Networks that the paper finds to be worse than the random forest."""


@dataclass(frozen=True)
class Row:
    """A system, and the row of the paper that it belongs to."""

    system: str
    key: str | None

    @property
    def paper(self) -> Mapping[str, Any]:
        """What the paper says of it, empty where it does not."""
        published = read_reference()
        row: Mapping[str, Any] = {**published["models"], **published["debiased"]}.get(self.key, {})
        return row

    @property
    def name(self) -> str:
        """What tables call it: as the paper does, with our name where that tells more."""
        paper = self.paper.get("name")
        if paper is None:
            return self.system
        return str(paper) if self.system in (self.key, paper) else f"{paper} ({self.system})"


@cache
def read_reference() -> dict[str, Any]:
    """Return the paper's figures."""
    content: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("cross.yaml").read_text(encoding="utf-8"))
    return content


def make_tables(results: BenchResults, *, reference: bool) -> dict[str, pl.DataFrame]:
    """Return Tables 2, 3, 4 and 5, Table 5 by the other convention, the claims, and what is off the paper's."""
    tables = _Tables(results, reference)
    made = {
        "table-2": tables.table_2(),
        "table-3": tables.table_3(),
        "table-4": tables.table_4(),
        "table-5": tables.table_5(),
        "table-5-label-first": tables.table_5(label_first=True),
        "claims": tables.claims(),
        OFF_PAPER: off_paper_table(tables.off_paper()) if reference else _frame([]),
    }
    return {name: table for name, table in made.items() if len(table)}


def row_of(system: System) -> Row:
    """Find the row of the paper that a system belongs to."""
    return Row(system.name, _key(system))


def _key(system: System) -> str | None:
    training, reference = system.training, cast(object, system.reference)
    if training is not None:
        return _trained_key(training.model, training.options)
    if isinstance(reference, Majority):
        return "majority"
    if not isinstance(reference, str):
        return None
    if reference.startswith(HF):
        return ENCODER
    if not (Path(reference) / CONFIG).exists():
        return None
    config = read_config(Path(reference))
    return _trained_key(str(config.get("model")), config.get("training", {}).get("options", {}))


def _trained_key(model: str, options: Mapping[str, Any]) -> str | None:
    if options.get("reads", "both") != "both":
        return None
    name = ENCODER if model.partition(":")[0] == WITH_REFERENCE else model
    return name if options.get("debias") is None else f"{name}+{options['debias']}"


class _Tables:
    def __init__(self, results: BenchResults, reference: bool) -> None:
        self.results = results
        self.reference = reference
        published = read_reference()
        self.sets: Mapping[str, Mapping[str, Any]] = published["sets"]
        rows = [row_of(system) for system in results.plan.systems if system.name in results.systems]
        order = [*published["models"], *published["debiased"]]
        self.rows = sorted(rows, key=lambda row: order.index(row.key) if row.key in order else len(order))
        self.common = results.common_sets([row.system for row in self.rows])

    def table_2(self) -> pl.DataFrame:
        rows = []
        for row in self.rows:
            snli, cross = self._snli(row), self._mean(row, self.common)
            of_paper, paper_snli = _paper_mean(row, self.common), row.paper.get("snli")
            rows.append(
                {"Model": row.name, "Reported": row.paper.get("reported")}
                | self._beside("SNLI", snli, paper_snli)
                | self._beside("Cross", cross, of_paper)
                | self._beside("Δ", _minus(cross, snli), _minus(of_paper, paper_snli))
                | self._beside("Δ / SNLI (%)", _gain(cross, snli), _gain(of_paper, paper_snli))
                | {"Sets": len(self.common)}
            )
        return _frame(rows)

    def table_3(self) -> pl.DataFrame:
        family = [row for row in self.rows if row.key is not None and row.key.partition("+")[0] == PLAIN]
        common = self.results.common_sets([row.system for row in family])
        plain = next((row for row in family if row.key == PLAIN), None)
        reference = read_reference()["debiased"][PLAIN]
        whole = set(common) == set(self.sets)
        rows = []
        for row in family:
            figures: dict[str, Any] = {"Method": row.name}
            for column, ours, of_plain, key, comparable in (
                ("SNLI", self._snli(row), self._snli(plain), "snli", True),
                ("Cross", self._mean(row, common), self._mean(plain, common), "mean", whole),
            ):
                paper, is_plain = row.paper.get(key), row == plain
                gain = None if is_plain else _gain(ours, of_plain)
                paper_gain = None if is_plain else _gain(paper, reference[key])
                figures |= self._beside(column, ours, paper, comparable=comparable)
                figures |= self._beside(f"{column} Impr (%)", gain, paper_gain, comparable=comparable)
            rows.append(figures | {"Sets": len(common)})
        return _frame(rows)

    def table_4(self) -> pl.DataFrame:
        rows = []
        for name, paper in self.sets.items():
            row: dict[str, Any] = {"Dataset": paper["name"]}
            sizes: dict[str, int | None] = {"dev": None, "test": None}
            shares: dict[str, float] = {}
            if name in self.results.sets:
                part = self.results.plan.find_set(name)
                assert part.dev is not None
                dev = part.dev.frame.select("label").collect()["label"]
                labels = dev.append(part.gold.frame["label"])
                sizes = {"dev": len(labels) - len(part.gold), "test": len(part.gold)}
                shares = {label: 100 * count / len(labels) for label, count in labels.value_counts().iter_rows()}
            row |= self._beside("Validation Size", sizes["dev"], paper["dev"])
            row |= self._beside("Test Size", sizes["test"], paper["test"])
            for label in ("entailment", "not_entailment", "contradiction", "neutral"):
                header = label.replace("_", "-").title()
                row |= self._beside(header, _rounded(shares.get(label)), paper.get(label))
            rows.append(row)
        return _frame(rows)

    def table_5(self, *, label_first: bool = False) -> pl.DataFrame:
        rows = []
        for row in self.rows:
            figures: dict[str, Any] = {"Model": row.name}
            for name, paper in self.sets.items():
                ours = self._accuracy(row, name, label_first) if self.results.has(row.system, name) else None
                figures |= self._beside(paper["name"], ours, _paper_accuracy(row, name))
            mean = self._mean(row, self.common, label_first)
            figures |= self._beside("Acc Mean", mean, _paper_mean(row, self.common))
            figures |= self._beside("SNLI", self._snli(row, label_first), row.paper.get("snli"))
            rows.append(figures | {"Sets": len(self.common)})
        return _frame(rows)

    def off_paper(self) -> Iterator[PaperCell]:
        """Yield the cells of Table 5 and Δ of Table 2; the paper gives the number of pairs of each set but SNLI."""
        for row in self.rows:
            for name, paper in self.sets.items():
                published = self._published(row, name)
                if published is not None and self.results.has(row.system, name):
                    yield PaperCell(
                        "table-5", row.name, paper["name"], self.results.accuracy(row.system, name), published
                    )
            several = [self._published(row, name) for name in self.common]
            shares = [share for share in several if share is not None]
            home, paper_snli = self.results.plan.in_domain, row.paper.get("snli")
            away = mean_of_shares(shares) if shares and len(shares) == len(several) else None
            ours = self.results.mean(row.system, self.common) if self.common else None
            if ours is not None and away is not None:
                yield PaperCell("table-5", row.name, "Acc Mean", ours, away)
            if home is not None and paper_snli is not None and self.results.has(row.system, home):
                own, published = self.results.accuracy(row.system, home), published_share(paper_snli, None)
                yield PaperCell("table-5", row.name, "SNLI", own, published)
                if ours is not None and away is not None:
                    yield PaperCell("table-2", row.name, "Δ", difference(ours, own), less(away, published))

    def _published(self, row: Row, name: str) -> Estimate | None:
        accuracy = _paper_accuracy(row, name)
        if accuracy is None:
            return None
        return published_share(accuracy, self.sets[name]["test"], level=self.results.level)

    def claims(self) -> pl.DataFrame:
        """Test what the paper concludes from means over datasets, each of its comparisons on the sets of both."""
        systems = {row.key: row for row in reversed(self.rows)}  # of several in one row of the paper, the first
        forms = [(FOREST, other) for other in BEATEN]
        methods = [key for key in read_reference()["debiased"] if key != PLAIN]
        forms += [(method, PLAIN) for method in methods]
        forms += [(DRIFT, method) for method in methods if method != DRIFT]
        judged = [(systems[a], systems[b]) for a, b in forms if a in systems and b in systems]
        claimed = [(a, b) for a, b in judged if self.results.common_sets([a.system, b.system])]
        tests = [self.results.compare_means(a.system, b.system) for a, b in claimed]
        adjusted = holm([test.p_value for test, _ in tests])
        rows = []
        for (first, second), (test, sets), p in zip(claimed, tests, adjusted, strict=True):
            gap = test.difference.percent()
            row = {
                "Claim": f"{first.name} is better than {second.name}",
                "Difference": _rounded(gap.value, 2),
                "Low": _rounded(gap.low, 2),
                "High": _rounded(gap.high, 2),
                "p": test.p_value,
                "p (Holm)": p,
                "Answer": self._answer(gap.defined, p),
                "Sets": len(sets),
            }
            if self.reference:
                row["Difference (paper)"] = _rounded(_minus(_paper_mean(first, sets), _paper_mean(second, sets)), 2)
            rows.append(row)
        return _frame(rows)

    def _answer(self, difference: float, p_value: float) -> str:
        if p_value > 1 - self.results.level:
            return "cannot be told"
        return "yes" if difference > 0 else "no, it is worse"

    def _accuracy(self, row: Row, name: str, label_first: bool = False) -> float:
        several = self.results.answers[row.system, name]
        return 100 * statistics.fmean(
            float((answers.hits_first if label_first else answers.hits).mean()) for answers in several
        )

    def _mean(self, row: Row | None, sets: Sequence[str], label_first: bool = False) -> float | None:
        if row is None or not sets:
            return None
        return statistics.fmean(self._accuracy(row, name, label_first) for name in sets)

    def _snli(self, row: Row | None, label_first: bool = False) -> float | None:
        name = self.results.plan.in_domain
        if row is None or name is None or not self.results.has(row.system, name):
            return None
        return self._accuracy(row, name, label_first)

    def _beside(
        self, column: str, ours: float | None, paper: float | None, *, comparable: bool = True
    ) -> dict[str, float | None]:
        """Return our figure, and where the user wants it the paper's and the difference."""
        figures = {column: _rounded(ours)}
        if self.reference:
            figures[f"{column} (paper)"] = _rounded(paper)
            figures[f"{column} (difference)"] = _rounded(_minus(ours, paper)) if comparable else None
        return figures


def _paper_accuracy(row: Row, name: str) -> float | None:
    accuracies = row.paper.get("accuracies")
    return None if accuracies is None else float(accuracies[[*read_reference()["sets"]].index(name)])


def _paper_mean(row: Row, sets: Sequence[str]) -> float | None:
    """Return the paper's mean over these sets, None where it cannot be told."""
    if set(sets) == set(read_reference()["sets"]):
        return row.paper.get("mean")
    accuracies = [_paper_accuracy(row, name) for name in sets]
    published = [accuracy for accuracy in accuracies if accuracy is not None]
    return statistics.fmean(published) if published and len(published) == len(accuracies) else None


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _gain(figure: float | None, of: float | None) -> float | None:
    return None if figure is None or not of else 100 * (figure - of) / of


def _rounded(figure: float | None, places: int = 1) -> float | None:
    # Adding 0 makes a rounded -0.04 a 0.0 without a sign.
    return figure if figure is None or isinstance(figure, int) else round(figure, places) + 0.0


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)
