"""Figures of a project: how far people agree, foreign pairs beside own ones, people beside gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from goldlabel.collect.data.snapshot import Snapshot, verified
from goldlabel.pairs import Pairs
from goldlabel.pairs.groups import ALL, Key, group_name
from goldlabel.pairs.rows import to_json
from goldlabel.verify import HumanBaseline, Mixture, Verification, compare_mixture, verify
from goldlabel.verify.verification import agreement_by


@dataclass(frozen=True)
class Figures:
    """What the votes of a project say; ``None`` where there are too few, or where it is another kind of project."""

    verification: Verification | None = None
    mixture: Mixture | None = None
    baseline: HumanBaseline | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return agreement by group, the foreign pairs beside the own ones, and the human baseline."""
        groups = self.verification.groups if self.verification else {}
        return {
            "agreement": {group_name(key): group.to_dict() for key, group in groups.items()} or None,
            "mixture": self.mixture.to_dict() if self.mixture else None,
            "human_baseline": self.baseline.to_dict() if self.baseline else None,
        }

    def files(self) -> dict[str, str]:
        """Return the files that hold the figures."""
        found: dict[str, str] = {}
        for name, one in (
            ("verification", self.verification),
            ("mixture", self.mixture),
            ("human_baseline", self.baseline),
        ):
            if one is not None:
                found |= {f"{name}.json": to_json(one.to_dict()) + "\n", f"{name}.csv": one.table.write_csv()}
        return found


def measure_figures(snapshot: Snapshot, *, resamples: int = 1000) -> Figures:
    """Measure what a project of its kind has figures of."""
    return snapshot.project.kind.figures(snapshot, resamples)


def measure(snapshot: Snapshot, resamples: int, by: Sequence[str] = ()) -> Figures:
    """Measure agreement, for all pairs and in groups within groups, and hold the foreign pairs against own ones."""
    checked = verified(snapshot.own)
    if not len(checked):
        return Figures()
    verification = verify(checked, by[:1], resamples=resamples)
    groups = dict(verification.groups)
    for depth in range(2, len(by) + 1):
        finer = agreement_by(checked, verification.votes, verification.gold, by[:depth], resamples=resamples)
        groups |= {key: group for key, group in finer.items() if key != ALL and key[-1] is not None}
    sizes = _sizes(snapshot.own, by)
    counted = {key: replace(group, n=sizes[key]) for key, group in groups.items()}
    return Figures(replace(verification, groups=counted), _mixture(snapshot, resamples))


def _sizes(pairs: Pairs, by: Sequence[str]) -> dict[Key, int]:
    """Count all pairs by their groups: the whole, and the groups within groups."""
    frame = pairs.frame.select("id", *by).collect()
    sizes: dict[Key, int] = {ALL: len(frame)}
    for depth in range(1, len(by) + 1):
        for *values, count in frame.group_by(by[:depth]).len().iter_rows():
            sizes[tuple(values)] = count
    return sizes


def _mixture(snapshot: Snapshot, resamples: int) -> Mixture | None:
    """Hold foreign pairs against own ones: verifiers' votes only, beside the label that each pair came with."""
    own, foreign = verified(snapshot.own), verified(snapshot.foreign)
    if not len(own) or not len(foreign):
        return None
    votes = pl.col("votes").list.slice(1) if snapshot.project.kind.writes else pl.col("votes")
    bare = [
        Pairs(one.frame.with_columns(taken.alias("votes"), pl.lit(None, pl.String).alias("meta")), one.card)
        for one, taken in ((own, votes), (foreign, pl.col("votes")))
    ]
    if any(one.frame.select(pl.col("votes").list.len().max()).collect().item() < 2 for one in bare):
        return None
    return compare_mixture(*bare, resamples=resamples)
