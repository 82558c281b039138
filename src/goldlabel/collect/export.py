"""Export: a project becomes a dataset with its splits, card, agreement and ledger, from one snapshot.

The folder is a dataset that every other room reads. Beside the data lie ``protocol.json``, ``ledger.csv`` and the
figures; in folders of their own, datasets made from it: ``no-overlap`` (the same dev and test, without the training
pairs whose premise is in them), ``foreign`` (pairs of another dataset that were mixed in) and, of pairs judged on
the five-step scale, ``nli3``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.collect.ledger import Line, lines
from goldlabel.collect.snapshot import Snapshot, take_snapshot, verified
from goldlabel.collect.splits import ElicitationSplits
from goldlabel.collect.store import Store
from goldlabel.files import atomic_folder
from goldlabel.metrics import Estimate
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.groups import ALL, Key, group_name, group_title
from goldlabel.pairs.labels import NLI3, ORDINAL5
from goldlabel.pairs.record import COLUMNS
from goldlabel.pairs.rows import to_json
from goldlabel.pairs.splits import ExcludeOverlap, Split
from goldlabel.pairs.writing import refuse_foreign_folder
from goldlabel.verify import HumanBaseline, Mixture, Verification, compare_mixture, human_baseline, verify, votes_of
from goldlabel.verify.agreement import COEFFICIENTS, SHARES

_TOLD = (*SHARES, "fleiss_kappa", "krippendorff_alpha")
_INTERVALS = "Shares in per cent, with 95 % intervals; pairs of one premise count as one draw."
LEDGER_COLUMNS = ("line", "at", "person", "kind", "amount", "currency", "reason", "answer", "reverses", "key")


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a dataset card that another room writes, with the files it speaks of."""

    heading: str
    text: str
    files: Mapping[str, str] = field(default_factory=dict)


Describe = Callable[[Pairs], Section | None]
"""Looks at the exported pairs and may add a section to their card, such as one about artifacts."""


@dataclass(frozen=True, repr=False)
class Export(Result):
    """What an export wrote."""

    pairs: Pairs
    splits: Mapping[str, int]
    no_overlap: Mapping[str, int] | None
    verified: int
    foreign: int
    ledger_lines: int
    figures: Figures
    output: Path

    @property
    def title(self) -> str:
        """How many pairs were exported and how many of them are verified."""
        return f"{self.pairs.card.name}: {len(self.pairs):,} pairs, {self.verified:,} of them verified"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by split and label."""
        return self.pairs.table

    def to_dict(self) -> dict[str, Any]:
        """Return counts and figures as plain values."""
        return {
            "name": self.pairs.card.name,
            "pairs": len(self.pairs),
            "verified": self.verified,
            "splits": dict(self.splits),
            "no_overlap": None if self.no_overlap is None else dict(self.no_overlap),
            "foreign": self.foreign,
            "ledger_lines": self.ledger_lines,
            **self.figures.to_dict(),
            "output": str(self.output),
        }


@dataclass(frozen=True)
class Figures:
    """What the votes of a project say; ``None`` where there are too few, or where it is another kind of project."""

    verification: Verification | None
    mixture: Mixture | None
    baseline: HumanBaseline | None

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


def export_project(store: Store, project_id: int, folder: str | Path, *, describe: Sequence[Describe] = ()) -> Export:
    """Write a project's pairs as a dataset; people may go on working meanwhile.

    Splits depend on the project's seed and on the pairs alone: two exports of the same state are equal.
    """
    target = Path(folder)
    refuse_foreign_folder(target)
    with store.read() as tx:
        snapshot, paid = take_snapshot(tx, project_id), lines(tx, project_id)
    figures = measure_figures(snapshot)
    split = split_pairs(snapshot, figures.verification)
    sections = [section for one in describe if (section := one(split.pairs)) is not None]
    described = _described(split.pairs, snapshot, figures, sections)
    beside = {
        "protocol.json": to_json(snapshot.project.protocol.to_dict()) + "\n",
        "ledger.csv": ledger_csv(paid, snapshot.project.protocol.pay.currency),
        **figures.files(),
        **{name: text for section in sections for name, text in section.files.items()},
    }
    with atomic_folder(target) as temporary:
        described.write(temporary, beside=beside)
        smaller = _without_overlap(split, described)
        if smaller is not None:
            smaller.pairs.write(temporary / "no-overlap")
        if len(snapshot.foreign):
            snapshot.foreign.write(temporary / "foreign")
        if described.card.label_space == ORDINAL5:
            _mapped(described).write(temporary / "nli3")
    return Export(
        pairs=described,
        splits=split.splits,
        no_overlap=smaller.splits if smaller else None,
        verified=len(verified(snapshot.own)),
        foreign=len(snapshot.foreign),
        ledger_lines=len(paid),
        figures=figures,
        output=target,
    )


def measure_figures(snapshot: Snapshot, *, resamples: int = 1000) -> Figures:
    """Measure agreement by condition and level, the foreign pairs, and the human baseline of a project."""
    kind, checked = snapshot.project.kind, verified(snapshot.own)
    if not len(checked):
        return Figures(None, None, None)
    if kind == "elicitation":
        verification = verify(checked, "condition", resamples=resamples)
        by_level = verify(checked, ("condition", "level"), resamples=resamples).groups
        levels = {key: group for key, group in by_level.items() if key != ALL and key[-1] is not None}
        verification = replace(verification, groups={**verification.groups, **levels})
    else:
        verification = verify(checked, resamples=resamples)
    sizes = _sizes(snapshot.own)
    groups = {key: replace(group, n=sizes[key]) for key, group in verification.groups.items()}
    baseline = None
    if kind == "human-baseline":
        baseline = human_baseline(votes_of(checked))
    return Figures(replace(verification, groups=groups), _mixture(snapshot, resamples), baseline)


def split_pairs(snapshot: Snapshot, verification: Verification | None) -> Split:
    """Return a snapshot's pairs with gold labels, where the votes decide them, and with their splits."""
    project, pairs = snapshot.project, snapshot.own
    seed = project.seed % 2**32
    step = f"collected in project {project.name!r}, snapshot of {snapshot.at:%Y-%m-%d %H:%M} UTC"
    pairs = Pairs(pairs.frame, pairs.card.with_step(step))
    if verification is not None and project.kind != "human-baseline":
        gold = verification.pairs.frame.select("id", pl.col("label").alias("gold"))
        labelled = pairs.frame.join(gold, on="id", how="left", maintain_order="left")
        frame = labelled.with_columns(pl.coalesce("gold", "label").alias("label")).select(COLUMNS).collect().lazy()
        pairs = Pairs(frame, pairs.card.with_step(verification.pairs.card.history[-1]))
    if project.kind != "elicitation":
        return Split(pairs, {"none": len(pairs)} if len(pairs) else {}, 0, seed)
    sizes = project.protocol.splits
    plan = ElicitationSplits(dev=sizes.dev, test=sizes.test, exclusive=snapshot.exclusive)
    return pairs.split(plan, seed=seed)


def ledger_csv(paid: Sequence[Line], currency: str) -> str:
    """Return the ledger as CSV, a line per line, people by their pseudonyms."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(LEDGER_COLUMNS)
    for one in paid:
        told = (one.id, one.at.isoformat(), one.pseudonym, one.kind, one.amount, currency)
        writer.writerow((*told, one.reason, one.answer_id, one.reverses, one.key))
    return stream.getvalue()


def _sizes(pairs: Pairs) -> dict[Key, int]:
    """Count all pairs by their groups: the whole, a condition, a condition's level."""
    frame = pairs.frame.select("condition", "level").collect()
    sizes = {ALL: len(frame)}
    for columns in (["condition"], ["condition", "level"]):
        for *values, count in frame.group_by(columns).len().iter_rows():
            sizes[tuple(values)] = count
    return sizes


def _mixture(snapshot: Snapshot, resamples: int) -> Mixture | None:
    """Hold foreign pairs against own ones: verifiers' votes only, beside the label that each pair came with."""
    own, foreign = verified(snapshot.own), verified(snapshot.foreign)
    if not len(own) or not len(foreign):
        return None
    written = snapshot.project.kind == "elicitation"
    votes = pl.col("votes").list.slice(1) if written else pl.col("votes")
    bare = [
        Pairs(one.frame.with_columns(taken.alias("votes"), pl.lit(None, pl.String).alias("meta")), one.card)
        for one, taken in ((own, votes), (foreign, pl.col("votes")))
    ]
    if any(one.frame.select(pl.col("votes").list.len().max()).collect().item() < 2 for one in bare):
        return None
    return compare_mixture(*bare, resamples=resamples)


def _without_overlap(split: Split, pairs: Pairs) -> Split | None:
    return pairs.split(ExcludeOverlap(), seed=split.seed) if {"dev", "test"} & {*split.splits} else None


def _mapped(pairs: Pairs) -> Pairs:
    """Map ordinal votes to labels of inference, then let their majority decide: steps between may add up to one."""
    mapped = pairs.map_labels(NLI3)
    return verify(mapped).pairs if len(verified(mapped)) else mapped


def _described(pairs: Pairs, snapshot: Snapshot, figures: Figures, sections: Sequence[Section]) -> Pairs:
    """Return the pairs with a card that tells how they were collected and how far people agree."""
    protocol = snapshot.project.protocol
    how = ", ".join(condition.name for condition in protocol.conditions) or protocol.kind
    parts = [
        f"Collected with Goldlabel ({how}; language {protocol.language}): {len(pairs):,} pairs, "
        f"{len(verified(snapshot.own)):,} of them labelled by {protocol.verifying.verifiers} verifiers."
    ]
    if figures.verification:
        rows = [
            (group_title(key), group.n, group.relabelled, *(_told(name, group.figures[name]) for name in _TOLD))
            for key, group in figures.verification.groups.items()
        ]
        parts.append(f"## Agreement\n\n{_INTERVALS}\n\n{_table(('group', 'pairs', 'relabelled', *_TOLD), rows)}")
    if figures.baseline:
        rows = [(name, _told(name, one)) for name, one in figures.baseline.figures.items()]
        parts.append(f"## Human baseline\n\n{figures.baseline.title}.\n\n{_table(('statistic', 'value'), rows)}")
    if figures.mixture:
        sides = (figures.mixture.own, figures.mixture.foreign, figures.mixture.difference)
        rows = [(name, *(_told(name, side[name]) for side in sides)) for name in figures.mixture.own]
        head = ("statistic", "own", "foreign", "difference")
        parts.append(f"## Foreign pairs\n\n{figures.mixture.title}.\n\n{_table(head, rows)}")
    parts += [f"## {section.heading}\n\n{section.text}" for section in sections]
    return Pairs(pairs.frame, replace(pairs.card, description="\n\n".join(parts)))


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |" for line in lines)


def _told(name: str, estimate: Estimate) -> str:
    """Return a figure with its interval: coefficients with three places, shares in per cent with one."""
    return estimate.text(3 if name in COEFFICIENTS else 1)
