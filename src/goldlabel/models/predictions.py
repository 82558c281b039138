"""A file of predictions as a model: what ``goldlabel predict`` writes, or no more than ids and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.models.model import Unmoved, check_sides
from goldlabel.models.probabilities import TOLERANCE, named_space, one_hot, scaled
from goldlabel.pairs.labels import LABEL_SPACES, NLI2, NLI3, NO_GOLD, ORDINAL5, SCITAIL, LabelSpace
from goldlabel.pairs.record import COLUMNS

SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".csv", ".tsv")
TEXTS = ("premise", "hypothesis")
_ROW = "row"
_KNOWN = (NLI3, NLI2, SCITAIL, ORDINAL5)


@dataclass(eq=False, repr=False)
class Predictions(Unmoved):
    """Predictions that somebody has made before, found again by a pair's id or by its texts.

    What the file lacks stays unanswered.
    """

    path: Path
    label_space: LabelSpace
    keys: pl.DataFrame
    """``id`` where the file has it, and the two texts where it has both."""
    probabilities: NDArray[np.float64]

    @classmethod
    def read(cls, path: str | Path, label_space: LabelSpace | None = None) -> Self:
        """Read a file: ``id`` or both texts, ``label``, and one column of probabilities per label.

        With labels alone, each has the probability 1. ``label_space`` is where the labels are from if not from
        ``nli3``, ``nli2``, ``scitail`` or ``ordinal5``. ``-``, or nothing, is a pair without an answer.
        """
        return cls.of_frame(read_table(Path(path)), Path(path), label_space)

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, path: Path, label_space: LabelSpace | None = None) -> Self:
        """Take what a file held; ``path`` is what errors call it."""
        names = [name for name in ("id", *TEXTS) if name in frame.columns]
        if "id" not in names and not set(TEXTS) <= set(names):
            raise InputError(
                f"{path}: has neither the column 'id' nor both of 'premise' and 'hypothesis', so its predictions "
                f"belong to no pair; its columns are {', '.join(frame.columns)}"
            )
        # An empty text is nothing at all in most CSV files.
        keys = frame.select(pl.col(names).cast(pl.String))
        keys = keys.with_columns(pl.col([name for name in names if name in TEXTS]).fill_null(""))
        if "id" in names:
            refuse_doubles(keys, ["id"], path)
        space = _columns_space(frame, path, label_space)
        if space is None:
            space, columns = _read_labels(frame, path, label_space)
            return cls(path, space, keys, one_hot(columns, space))
        probabilities = probability_columns(frame, path, space)
        if "label" in frame.columns:
            _check_labels(frame["label"], probabilities, space, path)
        return cls(path, space, keys, probabilities)

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return the predictions for pairs found by their texts, which the file must have."""
        check_sides(premises, hypotheses)
        if not set(TEXTS) <= set(self.keys.columns):
            raise InputError(
                f"{self.path}: has ids and no texts, so its predictions are found only by a pair's id, as "
                "'goldlabel score' and 'goldlabel compare' do"
            )
        _refuse_contradictions(self.keys, self.probabilities, self.path)
        texts = pl.DataFrame(
            dict(zip(TEXTS, (premises, hypotheses), strict=True)), schema=dict.fromkeys(TEXTS, pl.String)
        )
        return self._find(texts, list(TEXTS))

    def predict_pairs(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """Return the predictions for records, found by their ids where the file has ids, else by their texts."""
        if "id" in self.keys.columns:
            return self._find(frame, ["id"])
        return self.predict(frame["premise"].to_list(), frame["hypothesis"].to_list())

    def _find(self, frame: pl.DataFrame, names: list[str]) -> NDArray[np.float64]:
        known = self.keys.select(names).with_row_index(_ROW).unique(names, keep="first")
        rows = frame.select(names).join(known, on=names, how="left", maintain_order="left")[_ROW]
        matrix = np.full((len(frame), len(self.label_space)), np.nan)
        present = rows.is_not_null().to_numpy()
        matrix[present] = self.probabilities[rows.drop_nulls().to_numpy()]
        return matrix


def read_table(path: Path) -> pl.DataFrame:
    """Read a table whose format its ending tells; of CSV, everything is text."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path}: the ending {suffix!r} tells no format of predictions; allowed: {', '.join(SUFFIXES)}"
        )
    try:
        if suffix == ".parquet":
            return pl.read_parquet(path)
        if suffix in (".csv", ".tsv"):
            return pl.read_csv(path, infer_schema=False, separator="," if suffix == ".csv" else "\t")
        return pl.read_ndjson(path, infer_schema_length=None)
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read as predictions ({reason}); write it again") from error


def refuse_doubles(keys: pl.DataFrame, names: list[str], path: Path) -> None:
    """Refuse a row without an id, and two rows of one pair."""
    missing = keys["id"].is_null()
    if missing.any():
        raise InputError(f"{path} row {missing.arg_true()[0] + 1}: the id is missing")
    double = keys.select(names).is_duplicated()
    if double.any():
        first, second = keys["id"].eq(keys["id"].filter(double)[0]).arg_true()[:2]
        name = keys["id"][first]
        raise InputError(
            f"{path} row {second + 1}: id {name!r} stands in row {first + 1} too; a pair is predicted once"
        )


def _refuse_contradictions(keys: pl.DataFrame, probabilities: NDArray[np.float64], path: Path) -> None:
    """Refuse one pair with two answers; the same answer twice does no harm."""
    answers = pl.DataFrame(probabilities, schema=[str(number) for number in range(probabilities.shape[1])])
    rows = keys.select(TEXTS).with_row_index(_ROW).hstack(answers).unique([*TEXTS, *answers.columns], keep="first")
    double = rows.filter(pl.struct(TEXTS).is_duplicated()).sort(_ROW)
    if len(double):
        second = double[1, _ROW] + 1
        raise InputError(f"{path} row {second}: the same premise and hypothesis have another prediction further up")


def _columns_space(frame: pl.DataFrame, path: Path, wanted: LabelSpace | None) -> LabelSpace | None:
    """Return the label space whose probabilities the file has, or None where it has labels alone."""
    spaces = [space for space in (wanted, *_KNOWN) if space is not None and set(space.labels) <= set(frame.columns)]
    if spaces:
        # Of three columns, two are no distribution, whatever the labels of the pairs are.
        return max(spaces, key=len)
    others = [name for name in frame.columns if name not in COLUMNS]
    if not others and "label" in frame.columns:
        return None
    if len(others) < 2 or not all(frame[name].cast(pl.Float64, strict=False).is_not_null().any() for name in others):
        raise InputError(
            f"{path}: has neither a column 'label' alone nor one of probabilities for each label of "
            f"{', '.join(LABEL_SPACES)}; its columns are {', '.join(frame.columns)}"
        )
    return named_space(tuple(others))


def _read_labels(frame: pl.DataFrame, path: Path, wanted: LabelSpace | None) -> tuple[LabelSpace, NDArray[np.int64]]:
    """Return the space of the labels and the column of each, -1 where there is none."""
    labels = frame["label"].cast(pl.String).fill_null(NO_GOLD).replace("", NO_GOLD)
    seen = set(labels.unique()) - {NO_GOLD}
    spaces = [space for space in (wanted, *_KNOWN) if space is not None]
    space = next((space for space in spaces if seen <= set(space.labels)), spaces[0])
    columns = {label: number for number, label in enumerate(space.labels)} | {NO_GOLD: -1}
    codes = labels.replace_strict(columns, default=None, return_dtype=pl.Int64)
    if codes.has_nulls():
        row = codes.is_null().arg_true()[0]
        raise InputError(
            f"{path} row {row + 1}: label {labels[row]!r} is not one of {', '.join(space.labels)}, or {NO_GOLD} for no "
            "answer; name other labels with label_space"
        )
    return space, codes.to_numpy()


def probability_columns(frame: pl.DataFrame, path: Path, space: LabelSpace) -> NDArray[np.float64]:
    """Return the columns of a space's labels; rows that sum to something else than one are refused."""
    columns = []
    for label in space.labels:
        texts = frame[label]
        numbers = texts.cast(pl.Float64, strict=False)
        wrong = numbers.is_null() & texts.is_not_null() & (texts.cast(pl.String) != "")
        if wrong.any():
            row = wrong.arg_true()[0]
            raise InputError(f"{path} row {row + 1}: {texts[row]!r} in column {label!r} is no probability")
        columns.append(numbers.fill_null(float("nan")).to_numpy())
    return scaled(np.column_stack(columns), str(path))


def _check_labels(labels: pl.Series, probabilities: NDArray[np.float64], space: LabelSpace, path: Path) -> None:
    """Refuse a label that is not the most probable one: which of the two is meant cannot be told."""
    columns = {label: number for number, label in enumerate(space.labels)}
    codes = labels.cast(pl.String).replace_strict(columns, default=-1, return_dtype=pl.Int64).fill_null(-1).to_numpy()
    answered = np.asarray(~np.isnan(probabilities).any(axis=1))
    filled = np.nan_to_num(probabilities, nan=0.0)
    own = np.where(codes >= 0, filled[np.arange(len(codes)), codes], -1.0)
    wrong = (answered & (own < filled.max(axis=1, initial=0.0) - TOLERANCE)) | (~answered & (codes >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        best = space.labels[int(filled[row].argmax())] if answered[row] else NO_GOLD
        raise InputError(
            f"{path} row {row + 1}: the label is {labels[row]!r} and the most probable one {best!r}; leave out the "
            "column of labels, or those of probabilities"
        )
