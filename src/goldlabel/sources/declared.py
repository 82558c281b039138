"""Sources that are declared in YAML: where a corpus comes from and how its columns are called, without any Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.files import data_suffix, home, write_text
from goldlabel.pairs.card import AUTHORS
from goldlabel.pairs.labels import label_space
from goldlabel.pairs.record import COLUMNS, SPLITS
from goldlabel.registry import Plugin, one_of
from goldlabel.sources.source import Reader, Source, SourceFile, delimited, fields, jsonl

REQUIRED = ("name", "title", "citation", "licence", "address", "language", "columns", "files")
OPTIONAL = ("checksum", "description", "labels", "label_map", "author")
SUFFIX = ".yaml"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


def read_source(path: Path) -> Source:
    """Return the source that a YAML file declares."""
    import yaml

    try:
        # Everything is text: a label that is spelt 0 or no stays what it is in the corpus.
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot be read as YAML ({' '.join(str(error).split())})") from error
    if not isinstance(document, dict):
        raise InputError(f"{path}: is not a list of keys and values; a source needs {', '.join(REQUIRED)}")
    try:
        return _source(document)
    except GoldlabelError as error:
        raise InputError(f"{path}: {error}") from error


def declare(path: Path) -> str:
    """Take a declared source into the library, and return its name."""
    source = read_source(path)
    write_text(folder() / f"{source.name}{SUFFIX}", path.read_text(encoding="utf-8"))
    return source.name


def folder() -> Path:
    """Return where the library keeps what was declared."""
    return home() / "sources"


def declared_sources() -> list[Plugin]:
    """Return the sources that were declared, by the names of their files; one with a fault is told when it is read."""
    return [Plugin(path.stem, str(path), partial(read_source, path)) for path in sorted(folder().glob(f"*{SUFFIX}"))]


def _source(document: Mapping[str, Any]) -> Source:
    for key in document:
        one_of("key", key, (*REQUIRED, *OPTIONAL))
    for key in REQUIRED:
        if not document.get(key):
            raise InputError(f"{key!r} is missing; a source needs {', '.join(REQUIRED)}")
    if not _NAME.fullmatch(document["name"]):
        raise InputError(f"name {document['name']!r} is not made of small letters, digits, - and _")
    columns = _mapping(document, "columns")
    for column in columns:
        one_of("columns", column, COLUMNS)
    for column in ("premise", "hypothesis", "label"):
        if column not in columns:
            raise InputError(f"columns: say which column of the file is the {column}")
    parts = _mapping(document, "files")
    return Source(
        name=document["name"],
        title=document["title"],
        paper=document["citation"],
        licence=document["licence"],
        address=document["address"],
        checksum=document.get("checksum"),
        language=document["language"],
        description=document.get("description", ""),
        label_space=label_space(document.get("labels", "nli3")),
        label_map=_mapping(document, "label_map"),
        author=one_of("author", document.get("author", "none"), tuple(AUTHORS)),
        files=tuple(
            SourceFile(_pattern(name), one_of("files", split, SPLITS), _reader(name, columns))
            for split, name in parts.items()
        ),
    )


def _mapping(document: Mapping[str, Any], key: str) -> dict[str, str]:
    value = document.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(entry, str) for entry in value.values()):
        raise InputError(f"{key}: is not a list of 'name: value'")
    return value


def _pattern(name: str) -> str:
    """Return the pattern of a file name in which * stands for anything."""
    return re.escape(name).replace(r"\*", ".*")


def _reader(name: str, columns: Mapping[str, str]) -> Reader:
    suffix = data_suffix(PurePosixPath(name).name)
    transform = fields(**columns)  # type: ignore[arg-type]  # "gold" is no column
    if suffix in (".jsonl", ".ndjson", ".json"):
        return jsonl(transform=transform)
    one_of("files: format", suffix, (".jsonl", ".ndjson", ".json", *_DELIMITERS))
    return delimited(_DELIMITERS[suffix], transform)
