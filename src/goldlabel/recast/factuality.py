"""Event factuality: did what the sentence speaks of happen? (Poliak et al. 2018, section 3.1)

``The {gerund} happened`` and ``The {gerund} did not happen`` for each event. Two kinds of files are read.

- It-Happened v1 and v2 (UDS): the table of judgements ``it-happened*.tsv`` and, since it holds no text, the
  sentences of the English Web Treebank: ``train``, ``dev`` and ``test`` as ``.jsonl`` (``text`` of tokens and
  ``file_idx``, the sentence's place from 0) or as CoNLL with 10 or 12 columns. An event counts when two or more
  annotators judged it and all agree; Keep and Confidence are ignored, which gives the published numbers.
- UW and MEANTIME: CoNLL with 7 columns (place, token, score or ``_``, part of speech, head, relation, lemma). Only
  the sentence's root counts, and only with a score of exactly 3 or -3. The ``.jsonl`` form of these has no root.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.gerunds import gerund
from goldlabel.recast.reading import names_of, split_of, table_rows
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.treebank import join, tokenise
from goldlabel.recast.web_treebank import (
    SCORED,
    Sentences,
    conll_sentences,
    corpus_of,
    judgement_tables,
    parsed_files,
    treebank_place,
    treebank_sentences,
    width_of,
)

_ANSWERS = {"true": True, "yes": True, "false": False, "no": False, "na": None, "nan": None}
_COLUMNS = ("Split", "Sentence.ID", "Pred.Token", "Pred.Lemma", "Happened")


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event of a sentence, and whether it happened."""

    where: str
    source_id: str
    tokens: Sequence[str]
    lemma: str
    happened: bool
    split: str | None
    licence: str
    meta: Mapping[str, object]


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield two pairs for each event that is judged without doubt."""
    tables = judgement_tables(files, ".tsv", _COLUMNS)
    scored = [file for file in parsed_files(files) if width_of(file) == SCORED]
    if not tables and not scored:
        raise InputError(
            f"factuality takes it-happened*.tsv with the treebank's sentences, or CoNLL files with {SCORED} columns "
            f"(UW, MEANTIME); given: {names_of(files)}"
        )
    if tables:
        sentences = treebank_sentences(files)
        for table in tables:
            yield from _uds(table, sentences, options)
    for file in scored:
        yield from _roots(file, options)


def _uds(table: InputFile, sentences: Sentences, options: Options) -> Iterator[Recasting | Skipped]:
    judged: dict[tuple[str, str, str, str], list[bool | None]] = {}
    first_line: dict[tuple[str, str, str, str], int] = {}
    for number, row in table_rows(table, _COLUMNS, delimiter="\t", quoted=False):
        answer = row["Happened"].lower()
        if answer not in _ANSWERS:
            raise InputError(f"{table} line {number}: Happened {answer!r} is not one of {', '.join(_ANSWERS)}")
        key = (row["Split"], row["Sentence.ID"], row["Pred.Token"], row["Pred.Lemma"])
        judged.setdefault(key, []).append(_ANSWERS[answer])
        first_line.setdefault(key, number)
    for key, answers in judged.items():
        split, sentence_id, token, lemma = key
        where = f"{table} line {first_line[key]}"
        place = treebank_place(where, sentence_id)
        source_id = f"Decomp:{split}:{place}:{token}"
        if len(answers) < 2:
            yield Skipped(source_id, "has one judgement only")
        elif len(set(answers)) > 1 or answers[0] is None:
            yield Skipped(source_id, "its annotators do not agree that it did or did not happen")
        else:
            event = Event(
                where=where,
                source_id=source_id,
                tokens=_checked(where, sentences, split, place, token),
                lemma=lemma,
                happened=answers[0],
                split=split,
                licence="CC BY-SA 4.0",
                meta={"published_id": place, "token": int(token), "lemma": lemma},
            )
            yield from _pairs(event, options)


def _checked(where: str, sentences: Sentences, split: str, place: int, token: str) -> Sequence[str]:
    tokens = sentences.get((split, place))
    if tokens is None:
        raise InputError(
            f"{where}: sentence {place} of {split} is not given; add the treebank's {split}.jsonl or {split}.conll"
        )
    if not token.isdecimal() or not 1 <= int(token) <= len(tokens):
        raise InputError(f"{where}: Pred.Token {token!r} is not in sentence {place}, which has {len(tokens)} tokens")
    return tokens


def _roots(file: InputFile, options: Options) -> Iterator[Recasting | Skipped]:
    corpus, split = corpus_of(file), split_of(file)
    for place, rows in enumerate(conll_sentences(file), 1):
        tokens = [row[1] for _, row in rows]
        for number, (index, _, score, _, head, relation, lemma) in rows:
            if score == "_":
                continue
            where = f"{file} line {number}"
            if not index.isdecimal():
                raise InputError(f"{where}: {index!r} is not the place of a token from 0")
            source_id = f"{corpus}:{split or file.name}:{place}:{index}"
            value = _number(where, score)
            if index != head and relation.lower() != "root":
                yield Skipped(source_id, "is not the root of its sentence")
            elif abs(value) != 3.0:
                yield Skipped(source_id, "its score lies between -3 and 3")
            else:
                event = Event(
                    where=where,
                    source_id=source_id,
                    tokens=tokens,
                    lemma=lemma,
                    happened=value > 0,
                    split=split,
                    licence="none stated",
                    meta={"sentence": place, "token": int(index) + 1, "lemma": lemma},
                )
                yield from _pairs(event, options)


def _pairs(event: Event, options: Options) -> Iterator[Recasting | Skipped]:
    if options.style == "dnc":
        premise, stop = " ".join(tokenise(" ".join(event.tokens))), ""
    elif re.search(r"[^\W\d_]", event.lemma):
        premise, stop = join(_quotes_mended(event.tokens)), "."
    else:
        yield Skipped(event.source_id, "its predicate is no word")
        return
    for said, words in ((True, "happened"), (False, "did not happen")):
        yield Recasting(
            premise=premise,
            hypothesis=f"The {gerund(event.lemma)} {words}{stop}",
            label=ENTAILED if said is event.happened else NOT_ENTAILED,
            source_id=event.source_id,
            corpus=event.source_id.partition(":")[0],
            licence=event.licence,
            split=event.split,
            group=event.source_id.rpartition(":")[0] if options.style == "dnc" else premise,
            where=event.where,
            meta=event.meta,
        )


def _quotes_mended(tokens: Sequence[str]) -> Sequence[str]:
    """Join the two halves of a Treebank quote, which the parser of UW cut apart."""
    text = " ".join(tokens)
    return text.replace("` `", "``").replace("' '", "''").split(" ")


def _number(where: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"{where}: score {text!r} is neither a number nor _") from error


RECASTERS.add(
    "factuality",
    Recaster(
        name="factuality",
        phenomenon="event factuality",
        title="Event factuality",
        paper="Poliak et al. (2018), section 3.1; Rudinger et al. (2018), Neural models of factuality, NAACL; "
        "Lee et al. (2015), EMNLP; Minard et al. (2016), LREC",
        sources="it-happened*.tsv with the treebank's sentences (jsonl or CoNLL); UW and MEANTIME as 7-column CoNLL",
        recast=recast,
    ),
)
