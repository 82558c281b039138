"""Reading pairs from anything: files of every format, compressed or not, and folders."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

import polars as pl
import yaml

from goldlabel.errors import InputError
from goldlabel.files import InputFile, OnBytes, data_suffix, files_in, one_input_file
from goldlabel.pairs.card import HF_SPLITS
from goldlabel.pairs.columnar import parse_frame, read_arrow, read_parquet
from goldlabel.pairs.delimited import read_delimited
from goldlabel.pairs.jsonl import read_jsonl
from goldlabel.pairs.labels import NLI3, NO_GOLD, LabelSpace
from goldlabel.pairs.record import Gate, conform_strictly, refuse_double_ids
from goldlabel.pairs.rows import Parsed, field_names

T = TypeVar("T")
R = TypeVar("R")

DATA_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read files that carry no card: which labels, under which names."""

    space: LabelSpace = NLI3
    label_map: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    split: str = "none"
    unlabelled: bool = False


def stream_pairs(
    path: Path, name: str, reading: Reading, on_bytes: OnBytes | None = None
) -> Generator[pl.DataFrame, None, None]:
    """Yield the records behind ``path`` block by block; memory holds a few blocks, however large the file."""
    parts = list(_folder_parts(path, reading)) if path.is_dir() else [(path, reading.split)]
    several = len(parts) > 1
    for number, (part, split) in enumerate(parts):
        gate = Gate(
            where=str(part),
            space=reading.space,
            label_map=reading.label_map,
            defaults={"dataset": name, "split": split} | ({"label": NO_GOLD} if reading.unlabelled else {}),
            id_prefix=f"{name}-{number}-" if several else f"{name}-",
        )
        thunks, unit = _parsings(part, replace(reading, split=split), on_bytes)
        gate = replace(gate, unit=unit)
        with closing(in_order(thunks, partial(_records, gate))) as blocks:
            yield from blocks


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
        raise InputError(str(min(parsed.problems, key=lambda problem: problem.line)))
    return conform_strictly(parsed.frame, gate)


def _parsings(path: Path, reading: Reading, on_bytes: OnBytes | None) -> tuple[Iterator[Callable[[], Parsed]], str]:
    """Return the parsing of each block of one file, and what its rows are counted in."""
    names = field_names(reading.columns)
    if path.is_dir():
        info, files = _saved_split(path)
        return read_arrow(files, info.get("features", {}), names=names), "row"
    suffix = data_suffix(path.name)
    if suffix == ".parquet":
        if path.suffix != suffix:
            raise InputError(f"{path}: Parquet is compressed inside and not read from {path.suffix}; unpack it first")
        return read_parquet(path, names=names), "row"
    file = one_input_file(path)
    suffix = suffix if suffix in DATA_SUFFIXES else data_suffix(file.name)
    if suffix not in DATA_SUFFIXES:
        raise InputError(
            f"{path}: the ending {suffix or 'of its name'!r} tells no format; allowed: "
            f"{', '.join(DATA_SUFFIXES)}, also with .gz, .bz2, .zst or in a .zip"
        )
    return _parse_text(file, suffix, names, on_bytes), "line"


def _parse_text(
    file: InputFile, suffix: str, names: Mapping[str, str], on_bytes: OnBytes | None
) -> Iterator[Callable[[], Parsed]]:
    with file.open(on_bytes) as stream:
        if suffix in (".csv", ".tsv"):
            yield from read_delimited(stream, str(file), "\t" if suffix == ".tsv" else ",", names=names)
        else:
            yield from read_jsonl(stream, str(file), names=names)


def _folder_parts(folder: Path, reading: Reading) -> Iterator[tuple[Path, str]]:
    """List a folder's files with the split of each: Hugging Face's layouts, or plain data files."""
    if (folder / "dataset_dict.json").exists():
        for name in json.loads((folder / "dataset_dict.json").read_text())["splits"]:
            yield folder / name, _split_of(name, reading)
    elif (folder / "state.json").exists():
        yield folder, reading.split
    else:
        declared = _declared_files(folder, reading)
        files = [file for file in data_files(folder) if not declared or file in declared]
        files = [file for file in files if declared or file.name not in ("card.json", "croissant.json")]
        if not files:
            raise InputError(f"{folder}: holds no pairs; files must end in {', '.join(DATA_SUFFIXES)}")
        for file in files:
            yield file, declared.get(file) or _split_of(file.name, reading)


def data_files(folder: Path) -> list[Path]:
    """List the files in a folder whose names tell a format that pairs are read from."""
    return [file for file in files_in(folder) if data_suffix(file.name) in DATA_SUFFIXES]


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
            files |= dict.fromkeys(matches, splits.get(name) or _split_of(name, reading))
    return files


def _declared_patterns(readme: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each split that a README declares with the patterns of its files.

    ``data_files`` is one pattern or a list of them, all for training; a mapping from splits to such; or a list of
    entries with ``split`` and ``path``.
    """
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


def _split_of(name: str, reading: Reading) -> str:
    word = re.search(r"(?:^|[^a-z])(train|dev|validation|valid|val|test)(?:[^a-z]|$)", name.lower())
    if not word:
        return reading.split
    return word[1] if word[1] in ("train", "test") else "dev"


def _saved_split(folder: Path) -> tuple[dict[str, dict[str, object]], list[Path]]:
    """Read what ``datasets.save_to_disk`` says about one split."""
    try:
        info = json.loads((folder / "dataset_info.json").read_text(encoding="utf-8"))
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        return info, [folder / entry["filename"] for entry in state["_data_files"]]
    except (FileNotFoundError, ValueError, KeyError) as error:
        raise InputError(f"{folder}: is not a complete Hugging Face dataset folder ({error}); save it again") from error
