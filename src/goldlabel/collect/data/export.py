"""Export: a project becomes a dataset with its splits, card, agreement and ledger, from one snapshot.

The folder is a dataset that every other room reads. Beside the data lie ``protocol.json``, ``ledger.csv`` and the
figures; in folders of their own, datasets made from it: ``with-overlap`` (the same dev and test, and also the training
pairs whose premise is in them), ``foreign`` (pairs of another dataset that were mixed in) and, of pairs judged on
the five-step scale, ``nli3``.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from goldlabel.collect.data.figures import Figures, measure_figures
from goldlabel.collect.data.settled import settle, write_settled
from goldlabel.collect.data.snapshot import Snapshot, take_snapshot, verified
from goldlabel.collect.data.splits import WithOverlap
from goldlabel.collect.money.ledger import Line, each_line
from goldlabel.collect.store import Store
from goldlabel.files import atomic_folder
from goldlabel.messages import many
from goldlabel.metrics import Estimate
from goldlabel.pairs import Pairs, Result, read
from goldlabel.pairs.groups import group_title
from goldlabel.pairs.labels import NLI3, ORDINAL5
from goldlabel.pairs.record import COLUMNS
from goldlabel.pairs.rows import to_json
from goldlabel.pairs.splits import Split
from goldlabel.pairs.writing import refuse_foreign_folder
from goldlabel.verify import verify
from goldlabel.verify.agreement import COEFFICIENTS, SHARES

EXPORT = "export"
"""The kind of job that exports."""
_TOLD = (*SHARES, "fleiss_kappa", "krippendorff_alpha")
_INTERVALS = "Shares in per cent, with 95 % intervals; pairs of one premise count as one draw."
LEDGER = "ledger.csv"
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
    with_overlap: Mapping[str, int] | None
    verified: int
    foreign: int
    ledger_lines: int
    figures: Figures
    output: Path

    @property
    def title(self) -> str:
        """How many pairs were exported and how many of them are verified."""
        return f"{self.pairs.card.name}: {many(len(self.pairs), 'pair')}, {self.verified:,} of them verified"

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
            "with_overlap": None if self.with_overlap is None else dict(self.with_overlap),
            "foreign": self.foreign,
            "ledger_lines": self.ledger_lines,
            **self.figures.to_dict(),
            "output": str(self.output),
        }


def export_project(
    store: Store,
    project_id: int,
    folder: str | Path,
    *,
    describe: Sequence[Describe] = (),
    hidden: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> Export:
    """Write a project's pairs as a dataset, ``hidden`` ones only if so wished; people may go on working meanwhile.

    ``progress`` is told the share that is done.

    Splits depend on the project's seed and on the pairs alone: two exports of the same state are equal.
    """
    target = Path(folder)
    refuse_foreign_folder(target)
    with TemporaryDirectory(prefix="goldlabel-") as temporary, atomic_folder(target) as unfinished:
        scratch = Path(temporary)
        with store.read() as tx:
            snapshot = take_snapshot(tx, project_id, hidden=hidden, scratch=scratch)
            paid = _write_ledger(each_line(tx, project_id), snapshot.project.protocol.pay.currency, scratch / LEDGER)
        progress(0.3)
        figures = measure_figures(snapshot)
        split = split_pairs(snapshot)
        progress(0.6)
        settled = scratch / "settled.parquet"
        pairs = settle(split.pairs, snapshot.own.frame, settled)
        sections = [section for one in describe if (section := one(pairs)) is not None]
        described = _described(pairs, snapshot, figures, sections)
        beside = {
            "protocol.json": to_json(snapshot.project.protocol.to_dict()) + "\n",
            **figures.files(),
            **{name: text for section in sections for name, text in section.files.items()},
        }
        progress(0.8)
        write_settled(described, settled, unfinished, beside)
        shutil.move(scratch / LEDGER, unfinished / LEDGER)
        larger = _with_overlap(split, described, snapshot)
        if larger is not None:
            file = scratch / "larger.parquet"
            write_settled(settle(larger.pairs, described.frame, file), file, unfinished / "with-overlap")
        foreign = len(snapshot.foreign)
        if foreign:
            snapshot.foreign.write(unfinished / "foreign")
        if described.card.label_space == ORDINAL5:
            _mapped(described).write(unfinished / "nli3")
        complete = len(verified(snapshot.own))
    return Export(
        pairs=read(target),
        splits=split.splits,
        with_overlap=larger.splits if larger else None,
        verified=complete,
        foreign=foreign,
        ledger_lines=paid,
        figures=figures,
        output=target,
    )


def split_pairs(snapshot: Snapshot) -> Split:
    """Return a snapshot's pairs with gold labels, where the votes decide them, and with their splits."""
    project, pairs = snapshot.project, snapshot.own
    seed = project.seed % 2**32
    step = f"collected in project {project.name!r}, snapshot of {snapshot.at:%Y-%m-%d %H:%M} UTC"
    pairs = Pairs(pairs.frame, pairs.card.with_step(step))
    if len(snapshot.verdicts) and project.kind.relabels:
        decided = pairs.frame.join(snapshot.verdicts.lazy(), on="id", how="left", maintain_order="left")
        frame = decided.with_columns(pl.coalesce("verdict", "label").alias("label")).select(COLUMNS)
        pairs = Pairs(frame, pairs.card.with_step(f"gold labels from votes by {project.policy.describe()}"))
        if snapshot.adjudicated:
            many = f"{snapshot.adjudicated} pairs without a gold label from votes"
            pairs = Pairs(frame, pairs.card.with_step(f"{many} decided by a requester (adjudication in meta)"))
    plan = project.kind.splits(snapshot)
    if plan is None:
        splits = pairs.frame.select("split").collect(engine="streaming")["split"]
        return Split(pairs, dict(splits.value_counts().sort("split").iter_rows()), 0, seed)
    return pairs.split(plan, seed=seed)


def _write_ledger(paid: Iterable[Line], currency: str, path: Path) -> int:
    """Write the ledger as CSV, a line per line, people by their pseudonyms; return how many there are."""
    count = 0
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(LEDGER_COLUMNS)
        for line in paid:
            count += 1
            who = (line.id, line.at.isoformat(), line.pseudonym, line.kind, line.amount, currency)
            writer.writerow((*who, line.reason, line.answer_id, line.reverses, line.key))
    return count


def _with_overlap(split: Split, pairs: Pairs, snapshot: Snapshot) -> Split | None:
    """Add the overlap to train; not where there are rounds, no context of which is in two splits."""
    if snapshot.project.kind.has_rounds or not {"dev", "test"} & {*split.splits}:
        return None
    return pairs.split(WithOverlap(exclusive=snapshot.exclusive), seed=split.seed)


def _mapped(pairs: Pairs) -> Pairs:
    """Map ordinal votes to labels of inference, then let their majority decide: steps between may add up to one."""
    mapped = pairs.map_labels(NLI3)
    return verify(mapped).pairs if len(verified(mapped)) else mapped


def _described(pairs: Pairs, snapshot: Snapshot, figures: Figures, sections: Sequence[Section]) -> Pairs:
    """Return the pairs with a card that tells how they were collected and how far people agree."""
    protocol = snapshot.project.protocol
    how = ", ".join(condition.name for condition in protocol.conditions) or protocol.kind
    parts = [
        f"Collected with Goldlabel ({how}; language {protocol.language}): {many(len(pairs), 'pair')}, "
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
