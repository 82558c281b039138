"""Findings about the data rather than the labels: leaks, duplicates, the overlap rule, foreign text."""

from __future__ import annotations

from typing import Any

MOST = 3
_MANY_OVER_RULE = 0.2
_MUCH_FOREIGN = 0.05


def find_faults(group: dict[str, Any]) -> list[dict[str, Any]]:
    """Return up to three faults of a dataset, the gravest first."""
    leakage = group["leakage"]
    faults = [
        *_against(leakage),
        *_within(leakage),
    ]
    overlap, foreign = group["overlap"], group["foreign_text"]
    if (share := overlap["over_rule_share"]) is not None and share > _MANY_OVER_RULE:
        text = (
            f"{overlap['over_rule']:,} hypotheses ({share:.0%}) share more than 70% of their words with the premise. "
            "Ask writers to paraphrase."
        )
        faults.append(_fault("overlap_rule", text, {"count": overlap["over_rule"], "share": share, "examples": []}))
    if foreign is not None and foreign["share"] > _MUCH_FOREIGN:
        text = (
            f"{foreign['pairs']:,} of {foreign['total']:,} pairs hold more than ten Roman letters, a trace of "
            "translation. Look through them."
        )
        faults.append(_fault("foreign_text", text, dict(foreign) | {"examples": []}))
    return faults[:MOST]


def _against(leakage: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, figures in leakage["against"].items():
        if figures["shared_pairs"]:
            text = f"{figures['shared_pairs']:,} pairs are also in {name}. Leave them out of one of the two."
            found.append(_fault("leak_against", text, {"dataset": name} | figures))
        elif figures["shared_premises"]:
            text = (
                f"{figures['shared_premises']:,} premises are also in {name}. Keep the two from being train and test."
            )
            found.append(_fault("leak_against", text, {"dataset": name} | figures))
    return found


def _within(leakage: dict[str, Any]) -> list[dict[str, Any]]:
    found, examples = [], leakage["examples"]
    if count := leakage["duplicates_across_splits"]:
        text = f"{count:,} pairs stand in more than one split. Split again with --exclude-overlap premise."
        found.append(_fault("duplicates_across_splits", text, {"count": count, "examples": examples["across"]}))
    if count := leakage["contradictory_duplicates"]:
        text = f"{count:,} pairs occur more than once with different labels. Have them judged again."
        found.append(_fault("contradictory_duplicates", text, {"count": count, "examples": examples["contradictory"]}))
    if count := leakage["held_out_pairs_with_premise_in_train"]:
        text = (
            f"{count:,} pairs of dev or test have a premise that train has too. Split by group, or drop them with "
            "--exclude-overlap premise."
        )
        found.append(_fault("shared_premises", text, {"count": count, "examples": examples["held_out"]}))
    return found


def _fault(kind: str, text: str, evidence: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "text": text.replace("%", " %"), "evidence": evidence}
