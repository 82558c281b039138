"""Premises: uploads of CSV, JSON lines or plain text become a pool, by the cleaning and length rules of a protocol.

What is left out is counted by reason, with the first examples and their lines, so that a requester sees what the
rules cost. Files are bounded, and a line that is not UTF-8 is refused by its number.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, zip_longest
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from goldlabel.collect.messages import hint, message
from goldlabel.collect.protocols import Cleaning, PremiseRules
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.rules import clean_text
from goldlabel.files import data_suffix, one_input_file
from goldlabel.messages import Message
from goldlabel.pairs.tokens import TOKENIZERS

MOST_BYTES = 64 << 20
"""What is read of one upload, unpacked; a larger pool is imported in parts."""

EXAMPLES = 5
FORMATS = (".csv", ".tsv", ".jsonl", ".json", ".txt")
_TEXT_NAMES = ("premise", "text", "sentence", "sentence1", "context")
_ID_NAMES = ("id", "original_id", "premise_id")


@dataclass(frozen=True, kw_only=True)
class Premise:
    """A text to write hypotheses for, and where it comes from."""

    text: str
    genre: str | None = None
    source: str | None = None
    original_id: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Premises left out for one reason: how many, and the first of them with their places."""

    reason: Message
    count: int
    examples: tuple[tuple[Message, str], ...]


@dataclass(frozen=True, kw_only=True)
class PremiseReading:
    """What an upload gave: premises, and what was left out and why."""

    read: int
    premises: tuple[Premise, ...]
    left_out: tuple[LeftOut, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return counts and examples as plain values."""
        return {
            "read": self.read,
            "premises": len(self.premises),
            "left_out": [
                {
                    "reason": str(one.reason),
                    "n": one.count,
                    "examples": [f"{where}: {text}" for where, text in one.examples],
                }
                for one in self.left_out
            ],
        }


def read_premises(
    data: bytes | Path,
    name: str,
    rules: PremiseRules,
    *,
    genre: str | None = None,
    source: str | None = None,
    known: Collection[str] = (),
) -> PremiseReading:
    """Read premises from a file or an upload; ``name`` tells the format.

    A row's own genre and source win over ``genre`` and ``source``; its other columns are kept in ``meta``. Texts
    that are ``known``, as they stand in a pool already, count as duplicates.
    """
    rows = list(_rows(_bounded(data, name), name))
    cleaned = clean_premises([row.text for _, row in rows], rules.cleaning)
    seen = set(known)
    kept: list[Premise] = []
    reasons: dict[str, Message] = {}
    dropped: dict[str, list[tuple[Message, str]]] = {}
    for (where, row), text in zip(rows, cleaned, strict=True):
        reason = _fault(text, rules, seen)
        if reason:
            reasons[reason.name] = reason
            dropped.setdefault(reason.name, []).append((where, _shortened(text or row.text)))
            continue
        seen.add(text)
        kept.append(
            Premise(
                text=text,
                genre=row.genre or genre,
                source=row.source or source,
                original_id=row.original_id,
                meta=row.meta,
            )
        )
    left_out = [
        LeftOut(reason=reasons[name], count=len(places), examples=tuple(places[:EXAMPLES]))
        for name, places in dropped.items()
    ]
    return PremiseReading(read=len(rows), premises=tuple(kept), left_out=tuple(left_out))


def clean_premises(texts: Sequence[str], cleaning: Sequence[Cleaning]) -> list[str]:
    """Apply the cleaning rules in their order, then bring each text into the form in which it is stored."""
    column = pl.Series("text", [clean_text(text) for text in texts], dtype=pl.String)
    for rule in cleaning:
        column = column.str.replace_all(rule.pattern, rule.replacement)
    return [clean_text(text) for text in column.to_list()]


def select_by_questions(premises: Sequence[Premise], questions: Sequence[str], wanted: int) -> list[Premise]:
    """Return the premises nearest to questions by TF-IDF, in turns: each question's best, then each one's second.

    Nie et al. (2020) draw the contexts of their first round so. Terms are words, in Chinese pairs of characters;
    a premise that shares no term with any question is not drawn.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    asked = [text for text in map(clean_text, questions) if text]
    if not asked or wanted < 1:
        raise Invalid("questions", n=wanted, questions=len(asked))
    pool, wished = (
        TOKENIZERS.get("characters")(pl.Series(texts, dtype=pl.String)).to_list()
        for texts in ([one.text for one in premises], asked)
    )
    if not any(map(_terms, pool)):
        return []
    vectorizer = TfidfVectorizer(analyzer=_terms, sublinear_tf=True)
    matrix = vectorizer.fit_transform(pool)
    scores = (vectorizer.transform(wished) @ matrix.T).tocsr()
    ranked = [_ranked(scores, row) for row in range(len(asked))]
    turns = chain.from_iterable(zip_longest(*ranked))
    chosen = dict.fromkeys(place for place in turns if place is not None)
    return [premises[place] for place in list(chosen)[:wanted]]


def _bounded(data: bytes | Path, name: str) -> bytes:
    if isinstance(data, Path):
        with one_input_file(data).open() as stream:
            data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Invalid("file_size", file=name, n=MOST_BYTES >> 20)
    return data


def _rows(data: bytes, name: str) -> Iterator[tuple[Message, Premise]]:
    """Yield each row with its place, as the format that the file's name tells."""
    suffix = data_suffix(name)
    if suffix not in FORMATS:
        raise Invalid("premise_format", file=name, hint=hint(suffix, FORMATS))
    text = _decoded(data, name)
    if suffix == ".txt":
        lines = enumerate(_lines(text), 1)
        return ((message("line", n=number), Premise(text=line)) for number, line in lines if line.strip())
    rows = _json_rows(text, name) if suffix in (".jsonl", ".json") else _cell_rows(text, suffix, name)
    return _named(rows, name)


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Invalid("not_utf8", file=name, line=line, byte=f"{data[error.start]:02x}") from error


def _cell_rows(text: str, suffix: str, name: str) -> Iterator[tuple[Message, Any]]:
    stream = io.StringIO(text, newline="")
    bare = suffix == ".tsv"
    reader = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE) if bare else csv.reader(stream, strict=True)
    csv.field_size_limit(MOST_BYTES)
    header: list[str] | None = None
    start = 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            if not cells:
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                twice = next((one for one in header if header.count(one) > 1), None)
                if twice is not None:
                    raise Invalid("column_twice", file=name, line=line, column=twice)
                continue
            if len(cells) != len(header):
                raise Invalid("cells", file=name, line=line, n=len(cells), wanted=len(header))
            yield message("line", n=line), dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise Invalid("not_csv", file=name, line=start, error=error) from error


def _json_rows(text: str, name: str) -> Iterator[tuple[Message, Any]]:
    if text.lstrip().startswith("["):
        for number, item in enumerate(_parsed(text, name, 1), 1):
            yield message("item", n=number), item
        return
    for number, line in enumerate(_lines(text), 1):
        if line.strip():
            yield message("line", n=number), _parsed(line, name, number)


def _lines(text: str) -> list[str]:
    """Cut at the ends of lines of all systems, and at nothing else."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _parsed(text: str, name: str, line: int) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Invalid("not_json", file=name, line=line + error.lineno - 1, error=error.msg) from error


def _named(rows: Iterable[tuple[Message, Any]], name: str) -> Iterator[tuple[Message, Premise]]:
    """Sort each row's columns into a premise; what has no place of its own goes to ``meta``."""
    for where, row in rows:
        if not isinstance(row, dict):
            raise Invalid("not_object", file=name, where=where, kind=type(row).__name__)
        rest = {key: value for key, value in row.items() if value not in (None, "")}
        column = next((one for one in _TEXT_NAMES if one in row), None)
        if column is None:
            raise Invalid(
                "no_premise_column", file=name, where=where, columns=[*row] or message("nothing"), names=_TEXT_NAMES
            )
        text = rest.pop(column, "")
        if not isinstance(text, str):
            raise Invalid("not_text", file=name, where=where, column=column, kind=type(text).__name__)
        number = next((one for one in _ID_NAMES if one in rest), "")
        original, genre, source = (
            clean_text(str(rest.pop(one))) if one in rest else None for one in (number, "genre", "source")
        )
        yield where, Premise(text=text, genre=genre, source=source, original_id=original, meta=rest)


def _fault(text: str, rules: PremiseRules, seen: Collection[str]) -> Message | None:
    if not text:
        return message("left_empty")
    if len(text) < rules.shortest:
        return message("left_short", n=rules.shortest)
    if len(text) > rules.longest:
        return message("left_long", n=rules.longest)
    return message("left_twice") if text in seen else None


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def _terms(tokens: Sequence[str]) -> list[str]:
    """Return the words among tokens, and single characters in pairs with their neighbours."""
    paired = [one + other for one, other in pairwise(tokens) if len(one) == len(other) == 1]
    return [*paired, *(token for token in tokens if len(token) > 1)]


def _ranked(scores: Any, row: int) -> list[int]:
    """Return the columns of a sparse row with a score, the best first; of equals, the first."""
    start, end = scores.indptr[row], scores.indptr[row + 1]
    found = zip(scores.data[start:end].tolist(), scores.indices[start:end].tolist(), strict=True)
    return [place for _, place in sorted(found, key=lambda one: (-one[0], one[1]))]
