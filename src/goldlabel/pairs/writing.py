"""Writing datasets: a folder of Parquet files with its card, and the exchange formats."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, cast

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import ARCHIVES, COMPRESSIONS, sha256
from goldlabel.pairs.card import CARD, HF_SPLITS, Card, FileEntry, write_card
from goldlabel.pairs.delimited import encode_csv
from goldlabel.pairs.jsonl import encode_jsonl
from goldlabel.pairs.record import LISTS, SPLITS
from goldlabel.registry import suggest
from goldlabel.remote import file_at, folder_at

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

FILE_FORMATS = ("jsonl", "csv", "parquet")


def refuse_foreign_folder(folder: Path) -> None:
    """Refuse to write over anything but a dataset."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; a dataset needs a folder, choose another name for the output")
    if folder.exists() and not (folder / CARD).exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: is not empty and no dataset; choose another folder for the output")


class DatasetWriter(AbstractContextManager["DatasetWriter"]):
    """Writes records block by block into a dataset folder that appears only when complete.

    ``hf`` lays the files out as the Hugging Face hub does; either way both read the result.
    """

    def __init__(self, folder: Path, card: Card, *, hf: bool = False) -> None:
        refuse_foreign_folder(folder)
        self.card = card
        self._hf = hf
        self._stack = ExitStack()
        self._folder = self._stack.enter_context(folder_at(folder))
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._labels: dict[str, dict[str, int]] = {}
        self._languages: set[str] = set()

    def write(self, frame: pl.DataFrame) -> None:
        """Append records; each goes to the file of its split."""
        self.write_parts([arrow_table(frame.rechunk())])

    def write_parts(self, parts: Iterable[pa.Table]) -> None:
        """Append records that come in parts, as if they came at once; no more than a part is held beside them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from goldlabel.pairs.arrow import SCHEMA

        columns: dict[str, list[list[pa.Array]]] = {}
        for part in parts:
            self._languages.update(pc.unique(part["language"]).drop_null().to_pylist())
            for name in pc.unique(part["split"]):  # as Arrow has it: to turn a text into that, it would import pandas
                chosen = part.filter(pc.equal(part["split"], name))
                for place, column in enumerate(chosen.columns):
                    columns.setdefault(name.as_py(), [[] for _ in part.columns])[place] += column.chunks
        for name in [*columns]:
            pieces = columns.pop(name)
            for place, column in enumerate(pieces):
                pieces[place] = pa.concat_arrays(column)
            self._append(name, pa.table(pieces, schema=SCHEMA))

    def _append(self, name: str, table: pa.Table) -> None:
        if name not in self._writers:
            path = self._folder / self._path(name)
            path.parent.mkdir(exist_ok=True)
            self._writers[name] = self._stack.enter_context(_parquet_writer(path))
            self._labels[name] = {}
        counts = self._labels[name]
        for count in table["label"].value_counts().to_pylist():
            counts[count["values"]] = counts.get(count["values"], 0) + count["counts"]
        self._writers[name].write_table(table)

    def attach(self, name: str, data: bytes) -> None:
        """Put another file beside the data; an empty one is left out."""
        if data:
            (self._folder / name).write_bytes(data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._stack.__exit__(kind, error, traceback)
            return
        with self._stack:
            for writer in self._writers.values():
                writer.close()
            if self._writers:
                refuse_doubles(pl.scan_parquet([self._folder / self._path(split) for split in self._writers]))
            self.card = replace(
                self.card,
                files=tuple(self._entry(split) for split in SPLITS if split in self._writers),
                languages=tuple(sorted(self._languages)) or self.card.languages,
            )
            write_card(self.card, self._folder)

    def _path(self, split: str) -> str:
        return f"data/{HF_SPLITS[split]}-00000-of-00001.parquet" if self._hf else f"{split}.parquet"

    def _entry(self, split: str) -> FileEntry:
        path = self._folder / self._path(split)
        return FileEntry(
            path=self._path(split),
            split=split,
            pairs=sum(self._labels[split].values()),
            labels=dict(sorted(self._labels[split].items())),
            sha256=sha256(path),
            bytes=path.stat().st_size,
        )


def refuse_doubles(frame: pl.LazyFrame, where: str = "") -> None:
    """Refuse records of which two have one id, by 64-bit hashes: eight bytes a pair are held, not the ids."""
    ids = frame.select("id")
    hashes = ids.select(pl.col("id").hash(seed=0)).collect(engine="streaming").to_series().to_numpy(writable=True)
    hashes.sort()
    double = hashes[1:][hashes[1:] == hashes[:-1]]
    if not len(double):
        return
    seen = ids.filter(pl.col("id").hash(seed=0).is_in(pl.Series(double[:1000]).implode())).collect()["id"]
    repeated = seen.value_counts().filter(pl.col("count") > 1).sort("id")
    if len(repeated):
        name, count = repeated.row(0)
        more = f" (and {len(repeated) - 1} more ids are)" if len(repeated) > 1 else ""
        raise InputError(f"{where}id {name!r} is given to {count} pairs{more}; ids must be unique in a dataset")


_REPETITIVE = ["label", "split", "dataset", "language", "genre", "level", "round", "condition"]
_REPETITIVE_PATHS = [*_REPETITIVE, *(f"{name}.list.element" for name in LISTS)]


def _parquet_writer(path: Path) -> pq.ParquetWriter:
    """Open a file of records; what repeats itself is kept once, and nobody asks for the least and greatest text."""
    import pyarrow.parquet as pq

    from goldlabel.pairs.arrow import SCHEMA

    return pq.ParquetWriter(
        path, SCHEMA, compression="zstd", use_dictionary=_REPETITIVE_PATHS, write_statistics=_REPETITIVE
    )


def arrow_table(frame: pl.DataFrame) -> pa.Table:
    """Return records as Arrow has them."""
    from goldlabel.pairs.arrow import SCHEMA

    # Arrow's newer layout of texts would have to be turned into the older one of the schema, at twice the cost.
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(SCHEMA)


def write_file(blocks: Iterable[pl.DataFrame], path: Path, kind: str) -> int:
    """Write records into one JSONL, CSV or Parquet file, compressed where its name ends in ``.gz``."""
    if kind not in FILE_FORMATS:
        raise InputError(f"{kind!r} is no file format; {suggest(kind, list(FILE_FORMATS))}")
    packed = next((suffix for suffix in (*COMPRESSIONS, *ARCHIVES) if path.name.endswith(suffix)), "")
    if packed not in ("", ".gz") or (packed and kind == "parquet"):
        raise InputError(f"{path}: {kind} is not written as {packed}; JSONL and CSV may end in .gz")
    count = 0
    with file_at(path) as temporary, ExitStack() as stack:
        if kind == "parquet":
            writer = stack.enter_context(_parquet_writer(temporary))
            for block in blocks:
                writer.write_table(arrow_table(block))
                count += len(block)
            return count
        stream: IO[bytes] = stack.enter_context(temporary.open("wb"))
        if path.suffix == ".gz":
            stream = cast(IO[bytes], stack.enter_context(gzip.GzipFile("", "wb", fileobj=stream, mtime=0)))
        for block in blocks:
            if kind == "jsonl":
                encode_jsonl(block).write_csv(stream, include_header=False, quote_style="never")
            else:
                encode_csv(block).write_csv(stream, include_header=count == 0)
            count += len(block)
    return count
