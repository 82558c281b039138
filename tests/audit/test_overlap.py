from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.figures import count_lengths, count_negators, count_overlap
from goldlabel.audit.overlap import CONSTITUENT, LEXICAL, SUBSEQUENCE
from tests.audit.conftest import make_pairs

ALL_THREE = LEXICAL | SUBSEQUENCE | CONSTITUENT


@pytest.mark.parametrize(
    ("premise", "hypothesis", "overlap", "heuristics"),
    [
        ("The judge saw the actor.", "The actor saw the judge.", 1.0, LEXICAL),
        ("The judge by the actor slept.", "The actor slept.", 1.0, LEXICAL | SUBSEQUENCE),
        ("If the artist slept, the actor ran.", "The artist slept.", 1.0, ALL_THREE),
        ("I know that the lawyer paid.", "the lawyer paid", 1.0, ALL_THREE),
        ("Dogs bark at night.", "Cats bark.", 0.5, 0),
        ("Dogs bark.", "Dogs bark.", 1.0, ALL_THREE),
        ("如果下雨，他就在家。", "他就在家", 1.0, ALL_THREE),
        ("他昨天在家。", "他在家", 1.0, LEXICAL),
        ("他昨天在家。", "她在家", 2 / 3, 0),
    ],
)
def test_overlap_and_heuristics(premise: str, hypothesis: str, overlap: float, heuristics: int) -> None:
    corpus = read_corpus(make_pairs((premise, hypothesis, "entailment")))
    assert corpus.overlap[0] == pytest.approx(overlap)
    assert corpus.heuristics[0] == heuristics


def test_a_hypothesis_of_signs_has_no_overlap_to_speak_of() -> None:
    corpus = read_corpus(make_pairs(("Dogs.", "?!", "neutral"), ("Dogs.", "Dogs.", "neutral")))
    counted = count_overlap(corpus)
    assert (counted.mean.value, counted.mean.n) == (1.0, 1)
    assert counted.over_rule.value == 1.0
    assert counted.by_label["entailment"].mean.value is None
    assert counted.to_dict()["by_label"]["neutral"]["lexical_overlap"] == 1


def test_lengths_in_words_and_characters() -> None:
    corpus = read_corpus(make_pairs(("One two three.", "Four.", "neutral"), ("他在家里。", "在家。", "entailment")))
    counted = count_lengths(corpus)
    assert counted.by_label["neutral"].difference.value == -2
    assert counted.by_label["entailment"].premise.value == 4
    assert counted.by_label["entailment"].hypothesis_sd is None
    assert counted.by_label["contradiction"].hypothesis.value is None
    assert counted.hypothesis.value == 1.5


def test_negators_per_language() -> None:
    corpus = read_corpus(
        make_pairs(
            ("p", "He isn't here.", "contradiction"),
            ("p", "He is here.", "contradiction"),
            ("前提", "他不在。", "contradiction"),
            ("前提", "他非常好，特别好。", "entailment"),
        )
    )
    found = count_negators(corpus)
    assert found is not None
    assert found["en"].by_label["contradiction"].value == 0.5
    assert found["en"].by_label["neutral"].value is None
    assert found["zh"].to_dict()["by_label"]["contradiction"]["negated"] == 1
    assert found["zh"].by_label["entailment"].value == 0


@given(st.lists(st.tuples(st.text("ab ", max_size=8), st.text("abc ", max_size=8)), min_size=1, max_size=8))
def test_the_heuristics_lie_inside_each_other(texts: list[tuple[str, str]]) -> None:
    corpus = read_corpus(make_pairs(*((f"{one}.", f"{other}.", "neutral") for one, other in texts)))
    lexical, stretch, clause = ((corpus.heuristics & bit) != 0 for bit in (LEXICAL, SUBSEQUENCE, CONSTITUENT))
    assert np.array_equal(lexical, corpus.overlap == 1)
    assert not (stretch & ~lexical).any()
    assert not (clause & ~stretch).any()
    for (premise, hypothesis), held in zip(texts, stretch, strict=True):
        expected = bool(hypothesis.split()) and f" {' '.join(hypothesis.split())} " in f" {' '.join(premise.split())} "
        assert held == expected
