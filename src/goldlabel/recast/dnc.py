"""The DNC's files: ``recast_NAME_data.json`` and ``recast_NAME_metadata.json``, read and written as released.

Both are JSON lists joined by ``pair-id``. They were written by Python 2's ``json``, whose trace (a space at the end of
lines) is kept, so that a file that is read and written again is the same to the byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

import orjson

from goldlabel.errors import InputError
from goldlabel.files import InputFile, atomic_folder, input_files
from goldlabel.pairs.dataset import Pairs
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED

Rows = list[dict[str, Any]]

RELEASED_AS = {"named-entities": "ner", "relations": "kg_relations"}
"""What the release calls a recaster's files, where it is not our name."""
LABELS = {True: "entailed", False: "not-entailed"}
SCALE = {"impossible": 1, "technically_possible": 2, "plausible": 3, "likely": 4, "very_likely": 5}
"""What the release writes for judgements on a scale of five."""
_DATA = re.compile(r"recast_(\w+)_data\.json")
_NEEDED = ("binary-label", "context", "hypothesis", "pair-id")


@dataclass(frozen=True, kw_only=True)
class Published:
    """One released pair with what its metadata says."""

    source_id: str | None
    corpus: str | None
    split: str | None
    premise: str
    hypothesis: str
    label: str
    pair_id: int


def binary_label(label: str) -> str:
    """Return the label as the release counts it: on a scale of five, only the highest is entailed."""
    if label in SCALE:
        return ENTAILED if SCALE[label] == max(SCALE.values()) else NOT_ENTAILED
    return label


def read_release(file: InputFile) -> Rows:
    """Read one released file."""
    with file.open() as stream:
        data = stream.read()
    try:
        rows = json.loads(data)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise InputError(f"{file} line {line}: is not JSON ({error})") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "pair-id" in row for row in rows):
        raise InputError(f"{file} line 1: is not a list of objects with pair-id, as released files are")
    return rows


def encode_release(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Write rows as the release does: sorted keys, four spaces, ASCII, no end of line at the end."""
    return json.dumps(rows, indent=4, sort_keys=True, separators=(", ", ": ")).encode("ascii")


def published_pairs(paths: Sequence[Path], name: str) -> list[Published]:
    """Read the released pairs of one recaster; metadata are looked for among the files and beside them."""
    files = [file for path in paths for file in input_files(path)]
    wanted = RELEASED_AS.get(name, name)
    data_files = [(file, match[1]) for file in files if (match := _DATA.fullmatch(file.name))]
    data = [file for file, released in data_files if released == wanted]
    if not data:
        seen = ", ".join(sorted({file.name for file, _ in data_files})) or "no recast_*_data.json"
        raise InputError(f"{paths[0] if paths else 'no file'}: holds no recast_{wanted}_data.json; it has {seen}")
    return [pair for file in data for pair in _joined(file, files)]


def _joined(file: InputFile, files: Sequence[InputFile]) -> Iterator[Published]:
    beside = _metadata(file, files)
    metadata = {row["pair-id"]: row for row in read_release(beside)} if beside else {}
    for number, row in enumerate(read_release(file), 1):
        missing = [name for name in _NEEDED if name not in row]
        if missing or not isinstance(row["binary-label"], bool):
            raise InputError(
                f"{file} item {number}: {(missing or ['binary-label'])[0]} is missing, or is no truth value"
            )
        described = metadata.get(row["pair-id"], {})
        source_id = described.get("corpus-sent-id")
        yield Published(
            source_id=None if source_id is None else str(source_id),
            corpus=described.get("corpus"),
            split=row.get("split"),
            premise=normalize("NFC", row["context"]),
            hypothesis=normalize("NFC", row["hypothesis"]),
            label=ENTAILED if row["binary-label"] else NOT_ENTAILED,
            pair_id=row["pair-id"],
        )


def _metadata(file: InputFile, files: Sequence[InputFile]) -> InputFile | None:
    name = file.name.replace("_data.json", "_metadata.json")
    for other in files:
        if other.name == name and _folder(other) == _folder(file):
            return other
    if file.member is None:
        for suffix in ("", ".gz"):
            path = file.path.with_name(name + suffix)
            if path.exists():
                return InputFile(path)
    return None


def _folder(file: InputFile) -> str:
    return str(file).rpartition("/")[0]


def release_rows(pairs: Pairs, first_id: int = 1) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each pair as the release would have it: its split, its data, its metadata.

    What was read from the release goes back as it was. Our own pairs are numbered from ``first_id``, and keep their
    id and what else is known of them in ``misc``.
    """
    number = first_id
    for block in pairs.blocks():
        for row in block.select("id", "premise", "hypothesis", "label", "split", "tags", "meta").iter_rows(named=True):
            meta = orjson.loads(row["meta"] or "{}")
            data = {"context": row["premise"], "hypothesis": row["hypothesis"], "split": row["split"]}
            if "type-of-inference" in meta:
                yield row["split"], *_released_rows(data, meta, row)
            else:
                yield row["split"], *_own_rows(data, meta, row, number)
            number += 1


def write_release(pairs: Pairs, folder: Path, name: str) -> list[Path]:
    """Write a recast dataset in the release's form: a folder per split, two files in each."""
    splits: dict[str, tuple[Rows, Rows]] = {}
    for split, data, metadata in release_rows(pairs):
        rows = splits.setdefault(split, ([], []))
        rows[0].append(data)
        rows[1].append(metadata)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already; choose another folder for the output")
    released = RELEASED_AS.get(name, name)
    written = []
    with atomic_folder(folder) as temporary:
        for split, rows in splits.items():
            (temporary / split).mkdir()
            for kind, part in zip(("data", "metadata"), rows, strict=True):
                path = Path(split) / f"recast_{released}_{kind}.json"
                (temporary / path).write_bytes(encode_release(part))
                written.append(folder / path)
    return written


_DATA_FIELDS = ("annotations", "label", "label-set", "type-of-inference")
_METADATA_FIELDS = ("corpus", "corpus-license", "corpus-sent-id", "corpus-split", "creation-approach", "misc")


def _released_rows(
    data: dict[str, Any], meta: Mapping[str, Any], row: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    number = {"pair-id": int(row["id"])}
    kept = {name: meta[name] for name in _DATA_FIELDS if name in meta}
    described = {name: meta[name] for name in _METADATA_FIELDS if name in meta}
    return data | kept | number | {"binary-label": row["label"] == ENTAILED}, described | number


def _own_rows(
    data: dict[str, Any], meta: dict[str, Any], row: Mapping[str, Any], number: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    entailed = binary_label(row["label"]) == ENTAILED
    if binary_label(row["label"]) not in (ENTAILED, NOT_ENTAILED):
        raise InputError(f"pair {row['id']}: label {row['label']!r} has no place in the release")
    on_scale = row["label"] in SCALE
    own = {
        "binary-label": entailed,
        "label": SCALE[row["label"]] if on_scale else LABELS[entailed],
        "label-set": list(SCALE.values()) if on_scale else list(LABELS.values()),
        "pair-id": number,
        "type-of-inference": row["tags"][0] if row["tags"] else None,
    }
    source_id = meta.pop("source_id", None)
    metadata = {
        "corpus": meta.pop("corpus", None),
        "corpus-license": meta.pop("licence", None),
        "corpus-sent-id": meta.pop("published_id", source_id),
        "creation-approach": meta.pop("creation", None),
        "misc": meta | {"id": row["id"]},
        "pair-id": number,
    }
    return data | own, metadata
