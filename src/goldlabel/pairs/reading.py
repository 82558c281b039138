"""Reading pairs from anything: files of every format, compressed or not, folders, and what comes in on a pipe."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypedDict, TypeVar

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import InputFile, OnBytes, data_suffix, files_in, one_input_file
from goldlabel.messages import option
from goldlabel.pairs.ballots import COUNT_FIELDS, has_label_columns, plain_names, votes_by_name
from goldlabel.pairs.card import CARD, HF_SPLITS
from goldlabel.pairs.columnar import parse_frame, read_arrow, read_parquet
from goldlabel.pairs.columns import Renaming
from goldlabel.pairs.delimited import read_text_table
from goldlabel.pairs.dialects import separator
from goldlabel.pairs.encodings import as_utf8
from goldlabel.pairs.jsonl import read_jsonl
from goldlabel.pairs.labels import NLI3, LabelSpace, label_space
from goldlabel.pairs.record import LINE, SPLITS, Gate, RowError, conform_strictly, refuse_double_ids
from goldlabel.pairs.rows import Parsed, Row, Transform, field_names
from goldlabel.pairs.sheets import read_sheet
from goldlabel.pairs.tables import Columns
from goldlabel.registry import one_of

T = TypeVar("T")
R = TypeVar("R")

JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
SHEET_SUFFIXES = (".xlsx", ".xls", ".ods")
BINARY_SUFFIXES = (".parquet", ".arrow", ".feather")
DATA_SUFFIXES = (*JSON_SUFFIXES, *TEXT_SUFFIXES, *SHEET_SUFFIXES, *BINARY_SUFFIXES)
FOLDER_SUFFIXES = tuple(suffix for suffix in DATA_SUFFIXES if suffix != ".txt")
"""What is looked for in a folder: there, a text file is a licence or a note more often than a table."""
_DICT, _STATE = "dataset_dict.json", "state.json"
"""What Hugging Face's library writes into the folder of a dataset with splits, and of one without."""
FORMATS = tuple(suffix.removeprefix(".") for suffix in DATA_SUFFIXES)

OnNote = Callable[[str], None]
"""Called with what a reader should know of how a file was read."""


class ReadingOptions(TypedDict, total=False):
    """How to read what carries no card, as ``gl.read`` and its like take it."""

    labels: LabelSpace | str
    label_map: Mapping[str, str] | None
    columns: Mapping[str, str] | None
    votes_from: Sequence[str]
    split: str
    unlabelled: bool
    format: str | None
    delimiter: str | None
    encoding: str | None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read files that carry no card: which labels, under which names, in which form."""

    space: LabelSpace = NLI3
    label_map: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    votes_from: Sequence[str] = ()
    split: str = "none"
    unlabelled: bool = False
    suffix: str | None = None
    delimiter: str | None = None
    encoding: str | None = None

    @classmethod
    def of(cls, options: ReadingOptions) -> Reading:
        """Check the options and fill in the others."""
        labels, split = options.get("labels", NLI3), options.get("split", "none")
        if split not in SPLITS:
            raise InputError(f"split {split!r} is not one of {', '.join(SPLITS)}")
        kind, delimiter = options.get("format"), options.get("delimiter")
        return cls(
            space=label_space(labels) if isinstance(labels, str) else labels,
            label_map=options.get("label_map") or {},
            columns=options.get("columns") or {},
            votes_from=tuple(options.get("votes_from") or ()),
            split=split,
            unlabelled=options.get("unlabelled", False),
            suffix=f".{one_of('format', kind.lower().removeprefix('.'), FORMATS)}" if kind else None,
            delimiter=separator(delimiter) if delimiter else None,
            encoding=options.get("encoding"),
        )

    @property
    def names(self) -> dict[str, str]:
        """The file's names with the record's."""
        return field_names(self.columns)

    @property
    def transform(self) -> Transform:
        """From a row under the file's names to one under the record's."""
        return votes_by_name(self.names, space=self.space, label_map=self.label_map, votes_from=self.votes_from)

    @property
    def renaming(self) -> Renaming | None:
        """How a table is taken column by column, if that can be."""
        if self.votes_from:
            return None
        return partial(plain_names, names=self.names, space=self.space, label_map=self.label_map)

    @property
    def whole_blocks(self) -> bool:
        """Whether a block of JSON in which nothing but ``names`` stands can be taken as it is."""
        return not self.votes_from

    @property
    def table_columns(self) -> Columns:
        """What a table's header must have."""
        votes = [name for name, column in self.names.items() if column == "votes"]
        soft = [*COUNT_FIELDS, *self.space.labels]
        return Columns(
            names=self.names,
            required=("premise", "hypothesis") if self.unlabelled else ("premise", "hypothesis", "label"),
            insisted=(*self.columns.values(), *self.votes_from),
            instead_of_label=(*votes, *soft, *self.votes_from),
            has_label_columns=partial(has_label_columns, space=self.space, label_map=self.label_map),
            renaming=self.renaming,
        )


def stream_pairs(
    path: Path,
    name: str,
    reading: Reading,
    on_bytes: OnBytes | None = None,
    on_note: OnNote | None = None,
) -> Generator[pl.DataFrame, None, None]:
    """Yield the records behind ``path`` block by block; memory holds a few blocks, however large the file."""
    parts = list(_folder_parts(path, reading)) if path.is_dir() else [(path, reading.split)]
    several = len(parts) > 1
    for number, (part, split) in enumerate(parts):
        gate = Gate(
            where=str(part),
            space=reading.space,
            label_map=reading.label_map,
            defaults={"dataset": name, "split": split},
            id_prefix=f"{name}-{number}-" if several else f"{name}-",
            unlabelled=reading.unlabelled,
        )
        thunks, unit = _parsings(part, replace(reading, split=split), on_bytes, on_note or _ignore)
        gate = replace(gate, unit=unit)
        with closing(in_order(thunks, partial(_records, gate))) as blocks:
            yield from blocks


@dataclass(frozen=True, kw_only=True)
class _RowReading(Reading):
    """How to read a table that holds no pairs: its rows are kept as they are."""

    looked_for: Columns
    rows: list[Row] = field(default_factory=list)

    @property
    def transform(self) -> Transform:
        def keep(row: Row) -> Row:
            self.rows.append(row)
            return {}

        return keep

    @property
    def renaming(self) -> None:
        return None

    @property
    def table_columns(self) -> Columns:
        return self.looked_for

    @property
    def whole_blocks(self) -> bool:
        return False


def read_rows(path: Path, looked_for: Columns, options: ReadingOptions, on_note: OnNote | None = None) -> list[Row]:
    """Return the rows of a table that holds no pairs, in any format that pairs are read from, under its own names."""
    return [row for _, row in read_placed_rows(path, looked_for, options, on_note)]


def read_placed_rows(
    path: Path, looked_for: Columns, options: ReadingOptions, on_note: OnNote | None = None
) -> list[tuple[str, Row]]:
    """Return the rows of a table that holds no pairs, each with the place where it stands, such as ``x.csv line 3``."""
    reading = _RowReading(**vars(Reading.of(options)), looked_for=looked_for)
    thunks, unit = _parsings(path, reading, None, on_note or _ignore)
    places: list[str] = []
    for parse in thunks:
        parsed = parse()
        if parsed.problems:
            raise RowError(parsed.problems[0])
        places += (f"{path} {unit} {line}" for line in parsed.frame[LINE])
    return list(zip(places, reading.rows, strict=True))


def read_frame(frame: pl.DataFrame, name: str, space: LabelSpace) -> pl.DataFrame:
    """Return a frame in memory as records, through the gate that files pass."""
    gate = Gate(where=name, space=space, defaults={"dataset": name}, id_prefix=f"{name}-", unit="row")
    records = _records(gate, lambda: parse_frame(frame, name))
    refuse_double_ids(records, name)
    return records


def in_order(items: Iterable[T], work: Callable[[T], R], workers: int = 2) -> Generator[R, None, None]:
    """Apply ``work`` to items side by side, a few ahead of the reader, and yield the results in order."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Callable[[], R]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item).result)
                if len(waiting) > workers:
                    yield waiting.popleft()()
            while waiting:
                yield waiting.popleft()()
        finally:
            pool.shutdown(cancel_futures=True)


def _records(gate: Gate, parse: Callable[[], Parsed]) -> pl.DataFrame:
    parsed = parse()
    if parsed.problems:
        raise RowError(min(parsed.problems, key=lambda problem: problem.line))
    return conform_strictly(parsed.frame, gate)


def _parsings(
    path: Path, reading: Reading, on_bytes: OnBytes | None, on_note: OnNote
) -> tuple[Iterator[Callable[[], Parsed]], str]:
    """Return the parsing of each block of one file, and what its rows are counted in."""
    if path.is_dir():
        info, files = _saved_split(path)
        features = info.get("features", {})
        return (
            parse for file in files for parse in read_arrow(file, reading.transform, reading.renaming, features)
        ), "row"
    plain = data_suffix(path.name) == path.suffix.lower()
    if plain and (reading.suffix or path.suffix.lower()) in BINARY_SUFFIXES:
        return _parse_binary(path, reading, None), "row"
    file = one_input_file(path)
    suffix = data_suffix(path.name)
    suffix = reading.suffix or (suffix if suffix in DATA_SUFFIXES else data_suffix(file.name))
    if suffix not in DATA_SUFFIXES:
        raise InputError(
            f"{path}: the ending {suffix or 'of its name'!r} tells no format; allowed: "
            f"{', '.join(DATA_SUFFIXES)}, also with .gz, .bz2, .zst or in a .zip; pass "
            f"{option('format')} if it is one of these"
        )
    unit = "line" if suffix in (*TEXT_SUFFIXES, *JSON_SUFFIXES) else "row"
    return _parse_file(file, suffix, reading, on_bytes, on_note), unit


def _parse_binary(path: Path, reading: Reading, data: bytes | None) -> Iterator[Callable[[], Parsed]]:
    if (reading.suffix or data_suffix(path.name)) == ".parquet":
        return read_parquet(path, reading.transform, reading.renaming, data)
    return read_arrow(path, reading.transform, reading.renaming, data=data)


def _parse_file(
    file: InputFile, suffix: str, reading: Reading, on_bytes: OnBytes | None, on_note: OnNote
) -> Iterator[Callable[[], Parsed]]:
    with file.open(on_bytes, any_encoding=True) as stream:
        if suffix in BINARY_SUFFIXES:
            yield from _parse_binary(file.path, replace(reading, suffix=suffix), stream.read())
        elif suffix in SHEET_SUFFIXES:
            yield from read_sheet(stream.read(), str(file), reading.table_columns, reading.transform, on_note)
        else:
            is_table = suffix in TEXT_SUFFIXES
            text, note = as_utf8(stream, file.name, reading.encoding, assume=is_table)
            if note:
                on_note(note)
            if is_table:
                yield from read_text_table(
                    text,
                    str(file),
                    reading.table_columns,
                    reading.transform,
                    ending=suffix,
                    delimiter=reading.delimiter,
                )
            else:
                yield from read_jsonl(
                    text, str(file), names=reading.names, transform=reading.transform, fast=reading.whole_blocks
                )


def _ignore(_: str) -> None:
    return None


def _folder_parts(folder: Path, reading: Reading) -> Iterator[tuple[Path, str]]:
    """List a folder's files with the split of each: Hugging Face's layouts, or plain data files."""
    if (folder / _DICT).exists():
        for name in json.loads((folder / _DICT).read_text())["splits"]:
            yield folder / name, split_of(name, reading.split)
    elif (folder / _STATE).exists():
        yield folder, reading.split
    else:
        declared = _declared_files(folder, reading)
        files = [file for file in data_files(folder) if not declared or file in declared]
        files = [file for file in files if declared or file.name not in ("card.json", "croissant.json")]
        if not files:
            raise InputError(f"{folder}: holds no pairs; files must end in {', '.join(FOLDER_SUFFIXES)}")
        for file in files:
            yield file, declared.get(file) or split_of(file.name, reading.split)


def is_dataset(path: Path) -> bool:
    """Say whether a folder was written as a dataset, by Goldlabel or by Hugging Face's library."""
    return any((path / name).exists() for name in (CARD, _DICT, _STATE))


def data_files(folder: Path) -> list[Path]:
    """List the files in a folder whose names tell a format that pairs are read from."""
    return [file for file in files_in(folder) if data_suffix(file.name) in FOLDER_SUFFIXES]


def _declared_files(folder: Path, reading: Reading) -> dict[Path, str]:
    """Return what the first configuration in a Hugging Face README declares: file to split."""
    readme = folder / "README.md"
    splits = {hf: ours for ours, hf in HF_SPLITS.items()}
    files: dict[Path, str] = {}
    for name, patterns in _declared_patterns(readme):
        for pattern in patterns:
            if "://" in pattern or PurePosixPath(pattern).is_absolute() or ".." in PurePosixPath(pattern).parts:
                raise InputError(f"{readme}: declares {pattern!r}, which leads out of its folder; copy the files there")
            matches = sorted(folder.glob(pattern))
            if not matches:
                raise InputError(f"{readme}: declares {pattern!r}, and no such file is there; mend data_files")
            files |= dict.fromkeys(matches, splits.get(name) or split_of(name, reading.split))
    return files


def _declared_patterns(readme: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each split that a README declares with the patterns of its files.

    ``data_files`` is one pattern or a list of them, all for training; a mapping from splits to such; or a list of
    entries with ``split`` and ``path``.
    """
    import yaml

    text = readme.read_text(encoding="utf-8", errors="replace") if readme.exists() else ""
    front = re.match(r"---\r?\n(.*?)\n---", text, re.S)
    try:
        fields = yaml.safe_load(front[1]) if front else None
    except yaml.YAMLError as error:
        raise InputError(f"{readme}: its front matter is not valid YAML ({error}); mend it") from error
    if fields is not None and not isinstance(fields, dict):
        raise InputError(f"{readme}: its front matter is not a mapping; mend it")
    configs = (fields or {}).get("configs") or [{}]
    if not isinstance(configs, list) or not isinstance(configs[0], dict):
        raise InputError(f"{readme}: configs is not a list of configurations; mend it")
    declared = configs[0].get("data_files") or []
    match declared:
        case str() | [str(), *_]:
            entries = [("train", declared)]
        case dict():
            entries = list(declared.items())
        case list() if all(isinstance(entry, dict) for entry in declared):
            entries = [(entry.get("split", "train"), entry.get("path")) for entry in declared]
        case _:
            entries = [("", None)]
    for split, patterns in entries:
        patterns = [patterns] if isinstance(patterns, str) else patterns
        if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in [split, *patterns]):
            raise InputError(
                f"{readme}: data_files is not understood; allowed: a pattern, a list of patterns, a mapping from "
                "splits to patterns, or a list of entries with split and path"
            )
        yield split, patterns


def split_of(name: str, default: str) -> str:
    """Return the split that a name speaks of, such as that of a file."""
    word = re.search(r"(?:^|[^a-z])(train|dev|validation|valid|val|test)(?:[^a-z]|$)", name.lower())
    if not word:
        return default
    return word[1] if word[1] in ("train", "test") else "dev"


def _saved_split(folder: Path) -> tuple[dict[str, dict[str, object]], list[Path]]:
    """Read what ``datasets.save_to_disk`` says about one split."""
    try:
        info = json.loads((folder / "dataset_info.json").read_text(encoding="utf-8"))
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        return info, [folder / entry["filename"] for entry in state["_data_files"]]
    except (FileNotFoundError, ValueError, KeyError) as error:
        raise InputError(f"{folder}: is not a complete Hugging Face dataset folder ({error}); save it again") from error
