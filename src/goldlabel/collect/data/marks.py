"""Marks of pairs: in which of a page's figures each pair is counted, so that every figure leads to its pairs."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from goldlabel.pairs.labels import NO_GOLD

_TEXTS = ("condition", "genre", "level", "label", "writer", "gold")


@dataclass(frozen=True)
class Marks:
    """A row per pair (``id``, ``condition``, ``genre``, ``level``, ``label``, ``writer``, ``verified``, ``gold``).

    Where artifacts were measured there is also ``right`` (labelled right without the premise), ``negated``,
    ``overlap``, and ``words``, those of the hypothesis as they were counted.
    """

    frame: pl.DataFrame

    @classmethod
    def nothing(cls) -> Marks:
        """Return the marks of no pair, as long as nothing is measured."""
        return cls(pl.DataFrame(schema={"id": pl.Int64, **dict.fromkeys(_TEXTS, pl.String), "verified": pl.Boolean}))

    @property
    def outcomes(self) -> pl.Expr:
        """What became of the author's label: ``author``, ``other`` or ``none``; null where not verified."""
        return (
            pl.when(~pl.col("verified"))
            .then(None)
            .when(pl.col("gold") == NO_GOLD)
            .then(pl.lit("none"))
            .when(pl.col("gold") == pl.col("label"))
            .then(pl.lit("author"))
            .otherwise(pl.lit("other"))
        )
