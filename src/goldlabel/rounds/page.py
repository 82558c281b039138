"""The page of a campaign: how often models were wrong and what that took, what they learnt, and what they forgot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suite import SUITES
from goldlabel.evaluate.suites.rounds import ALL_ROUNDS, CURVES, EFFICIENCY, TRAIN
from goldlabel.metrics import Estimate, in_percent
from goldlabel.report import Bar, Column, Figure, Page, Section, Table
from goldlabel.report.plots import draw_dots, draw_histogram, draw_lines
from goldlabel.rounds.arms import Arms
from goldlabel.rounds.comparisons import Forgotten, curve_points
from goldlabel.rounds.figures import Campaign, Histogram, RoundFigures

SHARES = {"fooled": "model wrong", "confirmed": "confirmed", "verified_errors": "verified errors"}
COMPARED = {
    "table-5": ("Equally many pairs", "Plain data, the rounds, and mixtures of them, with equally many pairs of each."),
    EFFICIENCY: (
        "How many pairs it takes",
        "More and more pairs of the rounds, and equally many plain ones; with 95 % intervals.",
    ),
    "figure-3": ("Verified or not", "As many verified training pairs as unverified ones; with 95 % intervals."),
    "claims": ("What that shows", "Differences in points of per cent; p-values are corrected for all of them (Holm)."),
}

TAUGHT = {TRAIN: "plain"}


def report_page(
    campaign: Campaign,
    arms: Arms | None,
    models: BenchResults | None,
    forgotten: Sequence[Forgotten],
    comparisons: BenchResults | None,
) -> Page:
    """Return the page of a campaign."""
    rounds = campaign.rounds
    sections = [_errors(campaign), *_arms(arms), *_judged(models), *_forgotten(forgotten), *_compared(comparisons)]
    if rounds:
        sections += [*_collected(rounds), *_pictures(rounds), *_kinds(rounds)]
    return Page(title=campaign.name, lead=campaign.title, sections=sections, wide=True)


def _errors(campaign: Campaign) -> Section:
    return Section(
        heading="How often the models were wrong",
        text="The share of examples that a model labelled otherwise than the writer, and of those that others "
        "confirmed; with 95 % intervals, pairs of one context taken together.",
        bars=[
            bar
            for one in campaign.rounds
            for bar in (Bar(f"{one.name}: errors", one.errors), Bar(f"{one.name}: verified", one.verified_errors))
        ],
        table=campaign.table,
    )


def _arms(arms: Arms | None) -> Iterator[Section]:
    if arms is not None:
        text = (
            "Writers came to the arms at random, and all arms have the same contexts, labels, pay and verifiers. In an "
            "arm without a model to be seen the models were asked all the same; a sentence is confirmed where others "
            "give it the writer's label. With 95 % intervals, pairs of one context taken together."
        )
        bars = [Bar(f"{arm.name}: verified errors", arm.verified_errors) for arm in arms.arms]
        yield Section(heading="What the adversary is worth", text=text, bars=bars, table=arms.table)
        if arms.contrasts:
            yield Section(
                heading="Arm against arm",
                text="How much larger a share is in an arm than in the first one, in points of per cent. Arms share "
                "their contexts, so pairs of one context are taken together; p-values are corrected for all of these "
                "differences (Holm). They tell what other contexts would have shown with the same writers.",
                table=Table(
                    columns=(
                        "arm",
                        "against",
                        "share",
                        Column("difference", percent=True, signed=True),
                        Column("p", 3),
                    ),
                    rows=[
                        (one.arm, one.against, SHARES[one.share], one.difference, one.p_value) for one in arms.contrasts
                    ],
                    name="contrasts",
                ),
            )


def _judged(results: BenchResults | None) -> Iterator[Section]:
    if results is None:
        return
    tables = SUITES.get("rounds").tables(results, reference=False)
    text = "Accuracy in per cent on each round's test set; exclusive: pairs of writers who are in test alone."
    yield Section(heading="Every model on every round", text=text, table=tables["table-3"])
    if "table-7" in tables:
        yield Section(
            heading="Errors by kind of example",
            text="How often each model is wrong on the test pairs that experts gave a tag, in per cent.",
            table=tables["table-7"],
        )


def _forgotten(forgotten: Sequence[Forgotten]) -> Iterator[Section]:
    if forgotten:
        yield Section(
            heading="What was forgotten",
            text="How much more often a round's models are right than those before them, in points of per cent, on "
            "rounds that both have learnt from and on sets beside. Below zero something was forgotten.",
            figures=[
                draw_dots(
                    [(f"{one.after}: {one.on}", [("gain", one.gain)]) for one in forgotten],
                    shows="gains of each round's models on earlier sets, with their intervals",
                    x_name="points of per cent",
                    zero=0.0,
                    signed=True,
                )
            ],
            table=Table(
                columns=("models of", "against", "on", Column("gain", percent=True, signed=True), Column("p", 3)),
                rows=[(one.after, one.before, one.on, one.gain, one.p_value) for one in forgotten],
                name="forgotten",
            ),
        )


def _compared(results: BenchResults | None) -> Iterator[Section]:
    if results is None:
        return
    tables = SUITES.get("rounds").tables(results, reference=False)
    for name, (heading, text) in COMPARED.items():
        if name in tables:
            yield Section(heading=heading, text=text, figures=_curves(results, name), table=tables[name])
        elif name in results.plan.missing:
            yield Section(heading=heading, text=f"Not here: {results.plan.missing[name]}.")


def _curves(results: BenchResults, part: str) -> list[Figure]:
    """Draw accuracy over the number of training pairs, for all rounds together and for each set beside."""
    curves: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    for point in curve_points(results, part) if part in CURVES else ():
        ends = (point.accuracy.value, point.accuracy.low, point.accuracy.high)
        known = tuple(end for end in ends if end is not None)
        curves.setdefault(point.on, {}).setdefault(point.data, []).append((point.pairs, *known))
    return [
        draw_lines(
            [(TAUGHT.get(data, data), points) for data, points in series.items()],
            x_name="pairs trained on",
            y_name=f"accuracy on {'all rounds' if on == ALL_ROUNDS else on}, %",
            shows=f"accuracy on {on} by the number of training pairs: {', '.join(series)}",
        )
        for on, series in curves.items()
    ]


def _collected(rounds: Sequence[RoundFigures]) -> Iterator[Section]:
    yield Section(
        heading="Labels and splits",
        text="Examples by label, where verifiers overruled the writer theirs, and by split.",
        table=_wide({one.name: {**one.labels, **one.splits} for one in rounds}),
    )
    agreement = {
        one.name: {
            **one.outcomes,
            "agrees with author": in_percent(one.agrees_with_author),
            **{f"kappa, {part}": "" if kappa is None else kappa.text(3) for part, kappa in one.kappa.items()},
        }
        for one in rounds
    }
    yield Section(
        heading="What others made of the examples that fooled a model",
        text="Two verifiers, and a third where they differ; Fleiss' kappa on dev and test.",
        table=_wide(agreement),
    )


def _pictures(rounds: Sequence[RoundFigures]) -> Iterator[Section]:
    for heading, text, counts in (
        ("Tries", "Verified errors by the tries they took.", {one.name: one.tries_histogram for one in rounds}),
        ("Seconds", "Verified errors by the seconds they took.", {one.name: one.seconds_histogram for one in rounds}),
        ("Length of contexts", "Contexts by tokens.", {one.name: one.lengths["premise"] for one in rounds}),
        ("Length of hypotheses", "Examples by tokens.", {one.name: one.lengths["hypothesis"] for one in rounds}),
    ):
        figures = _histograms(heading, counts)
        shown = f"{text} Behind each round, in grey, all of them." if figures else text
        yield Section(heading=heading, text=shown, figures=figures, table=_wide(counts))


def _histograms(heading: str, counts: Mapping[str, Histogram]) -> list[Figure]:
    """Draw each round's shares of what was counted, over those of all rounds; of one bin there is nothing to draw."""
    bins = list(dict.fromkeys(name for own in counts.values() for name, count in own.items() if count))
    if len(bins) < 2:
        return []
    every = [sum(own.get(name, 0) for own in counts.values()) for name in bins]
    totals = {name: sum(own.values()) for name, own in counts.items() if any(own.values())}
    shares = {name: [counts[name].get(place, 0) / total for place in bins] for name, total in totals.items()}
    return [
        draw_histogram(
            name,
            heights,
            [count / sum(every) for count in every],
            ticks=(bins[0], bins[-1]),
            x_name=heading.lower(),
            top=max(share for own in shares.values() for share in own),
            note=f"{totals[name]:,}",
            shows=f"{heading}, {name}: {', '.join(f'{place}: {counts[name].get(place, 0)}' for place in bins)}",
        )
        for name, heights in shares.items()
    ]


def _kinds(rounds: Sequence[RoundFigures]) -> Iterator[Section]:
    names = sorted({name for one in rounds for name in one.kinds})
    if names:
        rows: list[tuple[str, list[tuple[str, Estimate]]]] = [
            (name, [(one.name, one.kinds[name]) for one in rounds if name in one.kinds]) for name in names
        ]
        yield Section(
            heading="Kinds of example",
            text="Of the examples that experts have tagged, the share of each tag; one may have several.",
            figures=[
                draw_dots(rows, shows="the share of each tag in each round", x_name="per cent of tagged examples")
            ],
            table=_wide({one.name: {name: in_percent(own) for name, own in one.kinds.items()} for one in rounds}),
        )


def _wide(rows: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """Return a table with a row for each round and a column for whatever any of them has."""
    columns = dict.fromkeys(name for row in rows.values() for name in row)
    return pl.DataFrame(
        [{"round": name} | {column: row.get(column) for column in columns} for name, row in rows.items()]
    )
