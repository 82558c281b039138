"""Pairs: the record, label spaces, reading and writing, splits, near-duplicates."""

from goldlabel.pairs.card import Card
from goldlabel.pairs.dataset import Pairs, convert, read
from goldlabel.pairs.frames import from_datasets, from_pandas, from_polars, from_rows
from goldlabel.pairs.labels import LabelSpace, label_space, score_mapping
from goldlabel.pairs.result import Result

__all__ = [
    "Card",
    "LabelSpace",
    "Pairs",
    "Result",
    "convert",
    "from_datasets",
    "from_pandas",
    "from_polars",
    "from_rows",
    "label_space",
    "read",
    "score_mapping",
]
