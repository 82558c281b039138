"""Running a recaster: annotations in, a dataset out, a block at a time."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import InputFile, OnBytes, atomic_folder, input_files
from goldlabel.pairs.card import Card
from goldlabel.pairs.dataset import Pairs, read
from goldlabel.pairs.record import LINE, Gate, conform
from goldlabel.pairs.result import Result
from goldlabel.pairs.rows import to_json
from goldlabel.pairs.writing import DatasetWriter, refuse_foreign_folder
from goldlabel.recast.chance import made_split
from goldlabel.recast.policies import COSTS, is_question, not_third_person, observed, refusal
from goldlabel.recast.recaster import RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.registry import suggest

ROWS_PER_BLOCK = 20_000
OVERLAP = "its text stands in a held-out split too"


@dataclass(frozen=True, repr=False, kw_only=True)
class RecastRun(Result):
    """What a recaster made of its source."""

    name: str
    style: str
    pairs: Pairs
    events: int
    skipped: Mapping[str, int]
    remarks: Mapping[str, int]
    policies: Mapping[str, int]
    output: Path | None = None

    @property
    def title(self) -> str:
        """The recaster, and how much it gave."""
        left_out = sum(self.skipped.values())
        return f"{self.name} ({self.style}): {len(self.pairs):,} pairs of {self.events:,} events, {left_out:,} left out"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by split and label."""
        return self.pairs.table

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, what was left out and why, what is remarked of pairs, and what each policy costs."""
        counts = self.pairs.to_dict()
        return {
            "name": self.name,
            "style": self.style,
            "pairs": counts["pairs"],
            "events": self.events,
            "labels": counts["labels"],
            "splits": counts["splits"],
            "skipped": [{"reason": reason, "n": n} for reason, n in self.skipped.items()],
            "remarks": [{"remark": remark, "n": n} for remark, n in self.remarks.items()],
            "policies": dict(self.policies),
            "output": str(self.output) if self.output else None,
        }


@dataclass
class Stream:
    """Recastings on their way to records, and what is counted as they pass."""

    recaster: Recaster
    options: Options
    limit: int | None = None
    events: int = 0
    pairs: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COSTS, 0)))
    licences: set[str] = field(default_factory=set)
    texts_may_repeat: bool = False
    """Whether some pairs came with a split or a group of their own, so that a text may stand in two splits."""
    _items: array[int] = field(default_factory=lambda: array("q"))
    """Hashes of the source ids, eight bytes each, to find one that comes back."""

    def blocks(self, files: Sequence[InputFile]) -> Iterator[pl.DataFrame]:
        """Yield records, a block at a time."""
        rows: list[tuple[str, ...]] = []
        for row in self._rows(self.recaster.recast(files, self.options)):
            rows.append(row)
            if len(rows) == ROWS_PER_BLOCK:
                yield self._frame(rows)
                rows = []
        if rows:
            yield self._frame(rows)
        self._refuse_repeats(files)

    def _rows(self, items: Iterable[Recasting | Skipped]) -> Iterator[tuple[str, ...]]:
        key, premise = ("", ""), None
        number, counted, person, question = 0, False, False, False
        for item in items:
            if isinstance(item, Skipped):
                self.skipped[item.reason] += 1
                continue
            if (item.source_id, item.where) != key:
                key, number, counted = (item.source_id, item.where), 0, False
                self._items.append(hash(item.source_id))
            number += 1
            if item.premise != premise:
                premise = item.premise
                person, question = not_third_person(premise), is_question(premise)
            self.policies["person=conservative"] += person
            self.policies["questions=remove"] += question
            reason = refusal(self.options, person=person, question=question)
            if reason:
                self.skipped[reason] += 1
                continue
            self.events += not counted
            counted = True
            self.pairs += 1
            if item.remark:
                self.remarks[item.remark] += 1
            yield self._record(item, number)
            if self.pairs == self.limit:
                return

    def _refuse_repeats(self, files: Sequence[InputFile]) -> None:
        """Refuse a source id that comes back after others; the files are read again to say where it stands."""
        hashes = np.sort(np.frombuffer(self._items, dtype=np.int64))
        repeated = {*hashes[1:][hashes[1:] == hashes[:-1]].tolist()}
        first: dict[str, str] = {}
        last = ("", "")
        for item in self.recaster.recast(files, self.options) if repeated else ():
            if isinstance(item, Recasting) and (item.source_id, item.where) != last:
                last = (item.source_id, item.where)
                if item.source_id in first:
                    both = f"{first[item.source_id]} and {item.where or 'a later line'}"
                    raise InputError(f"{both} both hold the item {item.source_id!r}; give one, or each its own id")
                if hash(item.source_id) in repeated:
                    first[item.source_id] = item.where or "an earlier line"

    def _record(self, item: Recasting, number: int) -> tuple[str, ...]:
        group = item.group or item.source_id
        if item.split is not None or item.group is not None:
            self.texts_may_repeat = True
        split = item.split
        if split is None:
            plain = self.options.style == "plain" and item.group is None
            split = made_split(self.options.seed, item.premise if plain else group)
        self.licences.add(item.licence)
        meta = {
            "source_id": item.source_id,
            "corpus": item.corpus,
            "licence": item.licence,
            "creation": item.creation,
            **item.meta,
        }
        hypothesis = observed(item.hypothesis) if self.options.person == "observer" else item.hypothesis
        return (
            f"{self.recaster.name}-{item.source_id}-{number}",
            item.premise,
            hypothesis,
            item.label,
            split,
            group,
            to_json(meta),
            item.where,
        )

    def _frame(self, rows: list[tuple[str, ...]]) -> pl.DataFrame:
        names = ("id", "premise", "hypothesis", "label", "split", "group", "meta", "where")
        columns = list(zip(*rows, strict=True))
        raw = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String), orient="col").with_columns(
            pl.int_range(len(rows)).alias(LINE), pl.lit([self.recaster.phenomenon]).alias("tags")
        )
        gate = Gate(
            where=self.recaster.name,
            space=self.recaster.label_space,
            defaults={"dataset": self.recaster.name, "language": self.recaster.language},
        )
        frame, problems = conform(raw.drop("where"), gate)
        for problem in problems:
            raise InputError(f"{raw['where'][problem.line] or self.recaster.name}: {problem.message}")
        return frame


def run_recast(
    name: str,
    paths: Sequence[Path],
    options: Options | None = None,
    *,
    output: Path | None = None,
    limit: int | None = None,
    on_bytes: OnBytes | None = None,
) -> RecastRun:
    """Recast the annotations behind ``paths``, into a dataset folder or, without ``output``, into memory."""
    options = options or Options()
    recaster = RECASTERS.get(name)
    for setting in options.settings:
        if setting not in recaster.settings:
            known = suggest(setting, list(recaster.settings)) if recaster.settings else "it has none"
            raise InputError(f"{name} has no setting {setting!r}; {known}")
    files = given_files(paths, on_bytes)
    if recaster.space_of:
        recaster = replace(recaster, label_space=recaster.space_of(files))
    if recaster.language_of:
        recaster = replace(recaster, language=recaster.language_of(files))
    stream = Stream(recaster, options, limit)
    if output is None:
        frames = list(stream.blocks(files))
        _refuse_nothing(stream, files)
        pairs = Pairs(_separate(pl.concat(frames).lazy(), stream), _card(stream, files))
    else:
        pairs = _write(stream, files, output)
    return RecastRun(
        name=name,
        style=options.style,
        pairs=pairs,
        events=stream.events,
        skipped=dict(stream.skipped.most_common()),
        remarks=dict(stream.remarks.most_common()),
        policies=dict(stream.policies),
        output=output,
    )


def given_files(paths: Sequence[Path], on_bytes: OnBytes | None = None) -> list[InputFile]:
    """List the files behind ``paths``; what lies there packed and unpacked is one file."""
    files: dict[tuple[str, str], InputFile] = {}
    for path in paths:
        for file in input_files(path):
            inner = PurePosixPath(file.member or "").parent
            files.setdefault((str(file.path.parent / inner), file.name), Watched(file.path, file.member, on_bytes))
    return list(files.values())


def _write(stream: Stream, files: Sequence[InputFile], output: Path) -> Pairs:
    refuse_foreign_folder(output)
    with atomic_folder(output) as temporary:
        with DatasetWriter(temporary, _card(stream, files)) as writer:
            for block in stream.blocks(files):
                writer.write(block)
            _refuse_nothing(stream, files)
            writer.card = _card(stream, files)
        written = read(temporary)
        separated = _separate(written.frame, stream)
        if separated is not written.frame:
            with DatasetWriter(temporary, _card(stream, files)) as writer:
                for block in Pairs(separated, written.card).blocks():
                    writer.write(block)
    return read(output)


def _separate(frame: pl.LazyFrame, stream: Stream) -> pl.LazyFrame:
    if stream.options.style != "plain" or not stream.texts_may_repeat:
        return frame
    kept, lost = separate(frame)
    if lost:
        stream.skipped[OVERLAP] += lost
    return kept


def separate(frame: pl.LazyFrame) -> tuple[pl.LazyFrame, int]:
    """Leave out what has its text in a more held-out split too (test before dev before train), and count it."""
    rank = pl.col("split").replace_strict({"test": 0, "dev": 1, "train": 2, "none": 3}, return_dtype=pl.Int8)
    key = pl.col("premise").hash(seed=0).alias("_key")
    places = frame.select(key, rank.alias("_rank")).unique().collect(engine="streaming")
    shared = places.group_by("_key").agg(pl.col("_rank").min().alias("_best"), pl.len()).filter(pl.col("len") > 1)
    if shared.is_empty():
        return frame, 0
    best = pl.col("_key").replace_strict(shared["_key"], shared["_best"], default=None, return_dtype=pl.Int8)
    keep = best.is_null() | (best == rank)
    lost = frame.with_columns(key).select((~keep).sum()).collect(engine="streaming").item()
    return frame.with_columns(key).filter(keep).drop("_key"), int(lost)


def _card(stream: Stream, files: Sequence[InputFile]) -> Card:
    recaster, options = stream.recaster, stream.options
    chosen = {"style": options.style, "seed": options.seed, "person": options.person, "questions": options.questions}
    settings = ", ".join(f"{name} {value}" for name, value in (chosen | dict(options.settings)).items())
    names = sorted({file.name for file in files})
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return Card(
        name=f"{recaster.name}-{options.style}",
        label_space=recaster.label_space,
        languages=(recaster.language,),
        description=f"{recaster.title}, recast as premise and hypothesis pairs.",
        licence=", ".join(sorted(stream.licences)) or None,
        paper=recaster.paper,
        history=(f"recast by {recaster.name} from {shown} ({settings})",),
    )


def _refuse_nothing(stream: Stream, files: Sequence[InputFile]) -> None:
    if stream.pairs:
        return
    reasons = "; ".join(f"{reason}: {n:,}" for reason, n in stream.skipped.most_common(3))
    raise InputError(
        f"{files[0] if files else 'no file'}: gives no pair ({reasons or 'it holds no annotation'}); "
        f"{stream.recaster.name} takes {stream.recaster.sources}"
    )


@dataclass(frozen=True)
class Watched(InputFile):
    """A file that reports the bytes read from it, whoever reads it."""

    on_bytes: OnBytes | None = None

    @contextmanager
    def open(self, on_bytes: OnBytes | None = None, *, any_encoding: bool = False) -> Iterator[BinaryIO]:
        """Open for reading, decompressed."""
        with super().open(on_bytes or self.on_bytes, any_encoding=any_encoding) as stream:
            yield stream
