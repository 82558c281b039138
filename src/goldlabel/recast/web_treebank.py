"""Judgements on the English Web Treebank, and its sentences, which tables of judgements do not hold.

It-Happened and the second collection of proto-roles, both of the Universal Decompositional Semantics, name a sentence
by its place in ``train``, ``dev`` or ``test``. The text comes as ``.jsonl`` (``text`` of tokens and ``file_idx``, the
place from 0) or as CoNLL with 10 or 12 columns. CoNLL with 7 columns is UW's and MEANTIME's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import orjson

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.reading import folder_of, header_of, require_columns, split_of, text_rows

Sentences = Mapping[tuple[str, int], Sequence[str]]
"""The tokens of each sentence, by split and by its place in the split's file from 1."""

SCORED = 7
"""Columns of CoNLL files that score events: UW and MEANTIME."""
_TREEBANK = (10, 12)


def judgement_tables(files: Sequence[InputFile], suffix: str, columns: Sequence[str]) -> list[InputFile]:
    """Return the tables that have the columns, each name once; where none has, the first is refused.

    Releases carry the same table twice, packed and unpacked, and It-Happened v2, whose rows have one more column,
    holds all of v1: it is read instead.
    """
    headers = {file: header_of(file, "\t") for file in files if file.name.lower().endswith(suffix)}
    tables: dict[str, InputFile] = {}
    for file, header in headers.items():
        if {*columns} <= {*header}:
            tables.setdefault(file.name, file)
    if headers and not tables:
        file, header = next(iter(headers.items()))
        require_columns(file, header, columns)
    newer = [file for file in tables.values() if "Keep" in headers[file]]
    return newer or list(tables.values())


def treebank_sentences(files: Sequence[InputFile]) -> Sentences:
    """Read the sentences of the English Web Treebank from what is given of it."""
    sentences: dict[tuple[str, int], Sequence[str]] = {}
    for file in files:
        split = split_of(file)
        if not split or corpus_of(file) != "Decomp":
            continue
        if file.name.lower().endswith(".jsonl"):
            for place, tokens in _json_sentences(file):
                sentences.setdefault((split, place), tokens)
    for file in parsed_files(files):
        split = split_of(file)
        if split and width_of(file) in _TREEBANK:
            for place, rows in enumerate(conll_sentences(file), 1):
                sentences.setdefault((split, place), [row[1] for _, row in rows])
    return sentences


def conll_sentences(file: InputFile) -> Iterator[list[tuple[int, list[str]]]]:
    """Yield the sentences of a CoNLL file as rows with line numbers; words of CoNLL-U without a place are left out."""
    sentence: list[tuple[int, list[str]]] = []
    width = 0
    for number, text in text_rows(file):
        line = text.strip()
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


def parsed_files(files: Sequence[InputFile]) -> list[InputFile]:
    """Return the CoNLL files; where a folder has train, dev and test, any other there repeats them."""
    parsed = [file for file in files if file.name.lower().endswith((".conll", ".conllu"))]
    split_folders = {folder_of(file) for file in parsed if split_of(file)}
    return [file for file in parsed if split_of(file) or folder_of(file) not in split_folders]


def width_of(file: InputFile) -> int:
    """Return how many columns a CoNLL file has, which tells whose it is."""
    rows = (line.strip() for _, line in text_rows(file) if line.strip() and not line.startswith("# "))
    width = len(next(rows, "").split("\t"))
    if width not in (SCORED, *_TREEBANK):
        raise InputError(
            f"{file}: has {width} columns; allowed are {SCORED} (UW, MEANTIME) and 10 or 12 (the treebank)"
        )
    return width


def corpus_of(file: InputFile) -> str:
    """Return the corpus, as the release calls it, that a file's name and folder tell."""
    name = f"{folder_of(file).name}/{file.name}".lower()
    return "MeanTime" if "meantime" in name else "UW" if re.search(r"(?:^|[^a-z])uw(?:[^a-z]|$)", name) else "Decomp"


def _json_sentences(file: InputFile) -> Iterator[tuple[int, Sequence[str]]]:
    for number, line in text_rows(file):
        try:
            row = orjson.loads(line) if line.strip() else None
            if row is not None:
                yield int(row["file_idx"]) + 1, str(row["text"]).split(" ")
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{file} line {number}: is not a sentence with text and file_idx ({error!r})") from error
