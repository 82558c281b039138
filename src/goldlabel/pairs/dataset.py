"""``Pairs``: records with their card, read lazily."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack, overload

import orjson
import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import OnBytes, data_suffix
from goldlabel.messages import many
from goldlabel.pairs.ballots import join_votes
from goldlabel.pairs.card import CARD, HF_SPLITS, Card, Details, read_card
from goldlabel.pairs.columnar import check_parquet
from goldlabel.pairs.labels import NO_GOLD, LabelSpace, label_space, score_mapping
from goldlabel.pairs.languages import SAMPLE, detect_language
from goldlabel.pairs.reading import DATA_SUFFIXES, OnNote, Reading, ReadingOptions, read_frame, stream_pairs
from goldlabel.pairs.record import COLUMNS, DTYPES, LISTS, REQUIRED, SPLITS, check_columns, refuse_double_ids
from goldlabel.pairs.result import Result
from goldlabel.pairs.spilling import gather
from goldlabel.pairs.standard_input import NAME, STDIN, in_plain_words, kept_input
from goldlabel.pairs.writing import DatasetWriter, refuse_doubles, write_file
from goldlabel.registry import import_extra
from goldlabel.remote import read_locally
from goldlabel.seeds import random_state

if TYPE_CHECKING:
    import datasets
    import numpy as np
    import pandas
    from numpy.typing import NDArray

    from goldlabel.pairs.duplicates import Duplicates
    from goldlabel.pairs.hub import Pushed
    from goldlabel.pairs.splits import Plan, Split

ROWS_PER_BLOCK = 20_000


@dataclass(frozen=True, repr=False)
class Pairs(Result):
    """A dataset: a lazy Polars frame in the record's columns, and its card."""

    frame: pl.LazyFrame
    card: Card

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, card: Card) -> Pairs:
        """Take pairs that are in memory, checked as a file's are.

        The columns are the record's; ``premise``, ``hypothesis`` and ``label`` are enough.
        """
        return cls(read_frame(frame, card.name, card.label_space).lazy(), card)

    def collect(self) -> pl.DataFrame:
        """Bring all records into memory."""
        return self.frame.collect(engine="streaming")

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield the records in order, a block at a time."""
        yield from self.frame.collect_batches(chunk_size=ROWS_PER_BLOCK, maintain_order=True)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each pair as a dictionary, with what ``meta`` holds."""
        for block in self.blocks():
            for row in block.iter_rows(named=True):
                yield row | {"meta": orjson.loads(row["meta"]) if row["meta"] else None}

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice | pl.Expr | pl.Series | Sequence[bool] | NDArray[np.bool_]) -> Pairs: ...
    def __getitem__(self, key: Any) -> dict[str, Any] | Pairs:
        """Return one pair, those of a slice, or those for which a list of booleans or a Polars expression is true."""
        if isinstance(key, Integral):
            if not -len(self) <= int(key) < len(self):
                raise IndexError(f"{self.card.name}: there is no pair {key}, there are {len(self):,}")
            row = range(len(self))[int(key)]
            return next(iter(Pairs(self.frame.slice(row, 1), self.card)))
        if isinstance(key, slice):
            rows = range(len(self))[key]
            frame = self.frame.slice(rows.start, len(rows)) if rows.step == 1 else self.collect()[list(rows)].lazy()
            return Pairs(frame, self.card.with_step(f"kept {many(len(rows), 'pair')} by their place"))
        if isinstance(key, pl.Expr):
            return Pairs(self.frame.filter(key), self.card.with_step("kept what a condition holds for"))
        mask = pl.Series(key)
        if mask.dtype != pl.Boolean or len(mask) != len(self):
            raise InputError(f"{self.card.name}: pairs are chosen by a place, a slice or {len(self)} booleans")
        return Pairs(self.collect().filter(mask).lazy(), self.card.with_step("kept what a condition holds for"))

    def head(self, pairs: int = 5) -> Pairs:
        """Keep the first few pairs."""
        return self.limit(pairs)

    def sample(self, pairs: int, seed: int = 0) -> Pairs:
        """Draw pairs at random, in their order; the same seed draws the same ones everywhere."""
        if not 1 <= pairs <= len(self):
            raise InputError(f"{pairs} pairs cannot be drawn from {len(self)}; give a number from 1 to {len(self)}")
        rows = random_state(seed).choice(len(self), pairs, replace=False)
        rows.sort()
        return Pairs(self.collect()[rows].lazy(), self.card.with_step(f"drew {many(pairs, 'pair')} with seed {seed}"))

    def describe(self, **details: Unpack[Details]) -> Pairs:
        """Say what the dataset is: its name, licence, language, description, citation."""
        language = details.get("language")
        frame = self.frame
        if language:
            frame = frame.with_columns(pl.col("language").fill_null(language))
        return Pairs(frame, self.card.described(**details))

    def only(self, **equals: str | list[str]) -> Pairs:
        """Keep the pairs whose column has a value, or one of several: ``only(split="dev", label=["-"])``."""
        frame = self.frame
        for name, value in equals.items():
            if name not in COLUMNS:
                raise InputError(f"{name!r} is not a column of the record; allowed: {', '.join(COLUMNS)}")
            frame = frame.filter(pl.col(name).is_in([value] if isinstance(value, str) else value))
        return Pairs(frame, self.card.with_step(f"kept where {equals}"))

    def limit(self, pairs: int) -> Pairs:
        """Keep the first pairs."""
        if pairs < 1:
            raise InputError(f"the first {pairs} pairs cannot be kept; give a number from 1 on")
        return Pairs(self.frame.head(pairs), self.card.with_step(f"kept the first {pairs}"))

    def map_labels(self, target: LabelSpace | str) -> Pairs:
        """Bring labels and votes into another label space by the documented mapping."""
        space = label_space(target) if isinstance(target, str) else target
        mapping = score_mapping(self.card.label_space, space)
        words = {label: mapping.label(label) for label in self.card.label_space.labels}
        kept = {label: word for label, word in words.items() if word is not None}
        dropped = [label for label in words if label not in kept]
        voted = pl.col("votes").list.eval(pl.element().is_in(dropped)).list.any()
        lost = self.frame.filter(pl.col("label").is_in(dropped) | voted)
        if count := int(lost.select(pl.len()).collect().item()):
            raise InputError(
                f"{self.card.name}: {many(count, 'pair has', 'pairs have')} labels or votes of "
                f"{self.card.label_space.name} without a counterpart in {space.name} ({mapping.convention}); leave "
                "them out first"
            )
        frame = self.frame.with_columns(
            pl.col("label").replace(kept), pl.col("votes").list.eval(pl.element().replace(kept))
        )
        step = f"labels mapped from {self.card.label_space.name} to {space.name}: {mapping.convention}"
        return Pairs(frame, replace(self.card.with_step(step), label_space=space))

    def split(self, plan: Plan | str, *, seed: int = 0) -> Split:
        """Assign splits by a plan of ``goldlabel.pairs.splits``, or by ratios such as ``"80:10:10"``."""
        from goldlabel.pairs.splits import Ratios, apply_plan

        return apply_plan(self, Ratios(ratios=plan) if isinstance(plan, str) else plan, seed=seed)

    def duplicates(self, *others: Pairs, on: str = "pair", threshold: float = 0.8) -> Duplicates:
        """Find exact and near duplicates within these pairs and across ``others``."""
        from goldlabel.pairs.duplicates import find_duplicates

        return find_duplicates([self, *others], on=on, threshold=threshold)

    def write(self, folder: str | Path, *, hf: bool = False, beside: Mapping[str, str] | None = None) -> Pairs:
        """Write a dataset folder, with the texts ``beside`` the data under their names; return the pairs as read."""
        with DatasetWriter(Path(folder), self.card, hf=hf) as writer:
            for block in self.blocks():
                writer.write(block)
            for name, text in (beside or {}).items():
                writer.attach(name, text.encode())
        return read(folder)

    def push_to_hub(self, repository: str, *, private: bool = True) -> Pushed:
        """Upload the dataset to the Hugging Face hub as ``ORG/NAME``; a repository that exists gets a new commit.

        One that does not is made, private unless ``private`` is false. The token is that of ``HF_TOKEN`` or of
        ``hf auth login``.
        """
        from goldlabel.pairs.hub import Repository

        target = Repository(repository)
        with TemporaryDirectory() as temporary:
            folder = Path(temporary) / "dataset"
            self.write(folder, hf=True)
            return target.push(folder, private=private)

    def save(self, path: str | Path) -> None:
        """Write a dataset folder, or one file if the name ends in ``.jsonl``, ``.csv`` or ``.parquet``."""
        suffix = data_suffix(Path(path).name)
        if suffix:
            self.export(path, suffix.removeprefix("."))
        else:
            self.write(path)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the records as a pandas frame, without the columns in which nothing stands."""
        import_extra("pandas", "pandas")
        return self._filled().to_pandas()

    def to_datasets(self) -> datasets.Dataset | datasets.DatasetDict:
        """Return the records as a Hugging Face dataset, or as a dictionary of them by split where there are splits.

        Labels are classes, and a pair without a gold label has the class -1, as on the hub. Columns in which nothing
        stands are left out.
        """
        hub = import_extra("datasets", "hf")
        labels = self.card.label_space.labels
        frame = self._filled().with_columns(
            pl.col("label").replace_strict({label: place for place, label in enumerate(labels)}, default=-1)
        )
        features = hub.Features(
            {
                name: hub.ClassLabel(names=list(labels))
                if name == "label"
                else hub.Sequence(hub.Value("string"))
                if name in LISTS
                else hub.Value("string")
                for name in frame.columns
            }
        )
        parts = {
            HF_SPLITS[split]: hub.Dataset.from_dict(part.to_dict(as_series=False), features=features)
            for split in SPLITS
            if len(part := frame.filter(pl.col("split") == split))
        }
        only = next(iter(parts.values())) if len(parts) == 1 else None
        return only if only is not None and HF_SPLITS["none"] in parts else hub.DatasetDict(parts)

    def _filled(self) -> pl.DataFrame:
        frame = self.collect()
        blank = [name for name in frame.columns if frame[name].null_count() == len(frame)]
        blank += [name for name in LISTS if not frame[name].list.len().sum()]
        return frame.drop(name for name in blank if name not in REQUIRED)

    def export(self, path: str | Path, kind: str) -> int:
        """Write one JSONL, CSV or Parquet file; return the number of pairs."""
        return write_file(self.blocks(), Path(path), kind)

    @cached_property
    def _counts(self) -> pl.DataFrame:
        keys = ("split", "label", "language", "genre")
        return (
            self.frame.group_by(keys)
            .agg(pl.len().alias("pairs"), (pl.col("votes").list.len() > 0).sum().alias("with_votes"))
            .collect(engine="streaming")
        )

    def __len__(self) -> int:
        return int(self._counts["pairs"].sum())

    @property
    def title(self) -> str:
        """The dataset's name and size."""
        return f"{self.card.name}: {many(len(self), 'pair')}, {self.card.label_space.name}"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by split (rows) and label (columns)."""
        labels = [*self.card.label_space.labels, NO_GOLD]
        rows = []
        for split in SPLITS:
            part = self._counts.filter(pl.col("split") == split)
            if len(part):
                counts = {label: int(part.filter(pl.col("label") == label)["pairs"].sum()) for label in labels}
                rows.append({"split": split, "pairs": int(part["pairs"].sum()), **counts})
        return pl.DataFrame(rows, schema={"split": pl.String, **dict.fromkeys(["pairs", *labels], pl.Int64)})

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the origin."""
        return {
            "name": self.card.name,
            "pairs": len(self),
            "label_space": self.card.label_space.name,
            "labels": self._count_by("label"),
            "splits": self._count_by("split"),
            "languages": self._count_by("language"),
            "genres": self._count_by("genre"),
            "with_votes": int(self._counts["with_votes"].sum()),
            "author": self.card.author,
            "licence": self.card.licence,
            "source": self.card.source,
            "problems": self.card.problems,
        }

    def _count_by(self, column: str) -> dict[str, int]:
        counts = self._counts.drop_nulls(column).group_by(column).agg(pl.col("pairs").sum())
        return dict(counts.sort("pairs", column, descending=[True, False]).iter_rows())


def read(
    path: str | Path,
    *,
    limit: int | None = None,
    on_bytes: OnBytes | None = None,
    on_note: OnNote | None = None,
    **options: Unpack[ReadingOptions],
) -> Pairs:
    """Read pairs from a dataset folder, a file, a Hugging Face folder, or from standard input (``-``).

    Each may also lie elsewhere (``s3://``, ``gs://``, ``hf://``, ``https://``); it is then kept here, and fetched again
    only if it changed.

    A dataset folder is read lazily and knows its labels. Of anything else every row is checked now, up to ``limit`` if
    only the first are wanted, and kept in memory or, where that would take more than a gigabyte, in a temporary file.
    These options say how to read it:

    - ``labels`` names the label space, ``label_map`` spells labels (``{"0": "entailment"}``).
    - ``columns`` renames columns (``{"premise": "text_a"}``); ``votes_from`` lists columns of which each holds the
      votes of one rater.
    - ``split`` is for rows that name none. ``unlabelled`` takes rows without a label as pairs without a gold label;
      where votes decide, these are welcome anyway.
    - ``format``, ``delimiter`` and ``encoding`` insist on what is otherwise told from the file's name and content.

    ``on_note`` is called with what had to be assumed; the card's history has it too.
    """
    reading = Reading.of(options)
    if str(path) == STDIN:
        with kept_input(reading.suffix) as kept:
            return _read_file(kept, "stdin", NAME, reading, limit, on_bytes, on_note)
    with read_locally(path, on_bytes) as local:
        if not local.exists():
            raise InputError(f"{local}: there is no such file or folder")
        if (local / CARD).exists():
            pairs = _read_dataset(local)
            return pairs.limit(limit) if limit else pairs
        return _read_file(local, _name_of(local), local.name, reading, limit, on_bytes, on_note)


def convert(
    path: str | Path,
    folder: str | Path,
    *,
    on_bytes: OnBytes | None = None,
    on_note: OnNote | None = None,
    **options: Unpack[ReadingOptions],
) -> Pairs:
    """Turn a file of any size into a dataset folder, a block at a time; the options are those of ``read``."""
    with read_locally(path, on_bytes) as local:
        if not local.exists():
            raise InputError(f"{local}: there is no such file or folder")
        name, reading = _name_of(local), Reading.of(options)
        card = Card(name=name, label_space=reading.space, history=(f"read from {local.name}",))
        with DatasetWriter(Path(folder), card) as writer:
            for block in stream_pairs(local, name, reading, on_bytes, on_note):
                writer.write(block)
    return read(folder)


def _read_file(
    path: Path,
    name: str,
    origin: str,
    reading: Reading,
    limit: int | None,
    on_bytes: OnBytes | None,
    on_note: OnNote | None,
) -> Pairs:
    notes: list[str] = []
    with closing(stream_pairs(path, name, reading, on_bytes, notes.append)) as stream:
        records = gather(stream, limit)
    if isinstance(records, pl.DataFrame):
        records = join_votes(records)
        refuse_double_ids(records, str(path))
    else:
        refuse_doubles(records, f"{path}: ")
    notes = list(map(in_plain_words, notes))
    for note in notes if on_note else ():
        on_note(note)  # type: ignore[misc]
    card = Card(name=name, label_space=reading.space)
    return Pairs(records.lazy(), with_origin(card, records, f"read from {origin}", *notes))


def with_origin(card: Card, frame: pl.DataFrame | pl.LazyFrame, *steps: str) -> Card:
    """Return the card with how its pairs came to be, and with their languages: as they say, else as the script does."""
    said = frame.lazy().select(pl.col("language").drop_nulls().unique()).collect(engine="streaming")
    languages = tuple(sorted(said.to_series())) or card.languages
    if not languages:
        language = detect_language(frame.lazy().head(SAMPLE).collect())
        languages = (language,) if language else ()
        steps += (f"language {language} detected by its script",) if language else ()
    return replace(card, languages=languages, history=(*card.history, *steps))


def _read_dataset(folder: Path) -> Pairs:
    card = read_card(folder)
    files = [folder / entry.path for entry in card.files]
    for file in files:
        check_parquet(file)
    if not files:
        return Pairs(pl.LazyFrame(schema=DTYPES), card)
    frame = pl.scan_parquet(files)
    check_columns(frame.collect_schema(), str(folder))
    return Pairs(frame.select(COLUMNS), card)


def _name_of(path: Path) -> str:
    name = path.resolve().name
    for suffix in (".gz", ".bz2", ".zst", ".zip", *DATA_SUFFIXES):
        name = name.removesuffix(suffix)
    return name
