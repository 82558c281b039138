"""What an upload holds: one file of predictions, or a zip of several with what is said of the model.

A zip may hold, in any folders,

* ``SET.csv`` (``.tsv``, ``.jsonl``, ``.parquet``) for each set, or one file with a column ``dataset``;
* ``hypothesis-only/…``: the same, predicted with the premises hidden;
* ``card.json``: ``{"model": …, "training": [...], "parameters": …}``, and ``README.md``, the model card.

Nobody is trusted to send a harmless zip: members that climb out, that are too many, that are encrypted or that expand
beyond reason are refused before any of them is unpacked.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from goldlabel.collect.work.rules import clean_text
from goldlabel.errors import InputError
from goldlabel.files import input_files
from goldlabel.leaderboard.submissions import LONGEST_TEXT, MOST_BYTES
from goldlabel.models.predictions import SUFFIXES

ZIP = ".zip"
ALLOWED = (*SUFFIXES, ZIP)
HIDDEN = "hypothesis-only"
"""The folder of predictions that were made without the premises."""
CARD, README = "card.json", "README.md"
MOST_MEMBERS = 500
MOST_UNPACKED = 4 * MOST_BYTES
HARMLESS, RATIO = 1 << 20, 100
"""What expands beyond both, bytes and times its packed size, is no file of predictions."""
LONGEST_README = 64 << 10


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """What a submission says of its model."""

    model: str = ""
    training: tuple[str, ...] = ()
    parameters: int | None = None
    readme: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "training": list(self.training)}


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Files of predictions by the name that errors call them, and the card."""

    predictions: Mapping[str, Path]
    hidden: Mapping[str, Path]
    card: ModelCard


def unpack(upload: Path, file: str, folder: Path) -> Contents:
    """Return what an upload holds; members of a zip are unpacked into a folder under names of ours."""
    if suffix_of(file) != ZIP:
        return Contents(predictions={file: upload}, hidden={}, card=ModelCard())
    _refuse_bombs(upload, file)
    predictions: dict[str, Path] = {}
    hidden: dict[str, Path] = {}
    card: dict[str, Any] = {}
    readme = ""
    for number, member in enumerate(input_files(upload)):
        path = PurePosixPath(member.member or "")
        name = clean_text(path.name)
        if path.suffix.lower() in SUFFIXES:
            target = folder / f"{number}{path.suffix.lower()}"
            with member.open(any_encoding=True) as packed, target.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked, 1 << 20)
            chosen = hidden if HIDDEN in path.parts[:-1] else predictions
            shown = f"{HIDDEN}/{name}" if chosen is hidden else name
            if shown in chosen:
                raise InputError(f"{file}: holds two files called {shown!r}; a set is predicted once")
            chosen[shown] = target
        elif path.name in (CARD, README):
            with member.open() as packed:
                text = packed.read(LONGEST_README + 1)
            if len(text) > LONGEST_README:
                raise InputError(f"{file}: {path.name} has more than {LONGEST_README:,} bytes; shorten it")
            if path.name == README:
                readme = text.decode("utf-8", "replace").replace("\0", "\ufffd")
            else:
                card = _read_card(text)
        else:
            raise InputError(
                f"{file}: its member {name!r} is neither predictions ({', '.join(SUFFIXES)}) nor {CARD} or {README}; "
                "leave it out"
            )
    if not predictions:
        raise InputError(f"{file}: holds no predictions; put in SET.csv for each set")
    return Contents(predictions=predictions, hidden=hidden, card=_card(card, readme))


def suffix_of(file: str) -> str:
    """Return the ending of a file's name, which tells its format."""
    return PurePosixPath(file).suffix.lower()


def _refuse_bombs(upload: Path, file: str) -> None:
    try:
        with zipfile.ZipFile(upload) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise InputError(f"{file}: is no zip that can be read ({error}); pack it again") from error
    if len(members) > MOST_MEMBERS:
        raise InputError(f"{file}: holds {len(members):,} files; allowed: up to {MOST_MEMBERS}")
    unpacked = sum(member.file_size for member in members)
    bomb = any(
        member.file_size > HARMLESS and member.file_size > RATIO * max(member.compress_size, 1) for member in members
    )
    if bomb or unpacked > MOST_UNPACKED:
        raise InputError(
            f"{file}: expands to {unpacked >> 20:,} MB, or to more than {RATIO} times its size, as no predictions do; "
            f"nothing of it is read: allowed are {MOST_UNPACKED >> 20} MB"
        )
    if any(member.flag_bits & 1 for member in members):
        raise InputError(f"{file}: is encrypted; pack it without a password")


def _read_card(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{CARD}: is no JSON ({error})") from error
    if not isinstance(document, dict):
        raise InputError(f"{CARD}: is no JSON object, such as {{'model': …, 'training': […]}}")
    return document


def _card(document: Mapping[str, Any], readme: str) -> ModelCard:
    """Return what a card says, as far as it has the form of one."""
    training = document.get("training", [])
    parameters = document.get("parameters")
    return ModelCard(
        model=_line(document.get("model", "")),
        training=tuple(_line(name) for name in (training if isinstance(training, list) else [training])[:100]),
        parameters=parameters if type(parameters) is int and 0 <= parameters < 10**15 else None,
        readme=readme,
    )


def _line(value: object) -> str:
    return clean_text(str(value))[:LONGEST_TEXT]
