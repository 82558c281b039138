from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.pmi import count_words, pmi, rank_words
from goldlabel.errors import InputError
from goldlabel.sources import add, load
from tests.audit.conftest import make_pairs

PAPER = {
    "all": ["任何 contradiction", "从来 contradiction", "至少 entailment"],
    "single": ["任何 contradiction", "没有 contradiction", "无关 contradiction"],
    "multi": ["任何 contradiction", "没有 contradiction", "从来 contradiction"],
    "multi-encourage": ["任何 contradiction", "从来 contradiction", "至少 entailment"],
    "multi-constraint": ["至少 entailment", "只有 contradiction", "只 contradiction"],
}


def test_counts_and_values_by_hand() -> None:
    pairs = make_pairs(
        ("p", "no no way", "contradiction"),
        ("p", "a way", "entailment"),
        ("p", "no", "neutral"),
        ("p", "no", "-"),
    )
    corpus = read_corpus(pairs)
    counts = count_words(corpus.words, corpus.labels, 3)
    assert dict(zip(corpus.words.vocabulary, counts.tolist(), strict=True)) == {
        "no": [1, 0, 1],
        "way": [1, 1, 0],
        "a": [0, 1, 0],
    }
    tokens = count_words(corpus.words, corpus.labels, 3, count="tokens")
    assert tokens[corpus.words.vocabulary.index("no")].tolist() == [2, 0, 1]
    values = pmi(counts, np.array([1, 1, 1]))
    assert values[corpus.words.vocabulary.index("no"), 0] == pytest.approx(math.log((11 / 32) / (1 / 3)))
    best = rank_words(counts, np.array([1, 1, 1]), corpus.words.vocabulary, corpus.space.labels, top=1)
    assert best.row(0) == ("a", "entailment", pytest.approx(math.log((11 / 31) * 3)), 1, 1)


def test_a_label_that_no_pair_has_gives_no_number() -> None:
    assert np.isnan(pmi(np.array([[2, 0, 1]]), np.array([2, 0, 1]))[0, 1])


def test_bad_options_are_refused() -> None:
    corpus = read_corpus(make_pairs(("p", "h", "neutral")))
    with pytest.raises(InputError, match="negative"):
        pmi(np.array([[1, 0, 0]]), np.array([1, 0, 0]), smoothing=-1)
    with pytest.raises(InputError, match="documents, tokens"):
        count_words(corpus.words, corpus.labels, 3, count="letters")


@given(st.lists(st.tuples(*[st.integers(0, 50)] * 3), min_size=1, max_size=20))
def test_words_are_ranked_by_pmi_and_smoothing_draws_it_to_the_prior(rows: list[tuple[int, int, int]]) -> None:
    counts, totals = np.array(rows), np.array([60, 70, 80])
    names = ("contradiction", "entailment", "neutral")
    table = rank_words(counts, totals, [f"w{n}" for n in range(len(rows))], names, top=5)
    assert table["pmi"].is_sorted(descending=True)
    assert (table["count"] > 0).all()
    prior = np.log((1 / 3) / (totals / totals.sum()))
    assert np.allclose(pmi(counts, totals, smoothing=1e9), prior, atol=1e-6)


def test_ocnli_as_in_the_paper(corpora: Path, home: Path) -> None:
    add("ocnli", [corpora / "ocnli"])
    pairs = load("ocnli").only(split=["train", "dev"])
    corpus = read_corpus(pairs, tokenizer="jieba-search", columns=["condition"])
    names = corpus.space.labels
    codes, values = corpus.columns["condition"]
    found = {}
    for value in ("all", *values):
        rows = codes == values.index(value) if value != "all" else codes == codes
        labels = corpus.labels[rows & corpus.gold]
        counts = count_words(corpus.words, corpus.labels, 3, rows=rows)
        found[value] = rank_words(counts, np.bincount(labels), corpus.words.vocabulary, names, top=3)
    assert {
        value: [f"{word} {label}" for word, label in table.select("word", "label").iter_rows()]
        for value, table in found.items()
    } == PAPER
    assert found["single"].row(0) == ("任何", "contradiction", pytest.approx(0.895, abs=5e-4), 87, 90)
