"""What a report tells of a bench: the sentence, the heat map, home against away, who is better, slices, papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from goldlabel.evaluate.suites.paper_tables import OURS, PAPER
from goldlabel.metrics import Estimate, in_percent, p_in_words, percent
from goldlabel.report.bench_page import P_VALUES
from goldlabel.report.figure import Figure
from goldlabel.report.page import Section, Tile
from goldlabel.report.parts.bench_results import BenchFolder
from goldlabel.report.plots import draw_dots, draw_heat_map, draw_reliability, draw_scatter
from goldlabel.report.table import Cell, Column, Table, Value

TOLD_ELSEWHERE = ("accuracies", "ranking", "slices", "weak-slices")
"""Tables that have a section of their own."""
ACCURACY = Column("accuracy", percent=True)
MOST_MODELS, MOST_SLICES, MOST_CELLS = 3, 12, 16
"""In one drawing."""


def bench_headline(bench: BenchFolder) -> str:
    """Answer in a sentence how good the best model is, away and at home, and what the premise is worth."""
    if not bench.is_finished:
        return f"The bench {bench.suite} is not finished: {_progress(bench)}."
    if not bench.means:
        return (
            f"By the suite {bench.suite}, {len(bench.scores)} models were judged on {len(bench.sets)} sets; as none "
            "was judged on all of them, there is no mean to compare."
        )
    best = bench.learners[0]
    sets = f"{len(bench.over)} datasets" if len(bench.over) > 1 else bench.over[0]
    parts = [f"{'Across' if len(bench.over) > 1 else 'On'} {sets} {best} scores {in_percent(bench.means[best])}"]
    home = bench.in_domain
    if home and home in bench.scores[best]:
        parts.append(f"on {home} {percent(bench.scores[best][home].defined)}")
    where = home or (bench.over[0] if len(bench.over) == 1 else None)
    blind = [model for model in bench.blind if where in bench.scores[model] and model != best] if where else []
    if blind and where:
        scores = {model: bench.scores[model][where].value or 0.0 for model in blind}
        model, score = max(scores.items(), key=lambda own: own[1])
        parts.append(f"without the premise, {model} scores {percent(score)} there")
    floors = [bench.means[model].value or 0.0 for model in bench.means if model not in bench.learners]
    if floors:
        parts.append(f"one label for every pair scores {percent(max(floors))}")
    others = [model for model in bench.learners if model in bench.means and model != best]
    if not others:
        return f"{'; '.join(parts)}."
    ties = [model for model in bench.ties(best) if model in others]
    tied = f"{', '.join(ties)} cannot be told from it" if ties else "No other model reaches it"
    return f"{'; '.join(parts)}. {tied}."


def bench_tiles(bench: BenchFolder) -> Iterator[Tile]:
    """Yield the figures of the best model."""
    if not bench.means:
        return
    best = bench.learners[0]
    mean = bench.means[best]
    yield Tile(f"{best}, mean of {len(bench.over)}", f"{_percent(mean)} %", _ends(mean))
    home = bench.in_domain
    if home and home in bench.scores[best]:
        yield Tile(f"on {home}", f"{_percent(bench.scores[best][home])} %", _ends(bench.scores[best][home]))
    if best in bench.deltas:
        yield Tile("Δ, away less home", f"{100 * bench.deltas[best]:+.1f}", "points of accuracy")
    pairs = sum(own["pairs"] for own in bench.settings["sets"].values())
    models = f"{len(bench.scores)} model{'s' * (len(bench.scores) != 1)}"
    yield Tile("judged", models, f"{pairs:,} pairs of {len(bench.sets)} sets")


def bench_sections(bench: BenchFolder) -> Iterator[Section]:
    """Yield what the bench shows."""
    if not bench.scores:
        return
    yield _accuracies(bench)
    yield from _home_and_away(bench)
    yield from _standings(bench)
    yield from _slices(bench)
    yield from _papers(bench)
    if bench.reliability:
        figures = [
            draw_reliability(
                model, bins, shows=f"{model}: calibration error, without what chance explains, {error.percent().text()}"
            )
            for model, (bins, error) in ((model, bench.reliability[model]) for model in bench.models)
            if bins
        ]
        errors = Table(
            name=f"{bench.suite}-calibration",
            columns=("model", Column("calibration error, points", percent=True)),
            rows=[(model, bench.reliability[model][1]) for model in bench.models if model in bench.reliability],
        )
        text = (
            "How sure a model is and how often it is right, all sets together, the first seed. On the line it is as "
            "right as it is sure; bars are the shares of pairs. The error is without what chance explains."
        )
        yield Section(heading="How sure, how right", text=text, figures=figures, table=errors)
    others = [
        _suite_table(bench.suite, name, frame)
        for name, frame in bench.tables.items()
        if name not in TOLD_ELSEWHERE and len(frame)
    ]
    if others:
        text = "As they stand in the paper, from these figures; where the paper has a cell, it stands beside."
        yield Section(heading="The suite's own tables", text=text, tables=others)


def _suite_table(suite: str, name: str, frame: pl.DataFrame) -> Table:
    """Return a suite's table with one place behind the point, and p-values in words."""
    in_words = frame.with_columns(
        pl.col(column).map_elements(p_in_words, return_dtype=pl.String)
        for column in P_VALUES
        if column in frame.columns and frame[column].dtype.is_numeric()
    )
    return Table.of(in_words, name=f"{suite}-{name}", caption=name.replace("-", " ").capitalize(), places=1)


def bench_gaps(bench: BenchFolder) -> Iterator[tuple[str, str]]:
    """Yield what is missing, what failed and what is to be known, and what to do about it or why."""
    if not bench.is_finished:
        yield f"The bench {bench.name} is not finished: {_progress(bench)}", "give the same command once more"
    for name, why in bench.missing.items():
        yield f"The set {name} was not there", why
    for name, why in bench.failed.items():
        yield f"{name} has no answers", why
    for model, name in sorted(bench.trained_on):
        yield f"{model} was trained on pairs of {name}", "its figure there is marked with a dagger"
    for note in bench.notes:
        yield note, ""


def accuracy_table(bench: BenchFolder) -> Table:
    """Return every model on every set, the means first; the best of a column stands out."""
    best = {
        name: max(scores[name].value or 0.0 for scores in bench.scores.values() if name in scores)
        for name in bench.sets
    }
    rows: list[list[Value | Cell]] = []
    for model in bench.models:
        row: list[Value | Cell] = [model]
        if bench.means:
            row.append(Cell(bench.means.get(model), strong=model == bench.models[0]))
        for name in bench.sets:
            score = bench.scores[model].get(name)
            is_best = score is not None and score.value == best[name]
            deviation = bench.deviations.get((model, name))
            seeds = "" if deviation is None else f"± {100 * deviation:.1f} over seeds"
            row.append(Cell(score, seeds, strong=is_best, mark="†" * ((model, name) in bench.trained_on)))
        rows.append(row)
    columns: tuple[Column | str, ...] = (
        "model",
        *([Column(f"mean of {len(bench.over)}", percent=True)] if bench.means else []),
        *(Column(name, percent=True) for name in bench.sets),
    )
    seeds = f", mean over {bench.seeds} seeds" if bench.seeds > 1 else ""
    caption = f"Accuracy in per cent{seeds}; below it the interval at {100 * bench.level:g} %."
    return Table(name=f"{bench.suite}-accuracies", columns=columns, rows=rows, caption=caption)


def _accuracies(bench: BenchFolder) -> Section:
    mean = f"mean of {len(bench.over)}"
    shares = {(model, name): own.value for model in bench.scores for name, own in bench.scores[model].items()}
    shares |= {(model, mean): own.value for model, own in bench.means.items()}
    columns = [*([mean] if bench.means and len(bench.over) > 1 else []), *bench.sets]
    defined = {place: value for place, value in shares.items() if value is not None and place[1] in columns}
    figures = [
        draw_heat_map(
            bench.models, columns, defined, shows=f"Accuracy of {len(bench.models)} models on {len(bench.sets)} sets"
        )
    ]
    if len(bench.sets) > 1:
        figures.append(_by_set(bench))
    text = "Accuracy in per cent, the bluer the higher."
    if bench.means:
        text += f" Models are in the order of their mean over {', '.join(bench.over)}."
    return Section(heading="Models and datasets", text=text, figures=figures, table=accuracy_table(bench))


def _by_set(bench: BenchFolder) -> Figure:
    models = _shown_models(bench)
    rows = [
        (name, [(model, bench.scores[model][name]) for model in models if name in bench.scores[model]])
        for name in bench.sets
    ]
    return draw_dots(
        rows,
        title="The best models with intervals",
        x_name="accuracy, %",
        shows=f"Accuracy of {', '.join(models)} on every set",
    )


def _shown_models(bench: BenchFolder) -> list[str]:
    return bench.learners[:MOST_MODELS]


def _home_and_away(bench: BenchFolder) -> Iterator[Section]:
    home = bench.in_domain
    points = [
        (model, bench.scores[model][home].value or 0.0, bench.means[model].value or 0.0)
        for model in bench.models
        if home and home in bench.scores[model] and model in bench.means
    ]
    if not points or home is None:
        return
    scatter = draw_scatter(
        points,
        x_name=f"accuracy on {home}, %",
        y_name=f"mean of {len(bench.over)} others, %",
        diagonal="the same on both",
        shows="; ".join(f"{model} {100 * x:.1f} on {home}, {100 * y:.1f} elsewhere" for model, x, y in points),
    )
    rows = [
        (
            model,
            [
                (
                    "",
                    Estimate.without_interval(
                        bench.deltas[model], level=bench.level, n=0, units=0, method="difference"
                    ),
                )
            ],
        )
        for model in bench.models
        if model in bench.deltas
    ]
    gaps = draw_dots(
        rows,
        title="Δ, points lost away from home",
        zero=0.0,
        signed=True,
        shows="Δ of every model: " + ", ".join(f"{model} {100 * bench.deltas[model]:+.1f}" for model, _ in rows),
    )
    table = Table(
        name=f"{bench.suite}-home-and-away",
        columns=(
            "model",
            Column(home, percent=True),
            Column(f"mean of {len(bench.over)}", percent=True),
            Column("Δ", percent=True, signed=True),
        ),
        rows=[(model, bench.scores[model][home], bench.means[model], bench.deltas.get(model)) for model, *_ in points],
    )
    text = f"Below the line a model is worse elsewhere than on {home}. Δ is the mean over the other sets less {home}."
    yield Section(heading="At home and away", text=text, figures=[scatter, gaps], table=table)


def _standings(bench: BenchFolder) -> Iterator[Section]:
    if not bench.standings:
        return
    rows = [
        (
            row.first,
            row.second,
            row.difference,
            p_in_words(row.p_value),
            "a tie" if row.p_value > 1 - bench.level else row.first,
        )
        for row in bench.standings
    ]
    columns = ("model", "against", Column("difference, points", percent=True, signed=True), "test", "better")
    table = Table(name=f"{bench.suite}-standings", columns=columns, rows=rows)
    text = (
        f"On the mean over {len(bench.over)} sets, by a paired bootstrap over units; p-values are corrected for all "
        "comparisons (Holm). A difference that could be chance is a tie."
    )
    yield Section(heading="Who is better", text=text, table=table)


def _slices(bench: BenchFolder) -> Iterator[Section]:
    slices = bench.tables.get("slices")
    if slices is None or slices.is_empty():
        return
    models = _shown_models(bench)
    figures = []
    for kind in slices["kind"].unique(maintain_order=True):
        if kind.endswith("length"):
            continue
        own = slices.filter(pl.col("kind") == kind)
        if own["set"].n_unique() > 1 and own["slice"].n_unique() < MOST_SLICES:
            own = own.filter(pl.col("set") == (bench.in_domain if bench.in_domain in own["set"] else own["set"][0]))
        figures.append(_slice_figure(own, kind, models, bench.level))
    table = Table(
        name=f"{bench.suite}-slices",
        columns=("model", "set", "kind", "slice", ACCURACY, "pairs"),
        rows=[
            (row["model"], row["set"], row["kind"], row["slice"], _share(row, bench.level), row["pairs"])
            for row in slices.filter(pl.col("model").is_in(models)).iter_rows(named=True)
        ],
        filtered=True,
    )
    text = f"Accuracy in per cent of {', '.join(models)} by tag, phenomenon and kind of pair."
    yield Section(heading="Kinds of pairs", text=text, figures=figures, table=table)
    weak = bench.tables.get("weak-slices")
    if weak is not None and len(weak):
        text = (
            "Pairs on which a model is worse than on the rest by more than chance explains, corrected for the search."
        )
        rows = [
            (
                row["model"],
                row["set"],
                row["slice"],
                _share(row, bench.level),
                _share(row, bench.level, "difference"),
                p_in_words(row["p (Holm)"]),
                row["pairs"],
            )
            for row in weak.iter_rows(named=True)
        ]
        columns = ("model", "set", "slice", ACCURACY, Column("difference", percent=True, signed=True), "test", "pairs")
        table = Table(name=f"{bench.suite}-weak-slices", columns=columns, rows=rows)
        yield Section(heading="Where models are weak", text=text, table=table)


def _slice_figure(own: pl.DataFrame, kind: str, models: Sequence[str], level: float) -> Figure:
    largest = own.group_by("set", "slice", maintain_order=True).agg(pl.col("pairs").max()).head(MOST_SLICES)
    several = largest["set"].n_unique() > 1
    rows = []
    for place in largest.iter_rows(named=True):
        at = own.filter((pl.col("set") == place["set"]) & (pl.col("slice") == place["slice"]))
        by_model = {row["model"]: _share(row, level) for row in at.iter_rows(named=True)}
        name = str(place["slice"]).removeprefix(f"{kind} ")
        rows.append(
            (
                f"{place['set']}: {name}" if several else name,
                [(model, by_model[model]) for model in models if model in by_model],
            )
        )
    where = "" if several else f", {largest['set'][0]}"
    return draw_dots(rows, title=f"{kind}{where}", x_name="accuracy, %", shows=f"Accuracy by {kind}{where}")


def _papers(bench: BenchFolder) -> Iterator[Section]:
    cells = [cell for name, frame in bench.tables.items() for cell in paper_cells(name, frame)]
    if not cells:
        text = "These results lack the papers' cells; give the bench once more with --reference: its answers are kept."
        yield Section(heading="Beside the paper", text=text)
        return
    apart = sorted(cells, key=lambda cell: -abs(cell[5]))
    shown = [
        (
            f"{row}, {column}",
            [("", Estimate.without_interval(gap / 100, level=bench.level, n=0, units=0, method="difference"))],
        )
        for _, row, column, _, _, gap in apart[:MOST_CELLS]
    ]
    close = sum(abs(cell[5]) <= 2 for cell in cells)
    figure = draw_dots(
        shown,
        title="Ours less the paper's, the largest",
        zero=0.0,
        signed=True,
        shows="The largest differences to the paper",
    )
    table = Table(
        name=f"{bench.suite}-paper",
        columns=("table", "row", "column", Column("ours"), Column("paper"), Column("difference", signed=True)),
        rows=apart,
        filtered=True,
    )
    text = f"{close} of {len(cells)} cells are within two points of the paper's. What differs most comes first."
    yield Section(heading="Beside the paper", text=text, figures=[figure], table=table)


Gap = tuple[str, str, str, float, float, float]
"""Table, row, column, our figure, the paper's, and ours less that."""


def paper_cells(name: str, frame: pl.DataFrame) -> Iterator[Gap]:
    """Yield the cells of a suite's table that a paper has too: in columns beside ours, or in rows below them."""
    if "source" in frame.columns:
        yield from _cells_in_rows(name, frame)
        return
    for row in frame.iter_rows(named=True):
        for column in frame.columns:
            ours, paper = _number(row.get(column)), _number(row.get(f"{column} ({PAPER})"))
            if ours is not None and paper is not None and "size" not in column.lower():
                yield name, str(row[frame.columns[0]]), column, ours, paper, ours - paper


def _cells_in_rows(name: str, frame: pl.DataFrame) -> Iterator[Gap]:
    keys = frame.columns[: frame.columns.index("source")]
    ours: dict[str, object] = {}
    for row in frame.iter_rows(named=True):
        if row["source"] == OURS:
            ours = row
        elif row["source"] == PAPER and [row[key] for key in keys] == [ours.get(key) for key in keys]:
            for column in frame.columns[len(keys) + 1 :]:
                mine, theirs = _number(ours.get(column)), _number(row[column])
                if mine is not None and theirs is not None:
                    yield name, ", ".join(str(row[key]) for key in keys), column, mine, theirs, mine - theirs


def _number(cell: object) -> float | None:
    """Return the figure that a cell begins with: ``59.2 ± 0.5 (57.4 to 61.0)``."""
    try:
        return float(str(cell).split()[0])
    except (ValueError, IndexError):
        return None


def _share(row: dict[str, Any], level: float, name: str = "accuracy") -> Estimate:
    ends = (row[name], row[f"{name}_low"], row[f"{name}_high"])
    value, low, high = (None if end is None else end / 100 for end in ends)
    return Estimate(value, low, high, level, int(row["pairs"]), int(row["units"]), "as written")


def _percent(figure: Estimate) -> str:
    return f"{100 * figure.defined:.1f}"


def _ends(figure: Estimate) -> str:
    return f"{100 * figure.interval[0]:.1f}–{100 * figure.interval[1]:.1f}" if figure.interval else ""


def _progress(bench: BenchFolder) -> str:
    done = sum(run.is_finished for run in bench.runs)
    return f"{done} of the {len(bench.runs)} runs that were begun are finished, and there are no figures yet"
