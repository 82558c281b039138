"""What a source is: a card, a reader, and the rule by which it is evaluated on."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import orjson
import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import InputFile, OnBytes
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.delimited import read_delimited
from goldlabel.pairs.jsonl import read_jsonl
from goldlabel.pairs.labels import NLI3, NO_GOLD, LabelSpace
from goldlabel.pairs.record import LISTS
from goldlabel.pairs.rows import KNOWN_NAMES, Parsed, Row, Transform, by_name, parse_rows
from goldlabel.registry import Registry

if TYPE_CHECKING:
    from goldlabel.pairs.splits import Plan, Split

ROWS_PER_BLOCK = 50_000


@dataclass(frozen=True)
class Intake:
    """One file of a source, with the others that were handed over beside it."""

    file: InputFile
    beside: Sequence[InputFile] = ()
    on_bytes: OnBytes | None = None
    named: Mapping[str, str] = field(default_factory=dict)
    """What the named groups of the file's pattern stand for; every row has them as fields."""
    used: list[InputFile] = field(default_factory=list)
    """The companions that were asked for and are there."""

    def companion(self, pattern: str) -> InputFile | None:
        """Return the file beside this one whose name matches, from the same folder if there is one."""
        matching = self._matching(pattern)
        file = next(
            (file for file in matching if _folder(file) == _folder(self.file)), matching[0] if matching else None
        )
        self.used.extend([file] if file else [])
        return file

    def sibling(self, pattern: str) -> InputFile:
        """Return the companion that must be there; files that belong together come together."""
        file = self.companion(pattern)
        if file is None:
            wanted = readable_pattern(pattern)
            raise InputError(
                f"{self.file}: its companion, a file named like {wanted}, was not given; add both together"
            )
        return file

    def companion_rows(self, pattern: str, *needed: str) -> list[Row]:
        """Return the rows of every companion that matches, CSV or JSON; none if none was given."""
        files = self._matching(pattern)
        self.used.extend(files)
        return [row for file in files for row in raw_rows(file, self.on_bytes, *needed)]

    def _matching(self, pattern: str) -> list[InputFile]:
        return [file for file in self.beside if re.fullmatch(pattern, file.name, re.IGNORECASE)]


Reader = Callable[[Intake], Iterator[Callable[[], Parsed]]]


@dataclass(frozen=True)
class SourceFile:
    """A file that a corpus comes in: what its name looks like, and the split its pairs belong to.

    A pattern with slashes is also matched against the folders above the file. Named groups tell the files
    of one split apart, and are fields of every row.
    """

    pattern: str
    split: str
    reader: Reader

    def match(self, file: InputFile) -> dict[str, str] | None:
        """Return what the named groups stand for, or ``None`` if the file is not this one."""
        folders = _folder(file).parts[-self.pattern.count("/") :] if "/" in self.pattern else ()
        match = re.fullmatch(self.pattern, "/".join([*folders, file.name]), re.IGNORECASE)
        return {name: text for name, text in match.groupdict().items() if text} if match else None


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """How the corpus is judged on (Zhang et al. 2020, section 2.2): a plan over some of its splits."""

    of: tuple[str, ...]
    plan: Plan
    genre: str | None = None
    """The part of the corpus that is meant, where it is not the whole."""
    size: int | None = None
    """Pairs that are drawn of it by the seed, where it has more."""

    def apply(self, pairs: Pairs, seed: int = 0) -> Split:
        """Split pairs of the corpus, of which those without a gold label play no part.

        Files of one split, or of none at all, are what a user may have of a corpus that comes in three.
        """
        from goldlabel.pairs.gold import splits_of
        from goldlabel.pairs.splits import Subset, apply_plan

        used = pairs.only(split=[*self.of]) if splits_of(pairs) & set(self.of) else pairs
        used = used if self.genre is None else used.only(genre=self.genre)
        used = Pairs(used.frame.filter(pl.col("label") != NO_GOLD), used.card)
        if self.size is not None and len(used) > self.size:
            used = apply_plan(used, Subset(size=self.size), seed=seed).pairs
        return apply_plan(used, self.plan, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A public corpus: its card and how its files are read.

    The same pairs are often found in several layouts; the one of which most files are given is read, and of
    equals the first. With ``ids_per_file`` the release numbers each file anew, so ids get the split in front.
    ``author`` says where the label is that a hypothesis's author meant, as on the card.
    """

    name: str
    title: str
    paper: str
    licence: str
    address: str
    language: str
    files: tuple[SourceFile, ...]
    other_layouts: tuple[tuple[SourceFile, ...], ...] = ()
    description: str = ""
    label_space: LabelSpace = NLI3
    label_map: Mapping[str, str] = field(default_factory=dict)
    ids_per_file: bool = False
    author: str = "none"
    checksum: str | None = None
    evaluation: Evaluation | None = None

    @property
    def layouts(self) -> tuple[tuple[SourceFile, ...], ...]:
        """Every layout, the preferred one first."""
        return (self.files, *self.other_layouts)


SOURCES: Registry[Source] = Registry(
    "source",
    package="goldlabel.sources",
    entry_points="goldlabel.sources",
    is_one=lambda value: isinstance(value, Source),
)


def fields(*, premise: str, hypothesis: str, label: str = "label", gold: bool = True, **others: str) -> Transform:
    """Return the transform that takes the record's fields from these names and leaves the rest under ``meta``.

    Without ``gold``, a row that has no label is a pair without a gold label, as in a hidden test set.
    """

    def take(row: Row) -> Row:
        taken: Row = {"premise": row[premise], "hypothesis": row[hypothesis]}
        taken["label"] = row[label] if gold else _or_no_gold(row.get(label))
        for column, name in others.items():
            value = row.get(name)
            taken[column] = [value] if column in LISTS and isinstance(value, str) else value
        for name in (premise, hypothesis, label, *others.values()):
            row.pop(name, None)
        return taken | {"meta": row}

    return take


def jsonl(names: Mapping[str, str] = KNOWN_NAMES, transform: Transform | None = None) -> Reader:
    """Return a reader of JSON lines, or of a JSON list."""

    def read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
        checked = _checked(transform or by_name(names), intake) if transform or intake.named else None
        with intake.file.open(intake.on_bytes) as stream:
            yield from read_jsonl(stream, str(intake.file), names=names, transform=checked)

    return read


def delimited(
    delimiter: str, transform: Transform, *, header: list[str] | None = None, encoding: str = "utf-8-sig"
) -> Reader:
    """Return a reader of CSV or TSV; ``header`` names the columns of a bare file."""

    def read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
        with intake.file.open(intake.on_bytes) as stream:
            yield from read_delimited(
                stream,
                str(intake.file),
                delimiter,
                transform=_checked(transform, intake),
                header=header,
                encoding=encoding,
            )

    return read


def numbered(
    rows: Callable[[Intake], Iterable[tuple[int, Row]]], transform: Transform, *, unit: str = "line"
) -> Reader:
    """Return a reader of a form of its own, from a function that gives its rows with their line numbers."""

    def read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
        remaining = iter(rows(intake))
        while block := list(islice(remaining, ROWS_PER_BLOCK)):
            yield lambda block=block: parse_rows(  # type: ignore[misc]
                block, _checked(transform, intake), str(intake.file), unit
            )

    return read


def aligned(transform: Transform, *, optional: Mapping[str, str] | None = None, **siblings: str) -> Reader:
    """Return a reader of files whose lines belong together: a row has the field ``text`` and one per sibling."""

    def rows(intake: Intake) -> Iterator[tuple[int, Row]]:
        files = {"text": intake.file} | {name: intake.sibling(pattern) for name, pattern in siblings.items()}
        for name, pattern in (optional or {}).items():
            file = intake.companion(pattern)
            if file is not None:
                files[name] = file
        columns = {name: list(text_lines(file, intake.on_bytes)) for name, file in files.items()}
        for name, lines in columns.items():
            if len(lines) != len(columns["text"]):
                raise InputError(
                    f"{files[name]}: has {len(lines):,} lines where {intake.file.name} has {len(columns['text']):,}; "
                    "they do not belong together"
                )
        for line, values in enumerate(zip(*columns.values(), strict=True), 1):
            yield line, dict(zip(columns, values, strict=True))

    return numbered(rows, transform)


def kept(reader: Reader, column: str, value: str) -> Reader:
    """Return a reader of the rows that have a value in a column of the record: one language of several."""

    def read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
        for parse in reader(intake):
            yield lambda parse=parse: _filtered(parse(), column, value)  # type: ignore[misc]

    return read


def unquoted(transform: Transform) -> Transform:
    """Return the transform for a TSV that a spreadsheet wrote, with quotes around cells that hold quotes."""

    def take(row: Row) -> Row:
        return transform({name: _unquoted(value) for name, value in row.items()})

    return take


def text_lines(file: InputFile, on_bytes: OnBytes | None = None) -> Iterator[str]:
    """Yield a file's lines without white space at their ends."""
    with file.open(on_bytes) as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise InputError(f"{file} line {number}: is not UTF-8; convert the file to UTF-8") from error


def raw_rows(file: InputFile, on_bytes: OnBytes | None = None, *needed: str) -> list[Row]:
    """Return all rows of a CSV file, of JSON lines or of a JSON list; each must have the fields ``needed``."""
    with file.open(on_bytes) as stream:
        data = stream.read()
    rows: list[Row]
    try:
        if file.name.lower().endswith(".csv"):
            rows = [dict(row) for row in csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))]
        elif data.lstrip()[:1] == b"[":
            rows = orjson.loads(data)
        else:
            rows = [orjson.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, csv.Error) as error:
        raise InputError(f"{file}: cannot be read ({error})") from error
    for number, row in enumerate(rows, 1):
        missing = [name for name in needed if not isinstance(row, dict) or name not in row]
        if missing:
            raise InputError(f"{file} row {number}: field {missing[0]!r} is missing; is it a file of another corpus?")
    return rows


def readable_pattern(pattern: str) -> str:
    """Return a pattern as people write it: ``train_*.jsonl``."""
    plain = re.sub(r"\(\?(?:P<\w+>|:)", "(", pattern).replace("[^/]*", "*").replace(".*", "*")
    return plain.replace(r"\w+", "*").replace(r"\d+", "*").replace("\\", "")


def _checked(transform: Transform, intake: Intake) -> Transform:
    """Give each row the file's named groups, and turn what a foreign row causes into one line about it."""

    def check(row: Row) -> Row:
        try:
            return transform({**intake.named, **row})
        except KeyError as error:
            names = ", ".join(map(repr, row))
            raise InputError(f"field {error.args[0]!r} is missing; the row has {names}") from error
        except (AttributeError, TypeError, ValueError) as error:
            raise InputError(f"is not a row of this corpus ({error})") from error

    return check


def _filtered(parsed: Parsed, column: str, value: str) -> Parsed:
    if column not in parsed.frame.columns:
        return parsed
    return Parsed(parsed.frame.filter(pl.col(column) == value), parsed.problems)


def _or_no_gold(label: object) -> object:
    return NO_GOLD if label in (None, "") else label


def _unquoted(value: object) -> object:
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        body = value[1:-1]
        if '"' not in body.replace('""', ""):
            return body.replace('""', '"')
    return value


def _folder(file: InputFile) -> PurePosixPath:
    return PurePosixPath(file.path.as_posix(), file.member).parent if file.member else PurePosixPath(file.path.parent)
