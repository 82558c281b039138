"""Votes: one row per pair, annotator and answer.

They come from the record (``votes``, the author's first) or from a CSV file with the columns ``pair``,
``annotator`` and ``label``. Who voted, how long it took and when is known where the record's ``meta`` holds
the lists ``annotators``, ``seconds`` and ``times`` beside the votes, or where the CSV file has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.files import one_input_file
from goldlabel.pairs import Pairs
from goldlabel.pairs.card import check_author
from goldlabel.pairs.labels import ABSTENTIONS, LabelSpace
from goldlabel.pairs.units import units_of
from goldlabel.registry import suggest

NONE = -1
"""Stands for no label and for an unknown annotator."""

MEMBERS = {"annotators": pl.String(), "seconds": pl.Float64(), "times": pl.String()}
TIME_FORMATS = ("%+", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f")


@dataclass(frozen=True)
class Votes:
    """The long table of votes as parallel arrays, in the order of pairs, then of votes.

    ``pair`` is a row of ``ids``, ``answer`` a column of ``answers``, ``annotator`` a place in ``annotators``.
    ``units`` (see ``goldlabel.pairs.units``), ``label`` and ``author`` have one entry per pair; ``by_author`` marks
    the votes that are the author's own.
    """

    space: LabelSpace
    ids: pl.Series
    units: NDArray[np.int64]
    label: NDArray[np.int8]
    author: NDArray[np.int8]
    pair: NDArray[np.int32]
    answer: NDArray[np.int8]
    by_author: NDArray[np.bool_]
    annotator: NDArray[np.int32]
    annotators: tuple[str, ...]
    seconds: NDArray[np.float64]
    times: NDArray[np.float64]

    @property
    def answers(self) -> tuple[str, ...]:
        """What a vote can be: the labels of the space, then the abstentions."""
        return (*self.space.labels, *ABSTENTIONS)

    @cached_property
    def counts(self) -> NDArray[np.int32]:
        """The number of votes by pair and answer."""
        width = len(self.answers)
        cell = self.pair.astype(np.int64) * width + self.answer
        counted = np.bincount(cell, minlength=len(self.ids) * width)
        return np.asarray(counted.reshape(-1, width), dtype=np.int32)

    @cached_property
    def total(self) -> NDArray[np.int32]:
        """The number of votes of each pair."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.int32))

    @property
    def relabelled(self) -> NDArray[np.bool_]:
        """The pairs with two votes or more."""
        return self.total >= 2

    @property
    def table(self) -> pl.DataFrame:
        """The votes as a table of words."""
        known = self.annotator != NONE
        names = pl.Series(self.annotators, dtype=pl.String)[np.where(known, self.annotator, 0)] if known.any() else None
        starts = np.cumsum(self.total) - self.total
        return pl.DataFrame(
            {
                "pair": self.ids[self.pair],
                "annotator": pl.select(pl.when(pl.Series(known)).then(names)).to_series().cast(pl.String),
                "label": pl.Series(self.answers)[self.answer],
                "position": np.arange(len(self.pair)) - starts[self.pair],
                "seconds": pl.Series(self.seconds).fill_nan(None),
                "time": pl.from_epoch(pl.Series(self.times).fill_nan(None).cast(pl.Int64), time_unit="s"),
            }
        )

    def require_annotators(self, what: str) -> None:
        """Refuse to go on where it is not known who cast which vote."""
        unknown = int((self.annotator == NONE).sum())
        if unknown:
            share = "who cast the votes is not known" if unknown == len(self.pair) else f"{unknown} votes have no name"
            raise InputError(
                f"{what} needs to know who cast each vote, and {share}; give them in meta under 'annotators', "
                "a list beside the votes, or in a CSV file of votes"
            )
        if not (self.answer < len(self.space)).any():
            raise InputError(f"{what} has nothing to learn from: no vote is for a label")


def votes_of(pairs: Pairs, *, author: str | None = None) -> Votes:
    """Take the votes from the record.

    Where the author's label is stands on the card; ``author`` says it instead: it is the ``first`` vote; it is the
    released ``label``, where all votes are verifiers'; or nobody knows (``none``).
    """
    author = _author(author, pairs.card.author)
    frame = pairs.frame.select("id", "group", "premise", "label", "votes", *_meta_lists()).collect(engine="streaming")
    sizes = frame["votes"].list.len()
    if not sizes.sum():
        raise InputError(
            f"{pairs.card.name}: there are no votes; they are read from the column 'votes' (annotator_labels in "
            "SNLI's files) or from a CSV file of votes"
        )
    rows = np.repeat(np.arange(len(frame), dtype=np.int32), sizes.to_numpy())
    words = frame["votes"].list.explode(keep_nulls=False, empty_as_null=False)
    lists = {name: _flat(frame, name, kind, pairs.card.name) for name, kind in MEMBERS.items()}
    return _build(pairs, frame, rows, words, lists, author)


def read_votes(path: str | Path, pairs: Pairs, *, author: str | None = None) -> Votes:
    """Read votes from a CSV file with the columns ``pair``, ``annotator``, ``label`` and maybe ``seconds``, ``time``.

    A pair's votes stand in the order of the file. The record's own votes play no part, and where the author's is the
    first of those, it is not in the file unless ``author`` says so.
    """
    author = _author(author, "label" if pairs.card.author == "label" else "none")
    table = _read_csv(path)
    frame = pairs.frame.select("id", "group", "premise", "label").collect(engine="streaming")
    rows = frame.with_row_index("row").select("row", pl.col("id").alias("pair"))
    joined = table.join(rows, on="pair", how="left", maintain_order="left")
    lost = joined.filter(pl.col("row").is_null())
    if len(lost):
        raise InputError(f"{path}: pair {lost['pair'][0]!r} is not among the pairs of {pairs.card.name}")
    joined = joined.sort("row", maintain_order=True)
    spellings = pairs.card.label_space.spellings() | {word: word for word in ABSTENTIONS}
    words = joined["label"].str.to_lowercase().replace_strict(spellings, default=None, return_dtype=pl.String)
    if words.has_nulls():
        wrong = joined["label"].filter(words.is_null())[0]
        allowed = [*pairs.card.label_space.labels, *ABSTENTIONS]
        raise InputError(f"{path}: label {wrong!r} is no vote; {suggest(str(wrong), allowed)}")
    lists = {"annotators": joined["annotator"], "seconds": joined["seconds"], "times": joined["time"]}
    return _build(pairs, frame, joined["row"].to_numpy().astype(np.int32), words, lists, author)


def _build(
    pairs: Pairs,
    frame: pl.DataFrame,
    rows: NDArray[np.int32],
    words: pl.Series,
    lists: dict[str, pl.Series],
    author: str,
) -> Votes:
    space = pairs.card.label_space
    codes = {word: code for code, word in enumerate((*space.labels, *ABSTENTIONS))}
    label = _coded(frame["label"], codes)
    answer = _coded(words, codes)
    first = np.diff(rows, prepend=-1) != 0
    authors = np.full(len(frame), NONE, dtype=np.int8)
    if author == "first":
        authors[rows[first]] = answer[first]
    elif author == "label":
        authors = label
    names = lists["annotators"]
    people = names.drop_nulls().unique().sort()
    places = {name: place for place, name in enumerate(people)}
    return Votes(
        space=space,
        ids=frame["id"],
        units=units_of(frame),
        label=label,
        author=authors,
        pair=rows,
        answer=answer,
        by_author=first if author == "first" else np.zeros(len(rows), dtype=np.bool_),
        annotator=names.replace_strict(places, default=NONE, return_dtype=pl.Int32).to_numpy(),
        annotators=tuple(people),
        seconds=lists["seconds"].fill_null(np.nan).to_numpy(),
        times=_epoch(lists["times"], pairs.card.name),
    )


def _coded(words: pl.Series, codes: dict[str, int]) -> NDArray[np.int8]:
    return words.replace_strict(codes, default=NONE, return_dtype=pl.Int8).to_numpy()


def _author(said: str | None, otherwise: str) -> str:
    if said is None:
        return otherwise
    check_author(said)
    return said


def _meta_lists() -> list[pl.Expr]:
    """Take the lists beside the votes out of ``meta``, as JSON text; most datasets have none."""
    return [pl.col("meta").str.json_path_match(f"$.{name}").alias(name) for name in MEMBERS]


def _flat(frame: pl.DataFrame, name: str, kind: pl.DataType, where: str) -> pl.Series:
    """Return one list's members for all votes in turn, null where a pair has no such list."""
    sizes = frame["votes"].list.len()
    if frame[name].null_count() == len(frame):
        return pl.Series(name, [None], dtype=kind).new_from_index(0, int(sizes.sum()))
    try:
        decoded = frame[name].str.json_decode(pl.List(kind))
    except pl.exceptions.ComputeError as error:
        raise InputError(f"{where}: {name!r} in meta is not a list of {kind} on every pair") from error
    wrong = frame.filter(decoded.list.len() != sizes)
    if len(wrong):
        raise InputError(
            f"{where}: pair {wrong['id'][0]!r} has {len(wrong['votes'][0])} votes, and {name!r} in its meta has "
            "another length; the lists must stand side by side"
        )
    if decoded.has_nulls():
        unknown = pl.lit(None, kind).repeat_by(pl.lit(sizes))
        decoded = frame.select(pl.coalesce(pl.lit(decoded), unknown)).to_series()
    return decoded.list.explode(keep_nulls=False, empty_as_null=False)


def _epoch(times: pl.Series, where: str) -> NDArray[np.float64]:
    """Read times as seconds since 1970: numbers as they are, otherwise ISO 8601; without a zone, UTC is meant."""
    if times.null_count() == len(times):
        return np.full(len(times), np.nan)
    text = pl.col("time")
    parsed = [
        text.str.to_datetime(form, time_unit="us", strict=False, time_zone="UTC").dt.epoch("us") / 1e6
        for form in TIME_FORMATS
    ]
    day = text.str.to_date("%Y-%m-%d", strict=False).dt.epoch("s").cast(pl.Float64)
    seconds = times.alias("time").to_frame().select(pl.coalesce(text.cast(pl.Float64, strict=False), *parsed, day))
    strange = times.filter(seconds["time"].is_null() & times.is_not_null())
    if len(strange):
        raise InputError(f"{where}: time {strange[0]!r} is not understood; give ISO 8601, such as 2024-05-31T09:30:00")
    return seconds["time"].fill_null(np.nan).to_numpy()


def _read_csv(path: str | Path) -> pl.DataFrame:
    file = one_input_file(Path(path))
    with file.open() as stream:
        data = stream.read()
    try:
        table = pl.read_csv(data, infer_schema=False)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError) as error:
        raise InputError(f"{path}: is no CSV file of votes ({str(error).splitlines()[0]})") from error
    missing = [name for name in ("pair", "annotator", "label") if name not in table.columns]
    if missing:
        raise InputError(f"{path}: column {missing[0]!r} is missing; a file of votes has pair, annotator and label")
    if not len(table):
        raise InputError(f"{path}: there are no votes in it")
    empty = table.filter(pl.col("pair").is_null() | pl.col("label").is_null())
    if len(empty):
        raise InputError(f"{path}: a row has no pair or no label; leave out votes that were not cast")
    for name in ("seconds", "time"):
        if name not in table.columns:
            table = table.with_columns(pl.lit(None, pl.String).alias(name))
    seconds = table["seconds"].cast(pl.Float64, strict=False)
    strange = table["seconds"].filter(seconds.is_null() & table["seconds"].is_not_null())
    if len(strange):
        raise InputError(f"{path}: seconds {strange[0]!r} is not a number")
    return table.with_columns(seconds)
