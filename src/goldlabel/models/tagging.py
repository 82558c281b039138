"""Parts of speech as numbers, for networks that read them.

``""`` (none)
    Every token is unknown.
``textblob``
    English, by TextBlob's lexicon and rules, which come with the package. Needs the extra ``tags``.
``spacy:NAME``
    Any language, by a spaCy pipeline that is installed or lies in the folder ``NAME``.
``jieba``
    Chinese, by jieba. Needs the extra ``zh``.

The tagger is a part of a model's encoder: a loaded model tags as it did in training.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError, MissingExtraError
from goldlabel.models.vocabulary import SPECIALS
from goldlabel.registry import import_extra, suggest

TAGGERS = ("textblob", "jieba", "spacy:NAME")
TAGS = 47
"""The number of tags; 0 stands for an unknown one."""

_PENN = (
    "# $ '' , -LRB- -RRB- . : CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM TO "
    "UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB XX ``"
)
PENN = tuple(_PENN.split())
"""The tags of the Penn Treebank, as in the parses of SNLI and MultiNLI."""
PENN_OF_UNIVERSAL = {
    "ADJ": "JJ",
    "ADP": "IN",
    "ADV": "RB",
    "AUX": "MD",
    "CCONJ": "CC",
    "DET": "DT",
    "INTJ": "UH",
    "NOUN": "NN",
    "NUM": "CD",
    "PART": "RP",
    "PRON": "PRP",
    "PROPN": "NNP",
    "PUNCT": ":",
    "SCONJ": "IN",
    "SYM": "SYM",
    "VERB": "VB",
}
"""For pipelines of other languages, whose fine tags are not the Penn Treebank's."""
_JIEBA = (
    "a ad ag an b c d e eng f g h i j k l m mq n ng nr ns nt nz o p q r s t tg u ud ug uj ul uv uz v vg vn x y z zg"
)
JIEBA = tuple(_JIEBA.split())
"""The tags of jieba's dictionary but for its rarest, which count as the longest of these that they begin with."""

Tag = Callable[[list[list[str]]], Iterator[list[int]]]
"""Gives the numbers of the tags of tokenised sentences."""


def tag_tokens(tokens: pl.Series, tagger: str) -> NDArray[np.uint8]:
    """Return the tag of every token of a column of token lists, one list after the other.

    Each different sentence is tagged once; special tokens such as ``<null>`` keep the tag 0.
    """
    rows = tokens.to_list()
    if not tagger:
        return np.zeros(sum(map(len, rows)), dtype=np.uint8)
    numbers = dict.fromkeys(map(tuple, rows), np.empty(0, dtype=np.uint8))
    tag = find_tagger(tagger)
    tagged = tag([[token for token in sentence if token not in SPECIALS] for sentence in numbers])
    for sentence, tags in zip(numbers, tagged, strict=True):
        plain = np.array([token not in SPECIALS for token in sentence], dtype=np.bool_)
        numbers[sentence] = np.zeros(len(sentence), dtype=np.uint8)
        numbers[sentence][plain] = tags
    return np.concatenate([numbers[tuple(row)] for row in rows])


def find_tagger(name: str) -> Tag:
    """Return the tagger called ``name``, or say which there are."""
    kind, _, pipeline = name.partition(":")
    if kind == "spacy" and pipeline:
        return lambda sentences: _tag_with_spacy(sentences, pipeline)
    taggers: dict[str, Tag] = {"textblob": _tag_with_textblob, "jieba": _tag_with_jieba}
    if name not in taggers:
        raise InputError(f"there is no tagger {name!r}; {suggest(name, list(TAGGERS))}")
    return taggers[name]


def _tag_with_textblob(sentences: list[list[str]]) -> Iterator[list[int]]:
    parser = _textblob_parser()
    for sentence in sentences:
        yield [_penn(tag) for _, tag in parser.find_tags(sentence)]


@cache
def _textblob_parser() -> Any:
    with warnings.catch_warnings():
        # It leaves the files of its lexicon to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        import_extra("textblob", "tags")
        parser = importlib.import_module("textblob.en").parser
        parser.find_tags(["word"])
    return parser


def _tag_with_spacy(sentences: list[list[str]], name: str) -> Iterator[list[int]]:
    pipeline, make_document = _spacy_pipeline(name)
    for document in pipeline.pipe(make_document(words) for words in sentences):
        yield [_penn(token.tag_) or _penn(PENN_OF_UNIVERSAL.get(token.pos_, "XX")) for token in document]


@cache
def _spacy_pipeline(name: str) -> tuple[Any, Callable[[list[str]], Any]]:
    try:
        spacy = importlib.import_module("spacy")
    except ModuleNotFoundError as error:
        raise MissingExtraError("spacy is not installed; run: pip install spacy, and a pipeline for it") from error
    try:
        pipeline = spacy.load(name)
    except OSError as error:
        raise InputError(f"there is no spaCy pipeline {name!r}, neither an installed one nor a folder") from error
    for component in ("parser", "ner", "lemmatizer"):
        if component in pipeline.pipe_names:
            pipeline.disable_pipe(component)
    if not {"tagger", "morphologizer"} & set(pipeline.pipe_names):
        raise InputError(f"the spaCy pipeline {name!r} has no tagger; choose one that has")
    return pipeline, lambda words: spacy.tokens.Doc(pipeline.vocab, words=words)


def _tag_with_jieba(sentences: list[list[str]]) -> Iterator[list[int]]:
    from goldlabel.pairs.tokens import import_jieba

    import_jieba()
    posseg = import_extra("jieba.posseg", "zh")
    for sentence in sentences:
        text, ends = _joined(sentence)
        # The segmentations may differ: a token takes the tag of the word in which it ends.
        letters = [number for word, flag in posseg.cut(text) for number in [_jieba(flag)] * len(word)]
        yield [letters[end] for end in ends]


def _joined(sentence: Sequence[str]) -> tuple[str, list[int]]:
    """Put tokens together, with a space between two Latin words or numbers; return where each token ends, too."""
    text, ends = "", []
    for token in sentence:
        if text and all(letter.isascii() and letter.isalnum() for letter in (text[-1], token[0])):
            text += " "
        text += token
        ends.append(len(text) - 1)
    return text, ends


@cache
def _penn(tag: str) -> int:
    return PENN.index(tag) + 1 if tag in PENN else 0


@cache
def _jieba(flag: str) -> int:
    while flag and flag not in JIEBA:
        flag = flag[:-1]
    return JIEBA.index(flag) + 1 if flag else 0
