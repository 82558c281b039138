"""Taggers: numbers, special tokens, one tagging for each sentence, and what is said when one is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import InputError, MissingExtraError
from goldlabel.models import tagging
from goldlabel.models.encoding import Encoder, EncoderOptions, build_encoder
from goldlabel.models.tagging import JIEBA, PENN, TAGS, tag_tokens


def column(*rows: list[str]) -> pl.Series:
    return pl.Series(rows, dtype=pl.List(pl.String))


def penn(*tags: str) -> list[int]:
    return [PENN.index(tag) + 1 for tag in tags]


def jieba(*tags: str) -> list[int]:
    return [JIEBA.index(tag) + 1 for tag in tags]


def test_numbers_fit_the_network() -> None:
    assert len(set(PENN)) == TAGS - 1 == 46
    assert len(set(JIEBA)) == len(JIEBA) <= TAGS - 1
    assert set(tagging.PENN_OF_UNIVERSAL.values()) <= set(PENN)


def test_without_a_tagger_all_is_unknown() -> None:
    tags = tag_tokens(column(["Owls", "sleep"], ["<null>"], []), "")
    assert tags.dtype == np.uint8
    assert tags.tolist() == [0, 0, 0]


def test_english_by_textblob() -> None:
    pytest.importorskip("textblob")
    tags = tag_tokens(
        column(["The", "owl", "sleeps", "."], ["<null>"], ["<start>", "It", "did", "n't", "<end>"]), "textblob"
    )
    assert tags.tolist() == [*penn("DT", "NN", "VBZ", "."), 0, 0, *penn("PRP", "VBD", "RB"), 0]


def test_chinese_by_jieba_in_words_and_in_characters() -> None:
    pytest.importorskip("jieba")
    words = tag_tokens(column(["他", "在", "北京", "睡觉", "。"]), "jieba")
    assert words.tolist() == jieba("r", "p", "ns", "v", "x")
    characters = tag_tokens(column(["他", "在", "北", "京", "睡", "觉", "。", "<end>"]), "jieba")
    assert characters.tolist() == [*jieba("r", "p", "ns", "ns", "v", "v", "x"), 0]
    assert tag_tokens(column(["在", "New", "York"]), "jieba").tolist() == jieba("p", "eng", "eng")


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")), min_size=1), max_size=6))
@settings(max_examples=60, deadline=None)
def test_jieba_gives_each_token_a_tag(tokens: list[str]) -> None:
    pytest.importorskip("jieba")
    tags = tag_tokens(column(tokens), "jieba")
    assert len(tags) == len(tokens)
    assert tags.max(initial=0) < TAGS


def test_rare_tags_of_jieba_count_as_what_they_begin_with() -> None:
    assert [tagging._jieba(flag) for flag in ("nrfg", "nrt", "vd", "df", "eng", "?")] == [
        *jieba("nr", "nr", "v", "d", "eng"),
        0,
    ]


def test_each_different_sentence_is_tagged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def tag(sentences: list[list[str]]) -> Iterator[list[int]]:
        seen.extend(sentences)
        return ([len(token) for token in sentence] for sentence in sentences)

    monkeypatch.setattr(tagging, "_tag_with_textblob", tag)
    tags = tag_tokens(column(["a", "bcd"], ["ef"], ["a", "bcd"], ["<null>", "ef"]), "textblob")
    assert seen == [["a", "bcd"], ["ef"], ["ef"]]
    assert tags.tolist() == [1, 3, 2, 1, 3, 0, 2]


class Pipeline:
    """Stands in for a spaCy pipeline: a token's tags are the two halves of its text."""

    vocab = None

    def __init__(self, names: list[str]) -> None:
        self.pipe_names = names

    def disable_pipe(self, name: str) -> None:
        self.pipe_names.remove(name)

    def pipe(self, documents: Iterator[list[str]]) -> Iterator[list[Any]]:
        for words in documents:
            halves = [word.split("/") for word in words]
            yield [SimpleNamespace(tag_=fine, pos_=coarse) for fine, coarse in halves]


def fake_spacy(monkeypatch: pytest.MonkeyPatch, pipeline: Pipeline | OSError) -> None:
    def load(name: str) -> Pipeline:
        if isinstance(pipeline, OSError):
            raise pipeline
        return pipeline

    tokens = SimpleNamespace(Doc=lambda vocab, words: words)
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load, tokens=tokens))  # type: ignore[arg-type]
    tagging._spacy_pipeline.cache_clear()


def test_spacy_tags_fold_into_the_penn_treebank(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = Pipeline(["tok2vec", "tagger", "parser", "ner"])
    fake_spacy(monkeypatch, pipeline)
    tags = tag_tokens(column(["VBZ/VERB", "<null>", "HYPH/PUNCT", "NOUN-f/NOUN", "?/SPACE"]), "spacy:a_pipeline")
    assert tags.tolist() == [*penn("VBZ"), 0, *penn(":", "NN", "XX")]
    assert pipeline.pipe_names == ["tok2vec", "tagger"]


def test_what_is_wrong_with_a_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no tagger 'textblub'; did you mean 'textblob'\? allowed: jieba, spacy:NAME"):
        tag_tokens(column(["a"]), "textblub")
    with pytest.raises(InputError, match="there is no tagger 'spacy'"):
        tag_tokens(column(["a"]), "spacy")
    fake_spacy(monkeypatch, OSError("not there"))
    with pytest.raises(InputError, match="there is no spaCy pipeline 'xx', neither an installed one nor a folder"):
        tag_tokens(column(["a"]), "spacy:xx")
    fake_spacy(monkeypatch, Pipeline(["tok2vec", "ner"]))
    with pytest.raises(InputError, match="the spaCy pipeline 'xx' has no tagger; choose one that has"):
        tag_tokens(column(["a"]), "spacy:xx")
    monkeypatch.setitem(sys.modules, "spacy", None)
    tagging._spacy_pipeline.cache_clear()
    with pytest.raises(MissingExtraError, match="spacy is not installed; run: pip install spacy"):
        tag_tokens(column(["a"]), "spacy:xx")


def test_a_loaded_encoder_tags_as_before() -> None:
    pytest.importorskip("textblob")
    options = EncoderOptions(fields=("tags",), tagger="textblob")
    encoder = build_encoder([pl.Series(["The owl sleeps."])], options)
    assert encoder.to_dict()["tagger"] == "textblob"
    encoded = encoder.encode(["The owl sleeps."], ["Owls sleep."])
    assert encoded.premise.fields["tags"].tolist() == penn("DT", "NN", "VBZ", ".")
    plain = Encoder(encoder.vocabulary, "", EncoderOptions(fields=("tags",)))
    assert not plain.encode(["The owl sleeps."], ["Owls sleep."]).premise.fields["tags"].any()


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textblob", None)
    tagging._textblob_parser.cache_clear()
    with pytest.raises(MissingExtraError, match=r'textblob is not installed; run: pip install "goldlabel\[tags\]"'):
        tag_tokens(column(["a"]), "textblob")
