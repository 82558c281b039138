"""From votes to gold labels, and how far to trust them: everything about the votes of a dataset in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.messages import option
from goldlabel.metrics import Estimate
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.groups import ALL, Key, column_values, group_columns, group_name, group_rows
from goldlabel.pairs.rows import to_json
from goldlabel.verify.agreement import COEFFICIENTS, SHARES, Agreement, agreement
from goldlabel.verify.annotators import Annotators, annotators
from goldlabel.verify.cohen_kappa import Joint, joint_votes, mean_cohen
from goldlabel.verify.gold import GoldLabels, gold_labels
from goldlabel.verify.opinions import Opinions, opinions
from goldlabel.verify.relabelling import relabel
from goldlabel.verify.sequential import StoppingRule, VotePlan, fit_prior, plan_votes
from goldlabel.verify.votes import Votes, marked, votes_of

SORTED_FROM = 50
"""From this many relabelled pairs on, first votes that always lead are no chance."""


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Gold labels recomputed from votes, and the agreement behind them.

    ``groups`` has the whole under ``()`` and each group under the values of the columns that make it, such as
    ``("multi", "hard")``, with ``None`` where a pair has no value.
    """

    pairs: Pairs
    votes: Votes
    gold: GoldLabels
    by: tuple[str, ...]
    groups: Mapping[Key, Agreement]
    opinions: Opinions
    plan: VotePlan
    annotators: Annotators | None
    gold_matches_label: int
    gold_differs: int
    pending: int
    notes: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """How many pairs were relabelled and how many got their label again."""
        waiting = f", {self.pending:,} pending" if self.pending else ""
        before = (
            f"; {self.gold_matches_label:,} as labelled, {self.gold_differs:,} not" if self.votes.label.any() else ""
        )
        settled = int(self.gold.settled(self.votes).sum()) + self.pending
        return (
            f"{self.pairs.card.name}: {settled:,} of {self.whole.n:,} pairs relabelled, gold by {self.gold.method}"
            f"{before}{waiting}"
        )

    @property
    def whole(self) -> Agreement:
        """The agreement on all pairs."""
        return self.groups[ALL]

    @property
    def table(self) -> pl.DataFrame:
        """One row per group: shares in per cent, coefficients; null where undefined."""
        rows = []
        for key, group in self.groups.items():
            values = {name: group.figures[name].value for name in (*SHARES, *COEFFICIENTS)}
            rounded = {name: None if v is None else round(v, 1 if name in SHARES else 3) for name, v in values.items()}
            rows.append({"group": group_name(key), "n": group.n, "relabelled": group.relabelled, **rounded})
        schema = {"group": pl.String, "n": pl.Int64, "relabelled": pl.Int64}
        return pl.DataFrame(rows, schema=schema | dict.fromkeys((*SHARES, *COEFFICIENTS), pl.Float64))

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement of each group, the method's details, and figures about annotators and opinions."""
        return {
            "name": self.pairs.card.name,
            "method": self.gold.method,
            "by": list(self.by),
            "groups": {group_name(key): group.to_dict() for key, group in self.groups.items()},
            "gold_matches_label": self.gold_matches_label,
            "gold_differs": self.gold_differs,
            "pending": self.pending,
            "votes": {
                "counted": len(self.votes.cast),
                "unlabelled": self.votes.unlabelled,
                "repeated": self.votes.repeated,
            },
            "details": self.gold.details,
            "opinions": self.opinions.to_dict(),
            "more_votes": self.plan.to_dict(),
            "annotators": self.annotators.to_dict() if self.annotators else None,
            "notes": list(self.notes),
        }

    def write(self, folder: str | Path) -> Pairs:
        """Write the pairs with their gold labels as a dataset, with ``verification.json`` and ``verification.csv``."""
        figures = {"verification.json": to_json(self.to_dict()) + "\n", "verification.csv": self.table.write_csv()}
        return self.pairs.write(folder, beside=figures)


def verify(
    pairs: Pairs,
    by: str | Sequence[str] | None = None,
    *,
    method: str = "majority",
    quorum: int | None = None,
    confidence: float | None = None,
    author: str | None = None,
    repeats: str | None = None,
    votes: Votes | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Verification:
    """Recompute gold labels from votes and measure agreement, for all pairs and for each value of ``by``.

    ``method`` is a name of ``goldlabel.verify.METHODS``. ``confidence`` is how sure you want to be of a label:
    it decides how many more votes pairs need (0.95 unless given) and, where a method gives probabilities, what a
    gold label must reach. ``author`` says where the author's label is, if not where the card says, and ``repeats``
    which of one annotator's votes on a pair counts. ``votes`` replace those of the record, in what is written too.
    Pairs with fewer than two votes, and pairs on which the method has yet to decide, keep their label.
    """
    columns = group_columns(by)
    replaced = votes is not None
    if votes is None:
        votes = votes_of(pairs, author=author, repeats=repeats)
    elif not pairs.frame.select("id").collect(engine="streaming")["id"].equals(votes.ids):
        raise InputError(f"{pairs.card.name}: the votes are not those of these pairs; read them for these")
    if votes.soft is not None and method == "majority":
        method = "soft-labels"
    elif votes.soft is None and not votes.relabelled.any():
        raise InputError(
            f"{pairs.card.name}: no pair has more than one vote; agreement and gold labels need two or more"
        )
    gold = gold_labels(votes, method, quorum=quorum, confidence=confidence)
    options: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
    groups = agreement_by(pairs, votes, gold, columns, **options)
    decided = gold.settled(votes)
    matches = int((gold.marks == votes.label).all(axis=1)[decided].sum())
    rule = StoppingRule(confidence=confidence or 0.95, most=10, prior=fit_prior(votes.counts[:, : len(votes.space)]))
    return Verification(
        pairs=relabel(pairs, votes, gold, with_votes=replaced or votes.repeated > 0),
        votes=votes,
        gold=gold,
        by=columns,
        groups=groups,
        opinions=opinions(votes),
        plan=plan_votes(votes, rule),
        annotators=annotators(votes, level=level) if votes.annotators else None,
        gold_matches_label=matches,
        gold_differs=int(decided.sum()) - matches,
        pending=int((votes.relabelled & ~gold.decided).sum()),
        notes=_notes(votes, quorum),
    )


def agreement_by(
    pairs: Pairs,
    votes: Votes,
    gold: GoldLabels,
    by: Sequence[str],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[Key, Agreement]:
    """Return the agreement on all pairs and on those of each group, by votes and gold labels that are there."""
    options: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
    joint = joint_votes(votes) if votes.annotators else None
    columns = tuple(by)
    values = pairs.frame.select(*map(column_values, columns)).collect(engine="streaming")
    return {key: _group(votes, gold, joint, chosen, options) for key, chosen in group_rows(values, columns).items()}


def _group(
    votes: Votes, gold: GoldLabels, joint: Joint | None, chosen: NDArray[np.bool_] | None, options: dict[str, Any]
) -> Agreement:
    measured = agreement(votes, gold, chosen=chosen, **options)
    if joint is None:
        cohen = Estimate.without_interval(None, level=options["level"], n=0, units=0, method="unknown annotators")
    else:
        cohen = mean_cohen(joint if chosen is None else joint.only(chosen), len(votes.annotators), **options)
    return replace(measured, figures={**measured.figures, "cohen_kappa": cohen})


def _notes(votes: Votes, quorum: int | None) -> tuple[str, ...]:
    """Say what the figures would otherwise hide."""
    notes = []
    if votes.soft is not None:
        return ("there are soft labels and no votes: labels are the most probable ones, and agreement is undefined",)
    if _sorted(votes):
        notes.append(
            "on every pair the first vote is also the most frequent: the votes seem to be sorted, and figures about "
            "the author mean nothing; say that the author's label is not the first vote"
        )
    if not votes.author.any():
        notes.append(
            "it is not known where the author's label is, so there are no figures about authors; "
            f"pass {option('author', 'first')} or label if you know"
        )
    if not votes.annotators:
        notes.append("who cast the votes is not known: Cohen's kappa and figures about annotators are undefined")
    if votes.unlabelled:
        notes.append(f"{votes.unlabelled:,} votes are for no label and do not count")
    if votes.repeated:
        notes.append(f"{votes.repeated:,} votes do not count, as their annotators voted again on the same pair")
    short, relabelled = int((votes.relabelled & (votes.total < (quorum or 0))).sum()), int(votes.relabelled.sum())
    if short:
        if short == relabelled:
            notes.append(f"no pair has the {quorum} votes of the quorum, so none can get a gold label")
        else:
            lacking = f"{short:,} of {relabelled:,} pairs do not have the {quorum} votes of the quorum"
            notes.append(f"{lacking}, and cannot get a gold label")
    return tuple(notes)


def _sorted(votes: Votes) -> bool:
    """Say whether first votes lead so often that somebody must have sorted them."""
    rows = votes.relabelled & marked(votes.author)
    if not votes.by_author.any() or rows.sum() < SORTED_FROM:
        return False
    counts, author = votes.counts[rows], votes.author[rows]
    leads = (counts * author).sum(axis=1) == counts.max(axis=1)
    return bool(leads.all() and ((counts > 0).sum(axis=1) > 1).any())
