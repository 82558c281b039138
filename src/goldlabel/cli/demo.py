"""``goldlabel demo``: the way of the data, end to end, on pairs made on the spot."""

from __future__ import annotations

import http.server
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from goldlabel.cli.output import JsonOption, SeedOption, note, print_json, progress
from goldlabel.files import write_text
from goldlabel.metrics import Score, accuracy_score, mcnemar
from goldlabel.models import MODELS, predict_labels
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.rows import to_json
from goldlabel.pairs.splits import ExcludeOverlap, Ratios
from goldlabel.report import Bar, Page, Section, render_page
from goldlabel.sources.fragments import LANGUAGES, fragment_pairs

PAIRS_PER_LANGUAGE = 1500
ARTIFACT = "negation:contradiction:0.8"
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
    with progress("running the demo", 4, in_bytes=False) as advance:
        report, figures = run_demo(output, seed, advance)
    if as_json:
        print_json(figures | {"report": str(report)})
    else:
        typer.echo(f"The report is at {report.resolve()}")
    if serve:
        _serve(output, port)


def run_demo(folder: Path, seed: int, advance: Callable[[int], None]) -> tuple[Path, dict[str, object]]:
    """Make pairs, split and check them, train the small models, write the report; return its path and figures."""
    made = [fragment_pairs(language, PAIRS_PER_LANGUAGE, seed=seed, artifact=ARTIFACT) for language in LANGUAGES]
    history = tuple(step for part in made for step in part.card.history)
    card = Card(name="demo", licence="Apache-2.0", history=history)
    pairs = Pairs(pl.concat(part.frame for part in made), card)
    advance(1)
    split = pairs.split(Ratios(ratios="70:10:20", by="group", stratify=("language", "label")), seed=seed)
    cleared = split.pairs.split(ExcludeOverlap(), seed=seed)
    dataset = cleared.pairs.write(folder / "dataset")
    advance(1)
    duplicates = dataset.duplicates()
    advance(1)
    scores, gap = _train(dataset, folder / "runs")
    figures = {
        "pairs": len(dataset),
        "splits": dict(cleared.splits),
        "dropped": cleared.dropped,
        "duplicates_across_splits": duplicates.to_dict()["across"]["split"],
        "accuracy": {
            name: {"value": s.value, "low": s.interval.low, "high": s.interval.high, "n": s.n}
            for name, s in scores.items()
        },
        "p_value": gap,
        "seed": seed,
    }
    page = _page(dataset, duplicates.across("split"), scores, gap, seed)
    render_page(page, folder / "index.html")
    write_text(folder / "figures.json", to_json(figures) + "\n")
    advance(1)
    return folder / "index.html", figures


def _train(dataset: Pairs, runs: Path) -> tuple[dict[str, Score], float]:
    train, test = dataset.only(split="train").collect(), dataset.only(split="test").collect()
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
        scores[name] = accuracy_score(test["label"].to_list(), answers[name])
    gap = mcnemar(test["label"].to_list(), answers["linear, whole pair"], answers["linear, hypothesis only"])
    return scores, gap.p_value


def _page(dataset: Pairs, leaks: pl.DataFrame, scores: dict[str, Score], p_value: float, seed: int) -> Page:
    blind, full = scores["linear, hypothesis only"], scores["linear, whole pair"]
    sample = (
        dataset.only(split="test").collect().sort("language", "id").group_by("language", maintain_order=True).head(4)
    )
    notes = {
        "majority": "the floor",
        "linear, hypothesis only": "never sees the premise",
        "linear, whole pair": "sees both texts",
    }
    return Page(
        title="Goldlabel demo",
        lead=(
            f"A model that never sees the premise gets {100 * blind.value:.0f} % of these pairs right; with it, "
            f"{100 * full.value:.0f} % (McNemar p {_rounded(p_value)}). What lies above the majority without the "
            "premise is what the labels give away."
        ),
        sections=(
            Section(
                heading="Models",
                text=f"Accuracy on {full.n} test pairs with 95 % Wilson intervals.",
                bars=[Bar(name, score.value, score.interval, notes[name]) for name, score in scores.items()],
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
                table=sample.select("language", "premise", "hypothesis", "label"),
            ),
        ),
        footer=f"Made by goldlabel demo --seed {seed}; the dataset, the runs and figures.json lie beside this page.",
    )


def _rounded(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"


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
