"""Tiny datasets made of nothing but votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import polars as pl

from goldlabel.pairs import Card, Pairs, label_space
from goldlabel.pairs.record import COLUMNS, DTYPES

WORDS = {
    "e": "entailment",
    "n": "neutral",
    "c": "contradiction",
    "u": "unrelated",
    "k": "unknown",
    "i": "incomprehensible",
    "-": "-",
}


def ballots(
    *votes: str,
    labels: str | None = None,
    annotators: Sequence[str] | None = None,
    meta: Sequence[dict[str, Any] | None] | None = None,
    author: str = "first",
    **columns: Sequence[str | None],
) -> Pairs:
    """Pairs with votes such as ``"een"``, one letter each; ``annotators`` likewise, ``labels`` one letter a pair."""
    rows: dict[str, Any] = {name: [None] * len(votes) for name in COLUMNS}
    rows |= {
        "id": [f"p{number}" for number in range(len(votes))],
        "premise": [f"Heron {number} stands in the reeds." for number in range(len(votes))],
        "hypothesis": ["A bird is outside."] * len(votes),
        "label": [WORDS[letter] for letter in labels or "-" * len(votes)],
        "votes": [[WORDS[letter] for letter in cast] for cast in votes],
        "split": ["dev"] * len(votes),
        "tags": [[]] * len(votes),
    }
    if annotators is not None:
        meta = [{"annotators": list(names)} for names in annotators]
    if meta is not None:
        rows["meta"] = [orjson.dumps(fields).decode() if fields else None for fields in meta]
    frame = pl.DataFrame(rows | columns, schema=DTYPES)
    return Pairs.from_frame(frame, Card(name="ballots", label_space=label_space("nli3"), author=author))
