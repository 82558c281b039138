"""``goldlabel demo``: the way of the data, end to end, on pairs made on the spot."""

from __future__ import annotations

import http.server
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from goldlabel.audit import Audit, AuditOptions, audit
from goldlabel.cli.output import JsonOption, SeedOption, note, print_json, progress
from goldlabel.files import write_text
from goldlabel.metrics import Estimate, accuracy_score, mcnemar, p_in_words
from goldlabel.models import MODELS, predict_labels
from goldlabel.pairs import Card, Pairs
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


def demo_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for everything the demo makes.")] = Path(
        "demo"
    ),
    serve: Annotated[bool, typer.Option(help="Serve the report on 127.0.0.1 at the end.")] = True,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to serve on; 0 takes a free one.")] = 8000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Run the workbench end to end on generated pairs, and serve the report."""
    with progress("running the demo", 6, in_bytes=False) as advance:
        report, figures = run_demo(output, seed, advance)
    if as_json:
        print_json(figures | {"report": str(report)})
    else:
        typer.echo(f"The report is at {report.resolve()}")
    if serve:
        _serve(output, port)


def run_demo(folder: Path, seed: int, advance: Callable[[int], None]) -> tuple[Path, dict[str, object]]:
    """Make pairs, verify, split, check and audit them, train on them, report; return the page and the figures."""
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
    duplicates = dataset.duplicates()
    advance(1)
    found = audit(dataset, options=AuditOptions(seed=seed, curve=True, tokenizer="characters"))
    write_audit(found, folder / "audit")
    advance(1)
    scores, gap = _train(dataset, folder / "runs")
    whole = verification.whole.to_dict()
    figures = {
        "pairs": len(dataset),
        "splits": dict(cleared.splits),
        "dropped": cleared.dropped,
        "duplicates_across_splits": duplicates.to_dict()["across_splits"],
        "agreement": {"fleiss_kappa": whole["fleiss_kappa"], "interval": whole["intervals"]["fleiss_kappa"]},
        "gold_differs": verification.gold_differs,
        "finding": found.findings[0].text if found.findings else None,
        "accuracy": {
            name: {"value": score.value, "low": score.low, "high": score.high, "n": score.n}
            for name, score in scores.items()
        },
        "p_value": gap,
        "seed": seed,
    }
    page = _page(dataset, duplicates.across("split"), verification, found, scores, gap, seed)
    render_page(page, folder / "index.html")
    write_text(folder / "figures.json", to_json(figures) + "\n")
    advance(1)
    return folder / "index.html", figures


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


def _page(
    dataset: Pairs,
    leaks: pl.DataFrame,
    verification: Verification,
    found: Audit,
    scores: dict[str, Estimate],
    p_value: float,
    seed: int,
) -> Page:
    blind, full = scores["linear, hypothesis only"], scores["linear, whole pair"]
    tests = (
        dataset.only(split="test").collect().sort("id").with_columns(pl.col("tags").list.first().alias("phenomenon"))
    )
    sample = tests.group_by("language", "phenomenon", maintain_order=True).first().sort("language", maintain_order=True)
    whole = verification.whole.to_dict()
    low, high = whole["intervals"]["fleiss_kappa"]
    people = (
        verification.annotators.table.select("annotator", "votes", "agreement", "flags")
        if verification.annotators
        else None
    )
    notes = {
        "majority": "the floor",
        "linear, hypothesis only": "never sees the premise",
        "linear, whole pair": "sees both texts",
    }
    return Page(
        title="Goldlabel demo",
        lead=(
            f"A model that never sees the premise gets {100 * blind.defined:.0f} % of these pairs right; with it, "
            f"{100 * full.defined:.0f} % (McNemar {p_in_words(p_value)}). What lies above the majority without the "
            "premise is what the labels give away."
        ),
        sections=(
            Section(
                heading="Models",
                text=f"Accuracy on {full.n} test pairs over {full.units} premises, with 95 % intervals.",
                bars=[Bar(name, score, notes[name]) for name, score in scores.items()],
            ),
            Section(
                heading="Pairs",
                text=(
                    "English and Chinese pairs made from small grammars, with labels true by construction and one "
                    f"artifact planted on purpose ({ARTIFACT}); split 70:10:20 so that no premise is in two splits."
                ),
                table=dataset.table,
            ),
            Section(
                heading="Votes",
                text=(
                    f"Five simulated annotators labelled every pair (Fleiss' kappa {whole['fleiss_kappa']:.2f}, "
                    f"{low:.2f} to {high:.2f}); the majority's gold label differs from the true one on "
                    f"{verification.gold_differs} pairs. One annotator only guesses."
                ),
                table=people,
            ),
            Section(
                heading="What the labels give away",
                text=f"{found.verdict} The whole audit is in audit/index.html beside this page.",
                items=[Item(finding.text) for finding in found.findings[:3]],
            ),
            Section(
                heading="Checks",
                text=(
                    f"{len(dataset)} pairs are valid records; {leaks['cluster'].n_unique()} clusters of duplicates "
                    "reach across splits."
                ),
                table=leaks.head(6) if len(leaks) else None,
            ),
            Section(
                heading="A few of the pairs",
                text="From the test split.",
                table=sample.group_by("language", maintain_order=True)
                .head(4)
                .select("language", "phenomenon", "premise", "hypothesis", "label"),
            ),
        ),
        footer=f"Made by goldlabel demo --seed {seed}; dataset, audit, runs and figures.json lie here too.",
    )


def _serve(folder: Path, port: int) -> None:
    handler = partial(_Quiet, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    note(f"Serving it on http://127.0.0.1:{server.server_address[1]}/ ; Ctrl-C ends")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        note("")
    finally:
        server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line per request."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
