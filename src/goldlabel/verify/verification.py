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
from goldlabel.metrics import Estimate
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.record import COLUMNS, LISTS
from goldlabel.pairs.rows import to_json
from goldlabel.registry import suggest
from goldlabel.verify.agreement import COEFFICIENTS, SHARES, Agreement, agreement
from goldlabel.verify.annotators import Annotators, annotators
from goldlabel.verify.cohen_kappa import Joint, joint_votes, mean_cohen
from goldlabel.verify.gold import Gold, gold_labels
from goldlabel.verify.opinions import Opinions, opinions
from goldlabel.verify.sequential import StoppingRule, VotePlan, fit_prior, plan_votes
from goldlabel.verify.votes import NONE, Votes, votes_of

ALL = "all"
NO_VALUE = "(none)"
SORTED_FROM = 50
"""From this many relabelled pairs on, first votes that always lead are no chance."""


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Gold labels recomputed from votes, and the agreement behind them, for all pairs and for each group."""

    pairs: Pairs
    votes: Votes
    gold: Gold
    groups: Mapping[str, Agreement]
    opinions: Opinions
    plan: VotePlan
    annotators: Annotators | None
    gold_matches_label: int
    gold_differs: int
    notes: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """How many pairs were relabelled and how many got their label again."""
        whole = self.groups[ALL]
        return (
            f"{self.pairs.card.name}: {whole.relabelled:,} of {whole.n:,} pairs relabelled, "
            f"gold by {self.gold.method}; {self.gold_matches_label:,} as labelled, {self.gold_differs:,} not"
        )

    @property
    def table(self) -> pl.DataFrame:
        """One row per group: shares in per cent, coefficients; null where undefined."""
        rows = []
        for name, group in self.groups.items():
            values = {key: group.figures[key].value for key in (*SHARES, *COEFFICIENTS)}
            rounded = {key: None if v is None else round(v, 1 if key in SHARES else 3) for key, v in values.items()}
            rows.append({"group": name, "n": group.n, "relabelled": group.relabelled, **rounded})
        schema = {"group": pl.String, "n": pl.Int64, "relabelled": pl.Int64}
        return pl.DataFrame(rows, schema=schema | dict.fromkeys((*SHARES, *COEFFICIENTS), pl.Float64))

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement of each group, the method's details, and figures about annotators and opinions."""
        return {
            "name": self.pairs.card.name,
            "method": self.gold.method,
            "groups": {name: group.to_dict() for name, group in self.groups.items()},
            "gold_matches_label": self.gold_matches_label,
            "gold_differs": self.gold_differs,
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
    votes: Votes | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Verification:
    """Recompute gold labels from votes and measure agreement, for all pairs and for each value of ``by``.

    ``method`` is a name of ``goldlabel.verify.METHODS``. ``confidence`` is how sure you want to be of a label:
    it decides how many more votes pairs need (0.95 unless given) and, where a method gives probabilities, what a
    gold label must reach. ``author`` says where the author's label is, if not where the card says. ``votes`` replace
    those of the record. Pairs with fewer than two votes keep their label.
    """
    columns = _columns(by)
    if votes is None:
        votes = votes_of(pairs, author=author)
    elif not pairs.frame.select("id").collect(engine="streaming")["id"].equals(votes.ids):
        raise InputError(f"{pairs.card.name}: the votes are not those of these pairs; read them for these")
    if not votes.relabelled.any():
        raise InputError(
            f"{pairs.card.name}: no pair has more than one vote; agreement and gold labels need two or more"
        )
    gold = gold_labels(votes, method, quorum=quorum, confidence=confidence)
    options: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
    joint = joint_votes(votes) if votes.annotators else None
    groups = {name: _group(votes, gold, joint, chosen, options) for name, chosen in _groups(pairs, columns).items()}
    words = gold.words(votes)
    relabelled = pl.Series(votes.relabelled)
    matches = int((gold.answer == votes.label)[votes.relabelled].sum())
    rule = StoppingRule(confidence=confidence or 0.95, most=10, prior=fit_prior(votes.counts[:, : len(votes.space)]))
    return Verification(
        pairs=_relabel(pairs, words, relabelled, votes, method),
        votes=votes,
        gold=gold,
        groups=groups,
        opinions=opinions(votes),
        plan=plan_votes(votes, rule),
        annotators=annotators(votes) if votes.annotators else None,
        gold_matches_label=matches,
        gold_differs=int(votes.relabelled.sum()) - matches,
        notes=_notes(votes),
    )


def _columns(by: str | Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(by.split(",")) if isinstance(by, str) else tuple(by or ())
    for name in names:
        if name not in COLUMNS or name in LISTS:
            allowed = [column for column in COLUMNS if column not in LISTS]
            raise InputError(f"there is no column {name!r} to group by; {suggest(name, allowed)}")
    return names


def _groups(pairs: Pairs, columns: tuple[str, ...]) -> dict[str, NDArray[np.bool_] | None]:
    """Return for each group its pairs, the whole first; several columns make names such as ``multi/hard``."""
    found: dict[str, NDArray[np.bool_] | None] = {ALL: None}
    if not columns:
        return found
    frame = pairs.frame.select(columns).collect(engine="streaming")
    key = frame.select(pl.concat_str([pl.col(name).fill_null(NO_VALUE) for name in columns], separator="/")).to_series()
    places = key.to_frame("key").with_row_index("row").group_by("key").agg("row").sort("key")
    for name, rows in places.iter_rows():
        chosen = np.zeros(len(frame), dtype=np.bool_)
        chosen[rows] = True
        found[f"{columns[0]}={name}" if name == ALL else name] = chosen
    return found


def _group(
    votes: Votes, gold: Gold, joint: Joint | None, chosen: NDArray[np.bool_] | None, options: dict[str, Any]
) -> Agreement:
    found = agreement(votes, gold, chosen=chosen, **options)
    if joint is None:
        cohen = Estimate.without_interval(None, level=options["level"], n=0, units=0, method="unknown annotators")
    else:
        cohen = mean_cohen(joint if chosen is None else joint.only(chosen), len(votes.annotators), **options)
    return Agreement(found.n, found.relabelled, {**found.figures, "cohen_kappa": cohen})


def _relabel(pairs: Pairs, words: pl.Series, relabelled: pl.Series, votes: Votes, method: str) -> Pairs:
    new = pl.when(pl.lit(relabelled)).then(pl.lit(words)).otherwise(pl.col("label")).alias("label")
    card = pairs.card.with_step(f"gold labels from votes by {method}")
    # The gold label takes the place of the author's where that was the label.
    author = "first" if votes.by_author.any() else "none"
    return Pairs(pairs.frame.with_columns(new), replace(card, author=author))


def _notes(votes: Votes) -> tuple[str, ...]:
    """Say what the figures would otherwise hide."""
    notes = []
    rows = votes.relabelled & (votes.author != NONE)
    lead = votes.counts[np.arange(len(votes.ids)), np.maximum(votes.author, 0)] == votes.counts.max(axis=1, initial=0)
    if (
        votes.by_author.any()
        and rows.sum() >= SORTED_FROM
        and lead[rows].all()
        and (votes.counts > 0)[rows].sum(1).max() > 1
    ):
        notes.append(
            "on every pair the first vote is also the most frequent: the votes seem to be sorted, and figures about "
            "the author mean nothing; say that the author's label is not the first vote"
        )
    if (votes.author == NONE).all():
        notes.append(
            "where the author's label is is not known: there are no figures about authors; "
            "say author first or label if you know"
        )
    if not votes.annotators:
        notes.append("who cast the votes is not known: Cohen's kappa and figures about annotators are undefined")
    return tuple(notes)
