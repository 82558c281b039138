"""What a source is: a card, a reader, and the rule by which it is evaluated on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from goldlabel.errors import InputError
from goldlabel.files import InputFile, OnBytes
from goldlabel.pairs.delimited import read_delimited
from goldlabel.pairs.jsonl import read_jsonl
from goldlabel.pairs.labels import NLI3, LabelSpace
from goldlabel.pairs.rows import KNOWN_NAMES, Parsed, Transform
from goldlabel.pairs.splits import Plan
from goldlabel.registry import Registry


@dataclass(frozen=True)
class Intake:
    """One file of a source, with the others that were handed over beside it."""

    file: InputFile
    beside: Sequence[InputFile] = ()
    on_bytes: OnBytes | None = None

    def sibling(self, pattern: str) -> InputFile:
        """Return the file beside this one whose name matches; files that belong together come together."""
        for file in self.beside:
            if re.fullmatch(pattern, file.name):
                return file
        raise InputError(f"{self.file}: its companion, a file named like {pattern}, was not given; add both together")


Reader = Callable[[Intake], Iterator[Callable[[], Parsed]]]


@dataclass(frozen=True)
class SourceFile:
    """A file that a corpus comes in: what its name looks like, and the split its pairs belong to."""

    pattern: str
    split: str
    reader: Reader


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """How the corpus is judged on (Zhang et al. 2020, section 2.2): a plan over some of its splits."""

    of: tuple[str, ...]
    plan: Plan


@dataclass(frozen=True, kw_only=True)
class Source:
    """A public corpus: its card and how its files are read."""

    name: str
    title: str
    paper: str
    licence: str
    address: str
    language: str
    files: tuple[SourceFile, ...]
    description: str = ""
    label_space: LabelSpace = NLI3
    label_map: Mapping[str, str] = field(default_factory=dict)
    checksum: str | None = None
    evaluation: Evaluation | None = None


SOURCES: Registry[Source] = Registry("source")


def jsonl(names: Mapping[str, str] = KNOWN_NAMES, transform: Transform | None = None) -> Reader:
    """Return a reader of JSON lines."""

    def read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
        with intake.file.open(intake.on_bytes) as stream:
            yield from read_jsonl(stream, str(intake.file), names=names, transform=transform)

    return read


def delimited(
    delimiter: str, transform: Transform, *, header: list[str] | None = None, encoding: str = "utf-8-sig"
) -> Reader:
    """Return a reader of CSV or TSV."""

    def read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
        with intake.file.open(intake.on_bytes) as stream:
            yield from read_delimited(
                stream, str(intake.file), delimiter, transform=transform, header=header, encoding=encoding
            )

    return read
