"""Findings about the data rather than the labels: leaks, which come before all else, and lesser faults."""

from __future__ import annotations

from collections.abc import Mapping

from goldlabel.audit.examples import Example
from goldlabel.audit.figures import ForeignText, Overlap, count_of
from goldlabel.audit.findings import Fault, Finding
from goldlabel.audit.leakage import Leakage, Near
from goldlabel.audit.messages import counted, message
from goldlabel.metrics import in_percent

MOST_LEAKS = 5
MOST_FAULTS = 3
_MANY_OVER_RULE = 0.2
_MUCH_FOREIGN = 0.05

Rows = tuple[int, ...]
"""Where pairs stand in the dataset."""


def find_leaks(leakage: Leakage) -> list[Finding]:
    """Return what makes scores on held-out pairs untrue, near-duplicates across splits first."""
    return [*_across(leakage), *_against(leakage), *_shared_premises(leakage)][:MOST_LEAKS]


def find_faults(
    leakage: Leakage, overlap: Overlap, foreign: ForeignText | None, rows: Mapping[str, Rows]
) -> list[Finding]:
    """Return what else is wrong with the data, the gravest first; ``rows`` are examples by kind."""
    faults = []
    if count := leakage.contradictory_duplicates:
        said = message("contradictory_duplicates", n=f"{count:,}")
        faults.append(Finding("contradictory_duplicates", said, Fault(count), leakage.examples["contradictory"]))
    if (over := overlap.over_rule).value is not None and over.value > _MANY_OVER_RULE:
        said = message("overlap_rule", n=f"{count_of(over):,}", share=in_percent(over))
        faults.append(Finding("overlap_rule", said, Fault(count_of(over), over), rows["overlap_rule"]))
    if foreign is not None and (foreign.share.value or 0) > _MUCH_FOREIGN:
        count, share = count_of(foreign.share), foreign.share
        said = message("foreign_text", n=f"{count:,}", total=f"{share.n:,}")
        faults.append(Finding("foreign_text", said, Fault(count, share), rows["foreign_text"]))
    return faults[:MOST_FAULTS]


def _across(leakage: Leakage) -> list[Finding]:
    """Near-duplicates include the exact ones, which are named alone only where the near ones were not looked for."""
    near = leakage.near
    if near and near.across_splits:
        clusters = counted(near.across_splits, "cluster", "clusters")
        said = message("near_across_splits", n=f"{near.pairs_across_splits:,}", clusters=clusters)
        return [Finding("near_duplicates_across_splits", said, Fault(near.across_splits), examples=_examples(near))]
    if count := leakage.duplicates_across_splits:
        said = message("across_splits", pairs=counted(count, "pair_stands", "pairs_stand"))
        return [Finding("duplicates_across_splits", said, Fault(count), leakage.examples["across"])]
    return []


def _against(leakage: Leakage) -> list[Finding]:
    findings = []
    for name, shared in leakage.against.items():
        near = shared.near.across_datasets if shared.near else 0
        clusters = counted(near, "cluster_reaches", "clusters_reach")
        if shared.shared_pairs:
            every = "all_" if shared.shared_pairs == shared.share.n else ""
            pairs = counted(shared.shared_pairs, f"{every}pair_is", f"{every}pairs_are")
            if near > shared.shared_pairs:
                said = message("also_in_and_near", pairs=pairs, dataset=name, clusters=clusters)
            else:
                said = message("also_in", pairs=pairs, dataset=name)
            fault = Fault(shared.shared_pairs, shared.share, name)
        elif shared.shared_premises:
            premises = counted(shared.shared_premises, "premise_is", "premises_are")
            said = message("premises_also_in", premises=premises, dataset=name)
            fault = Fault(shared.shared_premises, dataset=name)
        elif near:
            said = message("near_in", clusters=clusters, dataset=name)
            fault = Fault(near, dataset=name)
        else:
            continue
        examples = _examples(shared.near) if shared.near and not shared.rows else ()
        findings.append(Finding("leak_against", said, fault, shared.rows, examples))
    return findings


def _shared_premises(leakage: Leakage) -> list[Finding]:
    if not (count := leakage.held_out_pairs):
        return []
    said = message("shared_premises", pairs=counted(count, "pair_has", "pairs_have"))
    return [Finding("shared_premises", said, Fault(count, leakage.held_out), leakage.examples["held_out"])]


def _examples(near: Near) -> tuple[Example, ...]:
    return tuple(map(Example, near.examples))
