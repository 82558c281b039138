"""Annotators: how well each agrees with the others, how fast they are, whether they drift, and who needs a look.

A vote is held against the majority of the other votes on the same pair, so that nobody agrees with themselves. The
figures say what was seen; whether that is a reason to look is for ``goldlabel.verify.flags``, which also weighs how
hard the pairs were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.messages import Message
from goldlabel.metrics import Estimate, check_level, difference
from goldlabel.pairs import Result
from goldlabel.verify.agreement import shares_by_person
from goldlabel.verify.flags import find_flags
from goldlabel.verify.majority import leading
from goldlabel.verify.votes import Votes, marked


@dataclass(frozen=True)
class Annotator:
    """One person's record.

    ``agreement`` is the share of votes equal to the others' majority, where they have one, and ``drift`` its change
    from the earlier to the later half of the votes, both in per cent; ``seconds`` is the median time.
    """

    name: str
    votes: int
    agreement: Estimate
    seconds: float | None
    drift: Estimate
    confusion: NDArray[np.int64]
    flags: tuple[Message, ...]


@dataclass(frozen=True, repr=False)
class Annotators(Result):
    """Everybody's record; a confusion matrix has the others' majority as rows, the annotator's answers as columns."""

    labels: tuple[str, ...]
    answers: tuple[str, ...]
    people: Sequence[Annotator]

    @property
    def title(self) -> str:
        """How many annotators there are and how many are flagged."""
        flagged = sum(bool(person.flags) for person in self.people)
        return f"{len(self.people):,} annotators, {flagged:,} flagged"

    @property
    def table(self) -> pl.DataFrame:
        """One row per annotator, those to look at first; agreement and drift in per cent.

        Flagged ones come first, those with more flags before those with fewer, then who agrees least.
        """

        def order(person: Annotator) -> tuple[int, float, str]:
            agreement = person.agreement.value
            return -len(person.flags), float("inf") if agreement is None else agreement, person.name

        ordered = sorted(self.people, key=order)
        rows = [
            (
                person.name,
                person.votes,
                _rounded(person.agreement.value),
                _rounded(person.seconds),
                _rounded(person.drift.value),
                "; ".join(map(str, person.flags)),
            )
            for person in ordered
        ]
        schema = {
            "annotator": pl.String,
            "votes": pl.Int64,
            "agreement": pl.Float64,
            "seconds": pl.Float64,
            "drift": pl.Float64,
            "flags": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return each annotator's figures under their name."""
        return {
            person.name: {
                "votes": person.votes,
                "agreement": person.agreement.to_dict(),
                "seconds": person.seconds,
                "drift": person.drift.to_dict(),
                "confusion": {
                    label: dict(zip(self.answers, row.tolist(), strict=True))
                    for label, row in zip(self.labels, person.confusion, strict=True)
                },
                "flags": [str(flag) for flag in person.flags],
            }
            for person in self.people
        }


def annotators(
    votes: Votes,
    *,
    fdr: float = 0.05,
    margin: float = 0.05,
    speed: float = 1 / 3,
    least: int = 10,
    level: float = 0.95,
) -> Annotators:
    """Return the record of every annotator.

    Flags need ``least`` votes and hold the false-discovery rate at ``fdr``; ``margin`` and ``speed`` say how much more
    often against the majority, and how much faster than others, is worth a look. ``level`` is that of the intervals.
    """
    check_level(level)
    if not votes.annotators:
        votes.require_annotators("the quality of annotators")
    if not 0 < fdr < 1 or not 0 <= margin < 1 or not 0 < speed < 1:
        raise InputError("fdr and speed must be between 0 and 1, margin from 0 to below 1")
    signed, labels, width = votes.signed, len(votes.space), len(votes.answers)
    people = len(signed.annotators)
    others = _others_majority(votes)
    compared, right = marked(others), others[np.arange(len(others)), signed.answer]
    person, units = signed.annotator, signed.units[signed.row]

    def agreement(chosen: NDArray[np.bool_]) -> list[Estimate]:
        return shares_by_person(person[chosen], right[chosen], units[chosen], people, level=level)

    timed = compared & signed.cast["time"].is_not_null().to_numpy()
    late = _later_half(signed, timed)
    early_agreement, late_agreement = agreement(timed & ~late), agreement(timed & late)
    cell = (person[compared] * labels + others[compared].argmax(axis=1)) * width + signed.answer[compared]
    confusion = np.bincount(cell, minlength=people * labels * width).reshape(people, labels, width)
    seconds = dict(signed.cast.group_by("annotator").agg(pl.col("seconds").median()).iter_rows())
    columns = zip(
        signed.annotators,
        np.bincount(person, minlength=people).tolist(),
        agreement(compared),
        early_agreement,
        late_agreement,
        confusion,
        find_flags(votes, fdr=fdr, margin=margin, speed=speed, least=least),
        strict=True,
    )
    records = [
        Annotator(name, count, agreed, seconds[name], difference(later, earlier), matrix, flags)
        for name, count, agreed, earlier, later, matrix, flags in columns
    ]
    return Annotators(votes.space.labels, votes.answers, records)


def _others_majority(votes: Votes) -> NDArray[np.bool_]:
    """Mark for each signed vote the majority of the pair's other votes."""
    signed = votes.signed
    rest = votes.counts[signed.row]
    rest[np.arange(len(rest)), signed.answer] -= 1
    return leading(rest, len(votes.space))


def _later_half(signed: Votes, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say which of the chosen votes, whose times are known, are in the later half of their annotator's."""
    rows = np.flatnonzero(chosen)
    person, times = signed.annotator[rows], signed.cast["time"].gather(rows).to_physical().to_numpy()
    order = np.lexsort((times, person))
    counts = np.bincount(person, minlength=len(signed.annotators))
    place = np.arange(len(rows)) - (np.cumsum(counts) - counts)[person[order]]
    late = np.zeros(len(chosen), dtype=np.bool_)
    late[rows[order]] = place >= (counts[person[order]] + 1) // 2
    return late


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
