"""Findings about the data rather than the labels: leaks, which come before all else, and lesser faults."""

from __future__ import annotations

from collections.abc import Mapping

from goldlabel.audit.examples import Example
from goldlabel.audit.figures import ForeignText, Overlap, count_of
from goldlabel.audit.findings import Fault, Finding
from goldlabel.audit.leakage import Leakage, Near
from goldlabel.metrics import in_percent, many

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
        text = f"{count:,} pairs occur more than once with different labels. Have them judged again."
        faults.append(Finding("contradictory_duplicates", text, Fault(count), leakage.examples["contradictory"]))
    if (over := overlap.over_rule).value is not None and over.value > _MANY_OVER_RULE:
        text = (
            f"{count_of(over):,} hypotheses, {in_percent(over)}, share more than 70 % of their words with the "
            "premise. Ask writers to paraphrase."
        )
        faults.append(Finding("overlap_rule", text, Fault(count_of(over), over), rows["overlap_rule"]))
    if foreign is not None and (foreign.share.value or 0) > _MUCH_FOREIGN:
        count, many = count_of(foreign.share), foreign.share
        trace = "a trace of translation. Look through them."
        text = f"{count:,} of {many.n:,} pairs hold more than ten Roman letters, {trace}"
        faults.append(Finding("foreign_text", text, Fault(count, many), rows["foreign_text"]))
    return faults[:MOST_FAULTS]


def _across(leakage: Leakage) -> list[Finding]:
    """Near-duplicates include the exact ones, which are named alone only where the near ones were not looked for."""
    near = leakage.near
    if near and near.across_splits:
        text = (
            f"{near.pairs_across_splits:,} pairs have a duplicate or near-duplicate in another split "
            f"({many(near.across_splits, 'cluster')}). Drop them with goldlabel data duplicates --drop."
        )
        return [Finding("near_duplicates_across_splits", text, Fault(near.across_splits), examples=_examples(near))]
    if count := leakage.duplicates_across_splits:
        pairs = many(count, "pair stands", "pairs stand")
        text = f"{pairs} in more than one split. Split again with --exclude-overlap premise."
        return [Finding("duplicates_across_splits", text, Fault(count), leakage.examples["across"])]
    return []


def _against(leakage: Leakage) -> list[Finding]:
    findings = []
    for name, shared in leakage.against.items():
        near = shared.near.across_datasets if shared.near else 0
        if shared.shared_pairs:
            every = "All " if shared.shared_pairs == shared.share.n else ""
            clusters = many(near, "cluster of near-duplicates reaches", "clusters of near-duplicates reach")
            more = f", and {clusters} into it" if near > shared.shared_pairs else ""
            pairs = many(shared.shared_pairs, "pair is", "pairs are")
            text = f"{every}{pairs} also in {name}{more}. Leave them out of one of the two."
            fault = Fault(shared.shared_pairs, shared.share, name)
        elif shared.shared_premises:
            premises = many(shared.shared_premises, "premise is", "premises are")
            text = f"{premises} also in {name}. Keep the two from being train and test."
            fault = Fault(shared.shared_premises, dataset=name)
        elif near:
            clusters = many(near, "cluster of near-duplicates reaches", "clusters of near-duplicates reach")
            text = f"{clusters} into {name}. Look through them."
            fault = Fault(near, dataset=name)
        else:
            continue
        examples = _examples(shared.near) if shared.near and not shared.rows else ()
        findings.append(Finding("leak_against", text, fault, shared.rows, examples))
    return findings


def _shared_premises(leakage: Leakage) -> list[Finding]:
    if not (count := leakage.held_out_pairs):
        return []
    text = (
        f"{many(count, 'pair of dev or test has', 'pairs of dev or test have')} a premise that train has too. Split "
        "again, which keeps premises together, or drop them with --exclude-overlap premise."
    )
    return [Finding("shared_premises", text, Fault(count, leakage.held_out), leakage.examples["held_out"])]


def _examples(near: Near) -> tuple[Example, ...]:
    return tuple(map(Example, near.examples))
