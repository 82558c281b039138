"""What splits and datasets share, and what occurs twice."""

from __future__ import annotations

from goldlabel.audit import Audit
from goldlabel.audit.figures import count_of
from goldlabel.metrics import Estimate
from goldlabel.report.audit.findings import anchors
from goldlabel.report.language import N_, say, sentences
from goldlabel.report.page import Section
from goldlabel.report.table import Cell, Column, Table


def leaks_section(audit: Audit) -> Section:
    """Return what is shared within the data and with other datasets; each row leads to its finding."""
    leakage, foreign = audit.whole.leakage, audit.whole.foreign_text
    rows: list[tuple[str, str, int | None, Estimate | None]] = [
        (N_("premises in several splits"), "shared_premises", leakage.shared_premises, None),
        (
            N_("pairs of dev or test with a premise of train"),
            "shared_premises",
            leakage.held_out_pairs,
            leakage.held_out,
        ),
        (N_("pairs that repeat an earlier one"), "", leakage.duplicates, leakage.duplicated),
        (N_("pairs in several splits"), "duplicates_across_splits", leakage.duplicates_across_splits, None),
        (N_("pairs with several labels"), "contradictory_duplicates", leakage.contradictory_duplicates, None),
    ]
    if near := leakage.near:
        rows.append((N_("clusters of exact and near duplicates"), "", near.clusters, None))
        rows.append((N_("clusters of them across splits"), "near_duplicates_across_splits", near.across_splits, None))
    for other, shared in leakage.against.items():
        rows.append((say("pairs also in {dataset}", dataset=other), "leak_against", shared.shared_pairs, shared.share))
        rows.append((say("premises also in {dataset}", dataset=other), "leak_against", shared.shared_premises, None))
        if shared.near:
            name = say("clusters of near duplicates that reach into {dataset}", dataset=other)
            rows.append((name, "leak_against", shared.near.across_datasets, None))
    if foreign:
        name = say("pairs with more than ten Roman letters")
        rows.append((name, "foreign_text", count_of(foreign.share), foreign.share))
    text = say(
        "Texts that differ in case, spacing and punctuation only are the same. An empty cell is undefined, as where "
        "there is one split only."
    )
    if leakage.near_note:
        text = sentences(text, say("Near-duplicates were {why}.", why=say(leakage.near_note)))
    places = anchors(audit)
    cells = [(Cell(say(what), link=places.get(kind, "")), count, figure) for what, kind, count, figure in rows]
    columns = (say("what"), say("count"), Column(say("share"), percent=True))
    return Section(
        heading=say("Leaks and duplicates"),
        text=text,
        table=Table(name="leaks", columns=columns, rows=cells, filtered=False),
    )
