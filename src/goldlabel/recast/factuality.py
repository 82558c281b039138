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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import orjson

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.gerunds import gerund
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.tables import table_rows
from goldlabel.recast.treebank import join, tokenise
from goldlabel.sources.source import text_lines

Sentences = Mapping[tuple[str, int], Sequence[str]]
"""The tokens of each sentence, by split and by its place in the split's file from 1."""

_ANSWERS = {"true": True, "yes": True, "false": False, "no": False, "na": None, "nan": None}
_COLUMNS = ("Split", "Sentence.ID", "Pred.Token", "Pred.Lemma", "Happened")
_SCORED = 7
_TREEBANK = (10, 12)


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield two pairs for each event that is judged without doubt."""
    tables = judgement_tables(files, ".tsv", _COLUMNS)
    scored = [file for file in _parsed_once(files) if _width(file) == _SCORED]
    if not tables and not scored:
        names = ", ".join(file.name for file in files) or "nothing"
        raise InputError(
            f"factuality takes it-happened*.tsv with the treebank's sentences, or CoNLL files with {_SCORED} columns "
            f"(UW, MEANTIME); given: {names}"
        )
    if tables:
        sentences = treebank_sentences(files)
        for table in tables:
            yield from _uds(table, sentences, options)
    for file in scored:
        yield from _roots(file, options)


def judgement_tables(files: Sequence[InputFile], suffix: str, columns: Sequence[str]) -> list[InputFile]:
    """Return the tables among the files, each name once; one without the columns is refused.

    Releases carry the same table twice, packed and unpacked, and It-Happened v2, whose rows have one more column,
    holds all of v1: it is read instead.
    """
    tables: dict[str, tuple[InputFile, list[str]]] = {}
    for file in files:
        if file.name.lower().endswith(suffix) and file.name not in tables:
            header = next(iter(text_lines(file)), "").split("\t")
            missing = [name for name in columns if name not in header]
            if missing:
                raise InputError(
                    f"{file} line 1: column {missing[0]!r} is missing; allowed is a table with {', '.join(columns)}"
                )
            tables[file.name] = (file, header)
    newer = [file for file, header in tables.values() if "Keep" in header]
    return newer or [file for file, _ in tables.values()]


def treebank_sentences(files: Sequence[InputFile]) -> Sentences:
    """Read the sentences of the English Web Treebank from what is given of it."""
    sentences: dict[tuple[str, int], Sequence[str]] = {}
    for file in files:
        split = split_of(file)
        if not split or _corpus(file) != "Decomp":
            continue
        if file.name.lower().endswith(".jsonl"):
            for place, tokens in _json_sentences(file):
                sentences.setdefault((split, place), tokens)
    for file in _parsed_once(files):
        split = split_of(file)
        if split and _width(file) in _TREEBANK:
            for place, rows in enumerate(conll_sentences(file), 1):
                sentences.setdefault((split, place), [row[1] for _, row in rows])
    return sentences


def conll_sentences(file: InputFile) -> Iterator[list[tuple[int, list[str]]]]:
    """Yield the sentences of a CoNLL file as rows with line numbers; words of CoNLL-U without a place are left out."""
    sentence: list[tuple[int, list[str]]] = []
    width = 0
    for number, line in enumerate(text_lines(file), 1):
        if not line:
            if sentence:
                yield sentence
            sentence = []
            continue
        row = line.split("\t")
        if line.startswith("#") and len(row) == 1:
            continue
        width = width or len(row)
        if len(row) != width:
            raise InputError(f"{file} line {number}: has {len(row)} columns where the first row has {width}")
        if not re.fullmatch(r"\d+[-.]\d+", row[0]):
            sentence.append((number, row))
    if sentence:
        yield sentence


def treebank_place(where: str, sentence_id: str) -> int:
    """Return the number at the end of ``en-ud-dev.conllu 780``."""
    number = sentence_id.rpartition(" ")[2]
    if not number.isdecimal():
        raise InputError(f"{where}: Sentence.ID {sentence_id!r} does not end in the sentence's number")
    return int(number)


def distinct_names(files: Sequence[InputFile]) -> dict[InputFile, str]:
    """Return each file's name, with its folder where two have the same."""
    names = Counter(file.name for file in files)
    return {file: file.name if names[file.name] == 1 else f"{_folder(file).name}/{file.name}" for file in files}


def split_of(file: InputFile) -> str | None:
    """Return the split that a file's name tells."""
    found = re.search(r"(?:^|[^a-z])(train|dev|test)(?:[^a-z]|$)", file.name.lower())
    return found[1] if found else None


def _uds(table: InputFile, sentences: Sentences, options: Options) -> Iterator[Recasting | Skipped]:
    events: dict[tuple[str, str, str, str], list[bool | None]] = {}
    first: dict[tuple[str, str, str, str], int] = {}
    for number, row in table_rows(table, _COLUMNS, delimiter="\t", quoted=False):
        answer = row["Happened"].lower()
        if answer not in _ANSWERS:
            raise InputError(f"{table} line {number}: Happened {answer!r} is not one of {', '.join(_ANSWERS)}")
        event = (row["Split"], row["Sentence.ID"], row["Pred.Token"], row["Pred.Lemma"])
        events.setdefault(event, []).append(_ANSWERS[answer])
        first.setdefault(event, number)
    for event, answers in events.items():
        split, sentence_id, token, lemma = event
        where = f"{table} line {first[event]}"
        place = treebank_place(where, sentence_id)
        source_id = f"Decomp:{split}:{place}:{token}"
        if len(answers) < 2:
            yield Skipped(source_id, "has one judgement only")
        elif len(set(answers)) > 1 or answers[0] is None:
            yield Skipped(source_id, "its annotators do not agree that it did or did not happen")
        else:
            tokens = _checked(where, sentences, split, place, token)
            meta = {"published_id": place, "token": int(token), "lemma": lemma}
            yield from _pairs(tokens, lemma, answers[0], source_id, "CC BY-SA 4.0", split, meta, options)


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
    corpus, split = _corpus(file), split_of(file)
    for place, rows in enumerate(conll_sentences(file), 1):
        tokens = [row[1] for _, row in rows]
        for number, (index, _, score, _, head, relation, lemma) in rows:
            if score == "_":
                continue
            source_id = f"{corpus}:{split or file.name}:{place}:{index}"
            value = _number(f"{file} line {number}", score)
            if index != head and relation.lower() != "root":
                yield Skipped(source_id, "is not the root of its sentence")
            elif abs(value) != 3.0:
                yield Skipped(source_id, "its score lies between -3 and 3")
            else:
                meta = {"sentence": place, "token": int(index) + 1, "lemma": lemma}
                yield from _pairs(tokens, lemma, value > 0, source_id, "none stated", split, meta, options)


def _pairs(
    tokens: Sequence[str],
    lemma: str,
    happened: bool,
    source_id: str,
    licence: str,
    split: str | None,
    meta: Mapping[str, object],
    options: Options,
) -> Iterator[Recasting | Skipped]:
    event = gerund(lemma)
    if options.style == "dnc":
        premise, stop = " ".join(tokenise(" ".join(tokens))), ""
    elif re.search(r"[^\W\d_]", lemma):
        premise, stop = join(_quotes_mended(tokens)), "."
    else:
        yield Skipped(source_id, "its predicate is no word")
        return
    for said, words in ((True, "happened"), (False, "did not happen")):
        yield Recasting(
            premise=premise,
            hypothesis=f"The {event} {words}{stop}",
            label=ENTAILED if said is happened else NOT_ENTAILED,
            source_id=source_id,
            corpus=source_id.partition(":")[0],
            licence=licence,
            split=split,
            group=source_id.rpartition(":")[0] if options.style == "dnc" else premise,
            meta=meta,
        )


def _quotes_mended(tokens: Sequence[str]) -> Sequence[str]:
    """Join the two halves of a Treebank quote, which the parser of UW cut apart."""
    text = " ".join(tokens)
    return text.replace("` `", "``").replace("' '", "''").split(" ")


def _parsed_once(files: Sequence[InputFile]) -> list[InputFile]:
    """Return the CoNLL files; where a folder has train, dev and test, any other there repeats them."""
    parsed = [file for file in files if file.name.lower().endswith((".conll", ".conllu"))]
    split_folders = {_folder(file) for file in parsed if split_of(file)}
    return [file for file in parsed if split_of(file) or _folder(file) not in split_folders]


def _width(file: InputFile) -> int:
    rows = (line for line in text_lines(file) if line and not line.startswith("# "))
    width = len(next(rows, "").split("\t"))
    if width not in (_SCORED, *_TREEBANK):
        raise InputError(
            f"{file}: has {width} columns; allowed are {_SCORED} (UW, MEANTIME) and 10 or 12 (the treebank)"
        )
    return width


def _corpus(file: InputFile) -> str:
    name = f"{_folder(file).name}/{file.name}".lower()
    return "MeanTime" if "meantime" in name else "UW" if re.search(r"(?:^|[^a-z])uw(?:[^a-z]|$)", name) else "Decomp"


def _json_sentences(file: InputFile) -> Iterator[tuple[int, Sequence[str]]]:
    for number, line in enumerate(text_lines(file), 1):
        try:
            row = orjson.loads(line) if line else None
            if row is not None:
                yield int(row["file_idx"]) + 1, str(row["text"]).split(" ")
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{file} line {number}: is not a sentence with text and file_idx ({error!r})") from error


def _number(where: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"{where}: score {text!r} is neither a number nor _") from error


def _folder(file: InputFile) -> PurePosixPath:
    return PurePosixPath(file.path.as_posix(), file.member or "").parent


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
