from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from goldlabel.audit import audit
from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.figures import count_foreign, count_tags
from goldlabel.audit.tags import TAGS, carries
from goldlabel.pairs import Pairs
from goldlabel.pairs.lexicon import LEXICONS, lexicon
from goldlabel.sources import add, load
from tests.audit.conftest import make_pairs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She can't swim or dive.", {"negation", "or", "pronoun", "modal"}),
        ("Who counted 1,200 birds and two cats yesterday?", {"wh_word", "number", "and", "time"}),
        ("Every gate must open.", {"quantifier", "modal"}),
        ("They'll come.", {"pronoun", "modal"}),
        ("One gate is red.", set()),
        ("word " * 21, {"long"}),
        ("word " * 20, set()),
        ("他没有来，也许明天会来。", {"negation", "pronoun", "time", "modal"}),
        ("谁买了两本书和一支笔？", {"wh_word", "number", "and"}),
        ("所有人或者大多数人。", {"quantifier", "or"}),
        ("和平非常好，特别好。", set()),
        ("长" * 31, {"long"}),
    ],
)
def test_tags_of_a_text(text: str, expected: set[str]) -> None:
    corpus = read_corpus(make_pairs((text, text, "neutral")))
    for tags in (corpus.premise_tags, corpus.hypothesis_tags):
        assert {tag for tag in TAGS if carries(tags, tag)[0]} == expected


def test_shares_count_only_languages_with_a_lexicon() -> None:
    corpus = read_corpus(
        make_pairs(
            {"premise": "Er ist no.", "hypothesis": "no", "label": "neutral", "language": "de"},
            {"premise": "yes", "hypothesis": "no", "label": "neutral", "language": "en"},
        )
    )
    counted = count_tags(corpus)
    assert counted is not None
    assert (counted["negation"].premise.value, counted["negation"].hypothesis.value) == (0.0, 1.0)
    assert counted["negation"].premise.n == 1
    assert count_tags(corpus, np.array([True, False])) is None


@pytest.mark.parametrize("language", LEXICONS)
def test_lexicons_are_in_order(language: str) -> None:
    entries = lexicon(language)
    assert set(entries) == set(TAGS)
    for name in TAGS[:-1]:
        words = entries[name]["words"]
        assert words
        assert len(words) == len(set(words)), name
        for exception in entries[name].get("except", []):
            assert any(word in exception for word in words), f"{name}: {exception} is no exception to anything"


def test_roman_letters_are_counted_where_they_are_foreign() -> None:
    corpus = read_corpus(
        make_pairs(
            ("他用abcdefghij。", "他k。", "neutral"),
            ("他用abcdefghij。", "他。", "neutral"),
            ("Plain English of many letters.", "Yes.", "neutral"),
        )
    )
    counted = count_foreign(corpus)
    assert counted is not None
    figures = counted.to_dict()
    assert (figures["pairs"], figures["total"], figures["share"], figures["more_than"]) == (1, 2, 0.5, 10)
    assert count_foreign(corpus, np.array([False, False, True])) is None


@pytest.mark.parametrize("language", ["nb", "uz", "xx"])
def test_roman_letters_are_foreign_only_to_languages_known_to_be_written_otherwise(language: str) -> None:
    row = {"premise": "Plain letters, more than ten.", "hypothesis": "Yes.", "label": "neutral", "language": language}
    assert count_foreign(read_corpus(make_pairs(row))) is None


def test_foreign_text_of_chinese_xnli(corpora: Path, home: Path) -> None:
    add("xnli-zh", [corpora / "xnli_zh"])
    corpus = read_corpus(load("xnli-zh"), tokenizer="characters")
    counted = count_foreign(corpus)
    assert counted is not None
    assert (counted.to_dict()["pairs"], counted.share.n) == (864, 7500)


def test_what_hangs_on_the_language_is_undefined_without_one(planted: Pairs) -> None:
    unnamed = Pairs(planted.frame.with_columns(pl.lit(None, pl.String).alias("language")), planted.card)
    known, unknown = (audit(pairs, near=False).groups["all"] for pairs in (planted, unnamed))
    assert known.tags is not None
    assert known.negators is not None
    assert (unknown.tags, unknown.negators, unknown.foreign_text) == (None, None, None)
    assert unknown.length == known.length
    assert unknown.hypothesis_only == known.hypothesis_only
