"""Pairs with the gold labels that their votes led to, and with what led to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import polars as pl

from goldlabel.pairs import Pairs
from goldlabel.verify.gold import GoldLabels
from goldlabel.verify.votes import BESIDE, Votes

POSTERIOR = "posterior"
"""Where in ``meta`` the probability of each label stands."""


def relabel(pairs: Pairs, votes: Votes, gold: GoldLabels, *, with_votes: bool) -> Pairs:
    """Return the pairs with gold labels where the method decided, and with the votes that counted.

    ``with_votes`` puts the votes into the record, with the lists beside them in ``meta``; the probabilities of a
    method that gives some are put there in any case.
    """
    decided = pl.Series(gold.settled(votes))
    columns = [pl.when(pl.lit(decided)).then(pl.lit(gold.words(votes))).otherwise(pl.col("label")).alias("label")]
    beside: dict[str, pl.Series] = {}
    if with_votes:
        lists = _lists(votes)
        columns.append(pl.lit(lists["votes"]).alias("votes"))
        beside |= {name: lists[name] for name in BESIDE}
    if gold.posterior:
        shares = pl.DataFrame(gold.scores, schema=list(votes.space.labels))
        voted = pl.Series(votes.total > 0)
        beside[POSTERIOR] = shares.select(pl.when(pl.lit(voted)).then(pl.struct(pl.all()))).to_series()
    frame = pairs.frame.with_columns(columns)
    if beside:
        frame = frame.with_columns(pl.lit(_meta(pairs, beside)).alias("meta"))
    card = pairs.card.with_step(f"gold labels from votes by {gold.method}")
    # The gold label takes the place of the author's where that was the label.
    return Pairs(frame, replace(card, author="first" if votes.by_author.any() else "none"))


def _lists(votes: Votes) -> pl.DataFrame:
    """Return the votes of each pair as lists, a row per pair; a list beside them is null where nothing is known."""
    words = votes.cast.select(
        "row",
        votes=pl.col("label").cast(pl.String),
        annotators=pl.col("annotator").cast(pl.String),
        seconds="seconds",
        times=pl.col("time").dt.to_string("iso:strict"),
    )
    known = {name: pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).implode()) for name in BESIDE}
    lists = words.group_by("row").agg("votes", **known)
    every = pl.DataFrame({"row": np.arange(len(votes.pairs), dtype=np.uint32)})
    joined = every.join(lists, on="row", how="left", maintain_order="left")
    return joined.with_columns(pl.col("votes").fill_null([]))


def _meta(pairs: Pairs, beside: dict[str, pl.Series]) -> pl.Series:
    """Put values into ``meta``; a null takes out what was there under its name."""
    texts = pairs.frame.select("meta").collect(engine="streaming").to_series()
    columns = [column.to_list() for column in beside.values()]
    merged = []
    for text, *values in zip(texts, *columns, strict=True):
        fields: dict[str, Any] = orjson.loads(text) if text else {}
        fields |= dict(zip(beside, values, strict=True))
        fields = {name: value for name, value in fields.items() if value is not None or name not in beside}
        merged.append(orjson.dumps(fields).decode() if fields else None)
    return pl.Series("meta", merged, dtype=pl.String)
