"""``predict``: a model's probabilities for every pair, written into one file.

Pairs are read, answered and written a slice at a time, so that neither the pairs nor the answers have to fit into
memory. Each slice becomes a part in a folder beside the file, named by the pairs it is about; when the last is there,
they become the file, which so appears only when it is whole. What was interrupted goes on after the parts that are
there, if the model is the same and they are about the same pairs.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import MOST_PAIRS, OnPairs, answer, open_model, usage_of
from goldlabel.files import atomic_file, lock_folder, refuse_url, write_text
from goldlabel.models import Model
from goldlabel.models.loading import describe_files
from goldlabel.models.model import most_probable
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.gold import digest_texts, splits_of
from goldlabel.pairs.labels import NO_GOLD, LabelSpace
from goldlabel.pairs.record import COLUMNS, SPLITS
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary

PARTS = ".parts"
SETTINGS = "settings.json"
SUFFIXES = (".parquet", ".jsonl", ".csv")
_PART = re.compile(r"(\d{8})-(\d+)-([0-9a-f]{64})\.parquet")
_ASKED = ("id", "premise", "hypothesis")


@dataclass(frozen=True, repr=False)
class Prediction(Result):
    """What was predicted, and where it lies."""

    model: str
    output: Path
    labels: Mapping[str, int]
    """How many pairs got each label; ``-`` is no answer."""
    predicted_before: int
    """Pairs that an interrupted run had left."""
    seconds: float
    usage: EndpointSummary | None = None
    """What an endpoint was asked, and what that cost."""

    @property
    def pairs(self) -> int:
        """The pairs in the file."""
        return sum(self.labels.values())

    @property
    def unanswered(self) -> int:
        """The pairs without an answer."""
        return self.labels.get(NO_GOLD, 0)

    @property
    def pairs_per_second(self) -> float:
        """Of those that were predicted now."""
        return (self.pairs - self.predicted_before) / max(self.seconds, 1e-9)

    @property
    def title(self) -> str:
        """How much was predicted, and where it lies."""
        return f"{self.model}: {self.pairs:,} pairs in {self.output}"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by the label that was predicted."""
        schema = {"label": pl.String, "pairs": pl.Int64}
        return pl.DataFrame(list(self.labels.items()), schema=schema, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the place and the speed."""
        return {
            "model": self.model,
            "pairs": self.pairs,
            "output": str(self.output),
            "seconds": self.seconds,
            "pairs_per_second": self.pairs_per_second,
            "labels": dict(self.labels),
            "unanswered": self.unanswered,
            "predicted_before": self.predicted_before,
            "usage": self.usage.to_dict() if self.usage else None,
        }


def predict(
    model: Model | str | Path,
    pairs: Pairs,
    output: str | Path,
    *,
    split: str | None = None,
    limit: int | None = None,
    on_pairs: OnPairs | None = None,
    **loading: Any,
) -> Prediction:
    """Write a model's probabilities for pairs, with gold label or without, into a Parquet, JSONL or CSV file.

    The file has ``id``, ``label`` (the most probable one, ``-`` for no answer) and one column per label. ``split`` and
    ``limit`` take less than all pairs. The model is one that is loaded, or what ``load_model`` loads by a name with
    ``loading``; by its name, what was interrupted goes on where it was.
    """
    output = Path(output)
    refuse_url(output)
    if output.suffix.lower() not in SUFFIXES:
        raise InputError(f"{output}: the ending of its name tells no format; allowed: {', '.join(SUFFIXES)}")
    if output.is_dir():
        raise InputError(f"{output}: is a folder; name a file to write")
    frame = asked_pairs(pairs, split, limit).frame
    with open_model(model, [pairs], **loading) as (name, opened):
        settings = _settings(model, opened.label_space, loading) if isinstance(model, str | Path) else None
        labels, before, seconds = write_answers(opened, frame, output, settings, on_pairs)
        usage = usage_of(opened)
    ordered = {label: labels[label] for label in (*opened.label_space.labels, NO_GOLD) if label in labels}
    return Prediction(name, output, ordered, before, seconds, usage)


def write_answers(
    model: Model, frame: pl.LazyFrame, output: Path, settings: Mapping[str, Any] | None, on_pairs: OnPairs | None = None
) -> tuple[dict[str, int], int, float]:
    """Write a model's answers to a file; what an interrupted run with the same settings left there is gone on with.

    Return how many pairs got each label, how many were there before, and the seconds that the others took.
    """
    parts = Parts(output.with_name(output.name + PARTS))
    with parts.locked():
        columns = ["id", "label", *_label_columns(model.label_space)]
        parts.begin(settings)
        before = parts.rows
        if on_pairs is not None:
            on_pairs(before)
        blocks = frame.select(_ASKED).collect_batches(chunk_size=MOST_PAIRS, maintain_order=True)
        began = time.monotonic()
        for part, probabilities in answer(model, parts.skip(blocks), on_pairs):
            parts.add(part, _answers(part["id"], probabilities, model.label_space).select(columns))
        seconds = time.monotonic() - began
        return parts.write(output), before, seconds


def asked_pairs(pairs: Pairs, split: str | None, limit: int | None) -> Pairs:
    """Return the pairs of a split, or all; and of these the first."""
    if split is not None and one_of("split", split, SPLITS) not in (splits := splits_of(pairs)):
        raise InputError(f"{pairs.card.name}: has no {split} split, only {', '.join(sorted(splits))}")
    chosen = pairs if split is None else pairs.only(split=split)
    return chosen if limit is None else chosen.limit(limit)


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
            names = ", ".join(name for name in wanted if begun.get(name) != wanted[name])
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
        name = f"{len(self._paths()):08}-{len(part)}-{digest_texts(part)}.parquet"
        with atomic_file(self.folder / name) as temporary:
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


def _settings(model: str | Path, space: LabelSpace, loading: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the answers are a function of, beside the pairs; on which device is all the same."""
    options = {name: value for name, value in loading.items() if name != "device"}
    return {"model": str(model), "files": describe_files(model), "labels": list(space.labels), "options": options}


def _label_columns(space: LabelSpace) -> Sequence[str]:
    clash = next((label for label in space.labels if label in COLUMNS), None)
    if clash:
        raise InputError(f"label {clash!r} is called like a column of the file; its probabilities have no place there")
    return space.labels


def _answers(ids: pl.Series, probabilities: NDArray[np.float64], space: LabelSpace) -> pl.DataFrame:
    columns = {label: pl.Series(probabilities[:, number]).fill_nan(None) for number, label in enumerate(space.labels)}
    return pl.DataFrame({"id": ids, "label": most_probable(probabilities, space), **columns})
