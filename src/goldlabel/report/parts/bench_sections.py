"""What a report tells of a bench: the sentence, the heat map, home against away, who is better, slices, papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from goldlabel.evaluate.suites import SUITES
from goldlabel.evaluate.suites.off_paper import OFF_PAPER
from goldlabel.metrics import Estimate, in_percent, p_in_words, percent
from goldlabel.report.bench_page import P_VALUES
from goldlabel.report.figure import Figure
from goldlabel.report.language import comma, say, sentences, translate_name
from goldlabel.report.page import Section, Tile
from goldlabel.report.parts.bench_results import BenchFolder
from goldlabel.report.parts.suite_words import say_cell, say_column, say_note, say_table
from goldlabel.report.plots import draw_dots, draw_heat_map, draw_reliability, draw_scatter
from goldlabel.report.table import Cell, Column, Table, Value

TOLD_ELSEWHERE = ("accuracies", "ranking", "slices", "weak-slices", OFF_PAPER)
"""Tables that have a section of their own."""
DATA = ("campaign", "dataset")
"""Options of suites that say whose data it is; by default, the paper's."""
MOST_MODELS, MOST_SLICES, MOST_CELLS = 3, 12, 16
"""In one drawing."""


def bench_headline(bench: BenchFolder) -> str:
    """Answer in a sentence how good the best model is, away and at home, and what the premise is worth."""
    if not bench.is_finished:
        return say("The bench {suite} is not finished: {progress}.", suite=bench.suite, progress=_progress(bench))
    best = bench.best
    if best is None:
        return say(
            "By the suite {suite}, {models} models were judged on {sets} sets; as none that learns was judged on all "
            "of them, there is no mean to compare.",
            suite=bench.suite,
            models=len(bench.scores),
            sets=len(bench.sets),
        )
    score = in_percent(bench.means[best])
    parts = [
        say("Across {sets} datasets {model} scores {score}", sets=len(bench.over), model=best, score=score)
        if len(bench.over) > 1
        else say("On {set} {model} scores {score}", set=bench.over[0], model=best, score=score)
    ]
    home = bench.in_domain
    if home and home in bench.scores[best]:
        parts.append(say("on {set} {score}", set=home, score=percent(bench.scores[best][home].defined)))
    where = home or (bench.over[0] if len(bench.over) == 1 else None)
    blind = [model for model in bench.blind if where in bench.scores[model] and model != best] if where else []
    if blind and where:
        scores = {model: bench.scores[model][where].value or 0.0 for model in blind}
        model = max(scores, key=lambda name: scores[name])
        parts.append(
            say("without the premise, {model} scores {score} there", model=model, score=percent(scores[model]))
        )
    floors = [bench.means[model].value or 0.0 for model in bench.means if model not in bench.learners]
    if floors:
        parts.append(say("one label for every pair scores {score}", score=percent(max(floors))))
    others = [model for model in bench.learners if model in bench.means and model != best]
    first = say("{parts}.", parts=say("; ").join(parts))
    if not others:
        return first
    ties = [model for model in bench.ties(best) if model in others]
    if not ties:
        return sentences(first, say("No other model reaches it."))
    named, more = comma().join(ties[:MOST_MODELS]), len(ties) - MOST_MODELS
    if more > 0:
        return sentences(first, say("{models} and {more} more cannot be told from it.", models=named, more=more))
    return sentences(first, say("{models} cannot be told from it.", models=named))


def bench_tiles(bench: BenchFolder) -> Iterator[Tile]:
    """Yield the figures of the best model."""
    best = bench.best
    if best is None:
        return
    mean = bench.means[best]
    name = (
        say("{model}, mean of {sets}", model=best, sets=len(bench.over))
        if len(bench.over) > 1
        else say("{model} on {set}", model=best, set=bench.over[0])
    )
    yield Tile(name, f"{_percent(mean)} %", _ends(mean))
    home = bench.in_domain
    if home and home in bench.scores[best]:
        yield Tile(
            say("on {set}", set=home), f"{_percent(bench.scores[best][home])} %", _ends(bench.scores[best][home])
        )
    if best in bench.deltas:
        yield Tile(say("Δ, away less home"), f"{100 * bench.deltas[best].defined:+.1f}", _points(bench.deltas[best]))
    pairs = sum(own["pairs"] for own in bench.settings["sets"].values())
    models = say("1 model") if len(bench.scores) == 1 else say("{models} models", models=len(bench.scores))
    yield Tile(say("judged"), models, say("{pairs:,} pairs of {sets} sets", pairs=pairs, sets=len(bench.sets)))


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
                model,
                bins,
                shows=say(
                    "{model}: calibration error, without what chance explains, {error}",
                    model=model,
                    error=error.percent().text(),
                ),
            )
            for model, (bins, error) in ((model, bench.reliability[model]) for model in bench.models)
            if bins
        ]
        errors = Table(
            name=f"{bench.suite}-calibration",
            columns=(say("model"), Column(say("calibration error"), percent=True)),
            rows=[(model, bench.reliability[model][1]) for model in bench.models if model in bench.reliability],
        )
        text = say(
            "How sure a model is and how often it is right, all sets together, the first seed. On the line it is as "
            "right as it is sure; bars are the shares of pairs. The error is without what chance explains."
        )
        yield Section(heading=say("How sure, how right"), text=text, figures=figures, table=errors)
    others = [
        suite_table(bench.suite, name, frame)
        for name, frame in bench.tables.items()
        if name not in TOLD_ELSEWHERE and len(frame)
    ]
    if others:
        text = say("As they stand in the paper, from these figures; where the paper has a cell, it stands beside.")
        yield Section(heading=say("The suite's own tables"), text=text, tables=others)


def suite_table(suite: str, name: str, frame: pl.DataFrame) -> Table:
    """Return a suite's table with one place behind the point, and p-values in words."""
    in_words = frame.with_columns(
        pl.col(column).map_elements(p_in_words, return_dtype=pl.String)
        for column in P_VALUES
        if column in frame.columns and frame[column].dtype.is_numeric()
    )
    rows = [
        [say_cell(column, value) if isinstance(value, str) else value for column, value in row.items()]
        for row in in_words.iter_rows(named=True)
    ]
    columns = [Column(say_column(column), 1) for column in in_words.columns]
    return Table(columns=columns, rows=rows, name=f"{suite}-{name}", caption=say_table(name))


def bench_gaps(bench: BenchFolder) -> Iterator[tuple[str, str]]:
    """Yield what is missing, what failed and what is to be known, and what to do about it or why."""
    if not bench.is_finished:
        yield (
            say("The bench {name} is not finished: {progress}", name=bench.name, progress=_progress(bench)),
            say("give the same command once more"),
        )
    for name, why in bench.missing.items():
        yield say("{name} is missing", name=name), say_note(why)
    for name, why in bench.failed.items():
        yield say("{model} has no answers", model=name), why
    for model, name in sorted(bench.trained_on):
        yield (
            say("{model} was trained on pairs of {set}", model=model, set=name),
            say("its figure there is marked with a dagger"),
        )


def accuracy_table(bench: BenchFolder) -> Table:
    """Return every model on every set, the means first; the best of a column stands out."""
    best = {
        name: max(scores[name].value or 0.0 for scores in bench.scores.values() if name in scores)
        for name in bench.sets
    }
    rows: list[list[Value | Cell]] = []
    for model in bench.models:
        row: list[Value | Cell] = [model]
        if _has_mean(bench):
            row.append(Cell(bench.means.get(model), strong=model == bench.models[0]))
        for name in bench.sets:
            score = bench.scores[model].get(name)
            is_best = score is not None and score.value == best[name]
            deviation = bench.deviations.get((model, name))
            seeds = "" if deviation is None else say("± {deviation:.1f} over seeds", deviation=100 * deviation)
            row.append(Cell(score, seeds, strong=is_best, mark="†" * ((model, name) in bench.trained_on)))
        rows.append(row)
    columns: tuple[Column | str, ...] = (
        say("model"),
        *([Column(_mean_name(bench), percent=True)] if _has_mean(bench) else []),
        *(Column(name, percent=True) for name in bench.sets),
    )
    caption = say("Accuracy in per cent; below it the interval at {level:g} %.", level=100 * bench.level)
    if bench.seeds > 1:
        caption = sentences(caption, say("The mean over {seeds} seeds.", seeds=bench.seeds))
    return Table(name=f"{bench.suite}-accuracies", columns=columns, rows=rows, caption=caption)


def _accuracies(bench: BenchFolder) -> Section:
    mean = _mean_name(bench)
    shares = {(model, name): own.value for model in bench.scores for name, own in bench.scores[model].items()}
    shares |= {(model, mean): own.value for model, own in bench.means.items()}
    columns = [*([mean] if _has_mean(bench) else []), *bench.sets]
    defined = {place: value for place, value in shares.items() if value is not None and place[1] in columns}
    figures = [
        draw_heat_map(
            bench.models,
            columns,
            defined,
            shows=say("Accuracy of {models} models on {sets} sets", models=len(bench.models), sets=len(bench.sets)),
        )
    ]
    if len(bench.sets) > 1:
        figures.append(_by_set(bench))
    text = say("Accuracy in per cent, the bluer the higher.")
    if bench.best:
        order = say("Models are in the order of their mean over {sets}.", sets=comma().join(bench.over))
        text = sentences(text, order)
    return Section(heading=say("Models and datasets"), text=text, figures=figures, table=accuracy_table(bench))


def _by_set(bench: BenchFolder) -> Figure:
    models = _shown_models(bench)
    rows = [
        (name, [(model, bench.scores[model][name]) for model in models if name in bench.scores[model]])
        for name in bench.sets
    ]
    return draw_dots(
        [(name, own) for name, own in rows if own],
        title=say("The best models with intervals"),
        x_name=say("accuracy, %"),
        shows=say("Accuracy of {models} on every set", models=comma().join(models)),
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
        x_name=say("accuracy on {set}, %", set=home),
        y_name=say("mean of {sets} others, %", sets=len(bench.over)),
        diagonal=say("the same on both"),
        shows=say("; ").join(
            say("{model} {home:.1f} on {set}, {away:.1f} elsewhere", model=model, home=100 * x, set=home, away=100 * y)
            for model, x, y in points
        ),
    )
    rows = [(model, [("", bench.deltas[model])]) for model in bench.models if model in bench.deltas]
    gaps = draw_dots(
        rows,
        title=say("Δ, points lost away from home"),
        zero=0.0,
        signed=True,
        shows=say(
            "Δ of every model: {deltas}", deltas=comma().join(_told(model, bench.deltas[model]) for model, _ in rows)
        ),
    )
    table = Table(
        name=f"{bench.suite}-home-and-away",
        columns=(
            say("model"),
            Column(home, percent=True),
            Column(_mean_name(bench), percent=True),
            Column("Δ", percent=True, signed=True),
        ),
        rows=[(model, bench.scores[model][home], bench.means[model], bench.deltas.get(model)) for model, *_ in points],
    )
    text = say(
        "Below the line a model is worse elsewhere than on {set}. Δ is the mean over the other sets less {set}, with "
        "its interval.",
        set=home,
    )
    yield Section(heading=say("At home and away"), text=text, figures=[scatter, gaps], table=table)


def _standings(bench: BenchFolder) -> Iterator[Section]:
    if not bench.standings:
        return
    rows = [
        (
            row.first,
            row.second,
            row.difference,
            p_in_words(row.p_value),
            say("a tie") if row.p_value > 1 - bench.level else row.first,
        )
        for row in bench.standings
    ]
    columns = (
        say("model"),
        say("against"),
        Column(say("difference, points"), percent=True, signed=True),
        say("test"),
        say("better"),
    )
    table = Table(name=f"{bench.suite}-standings", columns=columns, rows=rows)
    where = (
        say("On the mean over {sets} sets", sets=len(bench.over))
        if len(bench.over) > 1
        else say("On {set}", set=bench.over[0])
    )
    text = say(
        "{where}, by a paired bootstrap over units; p-values are corrected for all comparisons (Holm). A difference "
        "that could be chance is a tie.",
        where=where,
    )
    yield Section(heading=say("Who is better"), text=text, table=table)


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
        columns=(
            say("model"),
            say("set"),
            say("kind"),
            say("slice"),
            Column(say("accuracy"), percent=True),
            say("pairs"),
        ),
        rows=[
            (
                row["model"],
                row["set"],
                say(row["kind"]),
                translate_name(row["slice"], row["kind"]),
                _share(row, bench.level),
                row["pairs"],
            )
            for row in slices.filter(pl.col("model").is_in(models)).iter_rows(named=True)
        ],
        filtered=True,
    )
    text = say("Accuracy in per cent of {models} by tag, phenomenon and kind of pair.", models=comma().join(models))
    yield Section(heading=say("Kinds of pairs"), text=text, figures=figures, table=table)
    weak = bench.tables.get("weak-slices")
    if weak is not None and len(weak):
        text = say(
            "Pairs on which a model is worse than on the rest by more than chance explains, corrected for the search."
        )
        rows = [
            (
                row["model"],
                row["set"],
                say(row["slice"]),
                _share(row, bench.level),
                _share(row, bench.level, "difference"),
                p_in_words(row["p (Holm)"]),
                row["pairs"],
            )
            for row in weak.iter_rows(named=True)
        ]
        columns = (
            say("model"),
            say("set"),
            say("slice"),
            Column(say("accuracy"), percent=True),
            Column(say("difference"), percent=True, signed=True),
            say("test"),
            say("pairs"),
        )
        table = Table(name=f"{bench.suite}-weak-slices", columns=columns, rows=rows)
        yield Section(heading=say("Where models are weak"), text=text, table=table)


def _slice_figure(own: pl.DataFrame, kind: str, models: Sequence[str], level: float) -> Figure:
    largest = own.group_by("set", "slice", maintain_order=True).agg(pl.col("pairs").max()).head(MOST_SLICES)
    several = largest["set"].n_unique() > 1
    rows = []
    for place in largest.iter_rows(named=True):
        at = own.filter((pl.col("set") == place["set"]) & (pl.col("slice") == place["slice"]))
        by_model = {row["model"]: _share(row, level) for row in at.iter_rows(named=True)}
        whole = translate_name(str(place["slice"]), kind)
        name = whole.removeprefix(f"{say(kind)} ")
        rows.append(
            (
                f"{place['set']}: {name}" if several else name,
                [(model, by_model[model]) for model in models if model in by_model],
            )
        )
    title = say(kind) if several else f"{say(kind)}, {largest['set'][0]}"
    return draw_dots(rows, title=title, x_name=say("accuracy, %"), shows=say("Accuracy by {kind}", kind=title))


def _papers(bench: BenchFolder) -> Iterator[Section]:
    """Yield how far figures are from the paper's; a suite without a paper has none."""
    heading, cells = say("Beside the paper"), bench.tables.get(OFF_PAPER)
    if cells is None:
        if _is_of_paper(bench):
            text = say(
                "None of the paper's cells stands beside these results. Give the bench once more with --reference, if "
                "it had not: its answers are kept. With it, the paper has no such models and sets."
            )
            yield Section(heading=heading, text=text)
        return
    apart = cells.sort(pl.col("difference").abs(), descending=True)
    rows = [
        (
            row["table"],
            row["row"],
            row["column"],
            *(_share(row, bench.level, name) for name in ("ours", "paper", "difference")),
        )
        for row in apart.with_columns(units="pairs").iter_rows(named=True)
    ]
    shown = [(f"{row}{comma()}{column}", [("", difference)]) for _, row, column, *_, difference in rows[:MOST_CELLS]]
    figure = draw_dots(
        shown,
        title=say("Ours less the paper's, the largest"),
        zero=0.0,
        signed=True,
        shows=say("The largest differences to the paper"),
    )
    table = Table(
        name=f"{bench.suite}-paper",
        columns=(
            say("table"),
            say("row"),
            say("column"),
            Column(say("ours"), percent=True),
            Column(say("paper"), percent=True),
            Column(say("difference"), percent=True, signed=True),
        ),
        rows=rows,
        filtered=True,
    )
    holding = cells.filter((pl.col("difference_low") <= 0) & (pl.col("difference_high") >= 0))
    text = say(
        "{close} of {cells} cells are within two points of the paper's, and of {holding} the interval holds no "
        "difference. What differs most comes first. An interval is of ours and the paper's where the paper tells its "
        "number of pairs, else of ours alone.",
        close=len(cells.filter(pl.col("difference").abs().round(1) <= 2)),
        cells=len(cells),
        holding=len(holding),
    )
    yield Section(heading=heading, text=text, figures=[figure], table=table)


def _is_of_paper(bench: BenchFolder) -> bool:
    """Say whether a bench is on the data of a paper, whose figures could stand beside."""
    if bench.suite not in SUITES:
        return False
    suite, options = SUITES.get(bench.suite), bench.settings.get("options", {})
    own = any(options.get(name, suite.options[name]) != suite.options[name] for name in DATA if name in suite.options)
    return bool(suite.paper) and not own


def _share(row: dict[str, Any], level: float, name: str = "accuracy") -> Estimate:
    ends = (row[name], row[f"{name}_low"], row[f"{name}_high"])
    value, low, high = (None if end is None else end / 100 for end in ends)
    return Estimate(value, low, high, level, int(row["pairs"]), int(row["units"]), "as written")


def _percent(figure: Estimate) -> str:
    return f"{100 * figure.defined:.1f}"


def _has_mean(bench: BenchFolder) -> bool:
    """Say whether there is a mean to show: over several sets, and of a model that learns."""
    return bench.best is not None and len(bench.over) > 1


def _mean_name(bench: BenchFolder) -> str:
    return say("mean of {sets}", sets=len(bench.over))


def _told(name: str, difference: Estimate) -> str:
    return f"{name} {100 * difference.defined:+.1f}"


def _points(difference: Estimate) -> str:
    if difference.interval is None:
        return say("points of accuracy")
    low, high = difference.interval
    return say("{low:+.1f} to {high:+.1f} points", low=100 * low, high=100 * high)


def _ends(figure: Estimate) -> str:
    return f"{100 * figure.interval[0]:.1f}–{100 * figure.interval[1]:.1f}" if figure.interval else ""


def _progress(bench: BenchFolder) -> str:
    done = sum(run.is_finished for run in bench.runs)
    return say(
        "{done} of the {runs} runs that were begun are finished, and there are no figures yet",
        done=done,
        runs=len(bench.runs),
    )
