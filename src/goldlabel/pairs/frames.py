"""Pairs from what is in memory: rows, frames of pandas and Polars, Hugging Face datasets.

All of them are rows under some names, and pass the gate that files pass. Where they bring no ids, a pair's id is made
from its texts, so that it stays the same whatever else changes; equal pairs are numbered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs.ballots import content_id, join_votes
from goldlabel.pairs.card import Card
from goldlabel.pairs.columnar import class_words
from goldlabel.pairs.dataset import Pairs, with_origin
from goldlabel.pairs.dialects import heading
from goldlabel.pairs.reading import Reading, ReadingOptions, split_of
from goldlabel.pairs.record import Gate, conform_strictly, refuse_double_ids
from goldlabel.pairs.rows import Row, parse_rows
from goldlabel.pairs.tables import split_lists

if TYPE_CHECKING:
    import datasets
    import pandas

NAME = "pairs"
_TEXTS = ("premise", "hypothesis", "label")


def from_rows(
    rows: Iterable[Mapping[str, Any] | tuple[str, str, str]],
    *,
    card: Card | None = None,
    **options: Unpack[ReadingOptions],
) -> Pairs:
    """Take pairs from dictionaries, or from tuples of premise, hypothesis and label.

    ``card`` says what the dataset is; the options are those of ``gl.read`` as far as they are not about files.
    """
    return _from_rows((_row(row, number) for number, row in enumerate(rows, 1)), card, options, "rows")


def from_pandas(frame: pandas.DataFrame, *, card: Card | None = None, **options: Unpack[ReadingOptions]) -> Pairs:
    """Take pairs from a pandas frame; an index that has a name is a column too."""
    _refuse_other(frame, "iloc", "from_pandas takes a pandas frame")
    frame = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
    names = [str(name) for name in frame.columns]
    _refuse_twice(names)
    columns = (frame.iloc[:, place].tolist() for place in range(len(names)))
    rows = (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
    return _from_rows(rows, card, options, "a pandas frame")


def from_polars(
    frame: pl.DataFrame | pl.LazyFrame, *, card: Card | None = None, **options: Unpack[ReadingOptions]
) -> Pairs:
    """Take pairs from a Polars frame."""
    _refuse_other(frame, "lazy", "from_polars takes a Polars frame")
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    return _from_rows(frame.iter_rows(named=True), card, options, "a Polars frame")


def from_datasets(
    dataset: datasets.Dataset | datasets.DatasetDict | datasets.IterableDataset | datasets.IterableDatasetDict,
    *,
    card: Card | None = None,
    **options: Unpack[ReadingOptions],
) -> Pairs:
    """Take pairs from a Hugging Face dataset, or from a dictionary of them by split; class labels become words."""
    parts = dataset.items() if isinstance(dataset, dict) else [(None, dataset)]
    for _, part in parts:
        _refuse_other(part, "with_format", "from_datasets takes a Hugging Face dataset, or several by split")
    default = options.get("split", "none")

    def rows() -> Iterator[Row]:
        for split, part in parts:
            classes = {
                name: feature.names
                for name, feature in (part.features or {}).items()
                if type(feature).__name__ == "ClassLabel"
            }
            for row in part.with_format(None):
                named = {} if split is None else {"split": split_of(str(split), default)}
                yield named | class_words(dict(row), classes)

    return _from_rows(rows(), card, options, "a Hugging Face dataset")


def _refuse_other(value: object, attribute: str, takes: str) -> None:
    """Refuse what is something else; the libraries themselves may not be installed, and are not imported to ask."""
    if not hasattr(value, attribute):
        others = (
            "gl.from_rows takes rows, gl.from_pandas, gl.from_polars and gl.from_datasets what they are called after"
        )
        raise InputError(f"{takes}, and this is {type(value).__name__}; {others}")


def _from_rows(rows: Iterable[Row], card: Card | None, options: ReadingOptions, origin: str) -> Pairs:
    if card is not None and "labels" not in options:
        options = {**options, "labels": card.label_space}
    reading = Reading.of(options)
    name = card.name if card else NAME
    transform = reading.transform
    made: Counter[str] = Counter()

    def to_record(row: Row) -> Row:
        row = split_lists(transform(row))
        premise, hypothesis = row.get("premise"), row.get("hypothesis")
        if row.get("id") is None and isinstance(premise, str) and isinstance(hypothesis, str):
            own = content_id(premise, hypothesis)
            made[own] += 1
            row["id"] = own if made[own] == 1 else f"{own}-{made[own]}"
        return row

    parsed = parse_rows(enumerate(map(_plain, rows), 1), to_record, name, "row")
    if parsed.problems:
        raise InputError(str(parsed.problems[0]))
    gate = Gate(
        where=name,
        space=reading.space,
        label_map=reading.label_map,
        defaults={"dataset": name, "split": reading.split},
        unit="row",
        unlabelled=reading.unlabelled,
    )
    frame = join_votes(conform_strictly(parsed.frame, gate))
    refuse_double_ids(frame, name)
    card = replace(card or Card(name=name), label_space=reading.space)
    return Pairs(frame.lazy(), with_origin(card, frame, f"read from {origin}"))


def _row(row: object, number: int) -> Row:
    if isinstance(row, Mapping):
        return dict(row)
    if isinstance(row, list | tuple) and len(row) == len(_TEXTS):
        return dict(zip(_TEXTS, row, strict=True))
    raise InputError(f"row {number}: is no dictionary and no tuple of premise, hypothesis and label, but {row!r:.40}")


def _refuse_twice(names: list[str]) -> None:
    counted = Counter(map(heading, names))
    twice = next((name for name in names if counted[heading(name)] > 1), None)
    if twice is not None:
        raise InputError(f"column {twice!r} is there twice; rename or leave out one of them")


def _plain(value: Any) -> Any:
    """Return Python's own values: what is missing, in whatever way, is ``None``."""
    import numpy as np

    match value:
        case str() | bool() | int() | None:
            return value
        case float() | np.floating():
            return None if np.isnan(value) else float(value)
        case dict():
            return {str(name): _plain(member) for name, member in value.items()}
        case list() | tuple() | np.ndarray() | pl.Series():
            return [_plain(member) for member in value]
        case np.generic():
            return value.item()
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)
