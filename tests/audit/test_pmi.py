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
from goldlabel.metrics import share
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
    (best,) = rank_words(corpus, top=1)
    assert (best.word, best.label, best.count, best.total) == ("a", "entailment", 1, 1)
    assert best.pmi.value == pytest.approx(math.log((11 / 31) * 3))


def test_the_interval_is_that_of_the_share() -> None:
    labels = ("contradiction", "entailment")
    pairs = make_pairs(*((f"p{n // 2}", "no" if n < 60 else "yes", labels[n % 5 > 3]) for n in range(120)))
    corpus = read_corpus(pairs)
    word = next(word for word in rank_words(corpus) if (word.word, word.label) == ("no", "contradiction"))
    figure = share(corpus.labels[:60] == 0, units=corpus.units[:60])
    assert word.pmi.interval is not None
    assert figure.interval is not None
    prior = (corpus.labels == 0).mean()
    expected = [math.log((end * 60 + 10) / 90 / prior) for end in figure.interval]
    assert word.pmi.interval == pytest.approx(expected)
    assert (word.pmi.n, word.pmi.units) == (60, 30)
    assert rank_words(corpus, smoothing=0, label="neutral") == []


def test_equal_words_are_ranked_whatever_the_order_of_rows() -> None:
    rows = [(f"p{n}", f"word{n % 50:02}", ("neutral", "entailment")[n // 50]) for n in range(100)]
    listed = [
        [(word.word, word.label) for word in rank_words(read_corpus(make_pairs(*order)), top=3)]
        for order in (rows, rows[::-1], rows[1::2] + rows[::2])
    ]
    assert listed[0] == [("word00", "entailment"), ("word00", "neutral"), ("word01", "entailment")]
    assert listed[1] == listed[2] == listed[0]


def test_a_label_that_no_pair_has_gives_no_number() -> None:
    assert np.isnan(pmi(np.array([[2, 0, 1]]), np.array([2, 0, 1]))[0, 1])


def test_bad_options_are_refused() -> None:
    corpus = read_corpus(make_pairs(("p", "h", "neutral")))
    with pytest.raises(InputError, match="negative"):
        pmi(np.array([[1, 0, 0]]), np.array([1, 0, 0]), smoothing=-1)
    with pytest.raises(InputError, match="documents, tokens"):
        count_words(corpus.words, corpus.labels, 3, count="letters")


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=8))
def test_words_are_ranked_by_pmi_and_smoothing_draws_it_to_the_prior(rows: list[tuple[int, int, int]]) -> None:
    counts, totals = np.array(rows), np.array([60, 70, 80])
    hypotheses = [
        (f"p{n} {code} {i}", f"w{n}", label)
        for n, row in enumerate(rows)
        for code, label in enumerate(("contradiction", "entailment", "neutral"))
        for i in range(row[code])
    ]
    if hypotheses:
        words = rank_words(read_corpus(make_pairs(*hypotheses)), top=5)
        values = [word.pmi.value or 0.0 for word in words]
        assert values == pytest.approx(sorted(values, reverse=True))
        assert all(word.count > 0 for word in words)
    prior = np.log((1 / 3) / (totals / totals.sum()))
    assert np.allclose(pmi(counts, totals, smoothing=1e9), prior, atol=1e-6)


def test_ocnli_as_in_the_paper(corpora: Path, home: Path) -> None:
    add("ocnli", [corpora / "ocnli"])
    pairs = load("ocnli").only(split=["train", "dev"])
    corpus = read_corpus(pairs, tokenizer="jieba-search", columns=["condition"])
    codes, values = corpus.columns["condition"]
    found = {}
    for value in ("all", *values):
        rows = codes == values.index(value) if value != "all" else codes == codes
        found[value] = rank_words(corpus, rows, top=3)
    assert {value: [f"{word.word} {word.label}" for word in words] for value, words in found.items()} == PAPER
    first = found["single"][0]
    assert (first.word, first.label, first.count, first.total) == ("任何", "contradiction", 87, 90)
    assert first.pmi.value == pytest.approx(0.895, abs=5e-4)
