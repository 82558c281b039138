"""One collection of everything a folder holds that can be recast, beside the numbers of the paper (Table 2)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import OnBytes, atomic_folder, sha256, write_text
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
) -> Collection:
    """Recast everything a folder holds into one dataset, with its table, card and manifest.

    ``limit`` keeps the first pairs of each dataset. Nothing appears in ``output`` unless all of it could be made.
    """
    options = options or Options()
    parts = find_parts(sources)
    refuse_foreign_folder(output)
    streams: dict[str, Stream] = {}
    with atomic_folder(output) as temporary:
        with DatasetWriter(temporary, _card(options, [], {})) as writer:
            for part, paths in parts.items():
                stream = Stream(RECASTERS.get(part.recaster), options, limit)
                for block in _blocks(part, stream, paths, on_bytes):
                    writer.write(block)
                streams[part.name] = stream
        written = read(temporary)
        frame = separate(written.frame)[0] if options.style == "plain" else written.frame
        kept = Pairs(frame, written.card)
        rows = table_rows(dict(kept.frame.group_by("dataset").len().collect().iter_rows()), streams)
        with DatasetWriter(temporary, _card(options, rows, streams)) as writer:
            for block in kept.blocks():
                writer.write(block)
            writer.attach("table.json", (json.dumps(rows, indent=2) + "\n").encode())
        write_text(temporary / "manifest.json", _manifest(temporary, parts, sources, options))
    return Collection(pairs=read(output), rows=rows, style=options.style, output=output)


def table_rows(counts: Mapping[str, int], streams: Mapping[str, Stream]) -> list[dict[str, Any]]:
    """Return the paper's table beside ours; ``counts`` are the pairs of each dataset that was made."""
    rows: list[dict[str, Any]] = []
    for part in PARTS:
        ours = counts.get(part.name, 0) if part.name in streams else None
        off = ours - part.published if ours is not None and part.published is not None else None
        if ours is None:
            explanation = "not in the folder" if part.recaster in RECASTERS else "not recast"
        else:
            explanation = "" if off == 0 else _explained(part, streams[part.name], ours)
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


def _explained(part: Part, stream: Stream, ours: int) -> str:
    reasons = stream.skipped.most_common(2)
    if stream.pairs > ours:
        reasons.append((OVERLAP, stream.pairs - ours))
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


def _card(options: Options, rows: Sequence[Mapping[str, Any]], streams: Mapping[str, Stream]) -> Card:
    made = [row for row in rows if row["ours"] is not None]
    lines = [
        "| annotation | dataset | pairs in the paper | ours | why they differ |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in made:
        cells = (row["annotation"], row["dataset"], _shown(row["published"]), _shown(row["ours"]), row["explanation"])
        lines.append(f"| {' | '.join(cells)} |")
    licences = sorted({licence for stream in streams.values() for licence in stream.licences})
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
