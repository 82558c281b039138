"""Conditions on pairs, as SQL says them: ``label = 'neutral' and length > 20``."""

from __future__ import annotations

import re

import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.record import COLUMNS

LENGTHS = {"length": "hypothesis", "premise_length": "premise"}
"""Columns beside the record's: how many words a text has; in Chinese and Japanese, characters stand for words."""

_SINGLE = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
_WORD = rf"{_SINGLE}|[\p{{L}}\p{{N}}'’_--{_SINGLE}]+"


def where(pairs: Pairs, condition: str) -> Pairs:
    """Keep the pairs for which a condition holds, in the SQL of Polars.

    It may speak of the record's columns, of ``meta.FIELD``, and of ``length`` and ``premise_length``, the words of
    hypothesis and premise.
    """
    fields = sorted(set(re.findall(r"\bmeta\.(\w+)", condition)))
    frame = pairs.frame.with_columns(
        *(pl.col(text).str.count_matches(_WORD).alias(name) for name, text in LENGTHS.items()),
        *(pl.col("meta").str.json_path_match(f"$.{field}").alias(f"meta_{field}") for field in fields),
    )
    try:
        kept = frame.filter(pl.sql_expr(re.sub(r"\bmeta\.(\w+)", r"meta_\1", condition)))
        kept.collect_schema()
        kept = kept.select(COLUMNS).collect(engine="streaming").lazy()
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0].partition("; valid columns")[0]
        raise InputError(
            f"the condition {condition!r} is not understood ({reason}); columns: "
            f"{', '.join((*COLUMNS, *LENGTHS))}, meta.FIELD"
        ) from error
    return Pairs(kept, pairs.card.with_step(f"kept where {condition}"))
