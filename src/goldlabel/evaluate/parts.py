"""Predictions that are not complete: parts in a folder beside the file, each named by the pairs it is about."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.files import atomic_file, lock_folder, write_text
from goldlabel.models.model import most_probable
from goldlabel.pairs.gold import digest_texts
from goldlabel.pairs.labels import LabelSpace
from goldlabel.pairs.record import COLUMNS

SETTINGS = "settings.json"
ASKED_COLUMNS = ("id", "premise", "hypothesis")
_PART = re.compile(r"(\d{8})-(\d+)-([0-9a-f]{64})\.parquet")


class Parts:
    """The folder of predictions that are not complete, one part after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out; what has ended, or has nothing to go on from, leaves no folder."""
        with lock_folder(self.folder, "predicting"):
            try:
                yield
            except BaseException:
                if not self._paths():
                    shutil.rmtree(self.folder, ignore_errors=True)
                raise
            shutil.rmtree(self.folder, ignore_errors=True)

    def begin(self, settings: Mapping[str, Any] | None) -> None:
        """Take up what is there, which must have been made with the same settings; without any, begin anew."""
        path = self.folder / SETTINGS
        if settings is None:
            for part in self._paths():
                part.unlink()
            return
        wanted = json.loads(json.dumps(settings, default=str))
        if path.exists() and self._paths() and (begun := json.loads(path.read_text(encoding="utf-8"))) != wanted:
            names = ", ".join(name for name in begun | wanted if begun.get(name) != wanted.get(name))
            raise self._refusal(f"another model or other options ({names})")
        write_text(path, json.dumps(wanted, indent=2, ensure_ascii=False) + "\n")

    @property
    def rows(self) -> int:
        """The pairs in all parts."""
        return sum(rows for _, rows, _ in self._named())

    def skip(self, blocks: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Pass over the pairs that the parts are about, and yield the others."""
        rest = pl.DataFrame()
        for _, rows, digest in self._named():
            while len(rest) < rows and (block := next(blocks, None)) is not None:
                rest = pl.concat([rest, block]) if len(rest) else block
            if digest_texts(rest.head(rows)) != digest:
                raise self._refusal("other pairs")
            rest = rest.slice(rows)
        if len(rest):
            yield rest
        yield from blocks

    def add(self, part: pl.DataFrame, answers: pl.DataFrame) -> None:
        """Write the answers to some pairs as the next part."""
        self.write_part(self.name(len(self._paths()), part), answers)

    def name(self, number: int, part: pl.DataFrame) -> str:
        """Return what the part with a number is called: by what it is a function of."""
        return f"{number:08}-{len(part)}-{digest_texts(part)}"

    def path(self, name: str) -> Path:
        """Return where the answers of a part lie."""
        return self.folder / f"{name}.parquet"

    def asked(self, name: str) -> Path:
        """Return where the pairs of a part lie until they are answered."""
        return self.folder / f"{name}.asked"

    def without_known(self, slices: Iterator[pl.DataFrame]) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield the slices, cut as for the parts that are there, which have none yet; each with its part's name."""
        there = {path.name[:8]: path.stem for path in self._paths()}
        for number, part in enumerate(slices):
            name = self.name(number, part)
            known = there.pop(name[:8], None)
            if known is None:
                yield name, part
            elif known != name:
                raise self._refusal("other pairs")
        if there:
            raise self._refusal("other pairs")

    def write_part(self, name: str, answers: pl.DataFrame) -> None:
        """Write the answers of a part, whole or not at all."""
        with atomic_file(self.path(name)) as temporary:
            answers.write_parquet(temporary)

    def write(self, output: Path) -> dict[str, int]:
        """Make one file of all parts; return how many pairs got each label."""
        paths = self._paths()
        if not paths:
            raise InputError("there are no pairs to predict")
        answers = pl.scan_parquet(paths)
        suffix = output.suffix.lower()
        with atomic_file(output) as temporary:
            if suffix == ".parquet":
                answers.sink_parquet(temporary)
            elif suffix == ".jsonl":
                answers.sink_ndjson(temporary)
            else:
                answers.sink_csv(temporary)
        return dict(answers.group_by("label").len().collect(engine="streaming").iter_rows())

    def _paths(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if _PART.fullmatch(path.name))

    def _named(self) -> list[tuple[str, int, str]]:
        parts = (_PART.fullmatch(path.name) for path in self._paths())
        return [(part[1], int(part[2]), part[3]) for part in parts if part]

    def _refusal(self, what: str) -> InputError:
        return InputError(
            f"{self.folder}: holds unfinished predictions of {what}; give the same command to go on with them, delete "
            "the folder, or choose another -o"
        )


def label_columns(space: LabelSpace) -> Sequence[str]:
    """Return the columns of probabilities, one for each label; none may be called like another column."""
    clash = next((label for label in space.labels if label in COLUMNS), None)
    if clash:
        raise InputError(f"label {clash!r} is called like a column of the file; its probabilities have no place there")
    return space.labels


def answers_frame(ids: pl.Series, probabilities: NDArray[np.float64], space: LabelSpace) -> pl.DataFrame:
    """Return answers as the file has them: id, the most probable label, and the probability of each."""
    columns = {label: pl.Series(probabilities[:, number]).fill_nan(None) for number, label in enumerate(space.labels)}
    return pl.DataFrame({"id": ids, "label": most_probable(probabilities, space), **columns})
