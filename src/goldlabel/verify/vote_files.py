"""Votes from a CSV file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import one_input_file
from goldlabel.pairs import Pairs
from goldlabel.verify.votes import Votes


def read_votes(
    path: str | Path,
    pairs: Pairs,
    *,
    author: str | None = None,
    label_map: Mapping[str, str] | None = None,
    repeats: str | None = None,
) -> Votes:
    """Read votes on pairs from a CSV file with the columns that ``Votes.from_frame`` takes.

    The record's own votes play no part. Where the author's label is the first of those, it is not in the file unless
    ``author`` says so.
    """
    file = one_input_file(Path(path))
    with file.open() as stream:
        data = stream.read()
    try:
        frame = pl.read_csv(data, infer_schema=False)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError) as error:
        raise InputError(f"{path}: is no CSV file of votes ({str(error).splitlines()[0]})") from error
    return Votes.from_frame(frame, pairs=pairs, author=author, label_map=label_map, repeats=repeats, where=str(path))
