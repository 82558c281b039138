"""Votes from a file: a table with a row for each vote, in any format that pairs are read from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.reading import ReadingOptions, read_rows
from goldlabel.pairs.rows import by_name
from goldlabel.pairs.tables import Columns
from goldlabel.registry import suggest
from goldlabel.verify.votes import Votes

VOTE_NAMES = {
    "pair": "pair",
    "task": "pair",
    "id": "pair",
    "pairID": "pair",
    "annotator": "annotator",
    "worker": "annotator",
    "label": "vote",
    "vote": "vote",
    "seconds": "seconds",
    "time": "time",
}
"""What a table of votes calls its columns: as ``Votes.from_frame`` does, or as crowd-kit does (task, worker, label)."""

VOTE_COLUMNS = ("pair", "annotator", "vote", "seconds", "time")
"""The columns of a table of votes as a user may map them; ``vote`` is the label that somebody voted for."""


def read_votes(
    path: str | Path,
    pairs: Pairs,
    *,
    author: str | None = None,
    repeats: str | None = None,
    **options: Unpack[ReadingOptions],
) -> Votes:
    """Read votes on pairs from a table with the columns that ``Votes.from_frame`` takes, or crowd-kit's.

    ``columns`` names them otherwise (``{"pair": "hit", "annotator": "who", "vote": "answer"}``); the other options are
    those of ``gl.read``. The record's own votes play no part. Where the author's label is the first of those, it is not
    in the file unless ``author`` says so.
    """
    columns = options.pop("columns", None) or {}
    names = _names(columns)
    looked_for = Columns(names=names, required=("pair", "annotator", "vote"), insisted=tuple(columns.values()))
    label_map = options.get("label_map")
    rename = by_name(names)
    rows = [rename(row) for row in read_rows(Path(path), looked_for, options)]
    if not rows:
        raise InputError(f"{path}: there are no votes in it")
    frame = pl.DataFrame(
        {name: [_text(row.get(name)) for row in rows] for name in dict.fromkeys(names.values())}, schema=_SCHEMA
    )
    frame = frame.rename({"vote": "label"}).drop(
        name for name in ("seconds", "time") if frame[name].null_count() == len(frame)
    )
    return Votes.from_frame(frame, pairs=pairs, author=author, label_map=label_map, repeats=repeats, where=str(path))


_SCHEMA = {name: pl.String() for name in dict.fromkeys(VOTE_NAMES.values())}


def _names(columns: Mapping[str, str]) -> dict[str, str]:
    names = dict(VOTE_NAMES)
    for column, name in columns.items():
        if column not in VOTE_COLUMNS:
            raise InputError(f"{column!r} is not a column of votes; {suggest(column, list(VOTE_COLUMNS))}")
        names = {known: record for known, record in names.items() if record != column} | {name: column}
    return names


def _text(value: object) -> str | None:
    return None if value is None else str(value)
