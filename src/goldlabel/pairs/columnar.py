"""Parquet files and Arrow files, in the record's columns or in those of Hugging Face datasets.

Hugging Face stores labels as integers with their names in the features; those names are the explicit map
that turns them into words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs.columns import Renaming, rename_columns
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.record import COLUMNS, DTYPES, LINE
from goldlabel.pairs.rows import Parsed, Row, Transform, check_meta, parse_rows
from goldlabel.pairs.tables import split_lists
from goldlabel.registry import suggest

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS_PER_BLOCK = 50_000
_ARROW = b"ARROW1"
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(
    path: Path, transform: Transform, renaming: Renaming | None = None, data: bytes | None = None
) -> Iterator[Callable[[], Parsed]]:
    """Yield the parsing of each run of rows of a Parquet file as a function; ``data`` is what was packed in it."""
    with open_parquet(path, data) as file:
        schema = file.schema_arrow
        classes = class_names(_features(schema))
        batches = _guarded(file.iter_batches(ROWS_PER_BLOCK), path)
        yield from _parse_batches(batches, schema, classes, str(path), transform, renaming)


def read_arrow(
    path: Path,
    transform: Transform,
    renaming: Renaming | None = None,
    features: Any = None,
    data: bytes | None = None,
) -> Iterator[Callable[[], Parsed]]:
    """Yield the parsing of each batch of an Arrow file or stream as a function; ``data`` is what was packed in it."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) if data is None else pa.BufferReader(data) as source:
            is_file = source.read(len(_ARROW)) == _ARROW
            source.seek(0)
            with pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source) as reader:
                batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
                classes = class_names(_features(reader.schema) if features is None else features)
                yield from _parse_batches(
                    _guarded(batches, path), reader.schema, classes, str(path), transform, renaming
                )
    except (pa.ArrowInvalid, FileNotFoundError) as error:
        raise InputError(f"{path}: is not a complete Arrow file ({_first_line(error)}); save it again") from error


def _features(schema: pa.Schema) -> Any:
    """Return what Hugging Face's ``datasets`` says of the columns, in the file's own metadata."""
    return json.loads((schema.metadata or {}).get(b"huggingface", b"{}")).get("info", {}).get("features", {})


def open_parquet(path: Path, data: bytes | None = None) -> pq.ParquetFile:
    """Open a Parquet file, or say that it is none or only half of one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _complete(path, pa.ArrowInvalid):
        return pq.ParquetFile(path if data is None else pa.BufferReader(data))


def check_parquet(path: Path) -> None:
    """Say if a file that a card names is not there, is no Parquet file or only half of one; pyarrow is not needed."""
    with _complete(path, pl.exceptions.PolarsError):
        pl.read_parquet_schema(path)


@contextmanager
def _complete(path: Path, damage: type[Exception]) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except (damage, OSError) as error:
        raise InputError(
            f"{path}: is not a complete Parquet file ({_first_line(error)}); it may be half-written: make it again"
        ) from error


def class_names(features: Any) -> dict[str, list[str]]:
    """Return the label names of each ``ClassLabel`` column among Hugging Face features."""
    return {
        column: feature["names"]
        for column, feature in features.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
    }


def _parse_batches(
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    classes: Mapping[str, list[str]],
    where: str,
    transform: Transform,
    renaming: Renaming | None,
) -> Iterator[Callable[[], Parsed]]:
    is_record = set(schema.names) == set(COLUMNS) and not classes
    first = 1
    for batch in batches:
        if is_record:
            yield lambda batch=batch, first=first: parse_frame(_frame(batch), where, first)  # type: ignore[misc]
        else:
            yield (
                lambda batch=batch, first=first: (
                    _parse_columns(  # type: ignore[misc]
                        batch, first, classes, renaming
                    )
                    or parse_rows(_rows(batch, first, classes), lambda row: split_lists(transform(row)), where, "row")
                )
            )
        first += len(batch)


def _parse_columns(
    batch: pa.RecordBatch, first: int, classes: Mapping[str, list[str]], renaming: Renaming | None
) -> Parsed | None:
    names = [name for name in batch.schema.names if not _PANDAS_INDEX.fullmatch(name)]
    renamed = renaming(names) if renaming and len(set(names)) == len(names) else None
    if renamed is None:
        return None
    frame = _frame(batch.select(names)).with_columns(
        pl.col(name).replace_strict(dict(enumerate(words)), default=NO_GOLD, return_dtype=pl.String)
        for name, words in classes.items()
    )
    return rename_columns(frame, renamed, _numbers(first, len(frame)))


def _numbers(first: int, rows: int) -> pl.Series:
    return pl.int_range(first, first + rows, dtype=pl.Int64, eager=True).alias(LINE)


def parse_frame(frame: pl.DataFrame, where: str, first: int = 1) -> Parsed:
    """Number the rows of a frame in the record's columns, or in some of them, and check what ``meta`` holds."""
    for name, dtype in frame.schema.items():
        if name not in DTYPES:
            raise InputError(f"{where}: {name!r} is not a column of the record; {suggest(name, list(COLUMNS))}")
        if dtype not in (DTYPES[name], pl.Null):
            raise InputError(f"{where}: column {name!r} holds {dtype}, and {DTYPES[name]} was expected")
    typed = frame.cast({name: DTYPES[name] for name in frame.columns})
    numbered = typed.with_columns(_numbers(first, len(frame)))
    return Parsed(numbered, check_meta(numbered, where) if "meta" in frame.columns else [])


def _frame(batch: pa.RecordBatch) -> pl.DataFrame:
    frame = pl.from_arrow(batch)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _rows(batch: pa.RecordBatch, first: int, classes: Mapping[str, list[str]]) -> Iterator[tuple[int, Row]]:
    named = batch.select([name for name in batch.schema.names if not _PANDAS_INDEX.fullmatch(name)])
    for number, row in enumerate(named.to_pylist(), first):
        yield number, class_words(row, classes)


def class_words(row: Row, classes: Mapping[str, list[str]]) -> Row:
    """Put the names of classes in the place of their numbers; a number without a name is no label."""
    for column, words in classes.items():
        value = row[column]
        row[column] = words[value] if isinstance(value, int) and 0 <= value < len(words) else NO_GOLD
    return row


def _guarded(batches: Any, path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    try:
        yield from batches
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: is damaged ({_first_line(error)}); make or fetch it again") from error


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
