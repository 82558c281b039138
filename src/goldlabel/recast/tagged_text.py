"""Texts whose names are tagged: CoNLL columns, the Groningen Meaning Bank's csv, spans in JSON lines.

Tags are IOB1, IOB2, IOBES or bare types. A file is UTF-8 or, as the Groningen Meaning Bank's csv, Windows-1252.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.reading import open_text, require_columns
from goldlabel.recast.treebank import tokenise
from goldlabel.registry import suggest

Labels = Mapping[str, str | None]
"""What a tag's type, in lower case, is called in a hypothesis; one without a name is left out."""

_TYPES = {
    "a person": "per person per-nam",
    "a location": "loc location geo geo-nam",
    "an organization": "org organization org-nam",
    "a geopolitical entity": "gpe gpe-nam",
    "a time": "tim tim-nam",
    "an artifact": "art art-nam",
    "an event": "eve event eve-nam",
    "a natural phenomenon": "nat nat-nam",
    "a person's title": "per-tit",
    "a given name": "per-giv",
    "a middle name": "per-mid",
    "a family name": "per-fam",
    "an initial": "per-ini",
    "a day of the week": "tim-dow",
    "a day of the month": "tim-dom",
    "a month": "tim-moy",
    "a year": "tim-yoc",
    "a date": "date tim-dat",
    "a time of day": "time tim-clo",
    "a group of people": "norp group",
    "a facility": "fac facility",
    "a corporation": "corporation",
    "a product": "product",
    "a work of art": "work_of_art creative-work",
    "a law": "law",
    "a language": "language",
    "a percentage": "percent",
    "an amount of money": "money",
    "a quantity": "quantity",
    "an ordinal number": "ordinal",
    "a number": "cardinal",
}
LABELS: Labels = {
    **{kind: label for label, kinds in _TYPES.items() for kind in kinds.split()},
    "misc": None,
}

_TAG = re.compile(r"(?:([BIELSU])-)?(.*)", re.DOTALL)
_GMB_COLUMNS = ("Sentence #", "Word", "Tag")

Decode = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens and the entities among them: first token, token after the last, label. ``text`` is the original."""

    number: int
    line: int
    tokens: Sequence[str]
    entities: Sequence[tuple[int, int, str]]
    text: str | None = None


@dataclass(frozen=True)
class TaggedFile:
    """A file of tagged names, how it is encoded, and what its tags are called."""

    file: InputFile
    decode: Decode
    labels: Labels

    @classmethod
    def open(cls, file: InputFile, labels: Labels) -> TaggedFile:
        """Find out how a file is encoded."""
        return cls(file, _decoder(file), labels)

    def sentences(self, *, merge: bool) -> Iterator[Sentence]:
        """Yield the sentences that have an entity; with ``merge``, neighbouring entities of one type are one."""
        name = self.file.name.lower()
        every = self._spans() if name.endswith(".jsonl") else self._tagged(merge, comma=name.endswith(".csv"))
        return (sentence for sentence in every if sentence.entities)

    def _tagged(self, merge: bool, comma: bool) -> Iterator[Sentence]:
        known: dict[str, tuple[str | None, str | None]] = {}
        tokens: list[str] = []
        tags: list[tuple[str | None, str | None]] = []
        number, first_line = 0, 0
        for line, token, tag in (_csv_rows if comma else _column_rows)(self.file, self.decode):
            if token:
                first_line = first_line if tokens else line
                if tag not in known:
                    known[tag] = self._parse(line, tag)
                tokens.append(token)
                tags.append(known[tag])
            elif tokens:
                number += 1
                yield Sentence(number, first_line, tokens, list(_entities(tags, merge)))
                tokens, tags = [], []

    def _spans(self) -> Iterator[Sentence]:
        with open_text(self.file) as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield self._sentence(number, line)

    def _sentence(self, number: int, line: bytes) -> Sentence:
        where = f"{self.file} line {number}"
        try:
            row = orjson.loads(self.decode(line))
            text = str(row["text"])
            spans = sorted((int(start), int(end), str(kind)) for start, end, kind in row["entities"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{where}: is no row with text and entities ({error!r})") from error
        tokens: list[str] = []
        entities: list[tuple[int, int, str]] = []
        last = 0
        for start, end, kind in spans:
            if not last <= start < end <= len(text):
                raise InputError(f"{where}: entity {start}–{end} overlaps another or leaves the text")
            label = self._parse(number, kind)[1]
            tokens += tokenise(text[last:start])
            first = len(tokens)
            tokens += text[start:end].split()
            entities += [(first, len(tokens), label)] if label and len(tokens) > first else []
            last = end
        return Sentence(number, number, [*tokens, *tokenise(text[last:])], entities, text)

    def _parse(self, line: int, tag: str) -> tuple[str | None, str | None]:
        """Return a tag's prefix and its label."""
        if tag in ("O", "o"):
            return None, None
        prefix, kind = _TAG.fullmatch(tag).groups()  # type: ignore[union-attr]
        if kind.lower() not in self.labels:
            raise InputError(
                f"{self.file} line {line}: tag {tag!r} is neither O nor of a type that has a name; "
                f"{suggest(kind.lower(), list(self.labels))}; name your own with --set tags=TYPE:a name"
            )
        return prefix or "I", self.labels[kind.lower()]


def _decoder(file: InputFile) -> Decode:
    """Find out the encoding, which is that of the whole file: UTF-8, or Windows-1252, which holds Latin-1."""
    unicode_line = other_line = 0
    with open_text(file) as stream:
        for number, line in enumerate(stream, 1):
            if line.isascii():
                continue
            try:
                line.decode()
                unicode_line = unicode_line or number
            except UnicodeDecodeError:
                other_line = other_line or number
            if unicode_line and other_line:
                raise InputError(
                    f"{file} line {max(unicode_line, other_line)}: encodings are mixed, line {unicode_line} is UTF-8 "
                    f"and line {other_line} is not; convert the file to UTF-8"
                )
    return _western if other_line else lambda line: line.decode().removeprefix("\ufeff")


def _western(line: bytes) -> str:
    if line.isascii():
        return line.decode()
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _column_rows(file: InputFile, decode: Decode) -> Iterator[tuple[int, str, str]]:
    token_at: int | None = None
    number = 0
    with open_text(file) as stream:
        for number, raw in enumerate(stream, 1):
            line = decode(raw).strip()
            if not line or line.startswith("-DOCSTART-"):
                yield number, "", ""
                continue
            cells = line.split("\t") if "\t" in line else line.split()
            if cells[0].startswith("#") and len(cells) != 2 and cells[-1] not in ("O", "o"):
                continue
            if token_at is None:
                token_at = 1 if len(cells) > 2 and cells[0] in ("0", "1") else 0
            if len(cells) < token_at + 2:
                raise InputError(f"{file} line {number}: has no tag; a token and, last, its tag are expected")
            yield number, cells[token_at], cells[-1]
    yield number, "", ""


def _csv_rows(file: InputFile, decode: Decode) -> Iterator[tuple[int, str, str]]:
    with open_text(file) as stream:
        reader = csv.reader(decode(line) for line in stream)
        try:
            header = [name.strip() for name in next(reader, [])]
            require_columns(file, header, _GMB_COLUMNS)
            sentence_at, word_at, tag_at = (header.index(name) for name in _GMB_COLUMNS)
            for row in reader:
                if len(row) != len(header) or not row[word_at].strip() or not row[tag_at]:
                    raise InputError(f"{file} line {reader.line_num}: lacks its word or its tag")
                if row[sentence_at]:
                    yield reader.line_num, "", ""
                yield reader.line_num, row[word_at], row[tag_at]
        except csv.Error as error:
            raise InputError(f"{file} line {reader.line_num}: {error}") from error
    yield reader.line_num, "", ""


def _entities(tags: Sequence[tuple[str | None, str | None]], merge: bool) -> Iterator[tuple[int, int, str]]:
    start, current = 0, None
    for place, (prefix, label) in enumerate([*tags, (None, None)]):
        if label != current or (prefix in ("B", "S", "U") and not merge):
            if current:
                yield start, place, current
            start, current = place, label
