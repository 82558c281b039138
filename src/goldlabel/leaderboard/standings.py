"""Standings: who stands where on the mean over sets, and who could as well stand elsewhere.

Every two entries are held against each other on the same pairs (``evaluate.ranking``: units drawn within each set,
p-values corrected by Holm). An entry's rank is one more than the number of entries that are better by more than chance,
so entries that nothing tells apart share a rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from goldlabel.collect.store import Transaction
from goldlabel.evaluate.ranking import rank_means
from goldlabel.leaderboard.board import Board, BoardSuite, Reference
from goldlabel.leaderboard.schema import scores, standings, submissions, submitters
from goldlabel.leaderboard.scoring import unpack_hits
from goldlabel.leaderboard.submissions import SCORED
from goldlabel.metrics import Estimate

Hits = Mapping[int, bytes]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A row of the board; a paper's row has no number, no interval and no rank."""

    id: int | None
    suite: str
    name: str
    submitter: str
    mean: Estimate | None
    sets: Mapping[str, Estimate]
    hypothesis_only: Estimate | None = None
    rank: int | None = None
    """``None`` as long as it was not held against the others."""
    shared: bool = False
    """Whether others have the same rank."""
    tied: tuple[str, ...] = ()
    """The entries that it is not told apart from."""
    received_at: datetime | None = None
    description: str = ""
    training: tuple[str, ...] = ()
    model: str = ""
    parameters: int | None = None
    readme: str = ""

    @property
    def is_reference(self) -> bool:
        """Whether it is a row of a paper."""
        return self.id is None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "id": self.id,
            "suite": self.suite,
            "name": self.name,
            "submitter": self.submitter,
            "reference": self.is_reference,
            "rank": self.rank,
            "tied": list(self.tied),
            "mean": self.mean and self.mean.to_dict(),
            "sets": {name: figure.to_dict() for name, figure in self.sets.items()},
            "hypothesis_only": self.hypothesis_only and self.hypothesis_only.to_dict(),
            "training": list(self.training),
            "model": self.model,
            "parameters": self.parameters,
            "description": self.description,
            "received_at": self.received_at and self.received_at.isoformat(timespec="seconds"),
        }


def unranked_hits(tx: Transaction, board: Board) -> tuple[BoardSuite, Hits] | None:
    """Return a suite whose entries were not held against each other yet, and their hits."""
    query = select(submissions.c.id, submissions.c.suite).where(submissions.c.state == SCORED)
    rows = tx.all(query.order_by(submissions.c.id))
    for suite in board.suites:
        ids = [row.id for row in rows if board.suite_of(row.suite) is suite]
        kept = select(standings.c.id).where(standings.c.suite == suite.name, standings.c.entries == _key(ids))
        if ids and tx.value(kept) is None:
            query = select(scores.c.submission_id, scores.c.hits).where(scores.c.submission_id.in_(ids))
            return suite, {row.submission_id: row.hits for row in tx.all(query)}
    return None


def rank_entries(suite: BoardSuite, hits: Hits) -> dict[str, Any]:
    """Hold entries of a suite against each other; return the rank of each and whom it is not told apart from."""
    unpacked = {str(number): unpack_hits(suite, packed) for number, packed in sorted(hits.items())}
    means, compared = rank_means(unpacked, suite.units, suite.counted, level=suite.level)
    better, tied = Counter[str](), {name: list[int]() for name in means}
    for row in compared:
        if row.adjusted < 1 - suite.level and row.difference.defined != 0:
            better[row.second if row.difference.defined > 0 else row.first] += 1
        else:
            tied[row.first].append(int(row.second))
            tied[row.second].append(int(row.first))
    return {name: {"rank": 1 + better[name], "tied": sorted(tied[name])} for name in means}


def keep_standings(tx: Transaction, suite: BoardSuite, ids: Sequence[int], ranks: Mapping[str, Any]) -> None:
    """Keep who stands where in a suite, instead of what was kept before; another worker may have been quicker."""
    tx.run(standings.delete().where(standings.c.suite == suite.name))
    tx.insert_new(standings, suite=suite.name, entries=_key(sorted(ids)), document=dict(ranks), at=tx.now)


def entries(tx: Transaction, board: Board) -> list[Entry]:
    """Return the rows of the board suite by suite, the best mean first, and the papers' rows among them."""
    return [entry for suite in board.suites for entry in suite_entries(tx, board, suite)]


def suite_entries(tx: Transaction, board: Board, suite: BoardSuite) -> list[Entry]:
    """Return the rows of one suite, the best mean first, and the papers' rows among them."""
    kept = select(standings.c.document).where(standings.c.suite == suite.name)
    row = tx.one(kept.order_by(standings.c.id.desc()).limit(1))
    ranks: Mapping[str, Any] = {} if row is None else row.document
    query = (
        select(submissions, scores.c.figures, scores.c.card, submitters.c.name.label("submitter"))
        .join(scores, scores.c.submission_id == submissions.c.id)
        .join(submitters, submitters.c.id == submissions.c.submitter_id)
        .where(submissions.c.state == SCORED)
    )
    rows = [row for row in tx.all(query.order_by(submissions.c.id)) if board.suite_of(row.suite) is suite]
    names = {row.id: row.name for row in rows}
    held = {str(row.id): ranks[str(row.id)]["rank"] for row in rows if str(row.id) in ranks}
    counts = Counter(held.values())
    listed = [_entry(suite, row, ranks.get(str(row.id)), counts, names) for row in rows]
    listed += [_reference(suite, reference) for reference in suite.references]
    return sorted(listed, key=lambda entry: (entry.mean is None, -(entry.mean.defined if entry.mean else 0)))


def _entry(
    suite: BoardSuite, row: Any, rank: Mapping[str, Any] | None, counts: Counter[int], names: Mapping[int, str]
) -> Entry:
    figures, card, about = row.figures, row.card, row.about
    own = (about["training"],) if about.get("training") else ()
    return Entry(
        id=row.id,
        suite=suite.name,
        name=row.name,
        submitter=row.submitter,
        mean=Estimate.from_dict(figures["mean"]),
        sets={name: Estimate.from_dict(figure) for name, figure in figures["sets"].items()},
        hypothesis_only=figures["hypothesis_only"] and Estimate.from_dict(figures["hypothesis_only"]),
        rank=None if rank is None else rank["rank"],
        shared=rank is not None and counts[rank["rank"]] > 1,
        tied=tuple(names[number] for number in (rank["tied"] if rank else ()) if number in names),
        received_at=row.received_at,
        description=about.get("description", ""),
        training=own or tuple(card["training"]),
        model=card["model"],
        parameters=card["parameters"],
        readme=card["readme"],
    )


def _reference(suite: BoardSuite, reference: Reference) -> Entry:
    figures = {name: _printed(value, suite) for name, value in reference.accuracies.items()}
    over = [reference.accuracies[name] for name in suite.counted if name in reference.accuracies]
    whole = len(over) == len(suite.counted)
    mean = _printed(sum(over) / len(over), suite) if whole else None
    return Entry(id=None, suite=suite.name, name=reference.name, submitter=reference.paper, mean=mean, sets=figures)


def _printed(value: float, suite: BoardSuite) -> Estimate:
    return Estimate.without_interval(value, level=suite.level, n=0, units=0, method="as the paper printed it")


def _key(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))
