from __future__ import annotations

import numpy as np

from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.leakage import compare, count_leakage, find_near
from tests.audit.conftest import make_pairs


def row(premise: str, hypothesis: str, label: str, split: str) -> dict[str, str]:
    return {"premise": premise, "hypothesis": hypothesis, "label": label, "split": split}


def test_leaks_between_splits_by_hand() -> None:
    corpus = read_corpus(
        make_pairs(
            row("a", "x", "neutral", "train"),
            row("a", "x", "entailment", "test"),
            row("a", "y", "neutral", "dev"),
            row("b", "x", "neutral", "train"),
            row("b", "x", "neutral", "train"),
            row("c", "x", "-", "test"),
        )
    )
    found = count_leakage(corpus)
    assert found.splits == 3
    assert found.shared_premises == 1
    assert (found.held_out_pairs, found.held_out and found.held_out.n) == (2, 3)
    assert (found.duplicates, found.duplicated.n) == (2, 6)
    assert found.duplicates_across_splits == 1
    assert found.contradictory_duplicates == 1
    assert found.examples["contradictory"] == (0, 1)
    assert found.examples["held_out"] == (1, 0, 2), "each with the pair of train that has its premise"
    inside = count_leakage(corpus, np.array([True, False, False, True, True, False]))
    assert inside.shared_premises is None
    assert inside.duplicates == 1


def test_what_differs_in_case_and_punctuation_is_the_same() -> None:
    pairs = make_pairs(
        row("A kite is up.", "It flies.", "neutral", "train"),
        row("a kite  is UP!", "It flies", "neutral", "test"),
        row("A kite, is up", "It sinks.", "neutral", "test"),
    )
    found = count_leakage(read_corpus(pairs))
    assert (found.shared_premises, found.held_out_pairs, found.duplicates) == (1, 2, 1)
    exact = pairs.duplicates(threshold=1.0)
    assert found.duplicates_across_splits == exact.across("split")["cluster"].n_unique()


def test_without_splits_leaks_between_them_are_undefined() -> None:
    found = count_leakage(read_corpus(make_pairs(("a", "x", "neutral"), ("a", "y", "neutral"))))
    assert found.shared_premises is None
    assert found.held_out is None
    assert found.duplicates_across_splits is None
    assert found.contradictory_duplicates == 0


def test_two_datasets() -> None:
    ours = make_pairs(("a", "x", "neutral"), ("b", "y", "entailment"), ("c", "z", "neutral"))
    theirs = make_pairs(("a", "x", "contradiction"), ("b", "other", "neutral"), name="theirs")
    found = compare(read_corpus(ours), theirs)
    assert (found.shared_premises, found.shared_pairs, found.labelled_otherwise) == (2, 1, 1)
    assert found.share.value == 1 / 3


def test_near_duplicates() -> None:
    pairs = make_pairs(
        ("The old ferry leaves the harbour at nine.", "A ferry leaves.", "entailment"),
        ("The old ferry leaves the harbour at nine!", "A ferry leaves", "neutral"),
        ("Our choir sings on Tuesdays.", "A choir sings.", "entailment"),
    )
    found = find_near(pairs)
    assert (found.clusters, found.contradictory, found.across_splits) == (1, 1, None)
    part = find_near(pairs, pairs)
    assert part.across_datasets == 2, "also where rows name the same dataset"


def test_no_gold_label_contradicts_nothing() -> None:
    pairs = make_pairs(
        row("The old ferry leaves the harbour at nine.", "A ferry leaves.", "-", "train"),
        row("The old ferry leaves the harbour at nine!", "A ferry leaves", "neutral", "test"),
        row("The old ferry leaves the harbour at nine", "A ferry leaves", "neutral", "none"),
    )
    found = find_near(pairs)
    assert (found.contradictory, found.across_splits, found.pairs_across_splits) == (0, 1, 2)
    assert count_leakage(read_corpus(pairs)).contradictory_duplicates == 0
