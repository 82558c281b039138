"""Votes: one row per pair, annotator and label.

They come from the record (``votes``, and beside them in ``meta`` the lists ``annotators``, ``seconds`` and ``times``),
from a CSV file, or from any frame with the columns ``pair``, ``annotator`` and ``label``::

    votes = Votes.from_frame(pl.DataFrame({"pair": [...], "annotator": [...], "label": [...]}))

What is not known is null: an annotator without a name, a pair without a gold label. Labels become numbers in two ways
only, and neither has a number for null: ``codes`` refuses it, and ``one_hot`` gives it a row without a mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.messages import option
from goldlabel.pairs import Pairs
from goldlabel.pairs.ballots import SOFT_LABELS
from goldlabel.pairs.card import check_author
from goldlabel.pairs.labels import ABSTENTIONS, NLI3, NO_GOLD, LabelSpace, label_space
from goldlabel.pairs.record import BESIDE_VOTES, plain
from goldlabel.pairs.units import units_of
from goldlabel.registry import one_of, suggest

Marks = NDArray[np.bool_]
"""Labels as a row of marks, one column per answer, at most one of them set: no mark is no label."""

REPEATS = ("first", "last")
"""Which of one annotator's votes on the same pair counts."""

BESIDE = dict(zip(BESIDE_VOTES, (pl.String(), pl.Float64(), pl.String()), strict=True))

BLOCK = 5_000
"""Pairs of which what stands beside the votes is decoded at a time."""

TIME = pl.Datetime("us", "UTC")
TIME_FORMATS = ("%+", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f")


@dataclass(frozen=True)
class Votes:
    """The votes on some pairs.

    ``pairs`` has a row per pair: its ``id``, its ``unit`` (see ``goldlabel.pairs.units``), the ``label`` it came with
    and its ``author``'s label. ``cast`` has a row per vote, in the order of pairs, then of votes: the ``row`` of its
    pair, ``annotator``, ``label``, ``seconds``, ``time``, and whether it is the author's own (``by_author``).

    Every vote in ``cast`` has a label. Those that had none, and repeated votes that gave way to others, are counted in
    ``unlabelled`` and ``repeated``.
    """

    space: LabelSpace
    pairs: pl.DataFrame
    cast: pl.DataFrame
    unlabelled: int = 0
    repeated: int = 0
    soft: NDArray[np.float64] | None = None
    """The probability of each label of each pair that the data came with, if any; NaN where a pair has none."""

    @classmethod
    def from_frame(
        cls,
        frame: pl.DataFrame,
        labels: LabelSpace | str = NLI3,
        *,
        pairs: Pairs | None = None,
        author: str | None = None,
        label_map: Mapping[str, str] | None = None,
        repeats: str | None = None,
        where: str = "votes",
    ) -> Votes:
        """Take votes from a frame with the columns ``pair``, ``annotator``, ``label``, maybe ``seconds`` and ``time``.

        A pair's votes stand in the order of the frame. ``pairs`` are those voted on, with their labels and label
        space; without them, the frame's own pairs are taken, each a unit of its own unless there is a column
        ``unit``. ``label_map`` spells labels, as for files. An annotator's second vote on a pair is refused unless
        ``repeats`` says which one counts.
        """
        _require(frame, where)
        if pairs is not None:
            space, table = pairs.card.label_space, _pair_table(pairs)
            # Where the author's label is the record's first vote, it is not among these.
            author = author or ("label" if pairs.card.author == "label" else "none")
        else:
            space = label_space(labels) if isinstance(labels, str) else labels
            table = _own_pairs(frame)
        rows = table.with_row_index("row").select("row", pair="id")
        spelled = _spelled(frame["label"], space, label_map, where)
        joined = frame.with_columns(pl.col("pair").cast(pl.String), spelled).join(
            rows, on="pair", how="left", maintain_order="left"
        )
        lost = joined["row"].is_null().arg_true()
        if len(lost):
            pair = joined["pair"][lost[0]]
            raise InputError(f"{where} row {lost[0] + 1}: pair {pair!r} is not among the pairs voted on")
        joined = joined.sort("row", maintain_order=True)
        cast = pl.DataFrame(
            {
                "row": joined["row"],
                "annotator": joined["annotator"].cast(pl.String),
                "label": joined["label"],
                "seconds": _seconds(joined, where),
                "time": _times(_optional(joined, "time"), where),
            }
        )
        return _assemble(space, table, cast, author=author or "none", repeats=repeats, where=where)

    @property
    def answers(self) -> tuple[str, ...]:
        """What a vote can be: the labels of the space, then the abstentions."""
        return _answers(self.space)

    @property
    def ids(self) -> pl.Series:
        """The ids of the pairs."""
        return self.pairs["id"]

    @cached_property
    def annotators(self) -> tuple[str, ...]:
        """The annotators who are known, in the order of their names."""
        return _categories(self.cast["annotator"])

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The unit of each pair."""
        return self.pairs["unit"].to_numpy()

    @cached_property
    def label(self) -> Marks:
        """The label each pair came with."""
        return one_hot(self.pairs["label"])

    @cached_property
    def author(self) -> Marks:
        """The author's label of each pair."""
        return one_hot(self.pairs["author"])

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """The row of the pair that each vote is on."""
        return self.cast["row"].to_numpy().astype(np.int64)

    @cached_property
    def answer(self) -> NDArray[np.int64]:
        """The column of ``answers`` that each vote is for."""
        return codes(self.cast["label"])

    @property
    def by_author(self) -> NDArray[np.bool_]:
        """The votes that are the author's own."""
        return self.cast["by_author"].to_numpy()

    @cached_property
    def counts(self) -> NDArray[np.int32]:
        """The number of votes by pair and answer."""
        width = len(self.answers)
        counted = np.bincount(self.row * width + self.answer, minlength=len(self.pairs) * width)
        return np.asarray(counted.reshape(-1, width), dtype=np.int32)

    @cached_property
    def total(self) -> NDArray[np.int32]:
        """The number of votes of each pair."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.int32))

    @property
    def relabelled(self) -> NDArray[np.bool_]:
        """The pairs with two votes or more."""
        return self.total >= 2

    @cached_property
    def signed(self) -> Votes:
        """The votes of annotators who are known."""
        return Votes(self.space, self.pairs, self.cast.filter(pl.col("annotator").is_not_null()))

    @cached_property
    def annotator(self) -> NDArray[np.int64]:
        """The place in ``annotators`` of who cast each vote; all must be known, as they are in ``signed``."""
        return codes(self.cast["annotator"])

    @property
    def table(self) -> pl.DataFrame:
        """The votes as a table of words."""
        starts = np.cumsum(self.total) - self.total
        return self.cast.select(
            pair=self.ids[self.row],
            annotator=pl.col("annotator").cast(pl.String),
            label=pl.col("label").cast(pl.String),
            position=np.arange(len(self.row)) - starts[self.row],
            seconds=pl.col("seconds"),
            time=pl.col("time"),
        )

    def require_annotators(self, what: str) -> None:
        """Refuse to go on where it is not known who cast which vote."""
        unknown = self.cast["annotator"].null_count()
        if unknown:
            share = "who cast the votes is not known" if unknown == len(self.cast) else f"{unknown} votes have no name"
            raise InputError(
                f"{what} needs to know who cast each vote, and {share}; give them in meta under 'annotators', "
                "a list beside the votes, or in a CSV file of votes"
            )
        if not (self.answer < len(self.space)).any():
            raise InputError(f"{what} has nothing to learn from: no vote is for a label")


def votes_of(pairs: Pairs, *, author: str | None = None, repeats: str | None = None) -> Votes:
    """Take the votes from the record.

    Where the author's label is stands on the card; ``author`` says it instead: it is the ``first`` vote; it is the
    released ``label``, where all votes are verifiers'; or nobody knows (``none``). An annotator's second vote on a
    pair is refused unless ``repeats`` says which one counts.
    """
    where = pairs.card.name
    space = pairs.card.label_space
    cast = _cast_votes(pairs, where)
    soft = _soft_labels(pairs) if not len(cast) else None
    if not len(cast) and soft is None:
        raise InputError(
            f"{where}: there are no votes; they are read from the column 'votes' (annotator_labels in SNLI's files), "
            f"from a column for each rater ({option('votes_from')}), or from a file of votes ({option('votes')})"
        )
    author = author or pairs.card.author
    votes = _assemble(space, _pair_table(pairs), cast, author=author, repeats=repeats, where=where)
    return replace(votes, soft=soft)


def _cast_votes(pairs: Pairs, where: str) -> pl.DataFrame:
    """Return a row per vote of the record; ``meta`` is decoded a block of pairs at a time, and not kept."""
    answers = pl.Enum(_answers(pairs.card.label_space))
    empty = {"row": pl.UInt32(), "annotator": pl.String(), "label": answers, "seconds": pl.Float64(), "time": TIME}
    blocks = [pl.DataFrame(schema=empty)]
    first = votes = 0
    lazy = pairs.frame.select("id", "votes", *_beside())
    for frame in lazy.collect_batches(chunk_size=BLOCK, maintain_order=True):
        sizes = frame["votes"].list.len().to_numpy()
        words = frame["votes"].list.explode(keep_nulls=True, empty_as_null=False)
        beside = {name: _flat(frame, name, kind, where) for name, kind in BESIDE.items()}
        cast = {
            "row": np.repeat(np.arange(first, first + len(frame), dtype=np.uint32), sizes),
            "annotator": beside["annotators"],
            "label": _spelled(words, pairs.card.label_space, None, where, before=votes).cast(answers),
            "seconds": beside["seconds"],
            "time": _times(beside["times"], where),
        }
        blocks.append(pl.DataFrame(cast, schema=empty))
        first, votes = first + len(frame), votes + len(words)
    return pl.concat(blocks)


def codes(words: pl.Series) -> NDArray[np.int64]:
    """Return the places of words among the categories of their type; null has no place, so there must be none."""
    if words.has_nulls():
        raise ValueError(f"{words.null_count()} of {len(words)} values of {words.name!r} are null and have no number")
    return words.to_physical().to_numpy().astype(np.int64)


def one_hot(words: pl.Series) -> Marks:
    """Return a row per word, marked in the column of its category; a null has no mark."""
    width = len(_categories(words))
    # What a null is filled with is the number of no column, and only compared.
    places = words.to_physical().cast(pl.Int64).fill_null(width).to_numpy()
    return np.asarray(places[:, None] == np.arange(width))


def marked(marks: Marks) -> NDArray[np.bool_]:
    """Say which rows have a mark."""
    return np.asarray(marks.any(axis=1))


def _assemble(
    space: LabelSpace, pairs: pl.DataFrame, cast: pl.DataFrame, *, author: str, repeats: str | None, where: str
) -> Votes:
    """Type the columns, find the author's label, and leave out what does not count."""
    check_author(author)
    answers = pl.Enum(_answers(space))
    people = cast["annotator"].drop_nulls().unique().sort()
    first = pl.col("row") != pl.col("row").shift(1, fill_value=None)
    cast = cast.with_columns(
        pl.col("annotator").cast(pl.Enum(people)),
        pl.col("label").cast(answers),
        by_author=first.fill_null(True) if author == "first" else pl.lit(False),
    )
    pairs = pairs.with_columns(pl.col("label").replace(NO_GOLD, None).cast(answers))
    if author == "first":
        own = cast.filter("by_author").select("row", author="label")
        pairs = pairs.with_row_index("row").join(own, on="row", how="left", maintain_order="left").drop("row")
    else:
        pairs = pairs.with_columns(author=pl.col("label") if author == "label" else pl.lit(None, answers))
    labelled = cast.filter(pl.col("label").is_not_null())
    once = _without_repeats(labelled, pairs["id"], repeats, where)
    return Votes(space, pairs, once, len(cast) - len(labelled), len(labelled) - len(once))


def _without_repeats(cast: pl.DataFrame, ids: pl.Series, repeats: str | None, where: str) -> pl.DataFrame:
    if repeats is not None:
        one_of("repeats", repeats, REPEATS)
    vote = pl.col("row").cast(pl.Int64) * (2**32) + pl.col("annotator").to_physical().cast(pl.Int64)
    again = cast.filter(vote.is_duplicated() & vote.is_not_null())
    if not len(again):
        return cast
    if repeats is None:
        raise InputError(
            f"{where}: {again['annotator'][0]!r} voted more than once on pair {ids[again['row'][0]]!r}; "
            f"pass {option('repeats', 'last')} or first to count one vote of each"
        )
    kept = vote.is_first_distinct() if repeats == "first" else vote.is_last_distinct()
    return cast.filter(kept | vote.is_null())


def _pair_table(pairs: Pairs) -> pl.DataFrame:
    return pairs.frame.select("id", "label").collect(engine="streaming").with_columns(unit=units_of(pairs.frame))


def _own_pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that a frame of votes is about, in the order in which they come."""
    units = pl.col("unit") if "unit" in frame.columns else pl.col("pair")
    voted = frame.group_by(pl.col("pair").cast(pl.String).alias("id"), maintain_order=True).agg(unit=units.first())
    return voted.select("id", pl.lit(None, pl.String).alias("label"), pl.col("unit").rank("dense").cast(pl.Int64) - 1)


def _require(frame: pl.DataFrame, where: str) -> None:
    missing = [name for name in ("pair", "annotator", "label") if name not in frame.columns]
    if missing:
        raise InputError(f"{where}: column {missing[0]!r} is missing; votes have pair, annotator and label")
    if not len(frame):
        raise InputError(f"{where}: there are no votes in it")
    lacking = (frame["pair"].is_null() | frame["label"].is_null()).arg_true()
    if len(lacking):
        raise InputError(f"{where} row {lacking[0] + 1}: there is no pair or no label; leave out votes not cast")


def _answers(space: LabelSpace) -> tuple[str, ...]:
    return (*space.labels, *ABSTENTIONS)


def _spelled(
    words: pl.Series, space: LabelSpace, label_map: Mapping[str, str] | None, where: str, *, before: int = 0
) -> pl.Series:
    """Spell each vote as the space does, null where it is for no label; so many votes came ``before`` these."""
    answers = _answers(space)
    nothing = [NO_GOLD, ""]
    if not label_map and words.unique().drop_nulls().is_in(answers).all():
        return words
    spellings = space.spellings(label_map) | {word: word for word in (*ABSTENTIONS, *nothing)}
    trimmed = pl.select(plain(pl.lit(words))).to_series()
    spelled = trimmed.replace_strict(spellings, default=None, return_dtype=pl.String)
    wrong = (spelled.is_null() & words.is_not_null()).arg_true()
    if len(wrong):
        word = words[wrong[0]]
        row = before + wrong[0] + 1
        raise InputError(f"{where} row {row}: label {word!r} is no vote; {suggest(word, [*answers])}")
    return spelled.replace(nothing, [None, None])


def _categories(words: pl.Series) -> tuple[str, ...]:
    assert isinstance(words.dtype, pl.Enum)
    return tuple(words.dtype.categories)


def _beside() -> list[pl.Expr]:
    """Take the lists beside the votes out of ``meta``, as JSON text; most datasets have none."""
    return [pl.col("meta").str.json_path_match(f"$.{name}").alias(name) for name in BESIDE]


def _flat(frame: pl.DataFrame, name: str, kind: pl.DataType, where: str) -> pl.Series:
    """Return one list's members for all votes in turn, null where a pair has no such list."""
    sizes = frame["votes"].list.len()
    if frame[name].null_count() == len(frame):
        return pl.Series(name, [None], dtype=kind).new_from_index(0, int(sizes.sum()))
    try:
        decoded = frame[name].str.json_decode(pl.List(kind))
    except pl.exceptions.ComputeError as error:
        raise InputError(f"{where}: {name!r} in meta is not a list of {kind} on every pair") from error
    unequal = (decoded.list.len() != sizes).fill_null(False)
    if unequal.any():
        row = int(unequal.arg_true()[0])
        raise InputError(
            f"{where}: pair {frame['id'][row]!r} has {sizes[row]} votes, and {name!r} in its meta has another length; "
            "the lists must stand side by side"
        )
    if decoded.has_nulls():
        unknown = pl.lit(None, kind).repeat_by(pl.lit(sizes))
        decoded = frame.select(pl.coalesce(pl.lit(decoded), unknown)).to_series()
    return decoded.list.explode(keep_nulls=True, empty_as_null=False)


def _soft_labels(pairs: Pairs) -> NDArray[np.float64] | None:
    """Return the probabilities in ``meta``, a row per pair and a column per label."""
    labels = pairs.card.label_space.labels
    columns = [pl.col("meta").str.json_path_match(f"$.{SOFT_LABELS}['{label}']").cast(pl.Float64) for label in labels]
    columns = [column.alias(label) for column, label in zip(columns, labels, strict=True)]
    matrix = pairs.frame.select(columns).collect(engine="streaming").to_numpy()
    return None if np.isnan(matrix).all() else np.asarray(matrix, dtype=np.float64)


def _optional(frame: pl.DataFrame, name: str) -> pl.Series:
    return frame[name] if name in frame.columns else pl.Series(name, [None], pl.String).new_from_index(0, len(frame))


def _seconds(frame: pl.DataFrame, where: str) -> pl.Series:
    column = _optional(frame, "seconds")
    seconds = column.cast(pl.Float64, strict=False)
    wrong = column.filter(seconds.is_null() & column.is_not_null())
    if len(wrong):
        raise InputError(f"{where}: seconds {wrong[0]!r} is not a number")
    return seconds


def _times(times: pl.Series, where: str) -> pl.Series:
    """Read times: seconds since 1970, otherwise ISO 8601; without a zone, UTC is meant."""
    if times.dtype.is_temporal() or times.null_count() == len(times):
        return times.cast(TIME)
    text = pl.col("time")
    since_1970 = (text.cast(pl.Float64, strict=False) * 1e6).cast(pl.Int64, strict=False).cast(TIME)
    written = [text.str.to_datetime(form, time_unit="us", strict=False, time_zone="UTC") for form in TIME_FORMATS]
    day = text.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    parsed = times.cast(pl.String).alias("time").to_frame().select(pl.coalesce(since_1970, *written, day)).to_series()
    wrong = times.filter(parsed.is_null() & times.is_not_null())
    if len(wrong):
        raise InputError(f"{where}: time {wrong[0]!r} is not understood; give ISO 8601, such as 2024-05-31T09:30:00")
    return parsed
