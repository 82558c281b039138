"""One collection of everything a folder holds that can be recast, beside the numbers of the paper (Table 2)."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.executors import Executor, Here, Tell, collect
from goldlabel.files import OnBytes, atomic_folder, digest_file, sha256, storage_errors, write_text
from goldlabel.pairs.card import Card
from goldlabel.pairs.dataset import Pairs, read
from goldlabel.pairs.labels import NLI2
from goldlabel.pairs.result import Result
from goldlabel.pairs.writing import DatasetWriter, refuse_foreign_folder
from goldlabel.recast.dnc import binary_label
from goldlabel.recast.parts import PARTS, Part
from goldlabel.recast.recaster import RECASTERS, Options
from goldlabel.recast.run import OVERLAP, Stream, given_files, separate

PAPER = "Poliak et al. (2018), Collecting diverse natural language inference problems, EMNLP"

MADE = "made.json"
"""What was counted while a dataset was made."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Collection(Result):
    """What was built of a folder of sources, beside the paper's Table 2."""

    pairs: Pairs
    rows: Sequence[Mapping[str, Any]]
    style: str
    output: Path

    @property
    def title(self) -> str:
        """How many pairs of how many datasets."""
        there = sum(row["ours"] is not None for row in self.rows)
        return f"{len(self.pairs):,} pairs ({self.style}) of {there} datasets"

    @property
    def table(self) -> pl.DataFrame:
        """One row for each dataset: the paper's number, ours, and why they differ."""
        numbers = dict.fromkeys(("published", "ours", "difference"), pl.Int64)
        words = dict.fromkeys(("annotation", "dataset"), pl.String)
        return pl.DataFrame(self.rows, schema={**words, **numbers, "explanation": pl.String})

    def to_dict(self) -> dict[str, Any]:
        """Return the table, the counts and what is missing."""
        counts = self.pairs.to_dict()
        return {
            "style": self.style,
            "pairs": counts["pairs"],
            "labels": counts["labels"],
            "splits": counts["splits"],
            "datasets": [dict(row) for row in self.rows if row["ours"] is not None],
            "missing": [row["dataset"] for row in self.rows if row["ours"] is None],
            "output": str(self.output),
        }


def find_parts(sources: Path) -> dict[Part, list[Path]]:
    """Return the datasets that a folder holds, with their files."""
    if not sources.is_dir():
        raise InputError(f"{sources}: is no folder; give the folder that holds the sources")
    parts = {part: files for part in PARTS if part.recaster in RECASTERS and (files := part.files(sources))}
    if not parts:
        known = ", ".join(sorted({part.patterns[0].partition("/")[0] for part in PARTS}))
        raise InputError(f"{sources}: holds no source that can be recast; folders are looked for named {known}")
    return parts


def recast_all(
    sources: Path,
    output: Path,
    options: Options | None = None,
    *,
    limit: int | None = None,
    on_bytes: OnBytes | None = None,
    executor: Executor | None = None,
) -> Collection:
    """Recast everything a folder holds into one dataset, with its table, card and manifest.

    ``limit`` keeps the first pairs of each dataset. Nothing appears in ``output`` unless all of it could be made; what
    was made when that was broken off is not made again. ``executor`` says where the datasets are made.
    """
    options = options or Options()
    parts = find_parts(sources)
    refuse_foreign_folder(output)
    unfinished = output.absolute().with_name(f".{output.name}.parts")
    with storage_errors(unfinished):
        unfinished.mkdir(parents=True, exist_ok=True)
    with _removed(unfinished), atomic_folder(output) as temporary:
        datasets = _recast_parts(parts, unfinished, options, limit, on_bytes, executor or Here())
        frame = pl.concat([read(unfinished / made.folder).frame for made in datasets.values() if made.pairs])
        kept = Pairs(separate(frame)[0] if options.style == "plain" else frame, _card(options, [], {}))
        rows = table_rows(dict(kept.frame.group_by("dataset").len().collect().iter_rows()), datasets)
        with DatasetWriter(temporary, _card(options, rows, datasets)) as writer:
            for block in kept.blocks():
                writer.write(block)
            writer.attach("table.json", (json.dumps(rows, indent=2) + "\n").encode())
        write_text(temporary / "manifest.json", _manifest(temporary, parts, sources, options))
    return Collection(pairs=read(output), rows=rows, style=options.style, output=output)


@contextmanager
def _removed(folder: Path) -> Iterator[None]:
    """Remove a folder in the end, unless the work was broken off and may go on."""
    broken_off = False
    try:
        yield
    except KeyboardInterrupt:
        broken_off = True
        raise
    finally:
        if not broken_off:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class Made:
    """A dataset of the collection that was made, before it is joined with the others."""

    folder: str
    pairs: int
    skipped: Mapping[str, int]
    licences: Sequence[str]


def _recast_parts(
    parts: Mapping[Part, Sequence[Path]],
    folder: Path,
    options: Options,
    limit: int | None,
    on_bytes: OnBytes | None,
    executor: Executor,
) -> dict[str, Made]:
    """Make the datasets that do not lie in the folder; a folder is named by what its dataset is a function of."""
    names = {part: f"{part.name}-{_digest(paths, options, limit)}" for part, paths in parts.items()}
    read_of = dict.fromkeys((part.name for part in parts), 0)

    def tell(name: str, read: int) -> None:
        if on_bytes is not None:
            on_bytes(read - read_of[name])
        read_of[name] = read

    work = {
        part.name: (part, paths, options, limit, folder / names[part])
        for part, paths in parts.items()
        if not (folder / names[part]).exists()
    }
    read_paths = sorted({path for paths in parts.values() for path in paths})
    collect(executor, _recast_part, work, on_told=tell, paths=[folder, *read_paths])
    return {
        part.name: Made(**json.loads((folder / name / MADE).read_text(encoding="utf-8")))
        for part, name in names.items()
    }


def _recast_part(
    tell: Tell, part: Part, paths: Sequence[Path], options: Options, limit: int | None, folder: Path
) -> None:
    """Write one dataset, and beside it what was counted on the way."""
    stream = Stream(RECASTERS.get(part.recaster), options, limit)
    read = 0

    def on_bytes(size: int) -> None:
        nonlocal read
        read += size
        tell(read)

    with DatasetWriter(folder, _card(options, [], {})) as writer:
        for block in _blocks(part, stream, paths, on_bytes):
            writer.write(block)
        made = Made(
            folder=folder.name, pairs=stream.pairs, skipped=dict(stream.skipped), licences=sorted(stream.licences)
        )
        writer.attach(MADE, json.dumps(vars(made)).encode())


def _digest(paths: Sequence[Path], options: Options, limit: int | None) -> str:
    names = None if options.names is None else digest_file(options.names)
    parts = (version("goldlabel"), repr(replace(options, names=None)), names, limit, *map(digest_file, paths))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def table_rows(counts: Mapping[str, int], datasets: Mapping[str, Made]) -> list[dict[str, Any]]:
    """Return the paper's table beside ours; ``counts`` are the pairs of each dataset that was made."""
    rows: list[dict[str, Any]] = []
    for part in PARTS:
        ours = counts.get(part.name, 0) if part.name in datasets else None
        off = ours - part.published if ours is not None and part.published is not None else None
        if ours is None:
            explanation = "not in the folder" if part.recaster in RECASTERS else "not recast"
        else:
            explanation = "" if off == 0 else _explained(part, datasets[part.name], ours)
        rows.append(
            {
                "annotation": part.annotation,
                "dataset": part.name,
                "published": part.published,
                "ours": ours,
                "difference": off,
                "explanation": explanation,
            }
        )
    return rows


def _explained(part: Part, made: Made, ours: int) -> str:
    reasons = Counter(made.skipped).most_common(2)
    if made.pairs > ours:
        reasons.append((OVERLAP, made.pairs - ours))
    explanation = ", ".join(f"{n:,} left out: {reason}" for reason, n in reasons)
    return "; ".join(filter(None, (part.note, explanation)))


def _blocks(part: Part, stream: Stream, paths: Sequence[Path], on_bytes: OnBytes | None) -> Iterator[pl.DataFrame]:
    for block in stream.blocks(given_files(paths, on_bytes)):
        words = {word: binary_label(word) for word in stream.recaster.label_space.labels}
        yield block.with_columns(pl.lit(part.name).alias("dataset"), _ids(part, block), pl.col("label").replace(words))


def _ids(part: Part, block: pl.DataFrame) -> pl.Series:
    """Return ids that begin with the dataset's name, since two datasets of one recaster may share the rest."""
    bare = block["id"].str.strip_prefix(f"{part.recaster}-")
    return (f"{part.name}-" + bare).alias("id")


def _card(options: Options, rows: Sequence[Mapping[str, Any]], datasets: Mapping[str, Made]) -> Card:
    made = [row for row in rows if row["ours"] is not None]
    lines = [
        "| annotation | dataset | pairs in the paper | ours | why they differ |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in made:
        cells = (row["annotation"], row["dataset"], _shown(row["published"]), _shown(row["ours"]), row["explanation"])
        lines.append(f"| {' | '.join(cells)} |")
    licences = sorted({licence for made in datasets.values() for licence in made.licences})
    return Card(
        name=f"recast-{options.style}",
        label_space=NLI2,
        languages=("en",),
        description="Annotations of many kinds, recast as premise and hypothesis pairs.\n\n" + "\n".join(lines),
        licence="; ".join(licences) or None,
        paper=PAPER,
        history=tuple(f"{row['dataset']} recast, style {options.style}, seed {options.seed}" for row in made),
    )


def _shown(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _manifest(folder: Path, parts: Mapping[Part, Sequence[Path]], sources: Path, options: Options) -> str:
    made = {path.name: _entry(path) for path in sorted(folder.iterdir()) if path.is_file()}
    read = {path.relative_to(sources).as_posix(): _entry(path) for paths in parts.values() for path in paths}
    chosen = {"style": options.style, "seed": options.seed, "person": options.person, "questions": options.questions}
    return json.dumps({"options": chosen, "files": made, "sources": dict(sorted(read.items()))}, indent=2) + "\n"


def _entry(path: Path) -> dict[str, Any]:
    return {"sha256": sha256(path), "bytes": path.stat().st_size}
