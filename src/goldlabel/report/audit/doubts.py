"""Labels that are in doubt: how far annotators agree, what a model holds for wrong, what training found hard."""

from __future__ import annotations

from typing import Any

from goldlabel.audit import Audit
from goldlabel.audit.cartography import Cartography
from goldlabel.audit.label_errors import LabelErrors
from goldlabel.metrics import Estimate, in_percent, percent
from goldlabel.report.audit.cards import PairTexts, label_of, shaped, votes_of
from goldlabel.report.audit.data_map import draw_data_map
from goldlabel.report.language import N_, comma, say
from goldlabel.report.page import Bar, Item, Link, Section
from goldlabel.report.table import Cell, Table

LABEL_ERRORS = "label_errors.csv"
SHOWN = 15
SHOWN_OF_REGION = 3
_AGREEMENT = {
    "agree5": N_("all five agree"),
    "agree4": N_("four or more agree"),
    "agree3": N_("three or more agree"),
    "individual_gold": N_("a vote is the gold label"),
    "gold_author": N_("the gold label is the author's"),
    "no_gold": N_("no gold label"),
}
_REGIONS = {
    "easy": N_("Easy: the gold label was probable throughout"),
    "ambiguous": N_("Ambiguous: its probability changed most"),
    "hard": N_("Hard: it was improbable throughout, and may be wrong"),
}


def agreement_section(audit: Audit) -> Section:
    """Return how far the annotators agree."""
    agreement = audit.agreement
    assert agreement is not None
    figures = {words: agreement.figures[name] for name, words in _AGREEMENT.items()}
    bars = [Bar(say(words), _as_share(figure)) for words, figure in figures.items() if figure.value is not None]
    text = say(
        "Of the {pairs:,} pairs with two votes or more, with intervals at {level:g} %.",
        pairs=agreement.relabelled,
        level=100 * audit.options.level,
    )
    return Section(heading=say("Agreement of annotators"), text=text, bars=bars)


def _as_share(figure: Estimate) -> Estimate:
    """Agreement comes in per cent, bars are drawn from shares."""
    value, low, high = (None if part is None else part / 100 for part in (figure.value, figure.low, figure.high))
    return Estimate(value, low, high, figure.level, figure.n, figure.units, figure.method)


def label_errors_section(audit: Audit, texts: PairTexts) -> Section:
    """Return the first candidates with their texts, votes and probabilities; none where the model is too weak."""
    errors = audit.label_errors
    assert errors is not None
    heading, sheet = say("Label errors"), Link(LABEL_ERRORS, LABEL_ERRORS)
    if errors.too_weak:
        return Section(heading=heading, text=(_counted(errors), sheet))
    rows = []
    for row in shown_candidates(audit):
        pair, (link, anchor) = texts.rows[row["id"]], texts.place(row["id"])
        rows.append(
            (
                Cell(row["id"], link=link, anchor=anchor),
                pair["premise"],
                pair["hypothesis"],
                Cell(shaped(row["label"]), note=votes_of(pair)),
                Cell(shaped(row["suggested"]), note=_probabilities(row["probabilities"])),
            )
        )
    text = (
        _counted(errors),
        sheet,
        say(
            " has all of them, the least probable first: write keep, a label or drop into the column decision, and "
            "give it back with goldlabel data apply-review."
        ),
    )
    columns = (say("pair"), say("premise"), say("hypothesis"), say("label"), say("the model says"))
    table = Table(name="label-errors", columns=columns, rows=rows, texts=True, filtered=False)
    return Section(heading=heading, text=text, table=table)


def shown_candidates(audit: Audit) -> list[dict[str, Any]]:
    """Return the candidates that the page shows."""
    errors = audit.label_errors
    return [] if errors is None or errors.too_weak else errors.candidates.head(SHOWN).to_dicts()


def _counted(errors: LabelErrors) -> str:
    counts = {
        "candidates": len(errors.candidates),
        "pairs": errors.pairs,
        "model": errors.model or say("a model"),
        "accuracy": in_percent(errors.accuracy),
    }
    if errors.too_weak:
        return say(
            "{candidates:,} label-error candidates among {pairs:,} pairs, by {model} of the accuracy {accuracy}, "
            "which is too weak to accuse anybody: ",
            **counts,
        )
    return say(
        "{candidates:,} label-error candidates among {pairs:,} pairs, by {model} of the accuracy {accuracy} (confident "
        "learning). ",
        **counts,
    )


def _probabilities(by_label: dict[str, float]) -> str:
    ranked = sorted(by_label.items(), key=lambda own: (-own[1], own[0]))
    return comma().join(f"{label_of(label)} {percent(share)}" for label, share in ranked)


def ends_of(regions: Cartography) -> dict[str, list[str]]:
    """Return the pairs of each region that the page shows."""
    return {region: regions.select(region)[:SHOWN_OF_REGION] for region in _REGIONS}


def data_map_section(regions: Cartography, texts: PairTexts) -> Section:
    """Return the map of what training found easy, ambiguous and hard, with pairs of each region."""
    ends = ends_of(regions)
    places = {row["id"]: row for row in regions.pairs.iter_rows(named=True)}
    items = [
        Item(say(_REGIONS[region]), _means(ends[region], places), pairs=texts.cards(ends[region]))
        for region in _REGIONS
    ]
    return Section(
        heading=say("Data map"),
        text=say(
            "{pairs:,} pairs over {epochs} epochs: {means}. Confidence is the mean of the gold label's probability "
            "over epochs, variability its standard deviation.",
            pairs=len(regions.pairs),
            epochs=regions.epochs,
            means=comma().join(
                f"{say(name)} {percent(mean)}" for name, mean in regions.means().items() if mean is not None
            ),
        ),
        figures=[draw_data_map(regions)],
        items=items,
    )


def _means(ids: list[str], places: dict[str, dict[str, float]]) -> str:
    rows = [places[key] for key in ids]
    if not rows:
        return ""
    ends = [sum(row[name] for row in rows) / len(rows) for name in ("confidence", "variability")]
    return say(
        "of these, confidence {confidence}, variability {variability}",
        confidence=percent(ends[0]),
        variability=percent(ends[1]),
    )
