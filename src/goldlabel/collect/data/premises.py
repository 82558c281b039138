"""Premises: uploads of CSV, JSON lines or plain text become a pool, by the cleaning and length rules of a protocol.

What is left out is counted by reason, with the first examples and their lines, so that a requester sees what the
rules cost. Files are bounded, and a line that is not UTF-8 is refused by its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, zip_longest
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from goldlabel.collect.data.importing.known import Known
from goldlabel.collect.data.importing.tables import blocks, lines_of, opened, refuse_long, table_rows
from goldlabel.collect.messages import hint, message, words
from goldlabel.collect.protocols import Cleaning, PremiseRules
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.work.rules import clean_text
from goldlabel.files import data_suffix
from goldlabel.messages import Message, Word
from goldlabel.pairs.tokens import TOKENIZERS

BLOCK = 10_000
LONGEST_RAW = 1_000_000
"""Rows that are cleaned together."""
EXAMPLES = 5
FIXED_SPLITS = ("train", "dev", "test")
FORMATS = (".csv", ".tsv", ".jsonl", ".json", ".txt")
_TEXT_NAMES = ("premise", "text", "sentence", "sentence1", "context")
_ID_NAMES = ("id", "original_id", "premise_id")


@dataclass(frozen=True, kw_only=True)
class Premise:
    """A text to write hypotheses for, and where it comes from; ``split`` is where its pairs are to be, if fixed."""

    text: str
    genre: str | None = None
    source: str | None = None
    original_id: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    split: str | None = None


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
    known: Known | None = None,
) -> PremiseReading:
    """Read premises from a file or an upload; ``name`` tells the format.

    A row's own genre and source win over ``genre`` and ``source``; its other columns are kept in ``meta``. Texts
    that are ``known``, as they stand in a pool already, count as duplicates; in another split they are refused.
    """
    beside = {"genre": genre, "source": source}
    with opened(data) as stream:
        return select_premises(_rows(stream, name), rules, known, **beside)


def select_premises(
    rows: Iterable[tuple[Message, Premise]],
    rules: PremiseRules,
    known: Known | None = None,
    *,
    genre: str | None = None,
    source: str | None = None,
) -> PremiseReading:
    """Clean premises and keep those that the rules take, each once; the others are counted by reason."""
    seen: dict[str, str | None] = {}
    kept: list[Premise] = []
    read = 0
    dropped: dict[str, LeftOut] = {}
    for block in blocks(rows, BLOCK):
        cleaned = clean_premises([row.text for _, row in block], rules.cleaning)
        read += len(block)
        for (where, row), text in zip(block, cleaned, strict=True):
            if row.split != seen.get(text, row.split):
                raise Invalid(
                    "split_twice", where=where, one=Word(row.split or "none"), other=Word(seen[text] or "none")
                )
            if known is not None:
                known.refuse_other_split(where, row.split, text)
            there = text in seen or (known is not None and text in known)
            reason = _fault(text, rules) or (message("left_twice") if there else None)
            if reason is not None:
                leave_out(dropped, reason, where, text or row.text)
                continue
            seen[text] = row.split
            kept.append(replace(row, text=text, genre=row.genre or genre, source=row.source or source))
    return PremiseReading(read=read, premises=tuple(kept), left_out=tuple(dropped.values()))


def leave_out(dropped: dict[str, LeftOut], reason: Message, where: Message, text: str) -> None:
    """Count what is left out for a reason, and keep the first of it as examples."""
    told = dropped.get(reason.name, LeftOut(reason=reason, count=0, examples=()))
    examples = told.examples if len(told.examples) == EXAMPLES else (*told.examples, (where, shortened(text)))
    dropped[reason.name] = replace(told, count=told.count + 1, examples=examples)


def clean_premises(texts: Sequence[str], cleaning: Sequence[Cleaning]) -> list[str]:
    """Apply the cleaning rules in their order, then bring each text into the form in which it is stored.

    A text beyond ``LONGEST_RAW`` is too long whatever is cleaned out of it, and stays as it is.
    """
    column = pl.Series("text", [_cleaned(text) for text in texts], dtype=pl.String)
    for rule in cleaning:
        column = column.str.replace_all(rule.pattern, rule.replacement)
    return [_cleaned(text) for text in column.to_list()]


def _cleaned(text: str) -> str:
    return clean_text(text) if len(text) <= LONGEST_RAW else text


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


def _rows(stream: BinaryIO, name: str) -> Iterator[tuple[Message, Premise]]:
    """Return each row with its place, as the format that the file's name tells."""
    suffix = data_suffix(name)
    if suffix not in FORMATS:
        raise Invalid("premise_format", file=name, hint=hint(suffix, FORMATS))
    if suffix == ".txt":
        lines = enumerate(lines_of(stream, name), 1)
        return ((message("line", n=number), Premise(text=line)) for number, line in lines if line.strip())
    return _named(table_rows(stream, name), name)


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
        split = str(rest.pop("split", "none")).strip()
        if split not in (*FIXED_SPLITS, "none"):
            raise Invalid("premise_split", file=name, where=where, split=split, allowed=words(FIXED_SPLITS))
        premise = Premise(
            text=text,
            genre=genre,
            source=source,
            original_id=original,
            meta=rest,
            split=None if split == "none" else split,
        )
        refuse_long(premise, message("file_at", file=name, where=where))
        yield where, premise


def _fault(text: str, rules: PremiseRules) -> Message | None:
    if not text:
        return message("left_empty")
    if len(text) < rules.shortest:
        return message("left_short", n=rules.shortest)
    if len(text) > rules.longest:
        return message("left_long", n=rules.longest)
    return None


def shortened(text: str) -> str:
    """Return the beginning of a text, to name it by."""
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
