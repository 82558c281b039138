from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.audit.association import no_moments
from goldlabel.audit.competency import competency, z_scores
from goldlabel.audit.corpus import Corpus, read_corpus
from goldlabel.audit.features import Features, count_features, holding_key, take_sample
from goldlabel.errors import InputError
from tests.audit.conftest import make_pairs

LABELS = ("contradiction", "entailment", "neutral")
TEXTS = st.lists(st.tuples(st.text("abc ", max_size=12), st.integers(-1, 2)), min_size=1, max_size=12)


def test_the_z_score_of_the_paper() -> None:
    z = z_scores(no_moments(np.array([[80, 10, 10]]), np.array([100.0])), np.full(3, 1 / 3))
    assert z[0, 0] == pytest.approx((0.8 - 1 / 3) / math.sqrt((1 / 3) * (2 / 3) / 100))
    assert z[0, 1] == z[0, 2] < 0


def features_of(corpus: Corpus, kind: str, least: int) -> Features:
    return count_features(take_sample(corpus.words, corpus.labels, corpus.units, 3), kind, least=least)


def names_of(features: Features) -> list[str]:
    return [features.name(number) for number in range(len(features))]


def test_words_neighbours_and_places_by_hand() -> None:
    pairs = make_pairs(
        ("p", "not at all not at", "contradiction"),
        ("p", "not at home", "contradiction"),
        ("p", "at home", "entailment"),
        ("p", "not at", "-"),
    )
    corpus = read_corpus(pairs)

    def counted(kind: str) -> dict[str, list[int]]:
        features = features_of(corpus, kind, 2)
        return dict(zip(names_of(features), features.moments.counts.tolist(), strict=True))

    assert counted("word") == {"not": [2, 0, 0], "at": [2, 1, 0], "home": [1, 1, 0]}
    assert counted("bigram") == {"not at": [2, 0, 0], "at home": [1, 1, 0]}
    places = counted("position")
    assert places == {"not (first)": [2, 0, 0], "at (second)": [2, 0, 0], "home (last)": [1, 1, 0]}


def test_only_what_is_significant_is_listed() -> None:
    pairs = make_pairs(
        *((f"p{n}", f"never {n % 9}", "contradiction") for n in range(40)),
        *((f"q{n}", f"ever {n % 9}", ("entailment", "neutral")[n % 2]) for n in range(80)),
    )
    corpus = read_corpus(pairs)
    features = [features_of(corpus, "word", 5)]
    totals = np.bincount(corpus.labels)
    table = competency(features, totals, LABELS)
    assert table.row(0)[:3] == ("never", "word", "contradiction")
    assert (table["q_value"] <= 0.05).all()
    assert not table["feature"].str.contains(r"^\d$").any()
    with pytest.raises(InputError, match="uniform, shares"):
        competency(features, totals, LABELS, null="flat")
    assert len(competency([], totals, LABELS)) == 0


@given(TEXTS)
def test_features_are_counted_as_a_plain_loop_counts_them(rows: list[tuple[str, int]]) -> None:
    pairs = make_pairs(*(("p", f"{text}.", ("-", *LABELS)[label + 1]) for text, label in rows))
    corpus = read_corpus(pairs)
    for kind, cut in (
        ("word", lambda words: set(words)),
        ("bigram", lambda words: {f"{a} {b}" for a, b in pairwise(words)}),
    ):
        found = features_of(corpus, kind, 1)
        sets = [cut(text.split()) for text, _ in rows]
        for name, key, counts in zip(names_of(found), found.keys, found.moments.counts, strict=True):
            carried = [name in one for one in sets]
            assert holding_key(corpus.words, found.kind, int(key)).tolist() == carried
            expected = [
                sum(c and label == code for c, (_, label) in zip(carried, rows, strict=True)) for code in range(3)
            ]
            assert counts.tolist() == expected
        assert {name for one, (_, label) in zip(sets, rows, strict=True) if label >= 0 for name in one} == set(
            names_of(found)
        )
