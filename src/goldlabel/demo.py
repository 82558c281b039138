"""The way of the data, end to end, on pairs made on the spot: made, voted on, split, audited, trained on, reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from goldlabel.audit import Audit, AuditOptions, audit
from goldlabel.files import write_text
from goldlabel.metrics import Estimate, accuracy_score, mcnemar, p_in_words, percent
from goldlabel.models import MODELS, predict_labels
from goldlabel.pairs import Card, Pairs, Result
from goldlabel.pairs.labels import NLI3
from goldlabel.pairs.rows import to_json
from goldlabel.pairs.splits import ExcludeOverlap, Ratios
from goldlabel.pairs.units import units_of
from goldlabel.report import Bar, Page, Section, render_page
from goldlabel.report.audit_page import write_audit
from goldlabel.report.page import Item
from goldlabel.seeds import random_state
from goldlabel.sources.fragments import LANGUAGES, fragment_pairs
from goldlabel.verify import Verification, verify

PAIRS_PER_LANGUAGE = 1500
ARTIFACT = "negation:contradiction:0.8"
CROWD = {"ana": 0.97, "ben": 0.94, "chen": 0.91, "dora": 0.85, "eli": 1 / 3}
"""Simulated annotators, and how often each gives the true label; eli guesses."""
TRAINED = {
    "majority": ("majority", {}),
    "linear, hypothesis only": ("linear", {"hypothesis_only": True}),
    "linear, whole pair": ("linear", {}),
}
_NOTES = {
    "majority": "the floor",
    "linear, hypothesis only": "never sees the premise",
    "linear, whole pair": "sees both texts",
}


@dataclass(frozen=True, repr=False, kw_only=True)
class Demo(Result):
    """Everything the demo made, and the page that shows it."""

    report: Path
    dataset: Pairs
    dropped: int
    leaks: pl.DataFrame
    """Duplicates that reach across splits."""
    verification: Verification
    audit: Audit
    scores: Mapping[str, Estimate]
    p_value: float
    """Of the premise's gain: linear with it and without it, by McNemar's test."""
    seed: int

    @property
    def title(self) -> str:
        """How many pairs, and where the report is."""
        return f"{len(self.dataset):,} pairs made; the report is at {self.report}"

    @property
    def table(self) -> pl.DataFrame:
        """The accuracy of each model on the test split."""
        rows = [(name, score.value, score.low, score.high, score.n) for name, score in self.scores.items()]
        return pl.DataFrame(rows, schema=["model", "accuracy", "low", "high", "n"], orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of every step."""
        whole = self.verification.whole.to_dict()
        return {
            "pairs": len(self.dataset),
            "splits": self.dataset.to_dict()["splits"],
            "dropped": self.dropped,
            "duplicates_across_splits": self.leaks["cluster"].n_unique(),
            "agreement": {"fleiss_kappa": whole["fleiss_kappa"], "interval": whole["intervals"]["fleiss_kappa"]},
            "gold_differs": self.verification.gold_differs,
            "finding": self.audit.findings[0].text if self.audit.findings else None,
            "accuracy": {
                name: {"value": score.value, "low": score.low, "high": score.high, "n": score.n}
                for name, score in self.scores.items()
            },
            "p_value": self.p_value,
            "seed": self.seed,
        }


def run_demo(folder: Path, seed: int, advance: Callable[[int], None]) -> Demo:
    """Make pairs, verify, split, check and audit them, train on them, and write a report of it all."""
    made = [fragment_pairs(language, PAIRS_PER_LANGUAGE, seed=seed, artifact=ARTIFACT) for language in LANGUAGES]
    history = tuple(step for part in made for step in part.card.history)
    card = Card(name="demo", licence="Apache-2.0", history=history)
    pairs = Pairs.from_frame(_vote(pl.concat(part.collect() for part in made), seed), card)
    advance(1)
    verification = verify(pairs, seed=seed)
    advance(1)
    split = verification.pairs.split(Ratios(ratios="70:10:20", stratify=("language", "label")), seed=seed)
    cleared = split.pairs.split(ExcludeOverlap(), seed=seed)
    dataset = cleared.pairs.write(folder / "dataset")
    advance(1)
    leaks = dataset.duplicates().across("split")
    advance(1)
    artifacts = audit(dataset, options=AuditOptions(seed=seed, curve=True, tokenizer="characters"))
    write_audit(artifacts, folder / "audit")
    advance(1)
    scores, p_value = _train(dataset, folder / "runs")
    demo = Demo(
        report=folder / "index.html",
        dataset=dataset,
        dropped=cleared.dropped,
        leaks=leaks,
        verification=verification,
        audit=artifacts,
        scores=scores,
        p_value=p_value,
        seed=seed,
    )
    render_page(_page(demo), demo.report)
    write_text(folder / "figures.json", to_json(demo.to_dict()) + "\n")
    advance(1)
    return demo


def _vote(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Let the simulated crowd label every pair; who is wrong picks another label at random."""
    random = random_state(seed)
    labels = np.array(NLI3.labels)
    true = np.searchsorted(labels, frame["label"].to_numpy())
    votes = [
        labels[np.where(random.rand(len(true)) < skill, true, (true + random.randint(1, 3, len(true))) % 3)]
        for skill in CROWD.values()
    ]
    people = to_json({"annotators": list(CROWD)})
    return frame.with_columns(
        pl.Series("votes", np.stack(votes, axis=1).tolist(), dtype=pl.List(pl.String)), pl.lit(people).alias("meta")
    )


def _train(dataset: Pairs, runs: Path) -> tuple[dict[str, Estimate], float]:
    labelled = dataset.only(label=list(dataset.card.label_space.labels))
    train, test = (labelled.only(split=name).collect() for name in ("train", "test"))
    units = units_of(test)
    scores, answers = {}, {}
    for name, (model_name, options) in TRAINED.items():
        model = MODELS.get(model_name).fit(
            train["premise"].to_list(),
            train["hypothesis"].to_list(),
            train["label"].to_list(),
            dataset.card.label_space,
            **options,
        )
        model.save(runs / name.replace(", ", "-").replace(" ", "-"))
        answers[name] = predict_labels(model, test["premise"].to_list(), test["hypothesis"].to_list())
        scores[name] = accuracy_score(test["label"].to_list(), answers[name], units=units)
    both = answers["linear, whole pair"], answers["linear, hypothesis only"]
    gap = mcnemar(test["label"].to_list(), *both, units=units)
    return scores, gap.p_value


def _page(demo: Demo) -> Page:
    blind, full = demo.scores["linear, hypothesis only"], demo.scores["linear, whole pair"]
    tests = (
        demo.dataset.only(split="test")
        .collect()
        .sort("id")
        .with_columns(pl.col("tags").list.first().alias("phenomenon"))
    )
    sample = tests.group_by("language", "phenomenon", maintain_order=True).first().sort("language", maintain_order=True)
    whole = demo.verification.whole.to_dict()
    low, high = whole["intervals"]["fleiss_kappa"]
    assert demo.verification.annotators is not None  # the crowd is known by name
    people = pl.DataFrame(
        [
            {
                "annotator": person.name,
                "votes": person.votes,
                "agreement, %": person.agreement.text().replace(" ", "\u00a0"),
                "flags": "; ".join(map(str, person.flags)),
            }
            for person in sorted(demo.verification.annotators.people, key=lambda person: not person.flags)
        ]
    )
    return Page(
        title="Goldlabel demo",
        lead=(
            f"A model that never sees the premise gets {percent(blind.defined)} of these pairs right; with it, "
            f"{percent(full.defined)} (McNemar {p_in_words(demo.p_value)}). What lies above the majority without "
            "the premise is what the labels give away."
        ),
        sections=(
            Section(
                heading="Models",
                text=f"Accuracy on {full.n:,} test pairs over {full.units:,} premises, with 95 % intervals.",
                bars=[Bar(name, score, _NOTES[name]) for name, score in demo.scores.items()],
            ),
            Section(
                heading="Pairs",
                text=(
                    "English and Chinese pairs made from small grammars, with labels true by construction and one "
                    f"artifact planted on purpose ({ARTIFACT}); split 70:10:20 so that no premise is in two splits."
                ),
                table=demo.dataset.table,
            ),
            Section(
                heading="Votes",
                text=(
                    f"Five simulated annotators labelled every pair (Fleiss' kappa {whole['fleiss_kappa']:.2f}, "
                    f"{low:.2f} to {high:.2f}); the majority's gold label differs from the true one on "
                    f"{demo.verification.gold_differs} pairs. One annotator only guesses."
                ),
                table=people,
            ),
            Section(
                heading="What the labels give away",
                text=f"{demo.audit.verdict} The whole audit is in audit/index.html beside this page.",
                items=[Item(finding.text) for finding in demo.audit.findings[:3]],
            ),
            Section(
                heading="Checks",
                text=(
                    f"{len(demo.dataset):,} pairs are valid records; {demo.leaks['cluster'].n_unique()} clusters of "
                    "duplicates reach across splits."
                ),
                table=demo.leaks.head(6) if len(demo.leaks) else None,
            ),
            Section(
                heading="A few of the pairs",
                text="From the test split.",
                table=sample.group_by("language", maintain_order=True)
                .head(4)
                .select("language", "phenomenon", "premise", "hypothesis", "label"),
            ),
        ),
        footer=f"Made by goldlabel demo --seed {demo.seed}; dataset, audit, runs and figures.json lie here too.",
    )
